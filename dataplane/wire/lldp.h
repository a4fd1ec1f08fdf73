// LLDP (IEEE 802.1AB) and the DCBX TLVs in it: IEEE 802.1Qaz ETS, PFC and application priority; the
// pre-standard CEE form is recognised, not decoded.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "congestion/units.h"
#include "dataplane/wire/ethernet.h"

namespace rocetune::wire {

constexpr MacAddress kLldpAddress{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E}};

// A traffic class number as a TLV holds it: four bits, of which senders also use 8..15 ("none"). Not a
// TrafficClass.
using TcField = std::uint8_t;

struct EtsTlv {
  bool willing = false;              // configuration TLV only
  bool credit_based_shaper = false;  // configuration TLV only
  std::uint8_t maximum_tcs = 0;      // 0 stands for 8
  std::array<TcField, 8> tc_of_priority{};
  std::array<std::uint8_t, 8> bandwidth_percent{};
  std::array<std::uint8_t, 8> selection{};  // 0 strict, 1 credit-based, 2 ETS, 255 vendor
  bool operator==(const EtsTlv&) const = default;
};

struct PfcTlv {
  bool willing = false;
  bool macsec_bypass = false;
  std::uint8_t capability = 0;  // priorities that may have PFC at once; 0 stands for 8
  PrioritySet enabled;
  bool operator==(const PfcTlv&) const = default;
};

struct AppTlvEntry {
  Priority priority;
  std::uint8_t selector = 0;  // 1 EtherType, 2 TCP/SCTP port, 3 UDP/DCCP port, 4 any port, 5 DSCP
  std::uint16_t protocol = 0;
  bool operator==(const AppTlvEntry&) const = default;
};

// What one frame says. Parsing stops at the first TLV that does not fit; what came before is kept.
struct Lldp {
  std::string chassis_id;  // text form: a MAC address as such, text as it is, else hexadecimal
  std::string port_id;
  std::uint16_t ttl_seconds = 0;
  std::string system_name;
  std::optional<EtsTlv> ets_configuration;
  std::optional<EtsTlv> ets_recommendation;
  std::optional<PfcTlv> pfc;
  std::vector<AppTlvEntry> applications;
  bool has_cee_dcbx = false;  // OUI 00-1B-21, subtype 2: CEE
  bool has_cin_dcbx = false;  // OUI 00-1B-21, subtype 1: Cisco, Intel, Nuova
  bool is_complete = false;   // an End TLV was reached
  bool operator==(const Lldp&) const = default;
};

// `payload` follows EtherType 0x88CC. Error: truncated if there is not even a chassis TLV.
Decoded<Lldp> parse_lldp(ConstBytes payload);
// Writes an LLDPDU (behind the EtherType) with chassis id (of type "locally assigned"), port id ("interface
// name"), TTL and whatever DCBX parts are set; CEE and CIN are not written. Returns its size; 0 if `out` is
// too small.
std::size_t emit_lldp(const Lldp& lldp, MutableBytes out);

}  // namespace rocetune::wire
