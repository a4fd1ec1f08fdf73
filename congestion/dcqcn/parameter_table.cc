#include "congestion/dcqcn/parameter_table.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

namespace rocetune::dcqcn {
namespace {

using P = Parameters;
using Unit = ParameterUnit;
using std::int64_t;

constexpr std::string_view kFirmware = "ConnectX firmware (mlxconfig dump; NVIDIA 'DCQCN CC parameters')";
constexpr std::string_view kPaper = "SIGCOMM 2015, section 5 and 6";
constexpr std::string_view kPaperSemantics =
    "SIGCOMM 2015, section 3: the paper's reaction point has no such knob";
constexpr std::string_view kQau =
    "ratio of IEEE 802.1Qau's defaults (rpgHaiRate = 10 × rpgAiRate); the paper names none";
constexpr std::string_view kHpcc100 =
    "HPCC authors' ns-3 configuration for 100 Gb/s; set on the switch, not in the NIC";

constexpr Duration us(int64_t n) { return microseconds(n); }
constexpr int64_t us(Duration d) { return d / microseconds(1); }

const std::array kTable{
    Parameter{"rp_clamp_tgt_rate", "CLAMP_TGT_RATE", Unit::flag, 0, 1,
              "the target rate follows every cut (RT := RC)", kFirmware, "SIGCOMM 2015, equation 1",
              [](const P& p) { return int64_t{p.rp.clamp_target_rate}; },
              [](P& p, int64_t v) { p.rp.clamp_target_rate = v != 0; }},
    Parameter{"rp_clamp_tgt_rate_ati", "CLAMP_TGT_RATE_AFTER_TIME_INC", Unit::flag, 0, 1,
              "the target follows a cut only if the timer has raised the rate since the last one", kFirmware,
              kPaperSemantics, [](const P& p) { return int64_t{p.rp.clamp_target_rate_after_time_increase}; },
              [](P& p, int64_t v) { p.rp.clamp_target_rate_after_time_increase = v != 0; }},
    Parameter{"rp_time_reset", "RPG_TIME_RESET", Unit::microseconds, 1, 131071,
              "T: time between two increases by the timer", kFirmware, kPaper,
              [](const P& p) { return us(p.rp.time_reset); },
              [](P& p, int64_t v) { p.rp.time_reset = us(v); }},
    Parameter{"rp_byte_reset", "RPG_BYTE_RESET", Unit::bytes, 0, 1'000'000'000,
              "B: bytes sent between two increases by the byte counter; 0 switches it off", kFirmware, kPaper,
              [](const P& p) { return p.rp.byte_reset.count(); },
              [](P& p, int64_t v) { p.rp.byte_reset = Bytes(v); }},
    Parameter{"rp_threshold", "RPG_THRESHOLD", Unit::count, 0, 31,
              "F: stages of fast recovery before the target rises", kFirmware, kPaper,
              [](const P& p) { return int64_t{p.rp.threshold}; },
              [](P& p, int64_t v) { p.rp.threshold = static_cast<int>(v); }},
    Parameter{"rp_ai_rate", "RPG_AI_RATE", Unit::megabits_per_second, 1, 800'000,
              "R_AI: rise of the target in additive increase", kFirmware, kPaper,
              [](const P& p) { return p.rp.additive_increase.megabits_per_second(); },
              [](P& p, int64_t v) { p.rp.additive_increase = megabits_per_second(v); }},
    Parameter{"rp_hai_rate", "RPG_HAI_RATE", Unit::megabits_per_second, 1, 800'000,
              "R_HAI: rise of the target in hyper increase", kFirmware, kQau,
              [](const P& p) { return p.rp.hyper_increase.megabits_per_second(); },
              [](P& p, int64_t v) { p.rp.hyper_increase = megabits_per_second(v); }},
    Parameter{"rp_max_rate", "RPG_MAX_RATE", Unit::megabits_per_second, 0, 800'000,
              "highest rate of a flow; 0: the link's", kFirmware, "SIGCOMM 2015: flows start at line rate",
              [](const P& p) { return p.rp.maximum_rate.megabits_per_second(); },
              [](P& p, int64_t v) { p.rp.maximum_rate = megabits_per_second(v); }},
    Parameter{"rp_min_dec_fac", "RPG_MIN_DEC_FAC", Unit::percent, 0, 100,
              "one cut leaves at least this share of the rate", kFirmware,
              "SIGCOMM 2015, equation 1: alpha is at most 1, so a cut at most halves",
              [](const P& p) { return int64_t{p.rp.minimum_decrease_percent}; },
              [](P& p, int64_t v) { p.rp.minimum_decrease_percent = static_cast<int>(v); }},
    Parameter{"rp_min_rate", "RPG_MIN_RATE", Unit::megabits_per_second, 1, 800'000, "lowest rate of a flow",
              kFirmware, "HPCC authors' packet model of the paper's set-up; the paper names none",
              [](const P& p) { return p.rp.minimum_rate.megabits_per_second(); },
              [](P& p, int64_t v) { p.rp.minimum_rate = megabits_per_second(v); }},
    Parameter{"rp_rate_to_set_on_first_cnp", "RATE_TO_SET_ON_FIRST_CNP", Unit::megabits_per_second, 0,
              800'000, "rate when a limiter is allocated by a CNP; 0: an ordinary cut", kFirmware,
              kPaperSemantics, [](const P& p) { return p.rp.rate_on_first_cnp.megabits_per_second(); },
              [](P& p, int64_t v) { p.rp.rate_on_first_cnp = megabits_per_second(v); }},
    Parameter{"rp_dce_tcp_g", "DCE_TCP_G", Unit::fraction, 0, 1023,
              "what alpha keeps in one update (1 - g): 1019 means g = 5/1024", kFirmware,
              "SIGCOMM 2015: g = 1/256 = 4/1024", [](const P& p) { return int64_t{p.rp.alpha_decay}; },
              [](P& p, int64_t v) { p.rp.alpha_decay = static_cast<int>(v); }},
    Parameter{"rp_dce_tcp_rtt", "DCE_TCP_RTT", Unit::microseconds, 1, 131071,
              "K: time between two updates of alpha", kFirmware, kPaper,
              [](const P& p) { return us(p.rp.alpha_period); },
              [](P& p, int64_t v) { p.rp.alpha_period = us(v); }},
    Parameter{"rp_rate_reduce_monitor_period", "RATE_REDUCE_MONITOR_PERIOD", Unit::microseconds, 0, 131071,
              "shortest time between two cuts of a flow", kFirmware, kPaperSemantics,
              [](const P& p) { return us(p.rp.rate_reduce_monitor_period); },
              [](P& p, int64_t v) { p.rp.rate_reduce_monitor_period = us(v); }},
    Parameter{"rp_initial_alpha_value", "INITIAL_ALPHA_VALUE", Unit::fraction, 0, 1024,
              "alpha at a flow's first CNP", kFirmware, "SIGCOMM 2015: alpha starts at 1",
              [](const P& p) { return int64_t{p.rp.initial_alpha}; },
              [](P& p, int64_t v) { p.rp.initial_alpha = static_cast<int>(v); }},
    Parameter{"rp_gd", "RPG_GD", Unit::count, 0, 15,
              "a cut takes alpha(10 bit) / 2^gd of the rate: 11 is alpha/2", kFirmware,
              "SIGCOMM 2015, equation 1: alpha/2", [](const P& p) { return int64_t{p.rp.cut_exponent}; },
              [](P& p, int64_t v) { p.rp.cut_exponent = static_cast<int>(v); }},
    Parameter{"np_min_time_between_cnps", "MIN_TIME_BETWEEN_CNPS", Unit::microseconds, 0, 4095,
              "N: shortest time between two CNPs of a flow",
              "ConnectX firmware (mlxconfig dump); older firmware says 0", kPaper,
              [](const P& p) { return us(p.np.minimum_time_between_cnps); },
              [](P& p, int64_t v) { p.np.minimum_time_between_cnps = us(v); }},
    Parameter{"np_cnp_dscp", "CNP_DSCP", Unit::dscp, 0, 63, "DSCP of the CNPs it sends", kFirmware,
              "as mlx5; the paper only asks for a high-priority class",
              [](const P& p) { return int64_t{p.np.cnp_dscp.value()}; },
              [](P& p, int64_t v) { p.np.cnp_dscp = Dscp(static_cast<int>(v)); }},
    Parameter{"np_cnp_prio", "CNP_802P_PRIO", Unit::priority, 0, 7, "802.1Q priority of the CNPs it sends",
              kFirmware, "as mlx5; the paper only asks for a high-priority class",
              [](const P& p) { return int64_t{p.np.cnp_priority.value()}; },
              [](P& p, int64_t v) { p.np.cnp_priority = Priority(static_cast<int>(v)); }},
    Parameter{"cp_kmin", "", Unit::bytes, 0, 1'000'000'000, "Kmin: no mark at or below", kHpcc100, kPaper,
              [](const P& p) { return p.cp.curve.minimum.count(); },
              [](P& p, int64_t v) { p.cp.curve.minimum = Bytes(v); }},
    Parameter{"cp_kmax", "", Unit::bytes, 0, 1'000'000'000, "Kmax: every packet is marked above", kHpcc100,
              kPaper, [](const P& p) { return p.cp.curve.maximum.count(); },
              [](P& p, int64_t v) { p.cp.curve.maximum = Bytes(v); }},
    Parameter{"cp_pmax", "", Unit::parts_per_billion, 0, Ratio::kOne, "Pmax: marking probability at Kmax",
              kHpcc100, kPaper, [](const P& p) { return p.cp.curve.probability.count(); },
              [](P& p, int64_t v) { p.cp.curve.probability = Ratio(v); }},
};

constexpr std::array kSets{
    NamedSet{"mlx5", "ConnectX firmware defaults; marking of the HPCC authors' 100 Gb/s set-up", &P::mlx5},
    NamedSet{"paper", "Zhu et al., SIGCOMM 2015, for 40 Gb/s", &P::paper},
    NamedSet{"hpcc", "the HPCC authors' ns-3 model, 'mlx' values at 100 Gb/s", &P::hpcc},
};

tl::unexpected<UnitError> wrong(std::string_view text, std::string allowed) {
  return tl::unexpected(UnitError{std::string(text), std::move(allowed)});
}

Parsed<int64_t> parse_integer(std::string_view text, std::string_view suffix, std::string_view allowed) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || rest != suffix) return wrong(text, std::string(allowed));
  return n;
}

