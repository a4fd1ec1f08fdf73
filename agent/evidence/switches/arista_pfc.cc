#include "agent/evidence/switches/arista_pfc.h"

#include <algorithm>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

// Which table the rows belong to.
enum class AristaTable { none, flags, yes_no, counters, watchdog };

AristaTable arista_table_of(std::string_view text) {
  const auto words = host::words(text);
  if (words.size() < 3 || (words[0] != "Port" && words[0] != "Interface")) return AristaTable::none;
  if (words[1] == "Status" && words[2] == "Priorities") return AristaTable::flags;
  if (words[1] == "Enabled" && words[2] == "Priorities") return AristaTable::yes_no;
  if (lower_case(words[1]) == "rxpfc" && lower_case(words[2]) == "txpfc") return AristaTable::counters;
  if (words[1] == "TxQ" && text.find("stuck") != text.npos) return AristaTable::watchdog;
  return AristaTable::none;
}

bool is_legend(std::string_view text) {
  return text.starts_with("E: PFC Enabled") || text.starts_with("E:PFC Enabled");
}

constexpr std::string_view kAristaLines[] = {"The hardware supports PFC on priorities",
                                             "PFC receive processing is", "The PFC watchdog ", "Global PFC"};

bool is_arista_line(std::string_view text) {
  return std::ranges::any_of(kAristaLines, [&](std::string_view begin) { return text.starts_with(begin); });
}

