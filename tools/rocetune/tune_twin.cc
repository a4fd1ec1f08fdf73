#include "tools/rocetune/tune_twin.h"

#include <fmt/core.h>

#include <cmath>
#include <thread>

#include "agent/tune/search/interval.h"
#include "tools/rocetune/scenario_source.h"

namespace rocetune::cli {
namespace {

using report::TuneTwin;

std::string digits(double value) {
  const bool is_whole = value == std::round(value) || std::abs(value) >= 1000;
  return is_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}
std::string figure(double value, const std::string& unit) {
  return digits(value) + (unit.empty() ? "" : " " + unit);
}
std::string figure(const std::optional<double>& value) { return value ? digits(*value) : "–"; }
std::string percent(double score) { return fmt::format("{:+.1f} %", search::percent_of(score)); }

TextTable::Look below(TextTable::Look look) {
  look.indent = 4;
  return look;
}

void add_unknown(TuneTwin& out, const std::vector<twin::Note>& notes) {
  for (const twin::Note& note : notes) out.unknown.push_back({note.what, note.why});
}

}  // namespace

Expected<std::optional<ConfigFile>> twin_file(const TuneCommand& command) {
  if (command.hosts.twin.empty()) return std::nullopt;
  auto file = fabric_source(command.hosts.twin, "--twin");
  if (!file) return tl::unexpected(file.error());
  return std::optional(std::move(*file));
}

Expected<std::unique_ptr<TunedTwin>> TunedTwin::open(const ConfigFile& file, const TuneCommand& command,
                                                     const tune::HostPlant& plant,
                                                     const search::Policy& policy) {
  std::vector<std::string> workloads;
  for (const search::Workload& workload : plant.workloads()) {
    if (!workload.held_out) workloads.push_back(workload.name);
  }
  auto twin = twin::Twin::open(file.text, file.name, plant.host_space(), workloads, ConfigFiles());
  if (!twin) return tl::unexpected(twin.error());
  return std::unique_ptr<TunedTwin>(new TunedTwin(std::move(*twin), command, policy));
}

TunedTwin::TunedTwin(twin::Twin twin, const TuneCommand& command, const search::Policy& policy)
    : twin_(std::move(twin)),
      guide_(twin_, policy,
             {.budget = command.hosts.twin_budget,
              .seed = command.seed,
              .threads = command.threads > 0 ? command.threads : std::thread::hardware_concurrency(),
              .on_progress = [this](std::string_view what, int done, int of) { show(what, done, of); }}) {}

void TunedTwin::show(std::string_view what, int done, int of) {
  if (shown_ != what) {
    line_.reset();
    shown_ = what;
    line_.emplace(shown_, of, clock_);
  }
  line_->update(done, "");
  if (done >= of) line_.reset();
  if (done >= of) shown_.clear();
}

TuneTwin TunedTwin::told(const search::Outcome& outcome) const {
  const twin::TwinReport& report = guide_.report();
  const search::Foresight foresight = twin::foresight_of(outcome);
  const search::Space& space = twin_.hosts().space();
  TuneTwin out;
  out.name = fmt::format("{} (fabric {})", twin_.file(), twin_.scenario().name);
  out.says = report.failure.empty() ? foresight.says : "It said nothing: " + report.failure + ".";
  out.is_believed = report.failure.empty() && foresight.holds();
  const bool is_followed = outcome.guidance && outcome.guidance->is_followed;
  if (is_followed) {
    out.says += " The search ended with its candidates.";
  } else if (report.failure.empty() && outcome.verdict != search::Verdict::interrupted) {
    out.says += foresight.holds() ? " It did not seem so at first: the hosts' own search went on."
                                  : " The hosts' own search went on.";
  }
  if (foresight.rank_correlation)
    out.says += fmt::format(" Rank correlation {:.2f}.", *foresight.rank_correlation);
  out.counted = fmt::format("{} trials on the hosts", outcome.trials.size());
  if (const auto spared = twin::spared_trials(outcome))
    out.counted += fmt::format(", {} of the budget's {} spared", *spared, outcome.budget_trials);
  out.counted += fmt::format("; on the twin {} runs to fit it and {} trials of search", report.fit_runs,
                             report.search_trials);
  if (!report.search_reason.empty()) out.counted += " (" + report.search_reason + ")";
  for (const twin::Parameter& one : report.parameters) {
    out.parameters.push_back({one.name, figure(one.from, one.unit), figure(one.fitted, one.unit),
                              fmt::format("{} to {}", digits(one.low), figure(one.high, one.unit)),
                              one.is_told});
  }
  for (const twin::Observed& one : report.observed) {
    out.seen.push_back({one.workload + ": " + one.quantity, figure(one.observed, one.unit),
                        figure(one.before), figure(one.fitted),
                        one.why_not_fitted.empty() ? "" : "not fitted to: " + one.why_not_fitted});
  }
  if (outcome.guidance) {
    for (const search::Foretold& one : outcome.guidance->foretold) {
      out.predictions.push_back({space.text(space.difference(space.start(), one.candidate)),
                                 percent(one.expected),
                                 one.measured ? percent(*one.measured) : "did not run"});
    }
  }
  add_unknown(out, report.not_fitted);
  add_unknown(out, twin_.not_predicted());
  add_unknown(out, twin_.not_taken_over());
  return out;
}

void TunedTwin::write(JsonWriter& out, const search::Outcome& outcome) const {
  twin::write_twin(out, twin_, guide_.report(), outcome);
}

std::string twin_text(const TuneTwin& twin, const TextTable::Look& look) {
  std::string out = fmt::format("\ntwin  {}\n  {}\n  {}\n", twin.name, twin.says, twin.counted);
  if (!twin.predictions.empty()) {
    TextTable table({{.title = "candidate", .overflow = Overflow::wrap},
                     {.title = "foretold", .align = Align::right},
                     {.title = "measured", .align = Align::right}});
    for (const TuneTwin::Prediction& one : twin.predictions)
      table.add_row({one.changes, one.predicted, one.measured});
    out += table.text(below(look));
  }
  if (!twin.parameters.empty()) {
    TextTable table({{.title = "fitted"},
                     {.title = "file", .align = Align::right},
                     {.title = "now", .align = Align::right},
                     {.title = "as well explained by"},
                     {.title = "told"}});
    for (const TuneTwin::Parameter& one : twin.parameters)
      table.add_row({one.name, one.of_file, one.fitted, one.between, one.is_told ? "yes" : "no"});
    out += table.text(below(look));
  }
  if (!twin.seen.empty()) {
    TextTable table({{.title = "seen"},
                     {.title = "hosts", .align = Align::right},
                     {.title = "file's twin", .align = Align::right},
                     {.title = "fitted twin", .align = Align::right},
                     {.title = "", .overflow = Overflow::wrap}});
    for (const TuneTwin::Seen& one : twin.seen)
      table.add_row({one.what, one.observed, one.before, one.fitted, one.remark});
    out += table.text(below(look));
  }
  for (const TuneTwin::Unknown& one : twin.unknown)
    out += fmt::format("    does not know {}: {}\n", one.what, one.why);
  return out;
}

std::string mapping_text(const twin::Twin& twin, const TextTable::Look& look) {
  std::string out = fmt::format("\ntwin  {} (fabric {})\n", twin.file(), twin.scenario().name);
  for (const twin::TwinPort& port : twin.ports())
    out += fmt::format("  h{} plays {} {}\n", port.id, port.host_name, port.port);
  for (const twin::Twin::Pair& pair : twin.workloads())
    out += fmt::format("  its traffic {} plays {}\n", pair.of_twin, pair.of_hosts);
  TextTable table({{.title = "knob"}, {.title = "is in the twin", .overflow = Overflow::wrap}});
  for (const twin::TwinKnob& knob : twin.knobs())
    table.add_row({twin.hosts().space()[knob.knob].name, knob.counterpart});
  if (!table.is_empty()) out += table.text(below(look));
  std::string fitted;
  for (const twin::TwinUnknown& unknown : twin.unknowns())
    fitted += (fitted.empty() ? "" : ", ") + unknown.unknown.name;
  out += "  fitted from the baseline, as far as it shows them: " + fitted + "\n";
  for (const twin::Note& note : twin.not_predicted())
    out += fmt::format("  not foretold: {}: {}\n", note.what, note.why);
  for (const twin::Note& note : twin.not_taken_over())
    out += fmt::format("  not taken over: {}: {}\n", note.what, note.why);
  return out;
}

}  // namespace rocetune::cli
