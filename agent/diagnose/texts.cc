#include "agent/diagnose/texts.h"

#include <algorithm>

#include "agent/evidence/logs/app_log.h"
#include "agent/evidence/logs/environment.h"
#include "agent/evidence/logs/ucx_log.h"

namespace rocetune::diagnose {

std::vector<ShownSetting> all_settings(const DossierFacts& facts) {
  std::vector<ShownSetting> out;
  const auto add = [&](const evidence::Document& document, const std::vector<evidence::Setting>& settings) {
    for (const evidence::Setting& setting : settings) out.push_back({&document, &setting});
  };
  for (const evidence::Document& document : facts.dossier.documents()) {
    if (const auto* environment = document.as<evidence::Environment>()) add(document, environment->settings);
    if (const auto* commands = document.as<evidence::CommandLines>()) add(document, commands->settings);
    if (const auto* log = document.as<evidence::NcclLog>()) add(document, log->settings);
  }
  return out;
}

std::string environment_of(const ShownSetting& seen) {
  if (!seen.setting->host.empty()) return seen.setting->host;
  if (seen.document->host) return *seen.document->host;
  return seen.document->file;
}

std::string launch_place_of(const ShownSetting& seen) {
  const bool is_file = seen.setting->host.empty() && !seen.document->host;
  return is_file && seen.document->phase ? seen.document->series : environment_of(seen);
}

const evidence::Signs* signs_of(const evidence::Document& document) {
  if (const auto* log = document.as<evidence::NcclLog>()) return &log->signs;
  if (const auto* log = document.as<evidence::UcxLog>()) return &log->signs;
  if (const auto* log = document.as<evidence::AppLog>()) return &log->signs;
  if (const auto* perftest = document.as<evidence::Perftest>()) return &perftest->signs;
  return nullptr;
}

std::vector<SignsSeen> signs_in(const evidence::Dossier& dossier) {
  std::vector<SignsSeen> out;
  for (const evidence::Document& document : dossier.documents()) {
    if (const evidence::Signs* signs = signs_of(document)) out.push_back({&document, signs});
  }
  return out;
}

Evidence quoted(const std::string& name, const evidence::Quote& quote, const evidence::Document& document) {
  return {name, std::string(evidence::trimmed(quote.text)), "", document.place(quote.line)};
}

std::vector<RunSeen> perftest_runs_in(const evidence::Dossier& dossier) {
  std::vector<RunSeen> out;
  for (const auto& [document, perftest] : dossier.all<evidence::Perftest>()) {
    for (const evidence::PerftestRun& run : perftest->runs) out.push_back({document, &run});
  }
  return out;
}

std::vector<CommandSeen> commands_in(const evidence::Dossier& dossier) {
  std::vector<CommandSeen> out;
  for (const auto& [document, commands] : dossier.all<evidence::CommandLines>()) {
    for (const evidence::CommandLine& command : commands->commands) out.push_back({document, &command});
  }
  return out;
}

std::vector<PortSeen> rdma_ports_in(const evidence::Dossier& dossier) {
  std::vector<PortSeen> out;
  for (const evidence::Document& document : dossier.documents()) {
    if (!document.host_part) continue;
    for (const host::Port& port : document.host_part->ports) {
      if (!port.rdma) continue;
      out.push_back({&document, &*port.rdma, document.host.value_or(document.file)});
    }
  }
  return out;
}

LinkKinds link_kinds(const DossierFacts& facts) {
  const evidence::Dossier& dossier = facts.dossier;
  LinkKinds out;
  for (const PortSeen& seen : rdma_ports_in(dossier)) {
    out.ethernet |= seen.port->link_layer == host::LinkLayer::ethernet;
    out.infiniband |= seen.port->link_layer == host::LinkLayer::infiniband;
    for (const host::Gid& gid : seen.port->gids) {
      out.ethernet |= gid.type == host::GidType::roce_v1 || gid.type == host::GidType::roce_v2;
    }
  }
  for (const auto& [document, log] : dossier.all<evidence::NcclLog>()) {
    for (const evidence::NcclDevices& devices : log->devices) {
      out.ethernet |= devices.is_roce;
      out.infiniband |= devices.is_infiniband;
    }
  }
  for (const RunSeen& seen : perftest_runs_in(dossier)) {
    out.ethernet |= seen.run->is_ethernet();
    out.infiniband |= seen.run->link_type == "IB";
  }
  // A GID index is chosen on Ethernet only.
  out.ethernet |= !shown_settings(facts, "NCCL_IB_GID_INDEX").empty() ||
                  !shown_settings(facts, "UCX_IB_GID_INDEX").empty();
  return out;
}

std::string listed(const std::vector<std::string>& names, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    const bool is_last = i + 1 == names.size();
    out += (i == 0 ? "" : is_last ? " and " : ", ") + names[i];
  }
  if (names.size() > most) out += fmt::format(" and {} more", names.size() - most);
  return out;
}

}  // namespace rocetune::diagnose