class AristaPfcReader : public DocumentReader {
 public:
  explicit AristaPfcReader(const Context&) { content_.model.system = SwitchSystem::eos; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (const AristaTable table = arista_table_of(text); table != AristaTable::none) {
      table_ = table;
      any_ = true;
      return Verdict::mine;
    }
    if (is_arista_line(text)) return take_sentence(text, line.number);
    if (is_legend(text)) {
      any_ = true;
      return Verdict::mine;
    }
    if (table_ == AristaTable::none) return Verdict::not_mine;
    if (is_rule(text) || text.starts_with("Interval/Mode") || text.starts_with("Config/Oper"))
      return Verdict::mine;
    return take_row(host::words(text), line) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (!any_) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  Verdict take_sentence(std::string_view text, int number) {
    any_ = true;
    if (text.starts_with("Global PFC")) {
      const std::string value = lower_case(split_at(text, ':').second);
      if (value == "enabled" || value == "disabled") {
        content_.pfc_globally = value == "enabled";
        content_.pfc_globally_line = number;
      }
    }
    constexpr std::string_view kTimeout = "The PFC watchdog timeout is ";
    if (text.starts_with(kTimeout)) {
      const auto words = host::words(text.substr(kTimeout.size()));
      const auto [whole, fraction] = split_at(words.empty() ? std::string_view() : words[0], '.');
      const auto seconds_part = count_in(whole);
      if (seconds_part && *seconds_part < 3600) {
        const auto tenths = count_in(fraction.substr(0, 1)).value_or(0);
        SwitchWatchdog watchdog;
        watchdog.detection = seconds(static_cast<std::int64_t>(*seconds_part)) +
                             milliseconds(static_cast<std::int64_t>(tenths) * 100);
        watchdog.on = *watchdog.detection > Duration(0);  // 0.0: never
        content_.model.common.watchdog = watchdog;
        content_.model.note_line("watchdog", number);
      }
    }
    constexpr std::string_view kAction = "The PFC watchdog action is ";
    if (text.starts_with(kAction) && content_.model.common.watchdog) {
      content_.model.common.watchdog->action = host::words(text.substr(kAction.size())).front();
    }
    return Verdict::mine;
  }

  bool take_row(const std::vector<std::string_view>& words, const Line& line) {
    if (words.size() < 2) return false;
    switch (table_) {
      case AristaTable::none:
        return false;
      case AristaTable::flags:
        return take_flags(words, line);
      case AristaTable::yes_no:
        return take_yes_no(words, line);
      case AristaTable::counters:
        return take_counters(words, line);
      case AristaTable::watchdog:
        return take_watchdog(words, line);
    }
    return false;
  }

  void add_state(PfcState state, const Line& line) {
    state.shown =
        trimmed(line.text.substr(std::min(line.text.find(state.port) + state.port.size(), line.text.size())));
    state.line = line.number;
    SwitchSettings& port = content_.model.ports[state.port];
    if (!state.enabled) {
      port.pfc = PrioritySet();
    } else if (state.priorities) {
      port.pfc = state.priorities;
    }
    content_.model.note_line("pfc", line.number, state.port);
    content_.pfc_states.push_back(std::move(state));
  }

  // "Et1  E A W  3 4  -  -": up to three flags, then the priorities.
  bool take_flags(const std::vector<std::string_view>& words, const Line& line) {
    PfcState state;
    state.port = words[0];
    state.active = false;
    std::size_t at = 1;
    bool known = false;
    for (; at < words.size() && at < 4; ++at) {
      if (words[at] == "E" || words[at] == "D") {
        state.enabled = words[at] == "E";
        known = true;
      } else if (words[at] == "A") {
        state.active = true;
      } else if (words[at] != "W" && words[at] != "-") {
        break;
      }
    }
    if (!known) return false;
    std::string list;
    for (; at < words.size() && count_in(words[at]) && words[at].size() == 1; ++at)
      list += std::string(words[at]) + " ";
    state.priorities = priorities_in(list);
    if (state.enabled && !state.priorities) state.priorities = PrioritySet();
    add_state(std::move(state), line);
    return true;
  }

  // "Et2  Yes  5  Yes  DCBX disabled"
  bool take_yes_no(const std::vector<std::string_view>& words, const Line& line) {
    if (words[1] != "Yes" && words[1] != "No") return false;
    PfcState state;
    state.port = words[0];
    state.enabled = words[1] == "Yes";
    std::string list;
    for (std::size_t at = 2; at < words.size(); ++at) {
      if (count_in(words[at])) {
        list += std::string(words[at]) + " ";
      } else if (words[at] == "Yes" || words[at] == "No") {
        state.active = words[at] == "Yes";
        break;
      } else if (words[at] != "-") {
        break;
      }
    }
    state.priorities = priorities_in(list);
    add_state(std::move(state), line);
    return true;
  }

  bool take_counters(const std::vector<std::string_view>& words, const Line& line) {
    if (words.size() < 3) return false;
    const auto received = count_in(words[1]), sent = count_in(words[2]);
    if (!received || !sent) return false;
    for (const bool is_received : {true, false}) {
      PfcFrames frames;
      frames.port = words[0];
      frames.received = is_received;
      frames.total = is_received ? received : sent;
      frames.line = line.number;
      content_.pfc_frames.push_back(std::move(frames));
    }
    return true;
  }

  // "Et1  UC3  2  1": times stuck, times recovered.
  bool take_watchdog(const std::vector<std::string_view>& words, const Line& line) {
    if (words.size() < 4) return false;
    const auto digits = words[1].find_first_of("0123456789");
    const auto queue = digits == words[1].npos ? std::nullopt : count_in(words[1].substr(digits));
    const auto stuck = count_in(words[2]), recovered = count_in(words[3]);
    if (!queue || *queue > 63 || !stuck || !recovered) return false;
    WatchdogQueue out;
    out.port = words[0];
    out.queue = static_cast<int>(*queue);
    out.detected = *stuck;
    out.restored = *recovered;
    out.status = *stuck > *recovered ? "stormed" : "operational";
    out.line = line.number;
    content_.watchdog.push_back(std::move(out));
    return true;
  }

  SwitchEvidence content_;
  AristaTable table_ = AristaTable::none;
  bool any_ = false;
};

constexpr std::string_view kAristaAnchors[] = {
    "RxPfc",           "RxPFC",       "E: PFC Enabled",        "E:PFC Enabled",
    "Global PFC",      "Status Pri",  "Status  Pri",           "Enabled Pri",
    "Enabled  Pri",    "times stuck", "hardware supports PFC", "PFC receive processing",
    "The PFC watchdog"};

}  // namespace

Format arista_pfc_format() {
  return {.name = "arista-pfc",
          .anchors = kAristaAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const std::string_view text = trimmed(line.text);
                return is_arista_line(text) || is_legend(text) || arista_table_of(text) != AristaTable::none;
              },
          .open = open_reader<AristaPfcReader>};
}

}  // namespace rocetune::evidence
