#include "agent/diagnose/shown_ports.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "agent/evidence/logs/command_lines.h"
#include "agent/evidence/logs/environment.h"
#include "agent/evidence/logs/nccl_log.h"
#include "agent/evidence/rdma_tools/iblinkinfo.h"
#include "agent/evidence/rdma_tools/kernel_log.h"
#include "agent/evidence/rdma_tools/lspci.h"
#include "agent/evidence/rdma_tools/topology_xml.h"

namespace rocetune::diagnose {
namespace {

constexpr std::array<std::string_view, 5> kIndexVariables{
    "NCCL_IB_GID_INDEX", "RCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX", "NVSHMEM_IB_GID_INDEX", "MC_GID_INDEX"};
constexpr std::size_t kSignsShown = 6;

std::optional<int> small_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 65535)
    return std::nullopt;
  return value;
}

// perftest and the pingpongs of rdma-core: -x N, --gid-index=N, -d DEVICE.
void add_of_command(const evidence::Document& document, const evidence::CommandLine& command,
                    std::vector<PinnedIndex>& out) {
  const bool is_perftest = command.program.starts_with("ib_") || command.program.starts_with("raw_ethernet");
  const bool is_pingpong = command.program.ends_with("_pingpong");
  if (!is_perftest && !is_pingpong) return;
  const std::string_view option = is_pingpong ? "-g" : "-x";
  std::string_view text = command.value_of(option);
  if (text.empty()) text = command.value_of(is_pingpong ? "--gid-idx" : "--gid-index");
  const auto index = small_number(text);
  if (!index) return;
  std::string_view device = command.value_of("-d");
  if (device.empty()) device = command.value_of("--ib-dev");
  out.push_back({*index, document.host.value_or(""), std::string(device),
                 shown(command.program + " " + std::string(option), *index, "", document, command.line)});
}

void add_pci_signs(const DossierFacts& facts, GuestSigns& out) {
  for (const auto& [document, listing] : facts.dossier.all<evidence::PciListing>()) {
    // Where physical functions stand beside, virtual ones are those of the machine that has both.
    const bool has_physical =
        std::any_of(listing->functions.begin(), listing->functions.end(), [](const evidence::PciFunction& f) {
          return f.is_network && !f.is_virtual_function && !f.is_emulated && f.width_lanes != 0;
        });
    for (const evidence::PciFunction& f : listing->functions) {
      out.has_gpu |= f.is_gpu;
      const bool told_nothing = f.is_network && f.width_lanes == 0;
      if (!f.is_emulated && (has_physical || (!f.is_virtual_function && !told_nothing))) continue;
      out.is_certain |= f.is_emulated;
      if (out.evidence.size() < kSignsShown) {
        out.evidence.push_back(shown(f.name(), f.text.empty() ? "width x0" : f.text, "", *document, f.line));
      }
    }
  }
}

void add_topology_signs(const DossierFacts& facts, GuestSigns& out) {
  for (const auto& [document, topology] : facts.dossier.all<evidence::Topology>()) {
    out.has_gpu |= !topology->gpus.empty();
    for (const evidence::TopologyPci& pci : topology->pcis) {
      const bool virtual_function = evidence::is_virtual_function_id(pci.id);
      const bool emulated = evidence::is_emulated_id(pci.id);
      const bool told_nothing = pci.has_link && pci.link_width == 0;
      if (!virtual_function && !emulated && !told_nothing) continue;
      out.is_certain |= emulated;
      if (out.evidence.size() >= kSignsShown) continue;
      out.evidence.push_back(shown(
          "PCI " + pci.bus_id,
          fmt::format("{}{}{}, link \"{}\" x{}", pci.id, virtual_function ? ", a virtual function" : "",
                      emulated ? ", an emulated device" : "", pci.link_speed, pci.link_width.value_or(0)),
          "", *document, pci.line));
    }
  }
}

