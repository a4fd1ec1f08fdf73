#include "agent/evidence/switches/mqc_words.h"

#include <algorithm>

#include "agent/evidence/line.h"
#include "agent/evidence/switches/columns.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kMqcBegins[] = {"hostname ",
                                           "class-map ",
                                           "policy-map ",
                                           "priority-flow-control ",
                                           "qos map ",
                                           "qos trust ",
                                           "qos profile ",
                                           "system qos",
                                           "interface Eth",
                                           "interface eth",
                                           "interface Et",
                                           "service-policy type",
                                           "random-detect ",
                                           "interface port-channel",
                                           "interface Port-Channel"};

// First words of lines inside blocks that say nothing of classes, so that a whole `running-config` is read.
constexpr std::string_view kMqcOther[] = {"description",
                                          "ip",
                                          "ipv6",
                                          "switchport",
                                          "channel-group",
                                          "speed",
                                          "shutdown",
                                          "load-interval",
                                          "lldp",
                                          "dcbx",
                                          "vrf",
                                          "fec",
                                          "error-correction",
                                          "phy",
                                          "flowcontrol",
                                          "logging",
                                          "spanning-tree",
                                          "storm-control",
                                          "no",
                                          "exit",
                                          "end",
                                          "!",
                                          "duplex",
                                          "lacp",
                                          "congestion-control",
                                          "queue-limit",
                                          "shape",
                                          "beacon",
                                          "encapsulation",
                                          "negotiate",
                                          "cdp"};

bool has_word(const MqcWords& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The word behind `word`; empty without it.
std::string_view word_behind(const MqcWords& words, std::string_view word) {
  const auto at = std::ranges::find(words, word);
  return at != words.end() && at + 1 != words.end() ? *(at + 1) : std::string_view();
}

std::optional<int> percent_in(std::string_view text) {
  const auto percent = count_in(text);
  return percent && *percent <= 100 ? std::optional(static_cast<int>(*percent)) : std::nullopt;
}

std::optional<Duration> watchdog_milliseconds(std::string_view text) {
  const auto count = count_in(text);
  if (!count || *count > 60'000) return std::nullopt;
  return milliseconds(static_cast<std::int64_t>(*count));
}

// "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 20"
void take_random_detect(const MqcWords& words, SwitchQueue& queue) {
  if (has_word(words, "ecn")) queue.marks = true;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const bool from = words[i] == "minimum-threshold";
    if (!from && words[i] != "maximum-threshold") continue;
    const std::string_view unit = i + 2 < words.size() ? words[i + 2] : std::string_view();
    (from ? queue.mark_from : queue.mark_all) =
        size_in(std::string(words[i + 1]) + " " + std::string(unit), false);
  }
  for (const std::string_view key : {"max-mark-probability", "drop-probability"}) {
    if (const auto percent = percent_in(word_behind(words, key))) queue.mark_percent = percent;
  }
}

}  // namespace

std::string_view without_config_prompt(std::string_view text) {
  const auto open = text.find("(config");
  if (open > 64) return text;
  const auto close = text.find(")#", open);
  if (close == text.npos || text.substr(0, open).find(' ') != text.npos) return text;
  return trimmed(text.substr(close + 2));
}

bool begins_mqc(std::string_view text) {
  return std::ranges::any_of(kMqcBegins, [&](std::string_view begin) { return text.starts_with(begin); });
}

bool is_other_mqc(std::string_view word) { return std::ranges::find(kMqcOther, word) != std::end(kMqcOther); }

void take_queue_words(const MqcWords& words, SwitchQueue& queue) {
  if (words[0] == "bandwidth") {
    const auto share = percent_in(word_behind(words, "percent"));
    if (share && !queue.strict.value_or(false)) {
      queue.share_percent = share;
      queue.strict = false;
    }
  } else if (words[0] == "priority") {
    queue.strict = true;
    queue.share_percent.reset();
  } else if (words[0] == "no") {
    queue.strict = false;
  } else {
    take_random_detect(words, queue);
  }
}

SwitchSystem take_watchdog_words(const MqcWords& words, std::optional<SwitchWatchdog>& watchdog) {
  SwitchWatchdog out = watchdog.value_or(SwitchWatchdog());
  SwitchSystem system = SwitchSystem::unknown;
  if (has_word(words, "watch-dog-interval")) {
    system = SwitchSystem::nxos;
    const std::string_view value = word_behind(words, "watch-dog-interval");
    out.on = words[0] != "no" && value != "off";
    if (const auto time = watchdog_milliseconds(value)) out.detection = time;
  } else if (has_word(words, "watch-dog") && has_word(words, "interval")) {
    system = SwitchSystem::nxos;
    if (const auto time = watchdog_milliseconds(word_behind(words, "interval"))) out.detection = time;
  } else if (has_word(words, "watchdog")) {
    system = SwitchSystem::eos;
    std::string_view timeout = word_behind(words, "timeout");
    if (timeout.empty()) timeout = word_behind(words, "timer");
    const bool in_ms = word_behind(words, timeout) == "milliseconds";
    if (const auto time = parse_duration(std::string(timeout) + (in_ms ? "ms" : "s"))) out.detection = *time;
    if (const std::string_view action = word_behind(words, "action"); !action.empty()) out.action = action;
  }
  if (system != SwitchSystem::unknown) watchdog = out;
  return system;
}

}  // namespace rocetune::evidence