Parsed<int64_t> parse_in_unit(Unit unit, std::string_view text) {
  switch (unit) {
    case Unit::flag:
      // 0 and 1 are what mlx5's debugfs files hold.
      if (text == "true" || text == "1") return 1;
      if (text == "false" || text == "0") return 0;
      return wrong(text, "true or false");
    case Unit::count:
      return parse_integer(text, "", "an integer");
    case Unit::fraction:
      return parse_integer(text, "/1024", "a number of 1/1024, like \"1019/1024\"");
    case Unit::percent:
      return parse_integer(text, "%", "whole percent, like \"50%\"");
    case Unit::microseconds: {
      const auto duration = parse_duration(text);
      if (!duration) return tl::unexpected(duration.error());
      if (!(*duration % microseconds(1)).is_zero()) return wrong(text, "whole microseconds");
      return us(*duration);
    }
    case Unit::bytes:
      return parse_bytes(text).map([](Bytes b) { return b.count(); });
    case Unit::megabits_per_second: {
      const auto rate = parse_bit_rate(text);
      if (!rate) return tl::unexpected(rate.error());
      if (!(*rate % megabits_per_second(1)).is_zero()) return wrong(text, "whole Mbps");
      return rate->megabits_per_second();
    }
    case Unit::dscp:
      return parse_dscp(text).map([](Dscp d) { return int64_t{d.value()}; });
    case Unit::priority:
      return parse_priority(text).map([](Priority p) { return int64_t{p.value()}; });
    case Unit::parts_per_billion:
      return parse_ratio(text).map([](Ratio r) { return r.count(); });
  }
  ROCETUNE_ASSERT(false);
}

