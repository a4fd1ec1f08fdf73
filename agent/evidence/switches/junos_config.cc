#include "agent/evidence/switches/junos_config.h"

#include <algorithm>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

using Path = std::vector<std::string>;

// Where a block of the configuration can begin when what stands around it was cut off.
constexpr std::string_view kJunosBlocks[] = {
    "class-of-service", "forwarding-classes", "classifiers",  "congestion-notification-profile",
    "scheduler-maps",   "schedulers",         "drop-profiles"};

// "011010" or "26" or "af31".
std::optional<int> code_point(std::string_view text, std::size_t bits) {
  if (text.size() == bits && text.find_first_not_of("01") == text.npos) {
    int out = 0;
    for (const char c : text) out = out * 2 + (c - '0');
    return out;
  }
  if (bits == 3) {
    const auto number = count_in(text);
    return number && *number <= 7 ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }
  const auto dscps = dscps_in(text);
  return dscps && dscps->size() == 1 ? std::optional(dscps->front().value()) : std::nullopt;
}

struct JunosClass {
  std::optional<int> queue, pfc;
  bool no_loss = false;
};
struct JunosInterface {
  std::string profile, map, dscp, pcp;
};

class JunosConfigReader : public DocumentReader {
 public:
  explicit JunosConfigReader(const Context&) { content_.model.system = SwitchSystem::junos; }

  static bool begins(std::string_view text) {
    if (text.starts_with("set class-of-service ")) return true;
    if (!text.ends_with('{') || text.find_first_of("=\"(:") != text.npos) return false;
    const auto words = host::words(text);
    return std::ranges::find(kJunosBlocks, words[0]) != std::end(kJunosBlocks);
  }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    const std::string_view text = trimmed(line.text);
    line_ = line.number;
    if (text.starts_with("set ")) {
      const Path path = path_of(text.substr(4));
      if (path.empty() || (path[0] != "class-of-service" && path[0] != "interfaces" && path[0] != "system"))
        return Verdict::not_mine;
      take_statement(path);
      return Verdict::mine;
    }
    if (text.starts_with("/*") || text.starts_with("##")) return Verdict::mine;
    if (depth_.empty() && !begins(text) && !text.starts_with('}')) return Verdict::not_mine;
    return take_braces(text) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    compose();
    if (content_.model.is_empty()) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  static Path path_of(std::string_view text) {
    Path out;
    for (std::string_view word : host::words(text)) {
      if (word.ends_with(';')) word.remove_suffix(1);
      if (!word.empty() && word != "[" && word != "]") out.emplace_back(word);
    }
    return out;
  }

  // One line of the form in braces: "dscp mydscp {", "pfc;", "}".
  bool take_braces(std::string_view text) {
    if (text.ends_with('{')) {
      if (depth_.size() > 32) return false;
      depth_.push_back(path_of(text.substr(0, text.size() - 1)));
      return true;
    }
    if (text.starts_with('}')) {
      if (!depth_.empty()) depth_.pop_back();
      return true;
    }
    if (!text.ends_with(';')) return false;
    Path path;
    for (const Path& part : depth_) path.insert(path.end(), part.begin(), part.end());
    for (const std::string& word : path_of(text)) path.push_back(word);
    take_statement(path);
    return true;
  }

  void note(const std::string& what, std::string_view port = {}) {
    content_.model.note_line(what, line_, port);
  }

  // The word behind `key`; empty without it.
  static std::string behind(const Path& path, std::string_view key) {
    const auto at = std::ranges::find(path, key);
    return at == path.end() || at + 1 == path.end() ? std::string() : *(at + 1);
  }
  static bool has(const Path& path, std::string_view word) {
    return std::ranges::find(path, word) != path.end();
  }

