// PCI Express: link, device control and ACS, from sysfs and from config space (PCIe base
// specification 6.0, 7.5.3 and 7.7.11).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/model.h"

namespace rocetune::host {

// What config space says about one function.
struct PciConfig {
  std::optional<Bytes> max_read_request, max_payload;  // Device Control
  std::optional<bool> relaxed_ordering;                // Device Control, enable bit
  // ACS Control redirects peer-to-peer traffic towards the root: request redirect, completion redirect or
  // upstream forwarding. Nothing if the function has no ACS capability.
  std::optional<bool> acs_redirects;
  bool operator==(const PciConfig&) const = default;
};

// Config space of any length. Errors: denied for the 64 bytes that unprivileged readers get; absent if there
// is no PCI Express capability; io for nonsense (capability loops included). ACS needs the 4096-byte space.
Expected<PciConfig> parse_pci_config(std::string_view config);

// The last "0000:03:00.0" in a path, if any.
std::optional<std::string> pci_address_in(std::string_view path);
// All of them, from the root port to the function itself.
std::vector<std::string> pci_addresses_in(std::string_view path);

// "16.0 GT/s PCIe" -> 16.0.
std::optional<double> parse_link_speed(std::string_view text);

PcieLink read_pcie(const HostFiles& files, const std::string& address);
// "15b3:101d".
std::optional<std::string> read_pci_id(const HostFiles& files, const std::string& address);

}  // namespace rocetune::host
