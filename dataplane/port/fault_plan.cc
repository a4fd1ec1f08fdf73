#include "dataplane/port/fault_plan.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace rocetune::port {
namespace {

constexpr std::size_t kMaxPattern = 4096;
constexpr std::string_view kWhenAllowed =
    "a ratio (0.1%), frame numbers (#7 or #3,10-12) or a repeating pattern (..x)";

tl::unexpected<UnitError> not_allowed(std::string_view found, std::string_view allowed) {
  return tl::unexpected(UnitError{std::string(found), std::string(allowed)});
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The text up to the first `separator`, which is cut off together with it.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view first = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return first;
}

Parsed<FaultWhen> parse_frames(std::string_view text) {
  std::vector<FaultWhen::Range> ranges;
  if (text.ends_with(',')) return not_allowed(text, kWhenAllowed);
  std::string_view rest = text.substr(1);
  do {
    std::string_view last = cut(rest, ',');
    const bool is_range = last.find('-') != std::string_view::npos;
    const auto from = parse_count(is_range ? cut(last, '-') : last);
    const auto to = is_range ? parse_count(last) : from;
    if (!from || !to || *to < *from) return not_allowed(text, kWhenAllowed);
    ranges.push_back({*from, *to});
  } while (!rest.empty());
  return FaultWhen::at(std::move(ranges));
}

// One NAME=VALUE: where it lands in the plan, or what is wrong with it.
using Complaint = std::optional<UnitError>;

template <class T>
Complaint assign(T& place, const Parsed<T>& value) {
  if (!value) return value.error();
  place = *value;
  return std::nullopt;
}

Complaint set_reorder(FaultPlan& plan, std::string_view value) {
  constexpr std::string_view kAllowed = "WHEN:FRAMES with 1 to 256 frames";
  std::string_view rest = value;
  if (Complaint complaint = assign(plan.reorder, parse_fault_when(cut(rest, ':')))) return complaint;
  const auto frames = parse_count(rest);
  if (!frames || *frames < 1 || *frames > kMaxReorder)
    return UnitError{std::string(value), std::string(kAllowed)};
  if (!plan.reorder.is_never()) plan.reorder_frames = static_cast<int>(*frames);
  return std::nullopt;
}

Complaint set_delay(FaultPlan& plan, std::string_view value) {
  std::string_view rest = value;
  if (Complaint complaint = assign(plan.delay, parse_fault_when(cut(rest, ':')))) return complaint;
  const auto time = parse_duration(rest);
  if (!time) return UnitError{std::string(value), "WHEN:TIME, " + time.error().allowed};
  if (*time <= Duration(0) || *time > kMaxDelay)
    return UnitError{std::string(value), "more than 0, at most 10s"};
  if (!plan.delay.is_never()) plan.delay_time = *time;
  return std::nullopt;
}

Complaint set_queue(Bytes& place, std::string_view value) {
  const auto size = parse_bytes(value);
  if (!size) return size.error();
  if (*size < Bytes(1) || *size > kMaxRateQueue) return UnitError{std::string(value), "1B to 1GB"};
  place = *size;
  return std::nullopt;
}

Complaint set_rate(FaultPlan& plan, std::string_view value) {
  std::string_view rest = value;
  const auto rate = parse_bit_rate(cut(rest, ':'));
  if (!rate) return rate.error();
  if (*rate <= BitRate(0)) return UnitError{std::string(value), "a rate above 0"};
  plan.rate = *rate;
  return rest.empty() ? std::nullopt : set_queue(plan.rate_queue, rest);
}

Complaint set_mark(FaultPlan& plan, std::string_view value) { return set_queue(plan.mark.emplace(), value); }

Complaint set_seed(FaultPlan& plan, std::string_view value) {
  const auto seed = parse_count(value);
  if (!seed) return UnitError{std::string(value), "a number from 0 to 18446744073709551615"};
  plan.seed = *seed;
  return std::nullopt;
}

struct Row {
  std::string_view name;
  Complaint (*set)(FaultPlan&, std::string_view value);
};
constexpr std::array kRows{
    Row{"loss", [](FaultPlan& plan, std::string_view v) { return assign(plan.loss, parse_fault_when(v)); }},
    Row{"duplicate",
        [](FaultPlan& plan, std::string_view v) { return assign(plan.duplicate, parse_fault_when(v)); }},
    Row{"corrupt",
        [](FaultPlan& plan, std::string_view v) { return assign(plan.corrupt, parse_fault_when(v)); }},
    Row{"reorder", set_reorder},
    Row{"delay", set_delay},
    Row{"ce", [](FaultPlan& plan, std::string_view v) { return assign(plan.ce, parse_fault_when(v)); }},
    Row{"rate", set_rate},
    Row{"mark", set_mark},
    Row{"seed", set_seed},
};

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  return list;
}

}  // namespace

