#include "congestion/units.h"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "congestion/fixed_point.h"

namespace rocetune {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "rocetune: internal error: %s:%d: assertion '%s' failed\n", file, line, condition);
  std::fflush(stderr);
  std::abort();
}

namespace {

constexpr std::int64_t kPicosecondsPerSecond = 1'000'000'000'000;

std::int64_t narrowed(Wide value) {
  ROCETUNE_ASSERT(value <= INT64_MAX && value >= INT64_MIN);
  return static_cast<std::int64_t>(value);
}

struct Unit {
  std::string_view name;
  std::int64_t factor;  // in the quantity's base unit
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// "<digits>[.<digits>][ ]<unit>" in exact integer arithmetic: the decimal fraction must vanish in the base
// unit.
template <std::size_t N>
Parsed<std::int64_t> parse_quantity(std::string_view original, const std::array<Unit, N>& units,
                                    const char* example) {
  const auto fail = [&](const char* why) {
    std::string names;
    for (const Unit& unit : units) names += fmt::format("{}{}", names.empty() ? "" : " ", unit.name);
    return tl::unexpected(
        UnitError{std::string(original),
                  fmt::format("a number with a unit ({}), such as {} ({})", names, example, why)});
  };
  std::string_view text = trimmed(original);
  std::size_t i = 0;
  Wide whole = 0;
  Wide scale = 1;
  bool any_digit = false;
  bool after_point = false;
  bool too_fine = false;
  constexpr Wide kFinest =
      1'000'000'000'000'000'000;  // no unit has more decimals; more digits would overflow
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      any_digit = true;
      if (after_point && scale == kFinest) {
        too_fine = too_fine || c != '0';
        continue;
      }
      if (whole > Wide(INT64_MAX)) return fail("number too large");
      whole = whole * 10 + (c - '0');
      if (after_point) scale *= 10;
    } else if (c == '.' && !after_point) {
      after_point = true;
    } else {
      break;
    }
  }
  if (!any_digit) return fail("not a number");
  const std::string_view suffix = trimmed(text.substr(i));
  if (suffix.empty()) return fail("unit missing");
  for (const Unit& unit : units) {
    if (unit.name != suffix) continue;
    const Wide scaled = whole * unit.factor;
    if (too_fine || scaled % scale != 0) return fail("finer than can be held");
    if (scaled / scale > Wide(INT64_MAX)) return fail("number too large");
    return static_cast<std::int64_t>(scaled / scale);
  }
  return fail("unknown unit");
}

// The largest unit in which `count` is a whole number. Units are listed smallest first.
template <std::size_t N>
std::string quantity_text(std::int64_t count, const std::array<Unit, N>& units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (count != 0 && count % unit.factor == 0 && unit.factor >= best->factor) best = &unit;
  }
  return fmt::format("{}{}", count / best->factor, best->name);
}

constexpr std::array<Unit, 7> kByteUnits{{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"KiB", 1 << 10},
                                          {"MiB", 1 << 20},
                                          {"GiB", 1 << 30}}};
