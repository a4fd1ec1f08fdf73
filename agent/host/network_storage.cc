#include "agent/host/network_storage.h"

#include <algorithm>
#include <set>

#include "agent/host/words.h"

namespace rocetune::host {
namespace {

constexpr std::string_view kMounts = "/proc/mounts";
constexpr std::string_view kNvme = "/sys/class/nvme";
constexpr std::string_view kIscsi = "/sys/class/iscsi_connection";

// Types whose source in /proc/mounts names the servers, and types whose servers only their own tools tell.
bool names_its_servers(std::string_view type) {
  static const std::set<std::string_view> kTypes{"nfs",    "nfs4",      "cifs",   "smb3",
                                                 "ceph",   "fuse.ceph", "lustre", "pvfs2",
                                                 "wekafs", "glusterfs", "9p",     "fuse.glusterfs"};
  return kTypes.contains(type);
}
bool hides_its_servers(std::string_view type) {
  static const std::set<std::string_view> kTypes{"beegfs", "gpfs", "afs", "fuse.daos", "fuse.dfuse"};
  return kTypes.contains(type);
}

bool is_lustre_target(std::string_view type, std::string_view source) {
  return type == "lustre_tgt" || (type == "lustre" && source.find(":/") == std::string_view::npos);
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "10.0.0.1@o2ib", "10.0.0.1:6789", "[fd00::1]:6789", "10.0.0.1": the server alone.
std::string server_alone(std::string_view text) {
  text = text.substr(0, text.find('@'));
  if (text.starts_with("[")) return std::string(text.substr(1, text.find(']') - 1));
  const std::size_t colon = text.find(':');
  const bool has_port =
      colon != std::string_view::npos && text.rfind(':') == colon && is_digits(text.substr(colon + 1));
  return std::string(has_port ? text.substr(0, colon) : text);
}

std::vector<std::string> servers_in(std::string_view list, char separator) {
  std::vector<std::string> out;
  for (const std::string_view item : split(list, separator)) {
    if (std::string server = server_alone(item); !server.empty()) out.push_back(std::move(server));
  }
  return out;
}

// The value of "key=value" among a mount's options; empty if it is not there.
std::string_view option_of(std::string_view options, std::string_view key) {
  for (const std::string_view option : split(options, ',')) {
    if (option.starts_with(key) && option.substr(key.size()).starts_with("="))
      return option.substr(key.size() + 1);
  }
  return "";
}

std::vector<std::string> servers_of_source(std::string_view type, std::string_view source) {
  if (source.starts_with("//")) return servers_in(source.substr(2, source.find('/', 2) - 2), ',');
  if (const std::size_t scheme = source.find("://");
      scheme != std::string_view::npos) {  // tcp://host:3334/fs
    source.remove_prefix(scheme + 3);
    return servers_in(source.substr(0, source.find('/')), ',');
  }
  if (type == "wekafs") return servers_in(source.substr(0, source.find('/')), ',');
  if (type == "9p") return {server_alone(source)};
  std::string_view list = source.substr(0, source.find(":/"));
  if (type != "lustre") return servers_in(list, ',');
  // Addresses of one server by comma, further servers by colon: 10.0.0.1@o2ib,192.0.2.1@tcp:10.0.0.2@o2ib.
  std::vector<std::string> out;
  for (const std::string_view node : split(list, ':')) {
    for (std::string& server : servers_in(node, ',')) out.push_back(std::move(server));
  }
  return out;
}

std::vector<std::string> servers_of(std::string_view type, std::string_view source,
                                    std::string_view options) {
  // nfs and cifs name the address that they really use in their options; ceph its monitors by slash.
  if (const std::string_view address = option_of(options, "addr"); !address.empty())
    return {std::string(address)};
  if (const std::string_view monitors = option_of(options, "mon_addr"); !monitors.empty())
    return servers_in(monitors, '/');
  return servers_of_source(type, source);
}

void survey_mounts(const HostFiles& files, StorageSurvey& out) {
  const auto text = files.text(kMounts);
  if (text) {
    out.storage = parse_network_mounts(*text);
  } else {
    out.unread.push_back(fmt::format("file systems: {}", text.error().text()));
  }
}

// Controllers of other transports (pcie, fc, loop) use no network of ours.
void survey_nvme(const HostFiles& files, StorageSurvey& out) {
  const auto names = files.names(kNvme);
  if (!names && names.error().kind() == ErrorKind::absent) return;
  if (!names) {
    out.unread.push_back(fmt::format("NVMe over fabrics: {}", names.error().text()));
    return;
  }
  for (const std::string& name : *names) {
    const auto transport = files.attribute(fmt::format("{}/{}/transport", kNvme, name));
    if (!transport && transport.error().kind() == ErrorKind::absent) continue;
    if (transport && *transport != "rdma" && *transport != "tcp") continue;
    const auto address = files.attribute(fmt::format("{}/{}/address", kNvme, name));
    NetworkStorage storage{name, fmt::format("NVMe over {}", transport ? *transport : "fabrics"), {}};
    if (std::string server = address ? parse_nvme_server(*address) : ""; !server.empty()) {
      storage.servers.push_back(std::move(server));
    }
    out.storage.push_back(std::move(storage));
  }
}

void survey_iscsi(const HostFiles& files, StorageSurvey& out) {
  const auto names = files.names(kIscsi);
  if (!names && names.error().kind() == ErrorKind::absent) return;
  if (!names) {
    out.unread.push_back(fmt::format("iSCSI: {}", names.error().text()));
    return;
  }
  for (const std::string& name : *names) {
    NetworkStorage storage{name, "iSCSI", {}};
    for (const char* const attribute : {"address", "persistent_address"}) {
      const auto address = files.attribute(fmt::format("{}/{}/{}", kIscsi, name, attribute));
      if (!address || address->empty() || address->starts_with("<")) continue;
      storage.servers.push_back(*address);
      break;
    }
    out.storage.push_back(std::move(storage));
  }
}

}  // namespace

std::vector<NetworkStorage> parse_network_mounts(std::string_view text) {
  std::vector<NetworkStorage> out;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    if (parts.size() < 4) continue;
    const std::string_view type = parts[2], options = parts[3];
    if (is_lustre_target(type, parts[0])) {
      out.push_back({std::string(parts[1]), std::string(kLustreTarget), {}});
      continue;
    }
    if (!names_its_servers(type) && !hides_its_servers(type)) continue;
    // 9p between a virtual machine and its host, and between processes, needs no network.
    if (const std::string_view transport = option_of(options, "trans");
        type == "9p" && transport != "tcp" && transport != "rdma") {
      continue;
    }
    NetworkStorage storage{std::string(parts[1]), std::string(type), {}};
    if (names_its_servers(type)) storage.servers = servers_of(type, parts[0], options);
    out.push_back(std::move(storage));
  }
  return out;
}

std::string parse_nvme_server(std::string_view address) { return std::string(option_of(address, "traddr")); }

StorageSurvey read_network_storage(const HostFiles& files) {
  StorageSurvey out;
  survey_mounts(files, out);
  survey_nvme(files, out);
  survey_iscsi(files, out);
  return out;
}

}  // namespace rocetune::host
