// A knob is one thing on a host that can be read and written as a whole. Findings name knobs in their fixes,
// plans are ordered lists of knob changes, the transaction writes them one by one. Values are plain data with
// a JSON form.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/host/model.h"

namespace rocetune::host {

enum class KnobKind {
  dcbx_mode,       // DcbxMode          DCB_CMD_SDCBX
  pfc,             // PfcSetting        DCB_ATTR_IEEE_PFC; mlx5 bounces the link when the mask changes
  ets,             // EtsSetting        DCB_ATTR_IEEE_ETS
  app_table,       // vector<AppEntry>  DCB_ATTR_IEEE_APP_TABLE, by set and del of the difference; mlx5 trust
                   // follows
  buffers,         // BufferSetting     DCB_ATTR_DCB_BUFFER; mlx5 goes into sticky manual mode
  global_pause,    // GlobalPause       ETHTOOL_MSG_PAUSE_SET
  mtu,             // int64, bytes      IFLA_MTU
  pfc_prevention,  // int64, ms         ETHTOOL_PFC_PREVENTION_TOUT
  cc_param,        // int64             <Port::cc_folder>/<parameter>
  cm_default_tos,  // int64, ToS byte   configfs rdma_cm/<device>/ports/<n>/default_roce_tos
};

struct Knob {
  std::string port;  // netdev
  KnobKind kind = KnobKind::pfc;
  std::string parameter;  // cc_param: the file's name; else empty
  auto operator<=>(const Knob&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("port", self.port...);
    visit("kind", self.kind...);
    visit("parameter", self.parameter...);
  }
};

// The writable half of Pfc.
struct PfcSetting {
  PrioritySet enabled;
  std::uint16_t delay = 0;  // driver's unit; mlx5: metres of cable
  bool operator==(const PfcSetting&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("enabled", self.enabled...);
    visit("delay", self.delay...);
  }
};

// The writable half of Ets. Shares of classes other than ets are 0, whatever the driver reports for them.
struct EtsSetting {
  bool willing = false;
  std::array<TrafficClass, 8> tc_of_priority{};
  std::array<Tsa, 8> tsa{};
  std::array<std::uint8_t, 8> tx_share_percent{};
  std::array<std::uint8_t, 8> rx_share_percent{};
  bool operator==(const EtsSetting&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("willing", self.willing...);
    visit("tc_of_priority", self.tc_of_priority...);
    visit("tsa_of_tc", self.tsa...);
    visit("tx_share_percent_of_tc", self.tx_share_percent...);
    visit("rx_share_percent_of_tc", self.rx_share_percent...);
  }
};

// The writable half of PortBuffers.
struct BufferSetting {
  std::array<std::uint8_t, 8> buffer_of_priority{};
  std::array<Bytes, 8> size{};
  bool operator==(const BufferSetting&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("buffer_of_priority", self.buffer_of_priority...);
    visit("size_bytes", self.size...);
  }
};

// Which alternative belongs to which kind stands beside the kind above.
using KnobValue = std::variant<std::int64_t, DcbxMode, PfcSetting, EtsSetting, std::vector<AppEntry>,
                               BufferSetting, GlobalPause>;

// Entries of `current` that give a protocol of `target` another priority than `target` does: what a driver
// that does not exchange entries (DcbTraits::refuses_remapping) wants deleted before the new ones come.
std::vector<AppEntry> entries_in_the_way(const std::vector<AppEntry>& current,
                                         const std::vector<AppEntry>& target);

// Whether `value` holds the alternative that belongs to `kind` and every number in it is one the kernel's
// interface can carry (an MTU of at least 68 B, a ToS byte of 0..255, ETS shares of 0..100 %). Values that
// are merely foolish pass: what a host was found with has to be expressible, since it has to be restored.
bool is_valid(KnobKind kind, const KnobValue& value);

// The knob's value in an observed host; the reason if the host does not show it.
Observed<KnobValue> value_of(const Host& host, const Knob& knob);

// Whether a value that `value_of` did not find is merely not shown yet: cm_default_tos has a configfs
// directory that somebody has to make first. Readers say so with this reason.
inline constexpr std::string_view kHiddenUntilMade =
    "no configfs directory for this device yet: the kernel's default is in force";
bool is_hidden(const Unavailable& reason);

// "eth0 pfc", "eth0 cc_params/np_cnp_dscp".
std::string to_text(const Knob& knob);
// One line for people: "priorities {3}, delay 7", "dscp 26->3 48->6", "9000".
std::string to_text(const KnobValue& value);
// The same with the unit that belongs to the kind: "9000 B", "100 ms", "106 (DSCP 26, ECT(0))".
std::string to_text(const Knob& knob, const KnobValue& value);

// The same change by the tools an engineer knows, one shell line each, to be pasted as root: dcb, ethtool,
// ip, echo. A port in another network namespace is reached by `ip netns exec` or `nsenter`. `before` lets it
// spell deletions. With `with_mlnx_qos`, mlnx_qos follows where it has an exact counterpart. Empty where no
// tool has one (cm_default_tos of a port without RDMA device). Sources: dcb-*(8) of iproute2 6.1,
// ethtool(8) 6.1.
std::vector<std::string> equivalent_commands(const Port& port, const Knob& knob, const KnobValue& before,
                                             const KnobValue& after, bool with_mlnx_qos = false);
// Whether one of those lines ends with 0 even if the kernel refused: `dcb pfc|ets|buffer|maxrate set` of
// iproute2 6.1 do.
bool hides_refusal(std::string_view command);

}  // namespace rocetune::host

namespace rocetune {
ROCETUNE_ENUM(host::KnobKind, P{E::dcbx_mode, "dcbx_mode"}, P{E::pfc, "pfc"}, P{E::ets, "ets"},
              P{E::app_table, "app_table"}, P{E::buffers, "buffers"}, P{E::global_pause, "global_pause"},
              P{E::mtu, "mtu"}, P{E::pfc_prevention, "pfc_prevention"}, P{E::cc_param, "cc_param"},
              P{E::cm_default_tos, "cm_default_tos"});
}  // namespace rocetune
