// What one run of one workload under one candidate showed. What was not measured is absent, never zero.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/reflect.h"

namespace rocetune::search {

// What is wanted more of, or less. A workload measures some of them: a collective its busbw, a flow pattern
// goodput and completion times, a latency test its latency.
enum class Objective {
  goodput,      // Gb/s, useful bytes of all flows over the time the run took; more is better
  busbw,        // Gb/s, bus bandwidth as nccl-tests defines it; more is better
  latency,      // us, typical (median, or what the workload's tool prints); less is better
  p99_fct,      // us, 99th percentile of flow or operation completion; less is better
  pause_ratio,  // 0..1, share of time the most paused port was paused; less is better
  fairness,     // 0..1, Jain's index over flows; more is better
};
inline constexpr std::size_t kObjectives = 6;

struct ObjectiveKind {
  Objective objective;
  std::string_view name;  // of the weight in configs/tune/objectives.toml
  std::string_view key;   // in JSON, with its unit
  std::string_view unit;  // for people
  bool more_is_better;
  // Compared as a ratio (doubling is worth the same everywhere), or, where 0 is an ordinary value, as a
  // difference.
  bool is_ratio_scale;
};
const std::array<ObjectiveKind, kObjectives>& objective_kinds();
const ObjectiveKind& kind_of(Objective objective);
// By its name; null: there is none.
const ObjectiveKind* find_objective(std::string_view name);
std::vector<std::string> objective_names();

struct Objectives {
  std::array<std::optional<double>, kObjectives> values;
  std::optional<double>& operator[](Objective o) { return values[static_cast<std::size_t>(o)]; }
  const std::optional<double>& operator[](Objective o) const { return values[static_cast<std::size_t>(o)]; }
  bool operator==(const Objectives&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("goodput_gbps", self.values[0]...);
    visit("busbw_gbps", self.values[1]...);
    visit("latency_us", self.values[2]...);
    visit("p99_fct_us", self.values[3]...);
    visit("pause_ratio", self.values[4]...);
    visit("fairness", self.values[5]...);
  }
};

// Why a run has no result. The candidate is to blame until the baseline fails the same way.
enum class FailureKind {
  workload_failed,    // it ended with an error
  hung,               // it did not end: a deadlock, a lost job
  nonsense,           // it printed a number that cannot be: negative, above the wire's rate, not a number
  counters_vanished,  // what was counted before the run is no longer shown
  link_down,          // a link did not come back
  not_applied,        // it could not be made the state of the plant, which is as it was
};
struct Failure {
  FailureKind kind = FailureKind::workload_failed;
  std::string why;
  bool operator==(const Failure&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("kind", self.kind...);
    visit("why", self.why...);
  }
};

// A limit that must hold whatever is gained: loss in a lossless class, a pause storm, a deadlock. The plant
// has stopped the run and undone the candidate where that helps.
struct Breach {
  std::string guardrail;  // "lossless-drop", "pause-storm"
  std::string what;       // with figures: "host h3: paused 81 % of 10 ms, limit 50 %"
  bool operator==(const Breach&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("guardrail", self.guardrail...);
    visit("what", self.what...);
  }
};

// A value over time, for the report. Where nothing was measured there is no point: a gap, not a zero.
struct Series {
  std::string name;  // "throughput", "queue of switch 0 port 3", "CE ratio"
  std::string unit;  // "Gb/s", "bytes"; empty: none
  std::vector<double> at_us;
  std::vector<double> values;  // as many
  // Each value stands for so long up to its moment; absent: since the point before it.
  std::optional<double> step_us = std::nullopt;
  bool operator==(const Series&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("unit", self.unit...);
    visit("at_us", self.at_us...);
    visit("values", self.values...);
    visit("step_us", self.step_us...);
  }
};

struct Observation {
  Objectives objectives;
  std::map<std::string, std::int64_t> counter_deltas;  // by name of the unified schema; absent: not read
  std::vector<Breach> breaches;
  std::vector<std::string> confounders;  // what else happened and may have decided the result
  std::optional<Failure> failure;        // then objectives mean nothing
  std::vector<Series> series;            // only where asked for
  std::int64_t took_ns = 0;              // wall time of applying, running and reading
  bool operator==(const Observation&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("objectives", self.objectives...);
    visit("counter_deltas", self.counter_deltas...);
    visit("breaches", self.breaches...);
    visit("confounders", self.confounders...);
    visit("failure", self.failure...);
    visit("series", self.series...);
    visit("took_ns", self.took_ns...);
  }
};

}  // namespace rocetune::search

namespace rocetune {
ROCETUNE_ENUM(search::Objective, P{E::goodput, "goodput"}, P{E::busbw, "busbw"}, P{E::latency, "latency"},
              P{E::p99_fct, "p99_fct"}, P{E::pause_ratio, "pause_ratio"}, P{E::fairness, "fairness"});
ROCETUNE_ENUM(search::FailureKind, P{E::workload_failed, "workload_failed"}, P{E::hung, "hung"},
              P{E::nonsense, "nonsense"}, P{E::counters_vanished, "counters_vanished"},
              P{E::link_down, "link_down"}, P{E::not_applied, "not_applied"});
}  // namespace rocetune