FaultWhen FaultWhen::with_probability(Ratio p) {
  FaultWhen when;
  when.probability_ = p;
  return when;
}
FaultWhen FaultWhen::repeating(std::vector<bool> pattern) {
  ROCETUNE_ASSERT(!pattern.empty());
  FaultWhen when;
  when.pattern_ = std::move(pattern);
  return when;
}
FaultWhen FaultWhen::at(std::vector<Range> frames) {
  FaultWhen when;
  when.frames_ = std::move(frames);
  return when;
}

bool FaultWhen::strikes(std::uint64_t index, Random& random) const {
  if (!pattern_.empty()) return pattern_[index % pattern_.size()];
  if (!frames_.empty()) {
    return std::any_of(frames_.begin(), frames_.end(),
                       [&](const Range& range) { return range.first <= index && index <= range.last; });
  }
  return !probability_.is_zero() && random.happens(probability_);
}

std::string FaultWhen::text() const {
  std::string out;
  if (!pattern_.empty()) {
    for (const bool strike : pattern_) out += strike ? 'x' : '.';
    return out;
  }
  for (const Range& range : frames_) {
    out += (out.empty() ? "#" : ",") + std::to_string(range.first);
    if (range.last != range.first) out += "-" + std::to_string(range.last);
  }
  return out.empty() ? to_text(probability_) : out;
}

Parsed<FaultWhen> parse_fault_when(std::string_view text) {
  if (text.starts_with('#')) return parse_frames(text);
  if (text.find('x') != std::string_view::npos && text.find_first_not_of("x.") == std::string_view::npos) {
    if (text.size() > kMaxPattern) return not_allowed(text, "a pattern of at most 4096 frames");
    std::vector<bool> pattern;
    for (const char frame : text) pattern.push_back(frame == 'x');
    return FaultWhen::repeating(std::move(pattern));
  }
  const auto ratio = parse_ratio(text);
  if (!ratio || *ratio < Ratio(0) || *ratio > Ratio::one()) return not_allowed(text, kWhenAllowed);
  return FaultWhen::with_probability(*ratio);
}

bool FaultPlan::is_empty() const {
  return loss.is_never() && duplicate.is_never() && corrupt.is_never() && reorder.is_never() &&
         delay.is_never() && ce.is_never() && !rate;
}

std::string FaultPlan::text() const {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  };
  if (!loss.is_never()) add("loss", loss.text());
  if (!duplicate.is_never()) add("duplicate", duplicate.text());
  if (!corrupt.is_never()) add("corrupt", corrupt.text());
  if (!reorder.is_never()) add("reorder", fmt::format("{}:{}", reorder.text(), reorder_frames));
  if (!delay.is_never()) add("delay", delay.text() + ":" + to_text(delay_time));
  if (!ce.is_never()) add("ce", ce.text());
  if (rate) add("rate", to_text(*rate) + ":" + to_text(rate_queue));
  if (mark) add("mark", to_text(*mark));
  if (seed != FaultPlan().seed) add("seed", std::to_string(seed));
  return out;
}

Expected<FaultPlan> parse_fault_plan(std::string_view text, const std::string& source) {
  FaultPlan plan;
  std::vector<InputIssue> issues;
  std::vector<std::string_view> seen;
  while (!text.empty()) {
    std::string_view value = cut(text, ' ');
    if (value.empty()) continue;
    const bool has_value = value.find('=') != std::string_view::npos;
    const std::string_view name = cut(value, '=');
    const auto complain = [&](std::string_view found, std::string_view allowed, std::string nearest = "") {
      issues.push_back(
          {{source}, std::string(name), std::string(found), std::string(allowed), std::move(nearest)});
    };
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == name; });
    if (row == kRows.end()) {
      complain(name, "one of " + list_of(row_names()), nearest_name(name, row_names()));
    } else if (!has_value) {
      complain(name, fmt::format("{}=VALUE", name));
    } else if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      complain(value, "each fault once");
    } else if (const Complaint complaint = row->set(plan, value)) {
      complain(complaint->found, complaint->allowed);
    }
    seen.push_back(name);
  }
  if (issues.empty() && plan.mark && !plan.rate) {
    issues.push_back(
        {{source}, "mark", to_text(*plan.mark), "together with rate=, whose queue it looks at", ""});
  }
  if (!issues.empty()) return tl::unexpected(bad_input(issues));
  return plan;
}

}  // namespace rocetune::port
