// NET-2 and LAG-2: which NICs a job uses of those that are there, and over how many queue pairs.
#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/hca_list.h"
#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::contains;
using Names = std::set<std::string>;

// ---- lists of devices ----

// Devices that are named one by one; empty for a list that excludes or only gives a prefix without a number.
Names named_devices(const evidence::Setting& setting) {
  const HcaList list = hca_list_of(setting.value);
  Names out;
  if (list.excludes) return out;
  for (const std::string& entry : list.entries) {
    if (entry.find_first_of("0123456789", entry.find_last_not_of("0123456789")) == std::string::npos ||
        entry == "mlx5")
      return {};
    out.insert(entry);
  }
  return out;
}

std::string joined(const Names& names) { return listed({names.begin(), names.end()}, 9); }

// ---- NET-2 ----

void compare_hosts(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  std::map<std::string, std::pair<ShownSetting, Names>> lists;
  for (const ShownSetting& seen : shown_settings(facts, "NCCL_IB_HCA")) {
    Names names = named_devices(*seen.setting);
    if (!names.empty()) lists.insert_or_assign(launch_place_of(seen), std::pair{seen, std::move(names)});
  }
  if (lists.empty()) return;
  const auto& [first_place, first] = *lists.begin();
  for (const auto& [place, other] : lists) {
    if (other.second == first.second) continue;
    Finding finding;
    finding.subject = first_place + " and " + place;
    finding.evidence = {first.first.shown(), other.first.shown()};
    finding.cause = "The hosts use different lists of NICs, so that ranks meet over different rails.";
    finding.fix = advise(
        "Use the same devices in the same order on every host, or check that the names differ for a reason "
        "(another "
        "slot order), rail by rail.",
        {"ibdev2netdev", "nvidia-smi topo -m"});
    findings.push_back(std::move(finding));
    return;
  }
  good.push_back(first.first.shown());
}

constexpr const char* kOtherLists[] = {"NVSHMEM_HCA_PE_MAPPING", "NVSHMEM_HCA_LIST", "UCX_NET_DEVICES"};

// Within one environment every library must mean the same NICs.
void compare_libraries(const DossierFacts& facts, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<ShownSetting>> others;
  for (const char* other : kOtherLists) others[other] = shown_settings(facts, other);
  for (const ShownSetting& nccl : shown_settings(facts, "NCCL_IB_HCA")) {
    const Names ours = named_devices(*nccl.setting);
    if (ours.empty()) continue;
    for (const char* other : kOtherLists) {
      for (const ShownSetting& seen : others[other]) {
        if (seen.document != nccl.document || seen.setting->host != nccl.setting->host) continue;
        const Names theirs = named_devices(*seen.setting);
        if (theirs.empty() || theirs == ours) continue;
        // UCX often has one NIC of its own for the start-up: only others than NCCL's are a contradiction.
        const bool shares = std::any_of(theirs.begin(), theirs.end(),
                                        [&](const std::string& name) { return ours.contains(name); });
        if (seen.setting->name == "UCX_NET_DEVICES" && shares) continue;
        Finding finding;
        finding.subject = launch_place_of(nccl);
        finding.evidence = {nccl.shown(), seen.shown()};
        finding.cause = fmt::format("NCCL_IB_HCA names {}, {} names {}: they contradict each other.",
                                    joined(ours), other, joined(theirs));
        finding.fix = advise(
            "Name the same NICs in both, and compare the traffic counters of each NIC while the job runs.");
        findings.push_back(std::move(finding));
      }
    }
  }
}

