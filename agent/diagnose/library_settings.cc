// Rules over environments and command lines: what variables can do, and which class they choose.
#include <algorithm>
#include <map>
#include <set>

#include "agent/diagnose/class_map.h"
#include "agent/diagnose/rule.h"
#include "agent/diagnose/texts.h"
#include "agent/evidence/words.h"

namespace rocetune::diagnose {
namespace {

using evidence::contains;

Finding about(const ShownSetting& seen, Severity severity) {
  Finding finding;
  finding.severity = severity;
  finding.subject = seen.setting->name;
  finding.evidence = {seen.shown()};
  return finding;
}

// ---- LIB-2 ----

void check_range(const ShownSetting& seen, const Policy& policy, std::vector<Finding>& findings) {
  const auto range = policy.variables.find(seen.setting->name);
  if (range == policy.variables.end() || seen.setting->value.empty()) return;
  const std::string& text = seen.setting->value;
  if (text == "auto" || text == "inf" || text.starts_with('$') || text.starts_with('<') ||
      text.starts_with('{'))
    return;
  const auto value = evidence::integer_of_any_base(text);
  if (value && *value >= range->second.minimum && *value <= range->second.maximum) return;
  Finding finding = about(seen, Severity::warning);
  finding.cause = fmt::format("{}={} is outside the legal range {} to {}: {}.", seen.setting->name, text,
                              range->second.minimum, range->second.maximum, range->second.effect);
  finding.fix = advise(fmt::format("Set {} between {} and {}, or unset it.", seen.setting->name,
                                   range->second.minimum, range->second.maximum));
  findings.push_back(std::move(finding));
}

std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view entry = evidence::trimmed(list.substr(0, comma));
    if (!entry.empty()) out.push_back(entry);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return out;
}

void check_list_syntax(const ShownSetting& seen, std::vector<Finding>& findings) {
  const std::string& name = seen.setting->name;
  const bool nccl = name == "NCCL_IB_HCA";
  const bool ucx = name == "UCX_NET_DEVICES";
  if (!nccl && !ucx && name != "NVSHMEM_HCA_LIST") return;
  std::vector<std::string> wrong;
  for (const std::string_view entry : entries_of(seen.setting->value)) {
    const bool slash = contains(entry, "/");
    const bool no_port =
        ucx && (entry.starts_with("mlx5_") || entry.starts_with("bnxt_re") || entry.starts_with("roce")) &&
        !contains(entry, ":");
    if (slash || no_port || contains(entry, ";") || contains(entry, " ")) wrong.emplace_back(entry);
  }
  if (wrong.empty()) return;
  Finding finding = about(seen, Severity::warning);
  finding.cause = fmt::format(
      "{} in {} is not the documented form, which is device:port (\"mlx5_0:1\"): the entry matches no "
      "device.",
      listed(wrong), name);
  finding.fix = advise("Write device:port, entries parted by commas.");
  findings.push_back(std::move(finding));
}

struct OldName {
  std::string_view name, instead;
  bool is_wrong;  // never existed; else it had its time
};
constexpr OldName kOldNames[] = {
    {"NCCL_IB_CUDA_SUPPORT", "NCCL_NET_GDR_LEVEL", false},
    {"NCCL_IB_TRAFFIC_CLASS", "NCCL_IB_TC", true},
    {"NCCL_IB_GID", "NCCL_IB_GID_INDEX", true},
    {"NCCL_IB_HCAS", "NCCL_IB_HCA", true},
    {"NCCL_IB_SERVICE_LEVEL", "NCCL_IB_SL", true},
    {"UCX_IB_TC", "UCX_IB_TRAFFIC_CLASS", true},
    {"NVSHMEM_IB_TC", "NVSHMEM_IB_TRAFFIC_CLASS", true},
    {"NCCL_IB_QPS", "NCCL_IB_QPS_PER_CONNECTION", true},
    {"NCCL_TREE_THRESHOLD", "NCCL_ALGO", false},
    {"NCCL_MAX_NRINGS", "NCCL_MAX_NCHANNELS", false},
    {"NCCL_MIN_NRINGS", "NCCL_MIN_NCHANNELS", false},
};

void check_name(const ShownSetting& seen, std::vector<Finding>& findings) {
  for (const OldName& old : kOldNames) {
    if (seen.setting->name != old.name) continue;
    Finding finding = about(seen, old.is_wrong ? Severity::warning : Severity::info);
    finding.cause =
        fmt::format("{} {}: it does nothing. {} is meant.", old.name,
                    old.is_wrong ? "is no variable of the library" : "is no longer a variable of the library",
                    old.instead);
    finding.fix = advise(fmt::format("Use {}.", old.instead));
    findings.push_back(std::move(finding));
  }
  if ((seen.setting->name == "NCCL_ALGO" || seen.setting->name == "NCCL_PROTO") &&
      !seen.setting->value.empty()) {
    Finding finding = about(seen, Severity::info);
    finding.cause =
        fmt::format("{} forces the library's choice for every size; results say little about the defaults.",
                    seen.setting->name);
    finding.fix = advise("Unset it for a comparison.");
    findings.push_back(std::move(finding));
  }
}

// Settings by environment: a host's, or a file's.
using Environments = std::map<std::string, std::map<std::string, ShownSetting>>;

Environments environments_of(const std::vector<ShownSetting>& settings) {
  Environments out;
  for (const ShownSetting& seen : settings) {
    std::string key = environment_of(seen);
    if (seen.document->phase) key += " " + seen.document->phase->text;
    out[key].insert_or_assign(seen.setting->name, seen);
  }
  return out;
}

const ShownSetting* find_setting(const std::map<std::string, ShownSetting>& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() || found->second.setting->value.empty() ? nullptr : &found->second;
}

void check_exclusive(const std::map<std::string, ShownSetting>& environment, std::vector<Finding>& findings) {
  const ShownSetting* mapping = find_setting(environment, "NVSHMEM_HCA_PE_MAPPING");
  for (const char* other : {"NVSHMEM_ENABLE_NIC_PE_MAPPING", "NVSHMEM_HCA_LIST"}) {
    const ShownSetting* second = find_setting(environment, other);
    if (mapping == nullptr || second == nullptr || second->setting->value == "0") continue;
    Finding finding = about(*mapping, Severity::warning);
    finding.evidence.push_back(second->shown());
    finding.cause = fmt::format(
        "{} and {} are two ways to choose the NIC of a rank: together one of them is ignored, and ranks may "
        "all end up on the first NIC.",
        mapping->setting->name, other);
    finding.fix = advise(
        "Keep one of them; then compare the traffic counters of every NIC (tx_vport_rdma_unicast_bytes).");
    findings.push_back(std::move(finding));
  }
  const ShownSetting* disable = find_setting(environment, "NCCL_IB_DISABLE");
  const ShownSetting* hca = find_setting(environment, "NCCL_IB_HCA");
  if (disable != nullptr && disable->setting->value == "1" && hca != nullptr) {
    Finding finding = about(*disable, Severity::warning);
    finding.evidence.push_back(hca->shown());
    finding.cause = "NCCL_IB_DISABLE=1 turns RDMA off, although NCCL_IB_HCA chooses devices for it.";
    finding.fix = advise("Unset NCCL_IB_DISABLE.");
    findings.push_back(std::move(finding));
  }
}

void check_service_level(const std::map<std::string, ShownSetting>& environment, const LinkKinds& links,
                         std::vector<Finding>& findings) {
  struct LevelAndClass {
    const char* level;
    const char* traffic_class;
  };
  for (const LevelAndClass& names :
       {LevelAndClass{"NCCL_IB_SL", "NCCL_IB_TC"}, LevelAndClass{"UCX_IB_SL", "UCX_IB_TRAFFIC_CLASS"},
        LevelAndClass{"NVSHMEM_IB_SL", "NVSHMEM_IB_TRAFFIC_CLASS"}}) {
    const ShownSetting* level = find_setting(environment, names.level);
    if (level == nullptr || level->setting->value == "0" ||
        find_setting(environment, names.traffic_class) != nullptr || links.only_infiniband()) {
      continue;
    }
    Finding finding = about(*level, links.ethernet ? Severity::warning : Severity::info);
    finding.confidence = Confidence::medium;
    finding.cause = fmt::format(
        "{} sets no DSCP: untagged RoCE v2 is classified by DSCP only, and {} is not set, so packets leave "
        "with "
        "DSCP 0 and may land in a lossy class.",
        names.level, names.traffic_class);
    finding.fix = advise(fmt::format(
        "Set {} to the traffic class byte of the lossless class (DSCP times 4, plus 2 for ECT(0): 106 for "
        "DSCP 26), on every rank.",
        names.traffic_class));
    findings.push_back(std::move(finding));
  }
}

bool is_nccl_conf(const evidence::Document& document) {
  return document.file == "nccl.conf" || document.file.ends_with("/nccl.conf") ||
         document.file.ends_with(".nccl.conf");
}

void check_hidden_file(const std::vector<ShownSetting>& settings, std::vector<Finding>& findings) {
  std::map<std::string, Finding> by_file;
  for (const ShownSetting& seen : settings) {
    if (!is_nccl_conf(*seen.document)) continue;
    Finding& finding = by_file[seen.document->file];
    if (finding.evidence.size() < 8) finding.evidence.push_back(seen.shown());
    for (const ShownSetting& other : settings) {
      if (is_nccl_conf(*other.document) || other.setting->name != seen.setting->name ||
          other.setting->value == seen.setting->value)
        continue;
      finding.severity = Severity::warning;
      finding.evidence.push_back(other.shown());
      finding.subject = seen.document->file + " " + seen.setting->name;
    }
  }
  for (auto& [file, finding] : by_file) {
    if (finding.subject.empty()) {
      finding.subject = file;
      finding.severity = Severity::info;
    }
    finding.cause =
        "NCCL reads these settings from a file on every start of every job; whoever looks at the environment "
        "only does "
        "not see them.";
    finding.fix = advise("Keep what is meant for all jobs, and move the rest into the job's environment.",
                         {"cat /etc/nccl.conf ~/.nccl.conf"});
    findings.push_back(std::move(finding));
  }
}

Outcome judge_variables(const DossierFacts& facts) {
  const std::vector<ShownSetting> settings = all_settings(facts);
  if (settings.empty())
    return Outcome::not_checked("no environment or command line of a library is among the inputs");
  std::vector<Finding> findings;
  std::set<std::pair<std::string, std::string>> judged;
  for (const ShownSetting& seen : settings) {
    if (!judged.insert({seen.setting->name, seen.setting->value}).second) continue;
    check_range(seen, facts.policy, findings);
    check_list_syntax(seen, findings);
    check_name(seen, findings);
  }
  const LinkKinds links = link_kinds(facts);
  std::set<std::string> subjects;
  for (const auto& [name, environment] : environments_of(settings)) {
    std::vector<Finding> here;
    check_exclusive(environment, here);
    check_service_level(environment, links, here);
    for (Finding& finding : here) {
      if (subjects.insert(finding.subject + finding.cause).second) findings.push_back(std::move(finding));
    }
  }
  check_hidden_file(settings, findings);
  if (!findings.empty()) return Outcome::found(std::move(findings));
  return Outcome::passed({shown("variables read", settings.size(), "", *settings.front().document)});
}

// ---- TMR-1 ----

Outcome judge_timers(const DossierFacts& facts) {
  std::vector<Evidence> good;
  for (const ShownSetting& seen : shown_settings(facts, "NCCL_IB_TIMEOUT")) {
    const auto value = evidence::integer_of(seen.setting->value);
    if (!value || *value < 1 || *value > 31) {
      return Outcome::not_checked(
          fmt::format("NCCL_IB_TIMEOUT={} is no legal timeout (LIB-2)", seen.setting->value));
    }
    const double seconds = 4.096e-6 * static_cast<double>(std::int64_t{1} << *value) * 7;
    const bool is_long = *value > facts.policy.longest_usual_timeout;
    const bool is_short = *value < facts.policy.shortest_usual_timeout;
    good.push_back(seen.shown());
    if (!is_long && !is_short) continue;
    Finding finding = about(seen, is_short ? Severity::warning : Severity::info);
    finding.confidence = Confidence::medium;
    finding.cause =
        is_long
            ? fmt::format(
                  "A lost packet may stop a connection for {:.0f} s before an error is reported: a long "
                  "timeout hides loss, it does not cure it.",
                  seconds)
            : fmt::format(
                  "Retries run out after {:.3g} s: congestion or a switch's reconvergence looks like a dead "
                  "peer.",
                  seconds);
    finding.fix = advise(fmt::format(
        "Use {} to {} (4.096 us times 2 to that power, seven times), and watch local_ack_timeout_err.",
        facts.policy.shortest_usual_timeout, facts.policy.longest_usual_timeout));
    return Outcome::found(std::move(finding));
  }
  if (!good.empty()) return Outcome::passed(std::move(good));
  return Outcome::not_checked("NCCL_IB_TIMEOUT is not among the inputs");
}

}  // namespace

