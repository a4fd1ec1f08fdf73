#include "agent/host/storage_service.h"

#include <algorithm>

#include "agent/host/words.h"

namespace rocetune::host {
namespace {

constexpr std::string_view kModules = "/sys/module";
constexpr std::string_view kNvmePorts = "/sys/kernel/config/nvmet/ports";
constexpr std::string_view kNfsPorts = "/proc/fs/nfsd/portlist";

// "o2ib4" -> "o2ib": networks of one kind are numbered.
std::string_view network_kind(std::string_view network) {
  return network.substr(0, network.find_last_not_of("0123456789") + 1);
}

// o2iblnd and socklnd take the address of an IP interface for their NID (lnet/lnet/nidstrings.c,
// libcfs_netstrfns).
bool has_ip_address(std::string_view network) {
  const std::string_view kind = network_kind(network);
  return kind == "tcp" || kind == "o2ib";
}

void survey_lnet(const HostFiles& files, ServiceSurvey& out) {
  const auto modules = files.names(kModules);
  if (!modules && modules.error().kind() != ErrorKind::absent) {
    out.unread.push_back(fmt::format("Lustre's network (LNet): {}", modules.error().text()));
    return;
  }
  if (!modules || std::find(modules->begin(), modules->end(), "lnet") == modules->end()) return;
  std::string why;
  for (const std::string_view path : {"/sys/kernel/debug/lnet/nis", "/proc/sys/lnet/nis"}) {
    const auto text = files.text(path);
    if (text) {
      out.lnet_is_known = true;
      out.services = parse_lnet_interfaces(*text);
      return;
    }
    if (why.empty() || text.error().kind() != ErrorKind::absent) why = text.error().text();
  }
  out.unread.push_back(fmt::format("Lustre's network (LNet) is loaded, over which ports it goes: {}", why));
}

// Ports without a subsystem are switched off (nvmet_port_subsys_allow_link enables a port).
void survey_nvme_target(const HostFiles& files, ServiceSurvey& out) {
  const auto ports = files.names(kNvmePorts);
  if (!ports && ports.error().kind() == ErrorKind::absent) return;
  if (!ports) {
    out.unread.push_back(fmt::format("NVMe target: {}", ports.error().text()));
    return;
  }
  for (const std::string& port : *ports) {
    const std::string folder = fmt::format("{}/{}", kNvmePorts, port);
    const auto subsystems = files.names(folder + "/subsystems");
    if (subsystems && subsystems->empty()) continue;
    const auto transport = files.attribute(folder + "/addr_trtype");
    if (transport && *transport != "rdma" && *transport != "tcp") continue;
    const auto address = files.attribute(folder + "/addr_traddr");
    const bool any = !address || *address == "0.0.0.0" || *address == "::";
    out.services.push_back({fmt::format("NVMe target over {} ({})", transport ? *transport : "fabrics",
                                        address ? *address : "address not readable"),
                            any ? "" : *address});
  }
}

void survey_nfs_server(const HostFiles& files, ServiceSurvey& out) {
  const auto text = files.text(kNfsPorts);
  if (!text && text.error().kind() == ErrorKind::absent) return;
  if (!text) {
    out.unread.push_back(fmt::format("NFS server: {}", text.error().text()));
    return;
  }
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.starts_with("rdma")) continue;
    out.services.push_back({fmt::format("NFS server ({})", line), ""});
  }
}

}  // namespace

std::vector<StorageService> parse_lnet_interfaces(std::string_view text) {
  std::vector<StorageService> out;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    const std::size_t at = parts.empty() ? std::string_view::npos : parts[0].rfind('@');
    if (at == std::string_view::npos) continue;  // the heading
    const std::string_view nid = parts[0], network = nid.substr(at + 1);
    if (network_kind(network) == "lo") continue;
    StorageService service{fmt::format("Lustre ({})", nid),
                           has_ip_address(network) ? std::string(nid.substr(0, at)) : ""};
    if (std::find(out.begin(), out.end(), service) == out.end()) out.push_back(std::move(service));
  }
  return out;
}

ServiceSurvey read_storage_services(const HostFiles& files) {
  ServiceSurvey out;
  survey_lnet(files, out);
  survey_nvme_target(files, out);
  survey_nfs_server(files, out);
  return out;
}

}  // namespace rocetune::host