std::string text_in_unit(Unit unit, int64_t value) {
  switch (unit) {
    case Unit::flag:
      return value != 0 ? "true" : "false";
    case Unit::fraction:
      return fmt::format("{}/1024", value);
    case Unit::percent:
      return fmt::format("{}%", value);
    case Unit::microseconds:
      return to_text(microseconds(value));
    case Unit::bytes:
      return to_text(Bytes(value));
    case Unit::megabits_per_second:
      return to_text(megabits_per_second(value));
    case Unit::parts_per_billion:
      return to_text(Ratio(value));
    case Unit::count:
    case Unit::dscp:
    case Unit::priority:
      break;
  }
  return fmt::format("{}", value);
}

}  // namespace

std::string_view name_of(ParameterUnit unit) {
  constexpr std::array<std::string_view, 10> names{"flag",  "count", "1/1024", "%",        "us",
                                                   "bytes", "Mb/s",  "DSCP",   "priority", "probability"};
  return names[static_cast<std::size_t>(unit)];
}

std::span<const Parameter> parameter_table() { return kTable; }
std::span<const NamedSet> named_sets() { return kSets; }

const Parameter* find_parameter(std::string_view name) {
  for (const Parameter& row : kTable) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string value_text(const Parameter& row, const Parameters& parameters) {
  return text_in_unit(row.unit, row.read(parameters));
}

Parsed<std::int64_t> parse_value(const Parameter& row, std::string_view text, Parameters& out) {
  auto value = parse_in_unit(row.unit, text);
  if (!value) return value;
  if (*value < row.minimum || *value > row.maximum) {
    return wrong(text, fmt::format("{} to {}", text_in_unit(row.unit, row.minimum),
                                   text_in_unit(row.unit, row.maximum)));
  }
  row.write(out, *value);
  return value;
}

}  // namespace rocetune::dcqcn