constexpr std::array<Unit, 4> kBinaryByteUnits{
    {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};
constexpr std::array<Unit, 7> kDurationUnits{{{"ps", 1},
                                              {"ns", 1'000},
                                              {"us", 1'000'000},
                                              {"ms", 1'000'000'000},
                                              {"s", kPicosecondsPerSecond},
                                              {"min", 60 * kPicosecondsPerSecond},
                                              {"h", 3600 * kPicosecondsPerSecond}}};
constexpr std::array<Unit, 5> kBitRateUnits{
    {{"bps", 1}, {"kbps", 1'000}, {"Mbps", 1'000'000}, {"Gbps", 1'000'000'000}, {"Tbps", 1'000'000'000'000}}};
constexpr std::array<Unit, 2> kLengthUnits{{{"m", 1}, {"km", 1'000}}};

// RFC 4594 and RFC 2474 names.
struct DscpName {
  std::string_view name;
  int value;
};
constexpr std::array<DscpName, 23> kDscpNames{
    {{"cs0", 0},   {"cs1", 8},   {"cs2", 16},  {"cs3", 24},  {"cs4", 32},  {"cs5", 40},
     {"cs6", 48},  {"cs7", 56},  {"af11", 10}, {"af12", 12}, {"af13", 14}, {"af21", 18},
     {"af22", 20}, {"af23", 22}, {"af31", 26}, {"af32", 28}, {"af33", 30}, {"af41", 34},
     {"af42", 36}, {"af43", 38}, {"ef", 46},   {"va", 44},   {"le", 1}}};

// A whole number in decimal, or -1.
std::int64_t parse_small_integer(std::string_view text) {
  if (text.empty() || text.size() > 6) return -1;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

Duration transmission_time(Bytes size, BitRate rate) {
  ROCETUNE_ASSERT(rate.count() > 0 && size.count() >= 0);
  const Wide bits_ps = Wide(size.count()) * 8 * kPicosecondsPerSecond;
  return Duration(narrowed((bits_ps + rate.count() - 1) / rate.count()));
}

Bytes bytes_within(Duration span, BitRate rate) {
  return Bytes(narrowed(Wide(span.count()) * rate.count() / (Wide(8) * kPicosecondsPerSecond)));
}

Ratio Ratio::of(std::int64_t numerator, std::int64_t denominator) {
  ROCETUNE_ASSERT(denominator > 0);
  return Ratio(narrowed(Wide(numerator) * kOne / denominator));
}

Duration PauseQuanta::at(BitRate rate) const {
  return transmission_time(Bytes(std::int64_t{quanta_} * 64), rate);
}

std::vector<Priority> PrioritySet::members() const {
  std::vector<Priority> out;
  for (int p = 0; p < Priority::kCount; ++p) {
    if (contains(Priority(p))) out.emplace_back(p);
  }
  return out;
}

std::string to_text(Bytes value) { return quantity_text(value.count(), kBinaryByteUnits); }
std::string to_text(Duration value) {
  // Minutes and hours are accepted on input only: "90s" reads better than "90s" as minutes ever could.
  constexpr std::array<Unit, 5> kShownUnits{
      {kDurationUnits[0], kDurationUnits[1], kDurationUnits[2], kDurationUnits[3], kDurationUnits[4]}};
  if (value.is_zero()) return "0s";
  return quantity_text(value.count(), kShownUnits);
}
std::string to_text(BitRate value) { return quantity_text(value.count(), kBitRateUnits); }
std::string to_text(Metres value) { return fmt::format("{}m", value.count()); }
std::string to_text(Priority value) { return fmt::format("{}", value.value()); }
std::string to_text(TrafficClass value) { return fmt::format("{}", value.value()); }
std::string to_text(Dscp value) { return fmt::format("{}", value.value()); }

std::string to_text(Ratio value) {
  // Percent with as many of its seven decimals as it needs.
  const bool negative = value.count() < 0;
  const std::int64_t magnitude = negative ? -value.count() : value.count();
  std::string text =
      fmt::format("{}{}.{:07}", negative ? "-" : "", magnitude / 10'000'000, magnitude % 10'000'000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

std::string to_text(Ecn value) {
  constexpr std::array<const char*, 4> names{"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
  return names[static_cast<std::size_t>(value)];
}

std::string to_text(PrioritySet value) {
  std::string text = "{";
  for (const Priority p : value.members()) text += fmt::format("{}{}", text.size() > 1 ? "," : "", p.value());
  return text + "}";
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  return parse_quantity(text, kByteUnits, "64KiB").map([](std::int64_t n) { return Bytes(n); });
}
Parsed<Duration> parse_duration(std::string_view text) {
  return parse_quantity(text, kDurationUnits, "55us").map([](std::int64_t n) { return Duration(n); });
}
Parsed<BitRate> parse_bit_rate(std::string_view text) {
  return parse_quantity(text, kBitRateUnits, "100Gbps").map([](std::int64_t n) { return BitRate(n); });
}
Parsed<Metres> parse_metres(std::string_view text) {
  return parse_quantity(text, kLengthUnits, "30m").map([](std::int64_t n) { return Metres(n); });
}

Parsed<Ratio> parse_ratio(std::string_view text) {
  constexpr std::array<Unit, 1> kPercent{{{"%", Ratio::kOne / 100}}};
  const std::string_view trimmed_text = trimmed(text);
  const UnitError error{std::string(text), "a share such as 12.5% or 0.125"};
  if (trimmed_text.ends_with('%')) {
    const auto parsed = parse_quantity(trimmed_text, kPercent, "12.5%");
    if (!parsed) return tl::unexpected(error);
    return Ratio(*parsed);
  }
  // A plain decimal number: borrow the quantity parser by giving it a unit.
  constexpr std::array<Unit, 1> kPlain{{{"x", Ratio::kOne}}};
  const auto parsed = parse_quantity(std::string(trimmed_text) + "x", kPlain, "0.125");
  if (!parsed) return tl::unexpected(error);
  return Ratio(*parsed);
}

Parsed<Priority> parse_priority(std::string_view text) {
  const std::int64_t value = parse_small_integer(trimmed(text));
  if (!Priority::is_valid(value)) return tl::unexpected(UnitError{std::string(text), "a priority 0..7"});
  return Priority(static_cast<int>(value));
}

Parsed<Dscp> parse_dscp(std::string_view text) {
  const std::string_view name = trimmed(text);
  for (const DscpName& known : kDscpNames) {
    if (known.name == name) return Dscp(known.value);
  }
  const std::int64_t value = parse_small_integer(name);
  if (!Dscp::is_valid(value)) {
    return tl::unexpected(UnitError{std::string(text), "a DSCP 0..63, or a name such as af31, cs6, ef"});
  }
  return Dscp(static_cast<int>(value));
}

Parsed<PrioritySet> parse_priority_set(std::string_view text) {
  std::string_view rest = trimmed(text);
  if (rest == "none") return PrioritySet();
  PrioritySet set;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto member = parse_priority(rest.substr(0, comma));
    if (!member)
      return tl::unexpected(UnitError{std::string(text), "priorities 0..7 separated by commas, or none"});
    set = set.with(*member);
    if (comma == std::string_view::npos) return set;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace rocetune
