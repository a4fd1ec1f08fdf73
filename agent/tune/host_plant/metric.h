// What a workload's output says, by name: the numbers of nccl-tests, perftest, OSU, IMB, iperf3, of our own
// bench, of a JSON, or of a regular expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tune/search/observation.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

// One objective and where its number stands.
class Metric {
 public:
  // "OBJECTIVE=SOURCE". Objectives: those of observation.h. Sources:
  //   nccl-tests      busbw: the highest over all sizes, out of place or in place; goodput: the same of algbw
  //   nccl-tests-avg  busbw: the footer's average
  //   perftest        goodput: the highest average bandwidth; latency: t_typical; p99_fct: the 99 % column
  //   osu, imb, ucx-perftest  goodput: the highest bandwidth; latency: of the smallest message
  //   iperf3          goodput
  //   bench           `rocetune bench --json`: goodput, busbw: the best of all rows; latency: median,
  //   p99_fct:
  //                   99 % of the first row with round trips; nothing if contents were wrong
  //   json:PATH       a number: "json:rows.0.goodput_bits_per_s". Its unit is what the key ends in:
  //                   _bits_per_s, _gbps, _mbps, _GBps, _ns, _us, _ms, _s; none: as it is
  //   re:UNIT:REGEX   the first group of a regular expression (ECMAScript), of its last match:
  //                   "re:GB/s:busbw ([0-9.]+)". Units: Gb/s, Mb/s, GB/s, MB/s, MiB/s, ns, us, ms, s, ratio
  // Errors: bad_input with what is allowed, the nearest name, what the expression lacks.
  static Expected<Metric> parse(std::string_view text);

  search::Objective objective() const { return objective_; }
  const std::string& text() const { return text_; }
  // In the objective's unit. Nothing: the output does not have it.
  std::optional<double> read(std::string_view output) const;

 private:
  struct Pattern;
  Metric() = default;
  std::string text_;
  search::Objective objective_ = search::Objective::goodput;
  std::string source_;             // "nccl-tests", "json", "re"
  std::vector<std::string> path_;  // of json
  std::shared_ptr<const Pattern> pattern_;
};

}  // namespace rocetune::tune