void add_kernel_signs(const DossierFacts& facts, GuestSigns& out) {
  for (const auto& [document, log] : facts.dossier.all<evidence::KernelLog>()) {
    const evidence::KernelEvents& events = log->of(evidence::KernelEvent::hypervisor);
    if (events.count == 0 || events.lines.empty()) continue;
    out.is_certain = true;
    out.evidence.push_back(shown("kernel log", events.lines[0].text, "", *document, events.lines[0].line));
  }
  for (const HostFacts& host : facts.hosts) {
    if (!host.host.hypervisor || host.host.hypervisor->empty()) continue;
    out.is_certain = true;
    if (out.evidence.empty()) {
      out.evidence.push_back(
          setting("hypervisor", *host.host.hypervisor, "", host.host.name.empty() ? "host" : host.host.name));
    }
  }
}

}  // namespace

std::string ShownPort::subject() const {
  const std::string name = host();
  return name.empty() ? view->name() : name + " " + view->name();
}

Evidence ShownPort::gid(std::size_t at) const {
  const host::Gid& gid = view->rdma.gids[at];
  return shown(fmt::format("{} GID {}", view->name(), gid.index),
               fmt::format("{} ({})", gid.address, enum_name(gid.type)), "", *document, view->gid_lines[at]);
}

std::vector<ShownPort> shown_ports(const DossierFacts& facts) {
  std::vector<ShownPort> out;
  for (const auto& [document, view] : facts.dossier.all<evidence::RdmaView>()) {
    for (const evidence::RdmaPortView& port : view->ports) out.push_back({document, &port});
  }
  return out;
}

std::vector<ShownPort> shown_gid_tables(const DossierFacts& facts) {
  std::vector<ShownPort> out = shown_ports(facts);
  std::erase_if(out, [](const ShownPort& port) { return port.view->rdma.gids.empty(); });
  return out;
}

bool may_be_one_host(const std::string& a, const std::string& b) { return a.empty() || b.empty() || a == b; }

Evidence ShownSetting::shown() const {
  return diagnose::shown(setting->name, setting->value.empty() ? "(empty)" : setting->value, "", *document,
                         setting->line);
}

std::vector<ShownSetting> shown_settings(const DossierFacts& facts, std::string_view name) {
  std::vector<ShownSetting> out;
  const auto add = [&](const evidence::Document* document, const std::vector<evidence::Setting>& settings) {
    for (const evidence::Setting& setting : settings) {
      if (setting.name == name) out.push_back({document, &setting});
    }
  };
  for (const auto& [document, content] : facts.dossier.all<evidence::Environment>())
    add(document, content->settings);
  for (const auto& [document, content] : facts.dossier.all<evidence::CommandLines>())
    add(document, content->settings);
  for (const auto& [document, content] : facts.dossier.all<evidence::NcclLog>())
    add(document, content->settings);
  return out;
}

std::vector<PinnedIndex> pinned_gid_indices(const DossierFacts& facts) {
  std::vector<PinnedIndex> out;
  for (const std::string_view name : kIndexVariables) {
    for (const ShownSetting& set : shown_settings(facts, name)) {
      const auto index = small_number(set.setting->value);
      if (index) out.push_back({*index, set.host(), {}, set.shown()});
    }
  }
  for (const auto& [document, content] : facts.dossier.all<evidence::CommandLines>()) {
    for (const evidence::CommandLine& command : content->commands) add_of_command(*document, command, out);
  }
  return out;
}

bool is_infiniband_fabric(const DossierFacts& facts) {
  if (!facts.dossier.all<evidence::FabricLinks>().empty()) return true;
  bool infiniband = false;
  for (const ShownPort& port : shown_ports(facts)) {
    if (!port.view->rdma.state.empty() && !port.view->is_active()) continue;
    if (port.view->rdma.link_layer == host::LinkLayer::ethernet) return false;
    infiniband |= port.view->is_infiniband();
  }
  return infiniband;
}

GuestSigns guest_signs(const DossierFacts& facts) {
  GuestSigns out;
  add_topology_signs(facts, out);
  add_pci_signs(facts, out);
  add_kernel_signs(facts, out);
  return out;
}

}  // namespace rocetune::diagnose
