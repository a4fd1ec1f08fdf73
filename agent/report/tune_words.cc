#include "agent/report/tune_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "congestion/units.h"
#include "dataplane/html/markup.h"

namespace rocetune::report {
std::string percent_text(double percent) { return fmt::format("{:+.1f}\u00a0%", percent); }

std::string interval_text(const search::Interval& percent) {
  return fmt::format("{} ({:+.1f} to {:+.1f}\u00a0%)", percent_text(percent.mid), percent.low, percent.high);
}

std::string_view disturbance_of(search::ChangeCost cost) {
  switch (cost) {
    case search::ChangeCost::none:
      return "nothing";
    case search::ChangeCost::restarts_job:
      return "jobs start again";
    case search::ChangeCost::bounces_link:
      return "links go down for a moment";
    case search::ChangeCost::reloads_driver:
      return "drivers are loaded again";
  }
  ROCETUNE_ASSERT(false);
}

std::string settings_name(const search::Space& space, const search::Attribution& one) {
  constexpr std::size_t kMostNamed = 3;
  if (one.settings.size() > kMostNamed && !one.suggestion.empty())
    return fmt::format("{} settings", one.settings.size());
  std::string out;
  for (const search::Setting& setting : one.settings)
    out += (out.empty() ? "" : ", ") + space[setting.knob].name;
  return out;
}

bool goes_on(const search::Outcome& outcome, std::string_view command) {
  return outcome.verdict == search::Verdict::interrupted &&
         command.find(" --resume ") != std::string_view::npos;
}

std::string_view effect_words(search::Attribution::Effect effect) {
  switch (effect) {
    case search::Attribution::Effect::cure:
      return "the cure, or most of it";
    case search::Attribution::Effect::part:
      return "adds its share";
    case search::Attribution::Effect::together:
      return "only together with the others";
    case search::Attribution::Effect::none:
      return "nothing beyond noise";
    case search::Attribution::Effect::not_measured:
      return "not measured";
  }
  ROCETUNE_ASSERT(false);
}

std::string_view phase_words(search::Phase phase) {
  switch (phase) {
    case search::Phase::baseline:
      return "as found";
    case search::Phase::remedy:
      return "doctor's fix";
    case search::Phase::foretold:
      return "foretold by the twin";
    case search::Phase::preset:
      return "published set";
    case search::Phase::explore:
      return "spread over the space";
    case search::Phase::model:
      return "the model expects most of it";
    case search::Phase::pattern:
      return "a step from the best";
    case search::Phase::race:
      return "again, among the best";
    case search::Phase::ablate:
      return "one change apart";
    case search::Phase::confirm:
      return "confirmation";
  }
  ROCETUNE_ASSERT(false);
}

std::string_view objective_words(search::Objective objective) {
  switch (objective) {
    case search::Objective::goodput:
      return "data delivered";
    case search::Objective::busbw:
      return "bandwidth of collectives";
    case search::Objective::latency:
      return "typical time";
    case search::Objective::p99_fct:
      return "slowest 1 % of transfers";
    case search::Objective::pause_ratio:
      return "pause of the most paused port";
    case search::Objective::fairness:
      return "fair shares";
  }
  ROCETUNE_ASSERT(false);
}

html::Unit objective_unit(search::Objective objective) {
  switch (objective) {
    case search::Objective::goodput:
    case search::Objective::busbw:
      return html::kGigabitRate;
    case search::Objective::latency:
    case search::Objective::p99_fct:
      return html::kMicroseconds;
    case search::Objective::pause_ratio:
      return html::kPercent;
    case search::Objective::fairness:
      return html::kIndex;
  }
  ROCETUNE_ASSERT(false);
}

std::string objective_text(search::Objective objective, double value) {
  return html::quantity_text(value, objective_unit(objective));
}

std::string sentence_of(std::string text) {
  if (text.empty()) return text;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text.ends_with('.') ? text : text + ".";
}

std::string value_markup(std::string_view text) {
  constexpr std::size_t kLongest = 4;  // that is read at a glance
  const auto is_in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.'; };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_word = is_in_word(text[i]);
    std::size_t end = i;
    while (end < text.size() && is_in_word(text[end]) == is_word) ++end;
    const std::string_view word = text.substr(i, end - i);
    std::uint64_t number = 0;
    const auto [after, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.size() > kLongest && error == std::errc() && after == word.data() + word.size()) {
      out += html::count_text(number);
    } else {
      out += html::escaped(word);
    }
    i = end;
  }
  return out;
}

std::string lines_markup(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += html::escaped(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string changes_markup(const search::Space& space, const std::vector<search::Setting>& settings) {
  std::string out;
  for (const search::Setting& setting : settings) {
    const search::Knob& knob = space[setting.knob];
    out += fmt::format("{}<b>{}</b> {} → {}", out.empty() ? "" : "; ", html::escaped(knob.name),
                       value_markup(knob.text(knob.start)), value_markup(knob.text(setting.value)));
  }
  return out.empty() ? "as it is" : out;
}

std::string changes_markup(const TunePage& page, const search::Candidate& candidate) {
  const search::Space& space = page.plant.space();
  return changes_markup(space, space.difference(space.start(), candidate));
}

}  // namespace rocetune::report
