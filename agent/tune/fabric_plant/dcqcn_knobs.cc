// DCQCN's reaction and notification points: mlx5's parameters, and which part of their ranges is worth a
// search.
#include <algorithm>
#include <cmath>

#include "agent/tune/fabric_plant/knobs.h"
#include "agent/tune/fabric_plant/limits.h"
#include "congestion/dcqcn/parameter_table.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::HostParameters;
using search::Scale;

// What is searched: nobody gains beyond, and mlx5 takes far more.
struct Range {
  std::string_view parameter;
  double min, max, step;
  Scale scale;
  double share_of_rate = 0;  // then max is this share of the hosts' rate
};
constexpr Range kRanges[] = {
    {"rp_time_reset", 5, 2000, 1, Scale::logarithmic},
    {"rp_byte_reset", 4096, 16'777'216, 4096, Scale::logarithmic},
    {"rp_threshold", 1, 10, 1, Scale::linear},
    {"rp_ai_rate", 1, 0, 1, Scale::logarithmic, 0.02},
    {"rp_hai_rate", 1, 0, 1, Scale::logarithmic, 0.05},
    {"rp_min_dec_fac", 5, 95, 5, Scale::linear},
    {"rp_min_rate", 1, 0, 1, Scale::logarithmic, 0.02},
    {"rp_dce_tcp_g", 800, 1022, 1, Scale::linear},
    {"rp_dce_tcp_rtt", 1, 500, 1, Scale::logarithmic},
    {"rp_rate_reduce_monitor_period", 1, 500, 1, Scale::logarithmic},
    {"rp_initial_alpha_value", 1, 1023, 1, Scale::linear},
    {"np_min_time_between_cnps", 1, 200, 1, Scale::logarithmic},
};
struct Unsearched {
  std::string_view parameter;
  std::string_view why;
};
constexpr Unsearched kUnsearched[] = {
    {"rp_max_rate", "a cap of every flow, whatever room there is"},
    {"rp_rate_to_set_on_first_cnp", "0, an ordinary cut, is what a limiter should begin with"},
    {"rp_gd", "what of alpha a cut takes: rp_dce_tcp_g and rp_min_dec_fac reach the same"},
    {"np_cnp_dscp", "the class map decides where CNPs go: cnp_priority"},
};

double value_in(const dcqcn::Parameter& row, const HostParameters& host) {
  return static_cast<double>(row.read({.rp = host.controller.dcqcn, .np = host.notification, .cp = {}}));
}
void set_value(const dcqcn::Parameter& row, HostParameters& host, double value) {
  dcqcn::Parameters parameters{.rp = host.controller.dcqcn, .np = host.notification, .cp = {}};
  row.write(parameters, std::llround(value));
  host.controller.dcqcn = parameters.rp;
  host.notification = parameters.np;
}

// As JSON keys end.
std::string unit_of(dcqcn::ParameterUnit unit) {
  switch (unit) {
    case dcqcn::ParameterUnit::percent:
      return "percent";
    case dcqcn::ParameterUnit::microseconds:
      return "us";
    case dcqcn::ParameterUnit::bytes:
      return "bytes";
    case dcqcn::ParameterUnit::megabits_per_second:
      return "mbps";
    default:
      return {};
  }
}

search::Knob knob_of(const dcqcn::Parameter& row) {
  search::Knob out{.name = fmt::format("hosts.{}", row.name), .meaning = std::string(row.meaning)};
  out.unit = unit_of(row.unit);
  out.standard = static_cast<double>(row.read(dcqcn::Parameters::mlx5()));
  out.standard_origin = std::string(row.origin_mlx5);
  return out;
}

}  // namespace

void add_dcqcn_knobs(KnobTableMaker& maker) {
  const auto add = [&](search::Knob knob, const dcqcn::Parameter& row) {
    maker.add_host_number(
        std::move(knob), row.name, [&row](const HostParameters& h) { return value_in(row, h); },
        [&row](HostParameters& h, double v) { set_value(row, h, v); });
  };
  const auto rate = static_cast<double>(host_rate(maker.scenario()).megabits_per_second());
  for (const Range& range : kRanges) {
    const dcqcn::Parameter& row = *dcqcn::find_parameter(range.parameter);
    search::Knob knob = knob_of(row);
    knob.min = range.min;
    knob.max = range.share_of_rate > 0 ? std::max(std::floor(rate * range.share_of_rate), 2.0) : range.max;
    knob.step = range.step;
    knob.scale = range.scale;
    ROCETUNE_ASSERT(knob.min >= static_cast<double>(row.minimum));
    knob.max = std::min(knob.max, static_cast<double>(row.maximum));
    add(std::move(knob), row);
  }
  for (const std::string_view name : {"rp_clamp_tgt_rate", "rp_clamp_tgt_rate_ati"}) {
    const dcqcn::Parameter& row = *dcqcn::find_parameter(name);
    search::Knob knob = knob_of(row);
    knob.kind = search::KnobKind::toggle;
    add(std::move(knob), row);
  }
  for (const Unsearched& row : kUnsearched)
    maker.leave_out(fmt::format("hosts.{}", row.parameter), std::string(row.why));
}

}  // namespace rocetune::fabric_plant
