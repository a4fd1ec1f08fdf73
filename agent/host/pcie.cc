#include "agent/host/pcie.h"

#include <charconv>
#include <set>

namespace rocetune::host {
namespace {

// Offsets and fields as in include/uapi/linux/pci_regs.h.
constexpr std::size_t kHeaderSize = 64;
constexpr std::size_t kStatus = 0x06;
constexpr unsigned kStatusHasCapabilities = 0x10;
constexpr std::size_t kCapabilityPointer = 0x34;
constexpr unsigned kCapabilityExpress = 0x10;
constexpr std::size_t kDeviceControl = 8;  // within the PCI Express capability
constexpr unsigned kRelaxedOrdering = 0x0010;
constexpr std::size_t kExtendedStart = 0x100;
constexpr unsigned kExtendedAcs = 0x000d;
constexpr std::size_t kAcsControl = 6;  // within the ACS capability
constexpr unsigned kAcsRequestRedirect = 0x04, kAcsCompletionRedirect = 0x08, kAcsUpstreamForwarding = 0x10;

unsigned byte_at(std::string_view config, std::size_t at) {
  return at < config.size() ? static_cast<unsigned char>(config[at]) : 0u;
}
unsigned word_at(std::string_view config, std::size_t at) {
  return byte_at(config, at) | byte_at(config, at + 1) << 8;
}

// 128 B << field; fields 6 and 7 are reserved.
std::optional<Bytes> payload_size(unsigned field) {
  if (field > 5) return std::nullopt;
  return Bytes(128 << field);
}

// Where the capability with this id begins; 0 if there is none.
Expected<std::size_t> find_capability(std::string_view config, unsigned id) {
  std::set<std::size_t> seen;
  std::size_t at = byte_at(config, kCapabilityPointer) & 0xfc;
  while (at >= kHeaderSize && at + 1 < config.size()) {
    if (!seen.insert(at).second) return fail(ErrorKind::io, "capability list of config space loops");
    if (byte_at(config, at) == id) return at;
    at = byte_at(config, at + 1) & 0xfc;
  }
  return std::size_t{0};
}
Expected<std::size_t> find_extended_capability(std::string_view config, unsigned id) {
  std::set<std::size_t> seen;
  std::size_t at = kExtendedStart;
  while (at >= kExtendedStart && at + 3 < config.size()) {
    if (!seen.insert(at).second) return fail(ErrorKind::io, "extended capability list of config space loops");
    if (word_at(config, at) == id) return at;
    at = word_at(config, at + 2) >> 4 & 0xffc;
  }
  return std::size_t{0};
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// "0000:03:00.0"; the domain may have more than four digits (VMD).
bool is_pci_address(std::string_view text) {
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos || first < 4 || text.size() != first + 8) return false;
  return is_hex(text.substr(0, first)) && is_hex(text.substr(first + 1, 2)) && text[first + 3] == ':' &&
         is_hex(text.substr(first + 4, 2)) && text[first + 6] == '.' && text[first + 7] >= '0' &&
         text[first + 7] <= '7';
}

std::string device_path(std::string_view address) { return fmt::format("/sys/bus/pci/devices/{}", address); }

Expected<PciConfig> read_config(const HostFiles& files, const std::string& address) {
  return files.text(device_path(address) + "/config").and_then([&](const std::string& config) {
    return parse_pci_config(config);
  });
}

// Names of bridges above the function that send peer-to-peer traffic to the root.
Observed<std::vector<std::string>> redirecting_bridges(const HostFiles& files, const std::string& address) {
  const auto path = files.resolved(device_path(address));
  if (!path) return unavailable(path.error());
  std::vector<std::string> out;
  for (const std::string& bridge : pci_addresses_in(*path)) {
    if (bridge == address) continue;
    const auto config = read_config(files, bridge);
    // A conventional bridge has neither PCI Express nor ACS.
    if (!config && config.error().kind() != ErrorKind::absent)
      return unavailable(config.error().within(bridge));
    if (config && config->acs_redirects.value_or(false)) out.push_back(bridge);
  }
  return out;
}

std::optional<int> width_of(const HostFiles& files, const std::string& path) {
  const auto width = files.integer(path);
  // 0 and 255 are what functions without a link of their own show (VFs, integrated endpoints).
  if (!width || *width <= 0 || *width > 64) return std::nullopt;
  return static_cast<int>(*width);
}
std::optional<double> speed_of(const HostFiles& files, const std::string& path) {
  const auto text = files.attribute(path);
  return text ? parse_link_speed(*text) : std::nullopt;
}

}  // namespace

Expected<PciConfig> parse_pci_config(std::string_view config) {
  if (config.size() < kHeaderSize) return fail(ErrorKind::io, "config space of {} bytes", config.size());
  if ((word_at(config, kStatus) & kStatusHasCapabilities) == 0) {
    return fail(ErrorKind::absent, "no PCI Express capability");
  }
  if (config.size() == kHeaderSize) {
    return fail(ErrorKind::denied, "config space is cut to 64 bytes for readers without CAP_SYS_ADMIN");
  }
  const auto express = find_capability(config, kCapabilityExpress);
  if (!express) return tl::unexpected(express.error());
  if (*express == 0) return fail(ErrorKind::absent, "no PCI Express capability");
  const unsigned control = word_at(config, *express + kDeviceControl);
  PciConfig out;
  out.max_payload = payload_size(control >> 5 & 7);
  out.max_read_request = payload_size(control >> 12 & 7);
  out.relaxed_ordering = (control & kRelaxedOrdering) != 0;
  const auto acs = find_extended_capability(config, kExtendedAcs);
  if (!acs) return tl::unexpected(acs.error());
  if (*acs != 0) {
    const unsigned bits = word_at(config, *acs + kAcsControl);
    out.acs_redirects = (bits & (kAcsRequestRedirect | kAcsCompletionRedirect | kAcsUpstreamForwarding)) != 0;
  }
  return out;
}

std::vector<std::string> pci_addresses_in(std::string_view path) {
  std::vector<std::string> out;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (is_pci_address(component)) out.emplace_back(component);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return out;
}

std::optional<std::string> pci_address_in(std::string_view path) {
  const auto all = pci_addresses_in(path);
  return all.empty() ? std::nullopt : std::optional(all.back());
}

std::optional<double> parse_link_speed(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0 && value <= 1e4) ||
      !text.substr(static_cast<std::size_t>(rest - text.data())).starts_with(" GT/s")) {
    return std::nullopt;  // "Unknown"
  }
  return value;
}