void compare_logs(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  struct Used {
    const evidence::Document* document;
    const evidence::NcclDevices* devices;
  };
  std::map<std::string, Used> by_host;
  for (const auto& [document, log] : facts.dossier.all<evidence::NcclLog>()) {
    for (const evidence::NcclDevices& devices : log->devices) {
      if (devices.is_shortened || devices.names.empty()) continue;
      by_host.emplace(devices.quote.host.empty() ? document->file : devices.quote.host,
                      Used{document, &devices});
    }
  }
  if (by_host.empty()) return;
  const Used& first = by_host.begin()->second;
  for (const auto& [host, used] : by_host) {
    if (used.devices->names.size() == first.devices->names.size()) continue;
    Finding finding;
    finding.subject = by_host.begin()->first + " and " + host;
    finding.evidence = {quoted("devices", first.devices->quote, *first.document),
                        quoted("devices", used.devices->quote, *used.document)};
    finding.cause = fmt::format("The hosts use {} and {} NICs: the slower one sets the pace.",
                                first.devices->names.size(), used.devices->names.size());
    finding.fix = advise("Find out why a NIC is missing on one host: link, driver, NCCL_IB_HCA, container.",
                         {"ibstat", "ibdev2netdev"});
    findings.push_back(std::move(finding));
    return;
  }
  good.push_back(quoted("devices", first.devices->quote, *first.document));
}

bool is_active(const host::RdmaPort& port) {
  const std::string state = evidence::lower_case(port.state);
  return contains(state, "active") && !contains(state, "inactive");
}

// What NCCL is told to use, or says that it uses.
struct DevicesInUse {
  HcaList list;
  std::string host;  // empty: not known
  Evidence evidence;
  bool is_asked_for = false;  // by NCCL_IB_HCA; else as a log tells
};

std::vector<DevicesInUse> devices_in_use(const DossierFacts& facts) {
  std::vector<DevicesInUse> out;
  for (const auto& [document, log] : facts.dossier.all<evidence::NcclLog>()) {
    for (const evidence::NcclDevices& devices : log->devices) {
      if (devices.is_shortened || devices.names.empty()) continue;
      HcaList list{.is_exact = true};
      for (const std::string& name : devices.names) list.entries.push_back(name.substr(0, name.find(':')));
      out.push_back({std::move(list),
                     devices.quote.host.empty() ? document->host.value_or("") : devices.quote.host,
                     quoted("devices", devices.quote, *document), false});
    }
  }
  for (const ShownSetting& seen : shown_settings(facts, "NCCL_IB_HCA")) {
    out.push_back({hca_list_of(seen.setting->value), seen.document->host.value_or(""), seen.shown(), true});
  }
  return out;
}

// Active ports of one host that the job does not use.
void compare_ports(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  std::map<std::string, std::vector<PortSeen>> by_owner;
  for (const PortSeen& seen : rdma_ports_in(facts.dossier)) {
    if (!is_active(*seen.port)) continue;
    auto& ports = by_owner[seen.document->host.value_or("")];
    const bool known = std::any_of(ports.begin(), ports.end(), [&](const PortSeen& other) {
      return other.port->device == seen.port->device && other.port->port == seen.port->port;
    });
    if (!known) ports.push_back(seen);
  }
  const std::vector<DevicesInUse> in_use = devices_in_use(facts);
  for (const auto& [owner, ports] : by_owner) {
    const DevicesInUse* list = nullptr;
    for (const DevicesInUse& one : in_use) {
      if (owner.empty() || one.host.empty() || one.host == owner) list = &one;
    }
    if (list == nullptr) continue;
    std::vector<const PortSeen*> used, unused;
    for (const PortSeen& seen : ports) (list->list.takes(seen.port->device) ? used : unused).push_back(&seen);
    if (unused.empty()) continue;
    const std::string subject = owner.empty() ? list->host.empty() ? list->evidence.name : list->host : owner;
    if (used.empty()) {
      if (!list->is_asked_for) continue;  // a log of another host
      Finding finding;
      finding.subject = subject;
      finding.evidence = {list->evidence, shown("active device", unused.front()->port->device, "",
                                                *unused.front()->document)};
      finding.cause = "None of the devices that NCCL_IB_HCA names is an active port of this host.";
      finding.fix = advise("Correct the list.", {"ibdev2netdev"});
      findings.push_back(std::move(finding));
      continue;
    }
    const bool alike = std::all_of(unused.begin(), unused.end(), [&](const PortSeen* seen) {
      return seen->port->rate == used.front()->port->rate &&
             seen->port->link_layer == used.front()->port->link_layer;
    });
    if (!alike || used.size() * 2 > ports.size()) {
      good.push_back(list->evidence);
      continue;
    }
    const bool has_rates = used.front()->port->rate.has_value();
    Finding finding;
    finding.confidence = has_rates ? Confidence::medium : Confidence::low;
    finding.subject = subject;
    finding.evidence = {list->evidence, shown(has_rates ? "active ports of the same rate" : "active ports",
                                              ports.size(), "", *ports.front().document)};
    finding.cause = fmt::format(
        "The job uses {} of {} active ports{}: the ceiling is that of the ports it uses.", used.size(),
        ports.size(), has_rates ? " of the same rate" : " (their rates are not shown)");
    finding.fix =
        advise("Name all ports that belong to the fabric, and leave out only those of other networks.",
               {"ibdev2netdev"});
    findings.push_back(std::move(finding));
  }
}

