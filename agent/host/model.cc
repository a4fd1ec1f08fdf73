#include "agent/host/model.h"

#include <algorithm>

#include "dataplane/base/reflect_json.h"

namespace rocetune::host {

bool Gid::is_ipv4_mapped() const { return address.starts_with("0000:0000:0000:0000:0000:ffff:"); }
bool Gid::is_link_local() const { return address.starts_with("fe8"); }

const Port* Host::find_port(std::string_view wanted) const {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == wanted; });
  return found == ports.end() ? nullptr : &*found;
}

std::optional<Priority> priority_of_dscp(const Dcb& dcb, Dscp d) {
  if (!dcb.app) return std::nullopt;
  for (const AppEntry& entry : *dcb.app) {
    if (entry.selector == AppSelector::dscp && entry.protocol == d.value()) return entry.priority;
  }
  return std::nullopt;
}

std::string_view role_text(PortRole role) {
  switch (role) {
    case PortRole::physical:
      return "";
    case PortRole::virtual_function:
      return "virtual function: QoS is set on its physical function";
    case PortRole::representor:
      return "representor: stands for a function, not for a wire";
    case PortRole::uplink_representor:
      return "uplink of an embedded switch (switchdev)";
    case PortRole::dpu_host:
      return "host side of a DPU: the embedded CPU owns the port";
    case PortRole::bond:
      return "bond";
    case PortRole::software:
      return "software device";
  }
  return "";
}

std::string to_json_text(const Host& host) {
  JsonWriter out;
  to_json(out, host);
  return out.take();
}

Expected<Host> host_from_json(std::string_view text, const std::string& file) {
  return parse_json(text, file).and_then([&](const Json& json) {
    return from_json<Host>(json, JsonPath(file));
  });
}

}  // namespace rocetune::host