PcieLink read_pcie(const HostFiles& files, const std::string& address) {
  const std::string path = device_path(address);
  PcieLink out{.width_lanes = width_of(files, path + "/current_link_width"),
               .max_width_lanes = width_of(files, path + "/max_link_width"),
               .speed_gt_per_s = speed_of(files, path + "/current_link_speed"),
               .max_speed_gt_per_s = speed_of(files, path + "/max_link_speed")};
  const auto config = read_config(files, address);
  const auto field =
      [&](auto member) -> Observed<typename std::remove_cvref_t<decltype(PciConfig{}.*member)>::value_type> {
    if (!config) return unavailable(config.error());
    const auto& value = (*config).*member;
    if (!value) return failed("reserved value in Device Control");
    return *value;
  };
  out.max_read_request = field(&PciConfig::max_read_request);
  out.max_payload = field(&PciConfig::max_payload);
  out.relaxed_ordering = field(&PciConfig::relaxed_ordering);
  out.acs_redirecting_bridges = redirecting_bridges(files, address);
  return out;
}

std::optional<std::string> read_pci_id(const HostFiles& files, const std::string& address) {
  const auto vendor = files.attribute(device_path(address) + "/vendor");
  const auto device = files.attribute(device_path(address) + "/device");
  if (!vendor || !device || !vendor->starts_with("0x") || !device->starts_with("0x")) return std::nullopt;
  return vendor->substr(2) + ":" + device->substr(2);
}

}  // namespace rocetune::host
