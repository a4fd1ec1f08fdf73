#include "agent/host/congestion_files.h"

#include <sys/stat.h>

#include <algorithm>

namespace rocetune::host {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

// The kernel's rule (fs/debugfs/file.c, debugfs_locked_down): under lockdown only files of mode 0444 or less
// open.
bool is_hidden_by_lockdown(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && (info.st_mode & 07777 & ~0444u) != 0;
}

using Parameters = std::map<std::string, std::int64_t>;

Observed<Parameters> read_parameters(const HostFiles& files, const NicRow& row, const std::string& folder) {
  Parameters out;
  for (const CcParameter& parameter : row.cc.parameters) {
    const auto value = files.integer(fmt::format("{}/{}", folder, parameter.name));
    // A file may be missing: each NIC generation has its own set.
    if (!value && value.error().kind() == ErrorKind::absent) continue;
    if (!value) return unavailable(value.error());
    out[parameter.name] = *value;
  }
  if (out.empty()) return absent(fmt::format("{} holds none of the known parameters", folder));
  return out;
}

// The folder of an out-of-tree driver, if that driver is loaded.
std::optional<std::string> alternative_folder(const HostFiles& files, const NicRow& row, const Port& port) {
  if (row.cc.alternative_path.empty() || !port.rdma) return std::nullopt;
  std::string folder = replaced(row.cc.alternative_path, "{rdma}", port.rdma->device);
  return files.exists(folder) ? std::optional(std::move(folder)) : std::nullopt;
}

std::string debugfs_folder(const NicRow& row, const Port& port) {
  return replaced(row.cc.path, "{pci}", *port.pci_address);
}

Observed<Parameters> read_debugfs(const HostFiles& files, const NicRow& row, const Port& port,
                                  const Observed<Lockdown>& lockdown) {
  if (port.role == PortRole::bond) return absent("a bond's parameters are those of its members");
  if (!port.pci_address) return absent("no PCI function");
  const std::string folder = debugfs_folder(row, port);
  const bool locked = lockdown && *lockdown != Lockdown::none;
  const auto names = files.names(folder);
  if (!names && names.error().kind() == ErrorKind::denied) {
    return denied(fmt::format("permission: {} is for root only", folder));
  }
  if (!names && names.error().kind() == ErrorKind::absent) {
    const auto debugfs = files.names("/sys/kernel/debug");
    if (!debugfs && debugfs.error().kind() == ErrorKind::denied) {
      return denied("permission: /sys/kernel/debug is for root only");
    }
    if (!debugfs || debugfs->empty()) return absent("debugfs is not mounted on /sys/kernel/debug");
    return absent(fmt::format("no {}: this driver or NIC shows no congestion-control parameters", folder));
  }
  if (!names) return unavailable(names.error());
  if (locked && !names->empty() && is_hidden_by_lockdown(files.path(folder + "/" + names->front()))) {
    return denied(fmt::format("kernel lockdown ({}): debugfs cannot be read; Secure Boot turns it on",
                              enum_name(*lockdown)));
  }
  return read_parameters(files, row, folder);
}

// A device's folder lies below its NIC's PCI function: .../0000:03:00.0/mlx5_core.fwctl.0/fwctl/fwctl0.
std::string fwctl_state(const HostFiles& files, const CcTraits& cc, const Port& port) {
  constexpr std::string_view kClass = "/sys/class/fwctl";
  const auto devices = files.names(kClass);
  if (!devices && devices.error().kind() == ErrorKind::absent) {
    return "this kernel has no fwctl to ask it by (from Linux 6.15 on)";
  }
  if (!devices)
    return fmt::format("whether it can be asked by fwctl is not known: {}", devices.error().text());
  for (const std::string& device : *devices) {
    const auto folder = files.resolved(fmt::format("{}/{}", kClass, device));
    if (!folder || !port.pci_address) continue;
    if (folder->find(fmt::format("/{}/", *port.pci_address)) != std::string::npos) {
      return fmt::format("the vendor's tools can ask it by fwctl, /dev/fwctl/{}", device);
    }
  }
  return fmt::format("fwctl has no device of this NIC{}",
                     cc.fwctl_module.empty() ? "" : " (module " + cc.fwctl_module + ")");
}

}  // namespace

