// The runs of a sweep, put together by their settings: those that differ in nothing but the seed are one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/report/metric.h"

namespace rocetune::report {

struct Combination {
  struct Run {
    const fabric::Variation* variation;
    std::vector<std::optional<double>> measured;  // of Sweep::metrics
  };
  std::vector<std::string> values;  // of Sweep::keys; "–" where a run does not have it
  std::vector<Run> runs;
};
// Points into the variations it was made from.
struct Sweep {
  std::vector<std::string> keys;   // those with several values, as they come
  std::vector<TomlSetting> fixed;  // those with one
  std::vector<Metric> metrics;
  std::vector<Combination> combinations;
  std::size_t runs = 0;
};
Sweep sweep_of(std::span<const fabric::Variation> variations, std::vector<Metric> metrics);

struct Spread {
  double mean = 0, low = 0, high = 0;
  std::size_t runs = 0;  // that have a value
};
// `metric`: its place in Sweep::metrics.
std::optional<Spread> spread_of(const Combination& combination, std::size_t metric);
// The most of all runs; none if no run says.
std::optional<double> highest(const Sweep& sweep, std::size_t metric);

// How a column of a metric is written: with one unit for all, if three digits then tell the smallest of them
// from 0; else each with its own.
struct Writing {
  html::Unit unit;
  std::optional<html::Written> common;
  std::string symbol() const { return common ? common->symbol : std::string(); }
  std::string text(double value) const {
    return common ? common->text(value) : html::quantity_text(value, unit);
  }
  // "9.1 – 9.3"; empty where both ends read alike.
  std::string range(const Spread& spread, std::string_view between) const {
    std::string low = text(spread.low);
    const std::string high = text(spread.high);
    return low == high ? std::string() : std::move(low) + std::string(between) + high;
  }
};
Writing writing_of(const Sweep& sweep, std::size_t metric);

// What has a place in tables and charts: what was asked for, and what ever happened.
struct Shown {
  std::vector<std::size_t> metrics;
  std::string never;    // titles of those that are 0 in all runs; may be empty
  std::string unknown;  // of those that no run says
};
Shown shown_of(const Sweep& sweep);

// Whether in every run all checks hold.
bool is_right(const Combination& combination);
// Whether a run stands still: hosts and switches that wait for each other in a circle.
bool has_deadlock(const Combination& combination);
// Whether every run is right and without a deadlock.
bool is_sound(const Combination& combination);
// Whether all flows and jobs were finished.
bool is_finished(const fabric::RunResult& result);
bool is_finished(const Combination& combination);

// What the scenario is there to show, and which runs do.
struct SweepLesson {
  std::string says;
  std::vector<std::size_t> seen_in;  // by combination, so many of its runs
};
// As the first run has them.
std::vector<SweepLesson> lessons_of(const Sweep& sweep);

// The best combination by a metric that has an aim. Only sound ones compete, and for what only finished
// traffic tells only those that finished all: where slow flows are still under way, the others look fast.
// None where all are equal. At most kMostWinners, in the order of metrics.
struct Winner {
  std::size_t metric = 0;
  std::size_t combination = 0;
  std::size_t as_good = 0;  // others whose mean is within kAsGood of the best
};
constexpr double kAsGood = 0.01;
constexpr std::size_t kMostWinners = 4;
std::vector<Winner> winners_of(const Sweep& sweep);
// "; 2 others are within 1 %", or nothing.
std::string as_good_text(const Winner& winner);

// Where a setting's values lie on an axis, 0..1 each: as far apart as they are, by their logarithm if they
// span a decade; if they are not all amounts of one kind, in the middle of equal parts.
struct Placement {
  std::vector<double> shares;
  bool is_measured = false;
  bool is_logarithmic = false;
};
Placement placement_of(std::span<const std::string> values);

}  // namespace rocetune::report
