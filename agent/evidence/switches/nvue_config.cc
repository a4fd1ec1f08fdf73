#include "agent/evidence/switches/nvue_config.h"

#include <algorithm>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

using Words = std::vector<std::string_view>;
constexpr std::string_view kDefaultProfile = "default-global";

// What `nv set qos roce` stands for. Source: Cumulus Linux documentation, "RoCE default configuration": DSCP
// and PCP by their upper three bits, PFC on switch priority 3, ECN 150000 to 1500000 bytes on traffic classes
// 0 and 3, half of the bandwidth for each of them, traffic class 6 strict.
void take_nvue_roce_defaults(SwitchSettings& common, bool lossless) {
  common.trust = SwitchTrust::both;
  for (int dscp = 0; dscp < 64; ++dscp) common.priority_of_dscp[Dscp(dscp)] = Priority(dscp / 8);
  for (int p = 0; p < 8; ++p) common.queue_of_priority[Priority(p)] = TrafficClass(p == 3 || p == 6 ? p : 0);
  common.pfc = lossless ? PrioritySet::of(Priority(3)) : PrioritySet();
  for (const int tc : {0, 3}) {
    SwitchQueue& queue = common.queues[TrafficClass(tc)];
    queue.strict = false;
    queue.share_percent = 50;
    queue.marks = true;
    queue.mark_from = Bytes(150'000);
    queue.mark_all = Bytes(1'500'000);
    queue.mark_percent = 100;
  }
  common.queues[TrafficClass(6)].strict = true;
}

// `what` of "qos WHAT PROFILE ..." with the settings of each profile; they count for ports once bound.
class NvueConfigReader : public DocumentReader {
 public:
  explicit NvueConfigReader(const Context&) { content_.model.system = SwitchSystem::nvue; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    const Words words = host::words(line.text);
    if (words.size() < 2 || words[0] != "nv") return Verdict::not_mine;
    if (words[1] != "set")
      return words[1] == "config" || words[1] == "unset" ? Verdict::mine : Verdict::not_mine;
    any_ = true;
    line_ = line.number;
    const Words rest(words.begin() + 2, words.end());
    if (rest.size() >= 2 && rest[0] == "qos" && (rest.size() >= 3 || rest[1] == "roce")) {
      take_qos(rest);
    } else if (rest.size() >= 4 && rest[0] == "interface") {
      take_interface(rest);
    } else if (rest.size() == 3 && rest[0] == "system" && rest[1] == "hostname") {
      content_.model.name = rest[2];
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (!any_) return std::nullopt;
    SwitchModel& model = content_.model;
    for (auto& [key, settings] : profiles_) {
      settle_pfc(key, settings);
      if (key.second == kDefaultProfile) model.common.overlay(settings);
    }
    for (const auto& [port, what, profile] : bindings_) {
      const auto found = profiles_.find({what, profile});
      if (found != profiles_.end()) model.ports[port].overlay(found->second);
    }
    for (const std::string& port : watched_) {
      if (watchdog_.detection) model.ports[port].watchdog = watchdog_;
    }
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  using Key = std::pair<std::string, std::string>;  // "pfc", "default-global"

  // PFC needs both directions: one that is off is none.
  void settle_pfc(const Key& key, SwitchSettings& settings) {
    if (key.first == "pfc" && off_.contains(key.second) && settings.pfc) settings.pfc = PrioritySet();
  }

  void note(const std::string& what, std::string_view port = {}) {
    content_.model.note_line(what, line_, port);
  }

  void take_qos(const Words& words) {
    const std::string what(words[1]);
    if (what == "roce") {
      const bool lossy =
          std::ranges::any_of(words, [](std::string_view w) { return w.starts_with("lossy"); });
      const bool off = words.back() == "off" || words.back() == "disable" || words.back() == "disabled";
      if (!off) take_nvue_roce_defaults(content_.model.common, !lossy);
      note("pfc");
      return;
    }
    if (what == "pfc-watchdog") {
      take_watchdog_timers(words);
      return;
    }
    SwitchSettings& settings = profiles_[{what, std::string(words[2])}];
    const Words rest(words.begin() + 3, words.end());
    if (rest.size() < 2) return;
    if (what == "mapping") take_mapping(rest, settings);
    if (what == "pfc") take_pfc(rest, std::string(words[2]), settings);
    if (what == "egress-queue-mapping") take_queue_mapping(rest, settings);
    if (what == "egress-scheduler") take_scheduler(rest, settings);
    if (what == "congestion-control") take_congestion_control(rest, settings);
  }

  // "trust l3", "dscp 26,27 switch-priority 3"
  void take_mapping(const Words& words, SwitchSettings& settings) {
    if (words[0] == "trust") {
      settings.trust = words[1] == "l3"     ? SwitchTrust::dscp
                       : words[1] == "l2"   ? SwitchTrust::pcp
                       : words[1] == "both" ? SwitchTrust::both
                                            : SwitchTrust::none;
      note("trust");
    } else if (words[0] == "dscp" && words.size() >= 4 && words[2] == "switch-priority") {
      const auto dscps = numbers_in(words[1], 63);
      const auto priority = count_in(words[3]);
      if (!dscps || !priority || *priority > 7) return;
      for (const int dscp : *dscps) {
        settings.priority_of_dscp[Dscp(dscp)] = Priority(static_cast<int>(*priority));
        note("dscp " + std::to_string(dscp));
      }
    }
  }

  void take_pfc(const Words& words, const std::string& profile, SwitchSettings& settings) {
    if (words[0] == "switch-priority") {
      const auto priorities = priorities_in(words[1]);
      if (!priorities) return;
      const std::uint8_t before = settings.pfc ? settings.pfc->mask() : 0;
      settings.pfc = PrioritySet(static_cast<std::uint8_t>(before | priorities->mask()));
      note("pfc");
    } else if ((words[0] == "tx" || words[0] == "rx") && (words[1] == "disable" || words[1] == "off")) {
      off_.insert({profile, true});
    } else if (words[0] == "cable-length") {
      if (const auto metres = count_in(words[1]); metres && *metres < 1'000'000)
        settings.cable = Metres(static_cast<std::int64_t>(*metres));
    }
  }

  // "switch-priority 3 traffic-class 3"
  void take_queue_mapping(const Words& words, SwitchSettings& settings) {
    if (words.size() < 4 || words[0] != "switch-priority" || words[2] != "traffic-class") return;
    const auto priorities = numbers_in(words[1], 7);
    const auto queue = count_in(words[3]);
    if (!priorities || !queue || *queue > 7) return;
    for (const int p : *priorities)
      settings.queue_of_priority[Priority(p)] = TrafficClass(static_cast<int>(*queue));
  }

  // "traffic-class 3 mode dwrr", "traffic-class 3 bw-percent 50"
  void take_scheduler(const Words& words, SwitchSettings& settings) {
    if (words.size() < 4 || words[0] != "traffic-class") return;
    const auto queues = numbers_in(words[1], 7);
    if (!queues) return;
    for (const int number : *queues) {
      SwitchQueue& queue = settings.queues[TrafficClass(number)];
      for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
        if (words[i] == "mode") queue.strict = words[i + 1] == "strict";
        if (const auto share = count_in(words[i + 1]); words[i] == "bw-percent" && share && *share <= 100)
          queue.share_percent = static_cast<int>(*share);
      }
      note("queue " + std::to_string(number));
    }
  }

  // "traffic-class 3 min-threshold 150000", "... ecn enable"
  void take_congestion_control(const Words& words, SwitchSettings& settings) {
    if (words.size() < 4 || words[0] != "traffic-class") return;
    const auto queues = numbers_in(words[1], 7);
    if (!queues) return;
    std::string value(words[3]);
    for (std::size_t i = 4; i < words.size(); ++i) value += std::string(" ") += words[i];
    for (const int number : *queues) {
      SwitchQueue& queue = settings.queues[TrafficClass(number)];
      if (!queue.marks) queue.marks = true;  // the profile's default
      if (words[2] == "min-threshold") queue.mark_from = size_in(value, false);
      if (words[2] == "max-threshold") queue.mark_all = size_in(value, false);
      if (words[2] == "ecn") queue.marks = value == "enable" || value == "on" || value == "enabled";
      if (const auto percent = count_in(value); words[2] == "probability" && percent && *percent <= 100)
        queue.mark_percent = static_cast<int>(*percent);
      note("ecn");
    }
  }

  // A storm is so many polls in a row.
  void take_watchdog_timers(const Words& words) {
    const auto value = count_in(words.back());
    if (!value || *value > 100'000) return;
    if (words[2] == "polling-interval") interval_ms_ = static_cast<std::int64_t>(*value);
    if (words[2] == "robustness") robustness_ = static_cast<std::int64_t>(*value);
    watchdog_.detection = milliseconds(interval_ms_ * robustness_);
    note("watchdog");
  }

  // "interface swp1-4 qos pfc profile X", "interface swp1 link mtu 9216", "interface swp1 qos pfc-watchdog
  // state enable"
  void take_interface(const Words& words) {
    for (const std::string& port : ports_in(words[1])) {
      if (words[2] == "link" && words[3] == "mtu" && words.size() >= 5) {
        if (const auto mtu = count_in(words[4]); mtu && *mtu < 65536)
          content_.model.ports[port].mtu = Bytes(static_cast<std::int64_t>(*mtu));
        note("mtu", port);
      } else if (words[2] == "qos" && words[3] == "pfc-watchdog") {
        if (words.back() != "disable" && words.back() != "off") watched_.push_back(port);
      } else if (words[2] == "qos" && words.size() >= 6 && words[4] == "profile") {
        bindings_.push_back({port, std::string(words[3]), std::string(words[5])});
      }
    }
  }

  struct Binding {
    std::string port, what, profile;
  };

  SwitchEvidence content_;
  bool any_ = false;
  int line_ = 0;
  std::map<Key, SwitchSettings> profiles_;
  std::map<std::string, bool> off_;  // PFC profiles with a direction off
  std::vector<Binding> bindings_;
  std::vector<std::string> watched_;
  SwitchWatchdog watchdog_;
  // Source: Cumulus Linux documentation, "PFC watchdog": polled every 100 ms, 3 times.
  std::int64_t interval_ms_ = 100, robustness_ = 3;
};

constexpr std::string_view kNvueConfigAnchors[] = {"nv set "};

}  // namespace

Format nvue_config_format() {
  return {.name = "switch-config",
          .anchors = kNvueConfigAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const std::string_view text = trimmed(line.text);
                return text.starts_with("nv set qos") || text.starts_with("nv set interface") ||
                       text.starts_with("nv set system hostname");
              },
          .open = open_reader<NvueConfigReader>};
}

}  // namespace rocetune::evidence
