#include "tests/agent/tune/fake_host.h"

#include <algorithm>
#include <cerrno>

#include "agent/host/knob_json.h"

namespace rocetune::tune {

using host::KnobKind;

Expected<> FakeStorage::write(std::int64_t offset, std::string_view bytes) {
  reaper_.point("before the journal's write");
  if (disk_.fails) return tl::unexpected(Error(ErrorKind::io, "write journal", EIO));
  const auto end = offset + static_cast<std::int64_t>(bytes.size());
  if (auto status = reserve(end); !status) return status;
  const auto at = static_cast<std::size_t>(offset);
  disk_.journal.replace(at, bytes.size() / 2, bytes.substr(0, bytes.size() / 2));
  reaper_.point("inside the journal's write");
  disk_.journal.replace(at, bytes.size(), bytes);
  reaper_.point("after the journal's write");
  return {};
}

Expected<> FakeStorage::reserve(std::int64_t end) {
  const auto size = static_cast<std::int64_t>(disk_.journal.size());
  if (end <= size) return {};
  if (end - size > disk_.free_bytes) return tl::unexpected(Error(ErrorKind::io, "reserve journal", ENOSPC));
  disk_.free_bytes -= end - size;
  disk_.journal.resize(static_cast<std::size_t>(end), '\0');
  return {};
}

Expected<> FakeStorage::truncate(std::int64_t end) {
  disk_.free_bytes += static_cast<std::int64_t>(disk_.journal.size()) - end;
  disk_.journal.resize(static_cast<std::size_t>(end));
  reaper_.point("after the journal's trim");
  return {};
}

namespace {

host::Port fresh_port(int index) {
  host::Port port;
  port.name = fmt::format("eth{}", index);
  port.ifindex = index + 2;
  port.nic = "mlx5";
  port.driver = "mlx5_core";
  port.pci_address = fmt::format("0000:{:02x}:00.0", index + 1);
  port.pci_id = "15b3:101d";
  port.cc_folder = "/sys/kernel/debug/mlx5/" + *port.pci_address + "/cc_params";
  port.mtu = Bytes(1500);
  port.max_mtu = Bytes(9978);
  port.link = host::Link{.admin_up = true, .carrier = true, .speed = gigabits_per_second(100)};
  port.dcb.dcbx = host::DcbxMode{.cee = true, .ieee = true};
  port.dcb.pfc = host::Pfc{.capable = 8, .delay = 7};
  host::Ets ets;
  for (int i = 0; i < 8; ++i) ets.tc_of_priority[static_cast<std::size_t>(i)] = TrafficClass(i);
  std::swap(ets.tc_of_priority[0], ets.tc_of_priority[1]);
  ets.tsa.fill(host::Tsa::vendor);
  port.dcb.ets = ets;
  port.dcb.app = std::vector<host::AppEntry>{{host::AppSelector::dscp, 26, Priority(0)}};
  host::PortBuffers buffers;
  buffers.total = Bytes(262016);
  buffers.size[0] = buffers.total;
  port.dcb.buffers = buffers;
  port.pause = host::GlobalPause{.receive = true, .transmit = true};
  port.pfc_prevention_ms = std::uint16_t{0};
  port.cc_params = std::map<std::string, std::int64_t>{{"np_cnp_dscp", 46},
                                                       {"np_cnp_prio", 5},
                                                       {"np_cnp_prio_mode", 1},
                                                       {"rp_gd", 11},
                                                       {"rp_dce_tcp_g", 5000}};
  port.congestion_control = host::CongestionControl::dcqcn;
  host::RdmaPort rdma;
  rdma.device = fmt::format("mlx5_{}", index);
  rdma.link_layer = host::LinkLayer::ethernet;
  rdma.gids = {host::Gid{0, host::GidType::roce_v2, "0000:0000:0000:0000:0000:ffff:0a00:0001"}};
  port.rdma = rdma;
  port.attachments = host::Attachments{};
  return port;
}

}  // namespace

FakeKernel::FakeKernel(int ports, const std::string& bond_mode) {
  host.name = "testhost";
  host.lockdown = host::Lockdown::none;
  host.owners = std::vector<host::Owner>{};
  for (int i = 0; i < ports; ++i) host.ports.push_back(fresh_port(i));
  if (!bond_mode.empty()) {
    host::Bond bond{.name = "bond0", .mode = bond_mode};
    host::Port master = fresh_port(9);
    master.name = "bond0";
    master.role = host::PortRole::bond;
    master.driver = "bonding";
    master.pci_address.reset();
    master.pci_id.reset();
    master.cc_folder.reset();
    master.rdma->device = "mlx5_bond_0";
    master.dcb = {};
    master.pause = absent("a bond");
    master.pfc_prevention_ms = absent("a bond");
    master.cc_params = absent("a bond's parameters are those of its members");
    for (host::Port& port : host.ports) {
      port.bond = "bond0";
      port.rdma = absent("its RDMA device mlx5_bond_0 is on bond0");
      bond.members.push_back(port.name);
    }
    bond.active_members = bond.members;
    if (bond_mode == "active-backup") bond.active_members.resize(1);
    host.ports.push_back(master);
    host.bonds.push_back(bond);
  }
  for (const host::Port& port : host.ports) {
    if (port.rdma) tos[port.name] = 0;
  }
}

void FakeKernel::reboot() {
  const int physical = static_cast<int>(host.ports.size() - host.bonds.size());
  const FakeKernel fresh(physical, host.bonds.empty() ? "" : host.bonds.front().mode);
  host = fresh.host;
  tos = fresh.tos;
  tos_directories.clear();
  manual_buffers.clear();
  carrier_at.clear();
  boottime_ns = 5'000'000'000;
  unix_ns += 60'000'000'000;
  ++boots;
}

bool FakeKernel::has_carrier(const std::string& port) const {
  const auto at = carrier_at.find(port);
  return at == carrier_at.end() || boottime_ns >= at->second;
}

void FakeKernel::elect_members() {
  for (host::Bond& bond : host.bonds) {
    if (bond.mode == "active-backup" && !bond.active_members.empty() &&
        has_carrier(bond.active_members.front())) {
      continue;
    }
    bond.active_members.clear();
    for (const std::string& member : bond.members) {
      if (has_carrier(member)) bond.active_members.push_back(member);
    }
    if (bond.mode == "active-backup" && bond.active_members.size() > 1) bond.active_members.resize(1);
  }
}

std::string FakeKernel::state() const {
  std::string out;
  for (const host::Port& port : host.ports) {
    for (const host::Knob& knob : knobs_of(port)) {
      const auto value = host::value_of(host, knob);
      if (value) out += fmt::format("{} = {}\n", host::to_text(knob), host::to_json_text(*value));
    }
    if (tos.contains(port.name)) {
      out += fmt::format("{} tos {} {}\n", port.name, tos.at(port.name),
                         tos_directories.contains(port.name) ? "shown" : "hidden");
    }
  }
  return out;
}

Moment FakeHost::now() {
  return {fmt::format("boot-{}", kernel_.boots), kernel_.boottime_ns, kernel_.unix_ns};
}

void FakeHost::sleep(Duration span) {
  kernel_.boottime_ns += span.count() / 1000;
  kernel_.unix_ns += span.count() / 1000;
}

Expected<host::Host> FakeHost::observe() {
  ++observations;
  if (meanwhile) meanwhile(kernel_);
  kernel_.elect_members();
  host::Host out = kernel_.host;
  out.boot_id = fmt::format("boot-{}", kernel_.boots);
  for (host::Port& port : out.ports) {
    if (port.link) port.link->carrier = kernel_.has_carrier(port.name);
    if (!port.rdma) continue;
    if (kernel_.tos_directories.contains(port.name)) {
      port.rdma->cm_default_tos = TosByte::from_wire(static_cast<std::uint8_t>(kernel_.tos.at(port.name)));
    } else {
      port.rdma->cm_default_tos = absent(std::string(host::kHiddenUntilMade));
    }
  }
  return out;
}

Expected<counters::Interval> FakeHost::measure(Duration span) {
  sleep(span);
  counters::Interval interval;
  interval.elapsed = span;
  for (const host::Port& port : kernel_.host.ports) {
    counters::PortDelta delta;
    delta.port = port.name;
    delta.elapsed = delta.rdma_elapsed = span;
    for (const char* name : {"rdma_tx_packets", "rdma_rx_packets", "link_downs"}) {
      delta.increments[{name, std::nullopt}] = std::uint64_t{0};
    }
    interval.ports.push_back(std::move(delta));
  }
  if (traffic) traffic(interval);
  return interval;
}

// As the firmware does while the host has not taken the buffers: half of the port for lossless priorities.
void FakeHost::size_buffers(host::Port& port) {
  if (kernel_.manual_buffers.contains(port.name)) return;
  host::PortBuffers& buffers = *port.dcb.buffers;
  buffers.size.fill(Bytes());
  for (int p = 0; p < 8; ++p) {
    buffers.buffer_of_priority[static_cast<std::size_t>(p)] =
        port.dcb.pfc->enabled.contains(Priority(p)) ? 1 : 0;
  }
  buffers.size[0] = buffers.total;
  if (!port.dcb.pfc->enabled.is_empty()) buffers.size[0] = buffers.size[1] = buffers.total / 2;
}

void FakeHost::set_pfc(host::Port& port, const host::PfcSetting& pfc) {
  if (pfc.enabled != port.dcb.pfc->enabled) {
    port.pause = host::GlobalPause{};  // the same register
    const bool stays = kernel_.stays_down.contains(port.name);
    kernel_.carrier_at[port.name] = stays ? INT64_MAX : kernel_.boottime_ns + kernel_.bounce_ns;
    kernel_.elect_members();
  }
  port.dcb.pfc->enabled = pfc.enabled;
  if (pfc.delay != 0 && pfc.delay < 1000) port.dcb.pfc->delay = pfc.delay;
  size_buffers(port);
}

// Additions, then deletions: two messages.
void FakeHost::set_app(host::Port& port, const std::vector<host::AppEntry>& target) {
  std::vector<host::AppEntry>& entries = *port.dcb.app;
  for (const host::AppEntry& entry : target) {
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) continue;
    // mlx5 exchanges the entry of a DSCP by itself.
    std::erase_if(entries, [&](const host::AppEntry& old) {
      return old.selector == entry.selector && old.protocol == entry.protocol;
    });
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end());
  reaper_.point("between app additions and deletions");
  entries = target;
}