Outcome judge_devices(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  compare_hosts(facts, findings, good);
  compare_libraries(facts, findings);
  compare_logs(facts, findings, good);
  compare_ports(facts, findings, good);
  return Outcome::of(
      std::move(findings), std::move(good),
      "no list of the NICs in use (NCCL_IB_HCA, \"NET/IB : Using\") stands beside another or beside the "
      "ports (ibstat)");
}

// ---- LAG-2 ----

void check_split(const DossierFacts& facts, std::vector<Finding>& findings) {
  const std::vector<ShownSetting> splits = shown_settings(facts, "NCCL_IB_SPLIT_DATA_ON_QPS");
  std::set<std::string> places;
  for (const ShownSetting& qps : shown_settings(facts, "NCCL_IB_QPS_PER_CONNECTION")) {
    const auto count = evidence::integer_of(qps.setting->value);
    if (!count || *count < 2) continue;
    for (const ShownSetting& split : splits) {
      if (split.document != qps.document || split.setting->value != "0" ||
          !places.insert(qps.document->file).second)
        continue;
      Finding finding;
      finding.subject = qps.document->file;
      finding.evidence = {qps.shown(), split.shown()};
      finding.cause = fmt::format(
          "{} queue pairs are opened, but every message goes over one of them, so that equal-cost paths and "
          "bond members "
          "are used one at a time.",
          *count);
      finding.fix = advise(
          "Set NCCL_IB_SPLIT_DATA_ON_QPS=1 with several queue pairs, together with adaptive routing where "
          "the fabric has it, "
          "and look at the load of each uplink.");
      findings.push_back(std::move(finding));
    }
  }
}

void check_bonds(const DossierFacts& facts, std::vector<Finding>& findings) {
  const std::vector<ShownSetting> settings = all_settings(facts);
  for (const ShownSetting& hca : shown_settings(facts, "NCCL_IB_HCA")) {
    if (!contains(hca.setting->value, "bond")) continue;
    Finding finding;
    finding.severity = Severity::warning;
    finding.confidence = Confidence::medium;
    finding.subject = hca.setting->value;
    finding.evidence = {hca.shown()};
    bool several = false, split = false;
    for (const ShownSetting& seen : settings) {
      if (seen.document != hca.document) continue;
      if (seen.setting->name == "NCCL_IB_QPS_PER_CONNECTION") {
        several = evidence::integer_of(seen.setting->value).value_or(1) > 1;
        finding.evidence.push_back(seen.shown());
      }
      if (seen.setting->name == "NCCL_IB_SPLIT_DATA_ON_QPS") split = seen.setting->value == "1";
    }
    if (several && split) continue;
    if (several) finding.severity = Severity::info;
    finding.cause = several ? "The device is a bond: a queue pair is hashed to one member, and it is not "
                              "said whether data is split over the queue "
                              "pairs (NCCL_IB_SPLIT_DATA_ON_QPS)."
                            : "The device is a bond: with one queue pair per connection each connection is "
                              "hashed to one member, half of the rate.";
    finding.fix = advise(
        "Use 2 to 4 queue pairs with NCCL_IB_SPLIT_DATA_ON_QPS=1 and compare the load of the members, or "
        "give the ports to the job "
        "one by one instead of a bond.");
    findings.push_back(std::move(finding));
    return;
  }
}

