#include "dataplane/wire/lldp.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace rocetune::wire {
namespace {

enum TlvType : unsigned { kEnd = 0, kChassis = 1, kPort = 2, kTtl = 3, kSystemName = 5, kOrganisation = 127 };
constexpr std::uint32_t kOui8021 = 0x0080C2;
constexpr std::uint32_t kOuiCee = 0x001B21;
constexpr std::uint8_t kEtsConfiguration = 9, kEtsRecommendation = 10, kPfc = 11, kApplication = 12;
constexpr std::uint8_t kChassisMac = 4, kPortMac = 3;
constexpr std::uint8_t kChassisLocal = 7, kPortInterfaceName = 5;

std::string text_of(ConstBytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// An id TLV: subtype, then the id.
std::string id_text(ConstBytes value, std::uint8_t mac_subtype) {
  if (value.empty()) return "";
  const std::uint8_t subtype = load8(value, 0);
  const ConstBytes id = value.subspan(1);
  if (subtype == mac_subtype && id.size() == 6) {
    MacAddress mac;
    std::memcpy(mac.octets.data(), id.data(), 6);
    return to_text(mac);
  }
  const bool printable =
      std::ranges::all_of(id, [](std::byte b) { return b >= std::byte{0x20} && b < std::byte{0x7F}; });
  if (printable) return text_of(id);
  std::string hex;
  for (const std::byte b : id) hex += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return hex;
}

// Behind OUI and subtype: flags, four bytes of priority table, eight shares, eight algorithms.
std::optional<EtsTlv> parse_ets(ConstBytes b, bool configuration) {
  if (b.size() < 21) return std::nullopt;
  EtsTlv ets;
  const std::uint8_t flags = load8(b, 0);
  if (configuration) {
    ets.willing = (flags & 0x80) != 0;
    ets.credit_based_shaper = (flags & 0x40) != 0;
    ets.maximum_tcs = flags & 7;
  }
  for (std::size_t p = 0; p < 8; ++p) {
    const std::uint8_t pair = load8(b, 1 + p / 2);
    ets.tc_of_priority[p] = p % 2 == 0 ? pair >> 4 : pair & 0xF;
    ets.bandwidth_percent[p] = load8(b, 5 + p);
    ets.selection[p] = load8(b, 13 + p);
  }
  return ets;
}

void parse_8021(ConstBytes value, Lldp& out) {
  const std::uint8_t subtype = load8(value, 3);
  const ConstBytes b = value.subspan(4);
  switch (subtype) {
    case kEtsConfiguration:
      out.ets_configuration = parse_ets(b, true);
      break;
    case kEtsRecommendation:
      out.ets_recommendation = parse_ets(b, false);
      break;
    case kPfc:
      if (b.size() < 2) break;
      out.pfc = PfcTlv{.willing = (load8(b, 0) & 0x80) != 0,
                       .macsec_bypass = (load8(b, 0) & 0x40) != 0,
                       .capability = static_cast<std::uint8_t>(load8(b, 0) & 0xF),
                       .enabled = PrioritySet(load8(b, 1))};
      break;
    case kApplication:
      for (std::size_t at = 1; at + 3 <= b.size(); at += 3) {
        out.applications.push_back({.priority = Priority(load8(b, at) >> 5),
                                    .selector = static_cast<std::uint8_t>(load8(b, at) & 7),
                                    .protocol = load16(b, at + 1)});
      }
      break;
    default:
      break;
  }
}

void parse_organisation(ConstBytes value, Lldp& out) {
  if (value.size() < 4) return;
  const std::uint32_t oui = load24(value, 0);
  if (oui == kOui8021) parse_8021(value, out);
  if (oui == kOuiCee) {
    out.has_cin_dcbx = out.has_cin_dcbx || load8(value, 3) == 1;
    out.has_cee_dcbx = out.has_cee_dcbx || load8(value, 3) == 2;
  }
}

// Appends TLVs while they fit.
class TlvWriter {
 public:
  explicit TlvWriter(MutableBytes out) : out_(out) {}
  // The value's bytes to fill; empty and failed() from then on if there is no room.
  MutableBytes add(unsigned type, std::size_t size) {
    if (failed_ || size_ + 2 + size > out_.size() || size > 511) {
      failed_ = true;
      return {};
    }
    store16(out_, size_, static_cast<std::uint16_t>(type << 9 | size));
    const MutableBytes value = out_.subspan(size_ + 2, size);
    std::ranges::fill(value, std::byte{0});
    size_ += 2 + size;
    return value;
  }
  MutableBytes add_8021(std::uint8_t subtype, std::size_t size) {
    const MutableBytes value = add(kOrganisation, 4 + size);
    if (value.empty()) return {};
    store24(value, 0, kOui8021);
    store8(value, 3, subtype);
    return value.subspan(4);
  }
  std::size_t size() const { return failed_ ? 0 : size_; }

 private:
  MutableBytes out_;
  std::size_t size_ = 0;
  bool failed_ = false;
};

void emit_id(TlvWriter& writer, unsigned type, std::uint8_t subtype, std::string_view id) {
  const MutableBytes value = writer.add(type, 1 + id.size());
  if (value.empty()) return;
  store8(value, 0, subtype);
  std::memcpy(value.data() + 1, id.data(), id.size());
}

void emit_ets(TlvWriter& writer, std::uint8_t subtype, const EtsTlv& ets) {
  const MutableBytes b = writer.add_8021(subtype, 21);
  if (b.empty()) return;
  if (subtype == kEtsConfiguration) {
    store8(b, 0, (ets.willing ? 0x80 : 0) | (ets.credit_based_shaper ? 0x40 : 0) | (ets.maximum_tcs & 7));
  }
  for (std::size_t p = 0; p < 8; p += 2) {
    store8(b, 1 + p / 2, (ets.tc_of_priority[p] & 0xF) << 4 | (ets.tc_of_priority[p + 1] & 0xF));
  }
  for (std::size_t tc = 0; tc < 8; ++tc) {
    store8(b, 5 + tc, ets.bandwidth_percent[tc]);
    store8(b, 13 + tc, ets.selection[tc]);
  }
}

}  // namespace

Decoded<Lldp> parse_lldp(ConstBytes payload) {
  Lldp out;
  std::size_t at = 0;
  bool any = false;
  while (at + 2 <= payload.size()) {
    const std::uint16_t head = load16(payload, at);
    const std::size_t size = head & 0x1FF;
    at += 2;
    if (at + size > payload.size()) break;
    const ConstBytes value = payload.subspan(at, size);
    at += size;
    const unsigned type = head >> 9;
    if (!any && type != kChassis) break;
    any = true;
    if (type == kEnd) {
      out.is_complete = true;
      break;
    }
    if (type == kChassis) out.chassis_id = id_text(value, kChassisMac);
    if (type == kPort) out.port_id = id_text(value, kPortMac);
    if (type == kTtl && size >= 2) out.ttl_seconds = load16(value, 0);
    if (type == kSystemName) out.system_name = text_of(value);
    if (type == kOrganisation) parse_organisation(value, out);
  }
  if (!any) return malformed(Malformed::truncated);
  return out;
}

std::size_t emit_lldp(const Lldp& lldp, MutableBytes out) {
  TlvWriter writer(out);
  emit_id(writer, kChassis, kChassisLocal, lldp.chassis_id);
  emit_id(writer, kPort, kPortInterfaceName, lldp.port_id);
  if (const MutableBytes ttl = writer.add(kTtl, 2); !ttl.empty()) store16(ttl, 0, lldp.ttl_seconds);
  if (!lldp.system_name.empty()) {
    const MutableBytes value = writer.add(kSystemName, lldp.system_name.size());
    if (!value.empty()) std::memcpy(value.data(), lldp.system_name.data(), value.size());
  }
  if (lldp.ets_configuration) emit_ets(writer, kEtsConfiguration, *lldp.ets_configuration);
  if (lldp.ets_recommendation) emit_ets(writer, kEtsRecommendation, *lldp.ets_recommendation);
  if (lldp.pfc) {
    const MutableBytes b = writer.add_8021(kPfc, 2);
    if (!b.empty()) {
      store8(b, 0,
             (lldp.pfc->willing ? 0x80 : 0) | (lldp.pfc->macsec_bypass ? 0x40 : 0) |
                 (lldp.pfc->capability & 0xF));
      store8(b, 1, lldp.pfc->enabled.mask());
    }
  }
  if (!lldp.applications.empty()) {
    const MutableBytes b = writer.add_8021(kApplication, 1 + 3 * lldp.applications.size());
    for (std::size_t i = 0; i < lldp.applications.size() && !b.empty(); ++i) {
      const AppTlvEntry& entry = lldp.applications[i];
      store8(b, 1 + 3 * i, entry.priority.value() << 5 | (entry.selector & 7));
      store16(b, 2 + 3 * i, entry.protocol);
    }
  }
  writer.add(kEnd, 0);
  return writer.size();
}

}  // namespace rocetune::wire