void FakeHost::set(host::Port& port, const host::KnobWrite& write) {
  const host::KnobValue& target = write.target;
  const auto number = [&] { return std::get<std::int64_t>(target); };
  switch (write.knob.kind) {
    case KnobKind::dcbx_mode:
      port.dcb.dcbx = std::get<host::DcbxMode>(target);
      break;
    case KnobKind::pfc:
      set_pfc(port, std::get<host::PfcSetting>(target));
      break;
    case KnobKind::ets: {
      const auto& ets = std::get<host::EtsSetting>(target);
      port.dcb.ets->willing = ets.willing;
      port.dcb.ets->tc_of_priority = ets.tc_of_priority;
      port.dcb.ets->tsa = ets.tsa;
      port.dcb.ets->tx_share_percent = ets.tx_share_percent;
      // As mlx5: what is not an ets class reads back as 100.
      for (std::size_t i = 0; i < 8; ++i) {
        if (ets.tsa[i] != host::Tsa::ets) port.dcb.ets->tx_share_percent[i] = 100;
      }
      break;
    }
    case KnobKind::app_table:
      set_app(port, std::get<std::vector<host::AppEntry>>(target));
      break;
    case KnobKind::buffers:
      kernel_.manual_buffers.insert(port.name);
      port.dcb.buffers->buffer_of_priority = std::get<host::BufferSetting>(target).buffer_of_priority;
      port.dcb.buffers->size = std::get<host::BufferSetting>(target).size;
      break;
    case KnobKind::global_pause:
      port.pause = std::get<host::GlobalPause>(target);
      break;
    case KnobKind::mtu:
      port.mtu = Bytes(number());
      for (const host::Bond& bond : kernel_.host.bonds) {
        if (bond.name != port.name) continue;
        for (host::Port& member : kernel_.host.ports) {
          if (member.bond == bond.name) member.mtu = port.mtu;
        }
      }
      break;
    case KnobKind::pfc_prevention:
      port.pfc_prevention_ms = static_cast<std::uint16_t>(number());
      break;
    case KnobKind::cc_param:
      (*port.cc_params)[write.knob.parameter] = number();
      if (write.knob.parameter == "np_cnp_prio") (*port.cc_params)["np_cnp_prio_mode"] = 0;
      break;
    case KnobKind::cm_default_tos:
      kernel_.tos[port.name] = number();
      break;
  }
}

