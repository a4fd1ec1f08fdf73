// MAP-4 and MAP-8 over the traffic classes that environments and commands set.
#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

struct ClassSeen {
  ShownSetting from;
  int byte;
  int dscp() const { return byte >> 2; }
};

std::vector<ClassSeen> classes_in(const DossierFacts& facts) {
  std::vector<ClassSeen> out;
  for (const ShownSetting& seen : all_settings(facts)) {
    if (const auto byte = traffic_class_of(*seen.setting)) out.push_back({seen, *byte});
  }
  return out;
}

std::string class_value(const ClassSeen& seen) {
  return fmt::format("{} (DSCP {}, ECN {})", seen.byte, seen.dscp(), seen.byte & 3);
}

Evidence class_evidence(const ClassSeen& seen) {
  return shown(seen.from.setting->name, class_value(seen), "", *seen.from.document, seen.from.setting->line);
}

// Whether a host that shows its class map leads the DSCP into a priority with PFC; nothing if none shows it.
std::optional<bool> leads_to_lossless(const DossierFacts& facts, int dscp, const PortFacts*& example) {
  std::optional<bool> out;
  for (const HostFacts& host : facts.hosts) {
    for (const PortFacts& port : host.ports) {
      if (!port.port.dcb.pfc || !port.port.dcb.app || port.port.dcb.pfc->enabled == PrioritySet()) continue;
      const auto priority = mapped_priority(port.port, Dscp(static_cast<std::uint8_t>(dscp)));
      if (!priority) continue;
      const bool lossless = is_lossless(port, *priority);
      if (!lossless && out != std::optional<bool>(false)) example = &port;
      out = out.value_or(true) && lossless;
    }
  }
  return out;
}

// ---- MAP-4 ----

// A DSCP or priority that people use for RoCE and its CNPs.
bool looks_like_a_code(const DefaultPlan& plan, int value) {
  return value == plan.data_dscp.value() || value == plan.cnp_dscp.value() ||
         value == plan.data_priority.value() ||
         std::ranges::any_of(plan.common_dscps, [&](Dscp dscp) { return dscp.value() == value; });
}

Outcome judge_bytes(const DossierFacts& facts) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  std::set<std::pair<std::string, int>> judged;
  for (const ClassSeen& seen : classes_in(facts)) {
    if (!judged.insert({seen.from.setting->name, seen.byte}).second) continue;
    good.push_back(class_evidence(seen));
    const PortFacts* port = nullptr;
    const auto as_byte = leads_to_lossless(facts, seen.dscp(), port);
    const auto as_dscp = seen.byte < 64 ? leads_to_lossless(facts, seen.byte, port) : std::nullopt;
    const bool is_proven = as_dscp == true && as_byte == false;
    const bool is_likely =
        seen.byte < 64 && as_byte != true && looks_like_a_code(facts.policy.plan, seen.byte);
    Finding finding;
    finding.subject = seen.from.setting->name;
    finding.evidence = {class_evidence(seen)};
    if (is_proven || is_likely) {
      finding.confidence = is_proven ? Confidence::high : Confidence::medium;
      finding.cause = fmt::format(
          "{} is a whole traffic class byte, but {} looks like a bare DSCP or priority: packets leave with "
          "DSCP {}.",
          seen.from.setting->name, seen.byte, seen.dscp());
      finding.fix = advise(fmt::format("Write DSCP times 4, plus 2 for ECT(0): {} for DSCP {}.",
                                       seen.byte * 4 + 2, seen.byte));
    } else if ((seen.byte & 3) == 3) {
      finding.cause = fmt::format(
          "The traffic class byte {} has both ECN bits set: where the NIC takes them, every packet is marked "
          "as if it "
          "had met congestion.",
          seen.byte);
      finding.fix = advise(fmt::format("Write {}: the same DSCP with ECT(0).", (seen.byte & ~3) | 2));
    } else {
      continue;
    }
    findings.push_back(std::move(finding));
  }
  return Outcome::of(std::move(findings), std::move(good),
                     "no environment or command line sets a traffic class");
}

// ---- MAP-8 ----

std::string library_of(std::string_view name) { return std::string(name.substr(0, name.find('_'))); }

// One host of several sets the class of a library that another uses without.
void find_missing(const std::vector<ShownSetting>& settings, const std::vector<ClassSeen>& classes,
                  std::vector<Finding>& findings) {
  std::set<std::pair<std::string, std::string>> judged;  // library and format: all their settings at once
  for (const ClassSeen& seen : classes) {
    const std::string library = library_of(seen.from.setting->name);
    if (!judged.emplace(library, seen.from.document->format).second) continue;
    std::map<std::string, bool> has;  // place -> sets it
    std::map<std::string, ShownSetting> example;
    for (const ShownSetting& other : settings) {
      if (library_of(other.setting->name) != library || other.document->format != seen.from.document->format)
        continue;
      bool& sets = has[launch_place_of(other)];
      sets |= traffic_class_of(*other.setting).has_value();
      example.emplace(launch_place_of(other), other);
    }
    for (const auto& [place, sets] : has) {
      if (sets) continue;
      Finding finding;
      finding.confidence = Confidence::medium;
      finding.subject = place;
      finding.evidence = {class_evidence(seen), example.at(place).shown()};
      finding.cause = fmt::format(
          "{} is set in one launch path only: what {} sends leaves in the default class, acknowledgements "
          "and read "
          "responses included.",
          seen.from.setting->name, place);
      finding.fix =
          advise("Set it for every rank on every host, or set the device's default for all programs.",
                 {fmt::format("echo {} > /sys/class/infiniband/DEVICE/tc/1/traffic_class", seen.byte)});
      findings.push_back(std::move(finding));
    }
    if (!findings.empty()) return;
  }
}

