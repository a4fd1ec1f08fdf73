// Devlink by generic netlink (include/uapi/linux/devlink.h): versions, parameters, eswitch mode of a device.
// Parsing is pure on bytes; DevlinkSocket is the conversation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/generic_netlink.h"
#include "dataplane/base/observed.h"
#include "dataplane/base/reflect.h"

namespace rocetune::host {

// What devlink says about one device.
struct DevlinkEntry {
  std::string bus, device;  // "pci", "0000:03:00.0"
  std::string driver;
  std::map<std::string, std::string> versions;      // running, else fixed: "fw.psid", "fw.version"
  std::map<std::string, std::string> params;        // run-time value, else the one of the next driver load
  Observed<std::string> eswitch_mode = not_read();  // "legacy", "switchdev"; asking needs CAP_NET_ADMIN
  bool operator==(const DevlinkEntry&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("bus", self.bus...);
    visit("device", self.device...);
    visit("driver", self.driver...);
    visit("versions", self.versions...);
    visit("params", self.params...);
    visit("eswitch_mode", self.eswitch_mode...);
  }
};

// `payload` is what follows nlmsghdr: genlmsghdr, then attributes. Errors: io for malformed messages.
// Adds bus, device, driver and versions.
Expected<DevlinkEntry> parse_devlink_info(ByteSpan payload);
// One parameter: whose, its name, its value as text ("true", "64", "dmfs").
struct DevlinkParam {
  std::string bus, device, name;
  std::optional<std::string> value;  // none if the driver gave none
};
Expected<DevlinkParam> parse_devlink_param(ByteSpan payload);
Expected<std::string> parse_devlink_eswitch_mode(ByteSpan payload);

class DevlinkSocket {
 public:
  // Errors: absent if the kernel has no devlink.
  static Expected<DevlinkSocket> open();
  // All devices of the socket's network namespace with all they say.
  Expected<std::vector<DevlinkEntry>> devices();

 private:
  explicit DevlinkSocket(GenericNetlinkSocket socket) : socket_(std::move(socket)) {}
  Observed<std::string> eswitch_mode(const DevlinkEntry& device);
  GenericNetlinkSocket socket_;
};

}  // namespace rocetune::host