Expected<> FakeHost::write(const host::Port& port, const std::vector<host::KnobWrite>& batch) {
  const auto mine = std::find_if(kernel_.host.ports.begin(), kernel_.host.ports.end(),
                                 [&](const host::Port& p) { return p.name == port.name; });
  for (const host::KnobWrite& write : batch) {
    reaper_.point("before writing " + host::to_text(write.knob));
    ++writes;
    if (fault) {
      if (auto error = fault(write.knob, write.target)) return tl::unexpected(std::move(*error));
    }
    if (write.knob.kind == KnobKind::cm_default_tos && !kernel_.tos_directories.contains(port.name)) {
      return tl::unexpected(Error(ErrorKind::absent, "no configfs directory", ENOENT));
    }
    if (!ignored.contains(write.knob.kind)) set(*mine, write);
    reaper_.point("after writing " + host::to_text(write.knob));
  }
  return {};
}

Expected<> FakeHost::reveal(const host::Port& port, const host::Knob& knob) {
  if (knob.kind != KnobKind::cm_default_tos) return {};
  reaper_.point("before making the directory");
  kernel_.tos_directories.insert(port.name);
  reaper_.point("after making the directory");
  return {};
}

Expected<> FakeHost::conceal(const host::Port& port, const host::Knob& knob) {
  if (knob.kind != KnobKind::cm_default_tos) return {};
  reaper_.point("before removing the directory");
  kernel_.tos_directories.erase(port.name);
  reaper_.point("after removing the directory");
  return {};
}

}  // namespace rocetune::tune
