#include "agent/host/kernel_knob_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/host/congestion_files.h"
#include "agent/host/dcb_netlink.h"
#include "agent/host/ethtool_ioctl.h"
#include "agent/host/namespaces.h"
#include "agent/host/rdma_files.h"
#include "agent/host/route_netlink.h"
#include "dataplane/base/file.h"

namespace rocetune::host {
namespace {

const KnobWrite* find(const std::vector<KnobWrite>& batch, KnobKind kind) {
  const auto found = std::find_if(batch.begin(), batch.end(),
                                  [&](const KnobWrite& write) { return write.knob.kind == kind; });
  return found == batch.end() ? nullptr : &*found;
}

std::int64_t number(const KnobWrite& write) { return std::get<std::int64_t>(write.target); }

std::vector<AppEntry> missing_from(const std::vector<AppEntry>& table, const std::vector<AppEntry>& entries) {
  std::vector<AppEntry> out;
  for (const AppEntry& entry : entries) {
    if (std::find(table.begin(), table.end(), entry) == table.end()) out.push_back(entry);
  }
  return out;
}

// ETS, PFC and new app entries in one message, which is one link bounce; then what has to go. Before them
// what the driver would trip over.
Expected<> write_dcb_tables(DcbSocket& dcb, const Port& port, const NicRow& row,
                            const std::vector<KnobWrite>& batch) {
  IeeeChange change;
  if (const KnobWrite* ets = find(batch, KnobKind::ets)) change.ets = std::get<EtsSetting>(ets->target);
  if (const KnobWrite* pfc = find(batch, KnobKind::pfc)) change.pfc = std::get<PfcSetting>(pfc->target);
  const KnobWrite* app = find(batch, KnobKind::app_table);
  if (app != nullptr) {
    const auto& current = std::get<std::vector<AppEntry>>(app->current);
    const auto& target = std::get<std::vector<AppEntry>>(app->target);
    change.app = missing_from(current, target);
    const std::vector<AppEntry> first =
        row.dcb.refuses_remapping ? entries_in_the_way(current, target) : std::vector<AppEntry>();
    if (!first.empty()) {
      if (auto status = dcb.remove(port.name, first); !status) return status;
    }
  }
  if (!change.is_empty()) {
    if (auto status = dcb.set(port.name, std::move(change)); !status) return status;
  }
  if (app == nullptr) return {};
  // Some drivers exchange the entry of a DSCP when another priority is set for it; deleting the old one then
  // fails. So what is there now decides.
  const auto now = dcb.read(port.name);
  if (!now) return tl::unexpected(now.error());
  if (!now->app)
    return fail(ErrorKind::io, "the app table of {} cannot be read: {}", port.name, now->app.error().why);
  const std::vector<AppEntry> surplus = missing_from(std::get<std::vector<AppEntry>>(app->target), *now->app);
  return surplus.empty() ? Expected<>() : dcb.remove(port.name, surplus);
}

Expected<> set_buffers(DcbSocket& dcb, const Port& port, const BufferSetting& setting) {
  IeeeChange change;
  change.buffers = setting;
  return dcb.set(port.name, std::move(change));
}

// A driver checks headroom after the new map with the old sizes, then after the new sizes (mlx5,
// mlx5e_port_manual_buffer_config). A change that is fine as a whole can so be refused as one message and
// pass as two: sizes first when buffers grow into a new map, the map first when they shrink out of one.
Expected<> write_buffers(DcbSocket& dcb, const Port& port, const KnobWrite& write) {
  const BufferSetting& current = std::get<BufferSetting>(write.current);
  const BufferSetting& target = std::get<BufferSetting>(write.target);
  Expected<> whole = set_buffers(dcb, port, target);
  if (whole || current.size == target.size || current.buffer_of_priority == target.buffer_of_priority)
    return whole;
  BufferSetting sizes_first = current;
  sizes_first.size = target.size;
  if (set_buffers(dcb, port, sizes_first)) return set_buffers(dcb, port, target);
  BufferSetting map_first = current;
  map_first.buffer_of_priority = target.buffer_of_priority;
  if (set_buffers(dcb, port, map_first)) return set_buffers(dcb, port, target);
  return whole;
}

Expected<> write_dcbx(DcbSocket& dcb, const Port& port, const NicRow& row, const KnobWrite& write) {
  DcbxMode mode = std::get<DcbxMode>(write.target);
  // Giving DCB back: firmware that takes over by itself wants no bit at all and then shows the version bits
  // it had (mlx5, mlx5e_dcbnl_setdcbx).
  if (row.dcb.dcbx_firmware_takes_over && !mode.host && !mode.lld_managed) mode = DcbxMode{};
  return dcb.set_dcbx(port.name, mode);
}

Expected<> write_dcb(const Port& port, const NicRow& row, const std::vector<KnobWrite>& batch) {
  const bool tables =
      find(batch, KnobKind::ets) || find(batch, KnobKind::pfc) || find(batch, KnobKind::app_table);
  const KnobWrite* dcbx = find(batch, KnobKind::dcbx_mode);
  const KnobWrite* buffers = find(batch, KnobKind::buffers);
  if (!tables && dcbx == nullptr && buffers == nullptr) return {};
  auto dcb = DcbSocket::open();
  if (!dcb) return tl::unexpected(dcb.error());
  if (dcbx != nullptr) {
    if (auto status = write_dcbx(*dcb, port, row, *dcbx); !status) return status;
  }
  if (buffers != nullptr) {
    if (auto status = write_buffers(*dcb, port, *buffers); !status) return status;
  }
  return tables ? write_dcb_tables(*dcb, port, row, batch) : Expected<>();
}

Expected<> write_ethtool(const Port& port, const std::vector<KnobWrite>& batch) {
  const KnobWrite* pause = find(batch, KnobKind::global_pause);
  const KnobWrite* prevention = find(batch, KnobKind::pfc_prevention);
  if (pause == nullptr && prevention == nullptr) return {};
  const auto ethtool = EthtoolSocket::open();
  if (!ethtool) return tl::unexpected(ethtool.error());
  if (pause != nullptr) {
    if (auto status = ethtool->set_pause(port.name, std::get<GlobalPause>(pause->target)); !status)
      return status;
  }
  if (prevention == nullptr) return {};
  return ethtool->set_pfc_prevention(port.name, static_cast<std::uint16_t>(number(*prevention)));
}

Expected<> write_link(const Port& port, const std::vector<KnobWrite>& batch) {
  const KnobWrite* mtu = find(batch, KnobKind::mtu);
  if (mtu == nullptr) return {};
  auto route = RouteSocket::open();
  if (!route) return tl::unexpected(route.error());
  return route->set_mtu(port.name, Bytes(number(*mtu)));
}

tl::unexpected<Error> failed_call(std::string_view call, const std::string& path) {
  const int code = errno;
  const ErrorKind kind = code == ENOENT                    ? ErrorKind::absent
                         : code == EACCES || code == EPERM ? ErrorKind::denied
                                                           : ErrorKind::io;
  return tl::unexpected(Error(kind, fmt::format("{} {}", call, path), code));
}

}  // namespace

Expected<std::string> cm_folder(const Port& port) {
  if (!port.rdma) return fail(ErrorKind::absent, "{} has no RDMA device", port.name);
  if (!is_path_component(port.rdma->device)) {
    return fail(ErrorKind::bad_input, "{} is not the name of an RDMA device", port.rdma->device);
  }
  return fmt::format("{}/{}", kRdmaCm, port.rdma->device);
}

std::string namespace_path(const std::string& name) {
  if (name.starts_with('/')) return name;
  if (name.starts_with("pid ")) return fmt::format("/proc/{}/ns/net", name.substr(4));
  return "/run/netns/" + name;
}

Expected<> KernelKnobWriter::write(const Port& port, const std::vector<KnobWrite>& batch) {
  for (const KnobWrite& write : batch) {
    ROCETUNE_ASSERT(write.knob.port == port.name && is_valid(write.knob.kind, write.target) &&
                    write.current.index() == write.target.index());
  }
  const NicRow& row = nics_.named(port.nic);
  Expected<> status;
  const auto sockets = [&] {
    status = write_dcb(port, row, batch);
    if (status) status = write_ethtool(port, batch);
    if (status) status = write_link(port, batch);
  };
  if (port.network_namespace.empty()) {
    sockets();
  } else {
    auto entered =
        in_namespace(namespace_path(port.network_namespace), [&](const NamespaceView&) { sockets(); });
    if (!entered) return entered;
  }
  if (status) status = write_files(port, batch);
  if (!status) return tl::unexpected(std::move(status.error()).within(fmt::format("write {}", port.name)));
  return {};
}

Expected<> KernelKnobWriter::write_files(const Port& port, const std::vector<KnobWrite>& batch) {
  for (const KnobWrite& write : batch) {
    std::string file;
    if (write.knob.kind == KnobKind::cc_param) {
      auto folder = cc_folder(files_, nics_.named(port.nic), port);
      if (!folder) return tl::unexpected(folder.error());
      if (!is_path_component(write.knob.parameter)) {
        return fail(ErrorKind::bad_input, "{} is not a parameter's name", write.knob.parameter);
      }
      file = fmt::format("{}/{}", *folder, write.knob.parameter);
    } else if (write.knob.kind == KnobKind::cm_default_tos) {
      auto folder = cm_folder(port);
      if (!folder) return tl::unexpected(folder.error());
      file = fmt::format("{}/ports/{}/default_roce_tos", *folder, port.rdma->port);
    } else {
      continue;
    }
    if (auto status = write_attribute(files_.path(file), fmt::format("{}\n", number(write))); !status)
      return status;
  }
  return {};
}

Expected<> KernelKnobWriter::reveal(const Port& port, const Knob& knob) {
  if (knob.kind != KnobKind::cm_default_tos) return {};
  const auto folder = cm_folder(port);
  if (!folder) return tl::unexpected(folder.error());
  const std::string path = files_.path(*folder);
  if (::mkdir(path.c_str(), 0755) < 0 && errno != EEXIST) return failed_call("make", path);
  return {};
}

Expected<> KernelKnobWriter::conceal(const Port& port, const Knob& knob) {
  if (knob.kind != KnobKind::cm_default_tos) return {};
  const auto folder = cm_folder(port);
  if (!folder) return tl::unexpected(folder.error());
  const std::string path = files_.path(*folder);
  // configfs removes a directory whose files it made itself.
  if (::rmdir(path.c_str()) < 0 && errno != ENOENT) return failed_call("remove", path);
  return {};
}

}  // namespace rocetune::host