  void take_statement(Path path) {
    if (path.size() > 2 && path[0] == "system" && path[1] == "host-name") content_.model.name = path[2];
    if (path.size() > 3 && path[0] == "interfaces" && path[2] == "mtu") {
      if (const auto mtu = count_in(path[3]); mtu && *mtu <= 65535) {
        content_.model.ports[path[1]].mtu = Bytes(static_cast<std::int64_t>(*mtu));
        note("mtu", path[1]);
      }
      return;
    }
    if (!path.empty() && path[0] == "class-of-service") path.erase(path.begin());
    if (path.size() < 3) return;
    if (path[0] == "forwarding-classes") take_class(path);
    if (path[0] == "classifiers") take_classifier(path);
    if (path[0] == "congestion-notification-profile") take_profile(path);
    if (path[0] == "interfaces") take_interface(path);
    if (path[0] == "scheduler-maps" && has(path, "scheduler"))
      maps_[path[1]][behind(path, "forwarding-class")] = behind(path, "scheduler");
    if (path[0] == "schedulers") take_scheduler(path);
  }

  // "forwarding-classes class NO-LOSS queue-num 4 no-loss pfc-priority 3"
  void take_class(const Path& path) {
    JunosClass& out = classes_[path[1] == "class" ? path[2] : path[1]];
    if (const auto queue = count_in(behind(path, "queue-num")); queue && *queue <= 7)
      out.queue = static_cast<int>(*queue);
    if (const auto pfc = count_in(behind(path, "pfc-priority")); pfc && *pfc <= 7)
      out.pfc = static_cast<int>(*pfc);
    out.no_loss = out.no_loss || has(path, "no-loss");
  }

  // "classifiers dscp C forwarding-class NO-LOSS loss-priority low code-points [ 011010 ]"
  void take_classifier(const Path& path) {
    const auto points = std::ranges::find(path, std::string("code-points"));
    const std::string name = behind(path, "forwarding-class");
    if (points == path.end() || name.empty() || path.size() < 3) return;
    const bool by_dscp = path[1] == "dscp" || path[1] == "dscp-ipv6";
    for (auto it = points + 1; it != path.end(); ++it) {
      const auto code = code_point(*it, by_dscp ? 6 : 3);
      if (!code) continue;
      if (by_dscp) {
        dscp_classifiers_[path[2]][Dscp(*code)] = name;
        note("dscp " + std::to_string(*code));
      } else {
        pcp_classifiers_[path[2]][*code] = name;
      }
    }
  }

  // "congestion-notification-profile CNP input dscp code-point 011010 pfc"
  void take_profile(const Path& path) {
    if (has(path, "pfc-watchdog")) {
      watchdogs_[path[1]].on = true;  // its times count polls, whose interval is the platform's
      note("watchdog");
    }
    if (!has(path, "input") || !has(path, "pfc")) return;
    const bool by_dscp = has(path, "dscp");
    const auto code = code_point(behind(path, "code-point"), by_dscp ? 6 : 3);
    if (!code) return;
    (by_dscp ? pfc_dscps_ : pfc_pcps_)[path[1]].push_back(*code);
    note("pfc");
  }

  void take_interface(const Path& path) {
    JunosInterface& out = interfaces_[path[1]];
    if (const std::string name = behind(path, "congestion-notification-profile"); !name.empty())
      out.profile = name;
    if (const std::string name = behind(path, "scheduler-map"); !name.empty()) out.map = name;
    if (has(path, "classifiers")) {
      if (const std::string name = behind(path, "dscp"); !name.empty()) out.dscp = name;
      if (const std::string name = behind(path, "ieee-802.1"); !name.empty()) out.pcp = name;
    }
  }

  void take_scheduler(const Path& path) {
    SwitchQueue& queue = schedulers_[path[1]];
    if (has(path, "explicit-congestion-notification")) {
      queue.marks = true;
      note("ecn");
    }
    if (path[2] == "transmit-rate") {
      if (const auto share = count_in(behind(path, "percent")); share && *share <= 100)
        queue.share_percent = static_cast<int>(*share);
    }
    if (path[2] == "priority" && path.size() > 3)
      queue.strict = path[3] == "strict-high" || path[3] == "strict";
  }

  // ---- what follows ----

  std::optional<Priority> priority_of(const std::string& name) const {
    const auto found = classes_.find(name);
    if (found == classes_.end()) return std::nullopt;
    const auto number = found->second.pfc ? found->second.pfc : found->second.queue;
    return number ? std::optional(Priority(*number)) : std::nullopt;
  }