Expected<std::string> cc_folder(const HostFiles& files, const NicRow& row, const Port& port) {
  if (auto folder = alternative_folder(files, row, port)) return *folder;
  if (row.cc.interface != CcInterface::debugfs) {
    return fail(ErrorKind::unsupported,
                "congestion-control parameters of {} have no file that can be written", row.name);
  }
  if (!port.pci_address) return fail(ErrorKind::absent, "{} has no PCI address", port.name);
  return debugfs_folder(row, port);
}

Observed<Parameters> read_cc_params(const HostFiles& files, const NicRow& row, const Port& port,
                                    const Observed<Lockdown>& lockdown) {
  const CcTraits& cc = row.cc;
  if (const auto folder = alternative_folder(files, row, port)) return read_parameters(files, row, *folder);
  if (cc.interface == CcInterface::debugfs) return read_debugfs(files, row, port, lockdown);
  if (!cc.module_parameters.empty()) {
    auto parameters = read_parameters(files, row, cc.module_parameters);
    if (parameters || parameters.error().kind == Unavailable::Kind::denied) return parameters;
  }
  if (row.name == "unknown") return absent(fmt::format("driver {} is not known", port.driver));
  return absent(fmt::format("no interface of {} that the kernel shows: {}", row.name, cc.origin));
}

Observed<CongestionControl> read_congestion_control(const HostFiles& files, const NicRow& row,
                                                    const Port& port, bool has_rdma) {
  const CcTraits& cc = row.cc;
  if (!has_rdma) return absent("no RDMA device on this port");
  if (cc.algorithm == CcAlgorithm::unknown) return absent(cc.origin);
  for (const std::string& name : cc.enable_parameters) {
    if (!port.cc_params || !port.cc_params->contains(name)) continue;
    return port.cc_params->at(name) != 0 ? CongestionControl::dcqcn : CongestionControl::off;
  }
  if (cc.algorithm == CcAlgorithm::off) return CongestionControl::off;
  if (cc.may_be_programmable(port.pci_id)) {
    return absent(
        fmt::format("this NIC may run a programmable algorithm in place of DCQCN, and only its firmware "
                    "knows which: {}; by hand: {}",
                    fwctl_state(files, cc, port), cc.programmable_query));
  }
  if (!port.cc_params) return tl::unexpected(port.cc_params.error());
  return CongestionControl::dcqcn;
}

Observed<EcnEnable> read_ecn_enable(const HostFiles& files, const std::string& netdev) {
  const std::string folder = fmt::format("/sys/class/net/{}/ecn", netdev);
  if (!files.exists(folder)) return absent("only NVIDIA's own driver packages (OFED) have ecn/ in sysfs");
  EcnEnable out;
  for (const auto& [name, set] : {std::pair{"roce_np", &EcnEnable::notification_point},
                                  std::pair{"roce_rp", &EcnEnable::reaction_point}}) {
    for (int p = 0; p < 8; ++p) {
      const auto on = files.integer(fmt::format("{}/{}/enable/{}", folder, name, p));
      if (!on) return unavailable(on.error());
      if (*on != 0) out.*set = (out.*set).with(Priority(p));
    }
  }
  return out;
}

Observed<Trust> read_ofed_trust(const HostFiles& files, const std::string& netdev) {
  const auto text = files.attribute(fmt::format("/sys/class/net/{}/qos/trust", netdev));
  if (!text && text.error().kind() == ErrorKind::absent) {
    return absent("only NVIDIA's own driver packages (OFED) have qos/trust in sysfs");
  }
  if (!text) return unavailable(text.error());
  if (*text == "dscp") return Trust::dscp;
  if (*text == "pcp") return Trust::pcp;
  return failed(fmt::format("qos/trust: found \"{}\", allowed: pcp, dscp", *text));
}

Expected<Lockdown> parse_lockdown(std::string_view text) {
  for (const auto& [level, name] : EnumNames<Lockdown>::names) {
    if (text.find(fmt::format("[{}]", name)) != std::string_view::npos) return level;
  }
  return fail(ErrorKind::io,
              "lockdown: found \"{}\", allowed: one of none, integrity, confidentiality in brackets", text);
}

Observed<Lockdown> read_lockdown(const HostFiles& files) {
  const auto text = files.attribute("/sys/kernel/security/lockdown");
  if (!text && text.error().kind() == ErrorKind::absent) {
    return absent("no /sys/kernel/security/lockdown: securityfs not mounted, or a kernel without lockdown");
  }
  if (!text) return unavailable(text.error());
  return observed(parse_lockdown(*text));
}

}  // namespace rocetune::host