// One queue pair against several on the same device.
void compare_counts(const DossierFacts& facts, std::vector<Finding>& findings, std::vector<Evidence>& good) {
  const std::vector<RunSeen> runs = perftest_runs_in(facts.dossier);
  for (const RunSeen& one : runs) {
    const evidence::PerftestRow* alone = one.run->best();
    if (alone == nullptr || one.run->qps.value_or(0) != 1) continue;
    for (const RunSeen& many : runs) {
      const evidence::PerftestRow* together = many.run->best();
      if (together == nullptr || many.run->qps.value_or(0) < 2 || many.run->device != one.run->device ||
          many.run->test != one.run->test)
        continue;
      std::vector<Evidence> evidence{
          shown("one queue pair", fmt::format("{:.4g}", alone->average_gbps), "Gb/s", *one.document,
                alone->line),
          shown(fmt::format("{} queue pairs", *many.run->qps), fmt::format("{:.4g}", together->average_gbps),
                "Gb/s", *many.document, together->line)};
      if (alone->average_gbps >= facts.policy.bench.slow_share.value() * together->average_gbps) {
        good = std::move(evidence);
        continue;
      }
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = one.run->device;
      finding.evidence = std::move(evidence);
      finding.cause =
          "One queue pair reaches a fraction of what several reach: it is hashed to one member of a bond or "
          "one of several paths, or its "
          "window is too small.";
      finding.fix = advise(
          "Use several queue pairs with data split over them, entropy in the UDP source port, or ports "
          "without bond; prove it by the "
          "load of each member or uplink.");
      findings.push_back(std::move(finding));
      return;
    }
  }
}

Outcome judge_spreading(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  check_split(facts, findings);
  check_bonds(facts, findings);
  compare_counts(facts, findings, good);
  if (!findings.empty()) return Outcome::found(std::move(findings));
  if (!good.empty()) return Outcome::passed(std::move(good));
  for (const ShownSetting& split : shown_settings(facts, "NCCL_IB_SPLIT_DATA_ON_QPS")) {
    if (split.setting->value == "1") return Outcome::passed({split.shown()});
  }
  return Outcome::not_checked(
      "neither the number of queue pairs with what they reach, nor the load of paths or members is among the "
      "inputs");
}

}  // namespace

std::span<const Rule> library_devices_rules() {
  static constexpr Rule kRules[] = {
      {.id = "NET-2",
       .title = "The NICs in use are the NICs that are there",
       .condition =
           "Lists of devices agree between hosts and libraries, and name the active ports of the fabric.",
       .why = "The ceiling is that of the devices used.",
       .needs = "NCCL_IB_HCA or a log's \"Using\" line of each host; ibstat or ibv_devinfo of the ports.",
       .decided = "Warning where lists differ, contradict, or leave out half of the like ports.",
       .fix = "Correct the list.",
       .source = "deepseek-ai/DeepEP#336, NVIDIA/dgx-spark-playbooks#102",
       .gates = {},
       .judge = judge_devices},
      {.id = "LAG-2",
       .title = "There are as many flows as paths",
       .condition = "Data is split over several queue pairs where there are several paths or bond members.",
       .why = "A queue pair is hashed to one path; more of them do not help while each message takes one.",
       .needs = "NCCL_IB_QPS_PER_CONNECTION with NCCL_IB_SPLIT_DATA_ON_QPS, a bond device in use, or "
                "perftest with one and several queue pairs.",
       .decided = "Warning for several queue pairs without split, a bond with one, or one queue pair far "
                  "below several; info where split is not said.",
       .fix = "More queue pairs with split, entropy, adaptive routing, or no bond.",
       .source = "NVIDIA/nccl-tests#191, NVIDIA/nccl#1015, cluster-readiness-engine#287",
       .gates = {},
       .judge = judge_spreading},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