  void compose() {
    SwitchSettings& common = content_.model.common;
    for (const auto& [name, c] : classes_) {
      const auto priority = priority_of(name);
      if (priority && c.queue) common.queue_of_priority[*priority] = TrafficClass(*c.queue);
    }
    for (const auto& [name, wiring] : interfaces_) {
      SwitchSettings& port = name.find('*') == std::string::npos ? content_.model.ports[name] : common;
      bind(wiring, port);
    }
    // Parts without interfaces: the only one of a kind is for all ports.
    if (!interfaces_.empty()) return;
    JunosInterface all;
    if (dscp_classifiers_.size() == 1) all.dscp = dscp_classifiers_.begin()->first;
    if (maps_.size() == 1) all.map = maps_.begin()->first;
    if (pfc_dscps_.size() + pfc_pcps_.size() == 1)
      all.profile = pfc_dscps_.empty() ? pfc_pcps_.begin()->first : pfc_dscps_.begin()->first;
    bind(all, common);
  }

  void bind(const JunosInterface& wiring, SwitchSettings& port) const {
    if (!wiring.dscp.empty()) {
      port.trust = SwitchTrust::dscp;
      const auto found = dscp_classifiers_.find(wiring.dscp);
      if (found != dscp_classifiers_.end()) {
        for (const auto& [dscp, name] : found->second) {
          if (const auto priority = priority_of(name)) port.priority_of_dscp[dscp] = *priority;
        }
      }
    } else if (!wiring.pcp.empty()) {
      port.trust = SwitchTrust::pcp;
    }
    if (!wiring.profile.empty()) port.pfc = pfc_of(wiring.profile);
    if (const auto found = watchdogs_.find(wiring.profile); found != watchdogs_.end())
      port.watchdog = found->second;
    const auto map = maps_.find(wiring.map);
    if (map == maps_.end()) return;
    for (const auto& [name, scheduler] : map->second) {
      const auto c = classes_.find(name);
      const auto queue = schedulers_.find(scheduler);
      if (c == classes_.end() || !c->second.queue || queue == schedulers_.end()) continue;
      port.queues[TrafficClass(*c->second.queue)] = queue->second;
    }
  }

  PrioritySet pfc_of(const std::string& profile) const {
    PrioritySet out;
    if (const auto found = pfc_pcps_.find(profile); found != pfc_pcps_.end()) {
      for (const int pcp : found->second) out = out.with(Priority(pcp));
    }
    if (const auto found = pfc_dscps_.find(profile); found != pfc_dscps_.end()) {
      for (const int dscp : found->second) {
        for (const auto& [name, map] : dscp_classifiers_) {
          const auto entry = map.find(Dscp(dscp));
          const auto priority = entry == map.end() ? std::nullopt : priority_of(entry->second);
          if (priority) out = out.with(*priority);
        }
      }
    }
    return out;
  }

  SwitchEvidence content_;
  int line_ = 0;
  std::vector<Path> depth_;
  std::map<std::string, JunosClass> classes_;
  std::map<std::string, std::map<Dscp, std::string>> dscp_classifiers_;
  std::map<std::string, std::map<int, std::string>> pcp_classifiers_;
  std::map<std::string, std::vector<int>> pfc_dscps_, pfc_pcps_;
  std::map<std::string, SwitchWatchdog> watchdogs_;
  std::map<std::string, JunosInterface> interfaces_;
  std::map<std::string, std::map<std::string, std::string>> maps_;
  std::map<std::string, SwitchQueue> schedulers_;
};

constexpr std::string_view kJunosConfigAnchors[] = {
    "class-of-service", "forwarding-classes", "classifiers {", "congestion-notification-profile",
    "scheduler-maps",   "schedulers {",       "drop-profiles"};

}  // namespace

Format junos_config_format() {
  return {.name = "switch-config",
          .anchors = kJunosConfigAnchors,
          .begins = [](const Line& line,
                       const Context&) { return JunosConfigReader::begins(trimmed(line.text)); },
          .open = open_reader<JunosConfigReader>};
}

}  // namespace rocetune::evidence