void find_unlike(const std::vector<ClassSeen>& classes, std::vector<Finding>& findings) {
  for (const ClassSeen& seen : classes) {
    const ClassSeen& first = classes.front();
    if (seen.dscp() == first.dscp()) continue;
    if (seen.from.document->series == first.from.document->series && seen.from.document->phase) continue;
    Finding finding;
    finding.subject = seen.from.setting->name;
    finding.evidence = {class_evidence(first), class_evidence(seen)};
    finding.cause = fmt::format(
        "Two paths choose different classes (DSCP {} and {}): at most one of them is the lossless one.",
        first.dscp(), seen.dscp());
    finding.fix =
        advise("Use one traffic class for all RDMA of the job, or give both classes PFC on purpose.");
    findings.push_back(std::move(finding));
    return;
  }
}

Outcome judge_paths(const DossierFacts& facts) {
  const std::vector<ClassSeen> classes = classes_in(facts);
  if (classes.empty()) return Outcome::not_checked("no environment or command line sets a traffic class");
  const std::vector<ShownSetting> settings = all_settings(facts);
  std::vector<Finding> findings;
  find_missing(settings, classes, findings);
  find_unlike(classes, findings);
  const bool nvshmem = std::any_of(classes.begin(), classes.end(), [](const ClassSeen& seen) {
    return seen.from.setting->name.starts_with("NVSHMEM");
  });
  for (const ShownSetting& seen : shown_settings(facts, "NVSHMEM_IB_ENABLE_IBGDA")) {
    if (nvshmem || seen.setting->value == "0") continue;
    Finding finding;
    finding.subject = seen.setting->name;
    finding.evidence = {seen.shown(), class_evidence(classes.front())};
    finding.cause =
        "Queue pairs that the GPU drives (IBGDA, made through DevX) take neither the library's nor the "
        "device's default traffic "
        "class: without NVSHMEM_IB_TRAFFIC_CLASS they send in the default class.";
    finding.fix = advise(fmt::format("Set NVSHMEM_IB_TRAFFIC_CLASS={} as well.", classes.front().byte));
    findings.push_back(std::move(finding));
    break;
  }
  for (const ClassSeen& seen : classes) {
    const PortFacts* port = nullptr;
    if (leads_to_lossless(facts, seen.dscp(), port) != false || port == nullptr) continue;
    Finding finding;
    finding.subject = port->port.name;
    finding.evidence = {class_evidence(seen)};
    if (const auto priority = mapped_priority(port->port, Dscp(static_cast<std::uint8_t>(seen.dscp())))) {
      finding.evidence.push_back(
          setting(fmt::format("priority of DSCP {}", seen.dscp()), priority->value(), "", source::kApp));
    }
    finding.cause = fmt::format("The job sends with DSCP {}, which this port maps to a priority without PFC.",
                                seen.dscp());
    finding.fix = advise(
        "Map that DSCP to the lossless priority on every host and switch, or send with the DSCP that is "
        "mapped there.");
    findings.push_back(std::move(finding));
    break;
  }
  if (!findings.empty()) return Outcome::found(std::move(findings));
  return Outcome::passed({class_evidence(classes.front())});
}

}  // namespace

std::span<const Rule> library_class_rules() {
  static constexpr Rule kRules[] = {
      {.id = "MAP-4",
       .title = "Traffic classes in environments are whole bytes",
       .condition = "A traffic class variable holds DSCP times 4 plus ECN, not a bare DSCP or priority.",
       .why = "26 as a byte is DSCP 6: the job runs outside the lossless class without any error.",
       .needs = "An environment or command line that sets a traffic class; the hosts' maps make it certain.",
       .decided = "Warning if the value is a common DSCP and its own DSCP leads into no lossless priority, "
                  "or if both ECN bits are set.",
       .fix = "DSCP times 4 plus 2.",
       .source = "dmf-mxl/mxl#603; Linux hw/mlx5/qp.c",
       .gates = {},
       .judge = judge_bytes},
      {.id = "MAP-8",
       .title = "Every launch path carries the class",
       .condition = "All environments set the same traffic class, for every library and kind of queue pair, "
                    "and hosts lead it into a lossless "
                    "priority.",
       .why = "A variable is per process; queue pairs made through DevX take no default.",
       .needs = "Environments or command lines of the launch paths.",
       .decided = "Warning where one path lacks it, sets another, or where a host maps it to a priority "
                  "without PFC.",
       .fix = "The same byte everywhere, or the device's default.",
       .source = "NVIDIA/nccl#2383, openucx/ucx#10325",
       .gates = {},
       .judge = judge_paths},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