std::span<const Rule> library_settings_rules() {
  static constexpr Rule kRules[] = {
      {.id = "LIB-2",
       .title = "Variables of libraries can do what they are meant to",
       .condition = "Every variable is within its range and syntax, known to the library, and not "
                    "contradicted by another.",
       .why = "A wrong one is ignored in silence, or cut to its low bits.",
       .needs = "An environment, nccl.conf, a command line, or a log that names the variables.",
       .decided = "Warning for what has no effect or another than meant; info for what is old, forced or set "
                  "by a file.",
       .fix = "Correct or unset the variable.",
       .source = "NVIDIA/nccl#378, NVIDIA/nccl-tests#24, deepseek-ai/DeepEP#336; NCCL user guide",
       .gates = {},
       .judge = judge_variables},
      {.id = "TMR-1",
       .title = "The timeout of queue pairs is neither a dead weight nor too short",
       .condition = "NCCL_IB_TIMEOUT is between the shortest and longest usual value.",
       .why = "Long timers hide loss behind stalls; short ones take congestion for a dead peer.",
       .needs = "NCCL_IB_TIMEOUT.",
       .decided = "Warning below, info above.",
       .fix = "18 to 22.",
       .source = "NVIDIA/nccl#1555; IBTA specification 9.7.6.1.3",
       .gates = {},
       .judge = judge_timers},
  };
  return kRules;
}

}  // namespace rocetune::diagnose
