#include "agent/evidence/switches/columns.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "agent/evidence/line.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::size_t kMostPorts = 4096;

// Units that follow a number behind a blank and belong to its cell: "653.87 MB/s".
bool is_rate_unit(std::string_view word) { return word.ends_with("B/s") && word.size() <= 5; }

}  // namespace

std::vector<std::string_view> cells_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos) {
    std::size_t end = at;
    while (end < text.size() && text[end] != '\t' && text.substr(end, 2) != "  " &&
           text.substr(end, 2) != " \t")
      ++end;
    out.push_back(trimmed(text.substr(at, end - at)));
    at = text.find_first_not_of(kBlanks, end);
  }
  return out;
}

std::optional<std::uint64_t> count_in(std::string_view text) {
  std::uint64_t value = 0;
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  for (const char c : text) {
    if (c == ',') continue;
    if (!is_digit(c) || value > (UINT64_MAX - 9) / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::optional<std::vector<int>> numbers_in(std::string_view text, int most) {
  std::vector<int> out;
  text = trimmed(text);
  while (!text.empty()) {
    const auto first = take_number<std::uint64_t>(text);
    if (!first || *first > static_cast<std::uint64_t>(most)) return std::nullopt;
    std::uint64_t last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      const auto to = take_number<std::uint64_t>(text);
      if (!to || *to > static_cast<std::uint64_t>(most) || *to < *first) return std::nullopt;
      last = *to;
    }
    for (std::uint64_t n = *first; n <= last; ++n) out.push_back(static_cast<int>(n));
    const std::size_t separators = std::min(text.find_first_not_of(", \t"), text.size());
    if (separators == 0 && !text.empty()) return std::nullopt;
    text.remove_prefix(separators);
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::optional<PrioritySet> priorities_in(std::string_view text) {
  const auto numbers = numbers_in(text, 7);
  if (!numbers) return std::nullopt;
  PrioritySet out;
  for (const int n : *numbers) out = out.with(Priority(n));
  return out;
}

std::string list_of(const std::vector<int>& numbers, std::string_view separator) {
  std::string out;
  for (const int n : numbers) {
    if (!out.empty()) out += separator;
    out += std::to_string(n);
  }
  return out;
}

std::string list_of(PrioritySet priorities) {
  std::vector<int> numbers;
  for (int p = 0; p < 8; ++p) {
    if (priorities.contains(Priority(p))) numbers.push_back(p);
  }
  return list_of(numbers);
}

std::optional<Bytes> size_in(std::string_view text, bool binary) {
  text = trimmed(text);
  std::size_t digits = 0;
  while (digits < text.size() && (is_digit(text[digits]) || text[digits] == '.')) ++digits;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits || digits == 0) return std::nullopt;
  const std::string unit = lower_case(trimmed(text.substr(digits)));
  const double thousand = binary ? 1024 : 1000;
  double factor = 1;
  if (unit == "k" || unit == "kb" || unit == "kib" || unit == "kbytes") {
    factor = unit == "kib" ? 1024 : thousand;
  } else if (unit == "m" || unit == "mb" || unit == "mib" || unit == "mbytes") {
    factor = unit == "mib" ? 1024.0 * 1024 : thousand * thousand;
  } else if (!unit.empty() && unit != "b" && unit != "bytes") {
    return std::nullopt;
  }
  const double bytes = value * factor;
  if (!(bytes >= 0 && bytes < 1e15)) return std::nullopt;
  return Bytes(static_cast<std::int64_t>(std::llround(bytes)));
}

std::optional<std::vector<Dscp>> dscps_in(std::string_view text) {
  std::vector<Dscp> out;
  if (const auto numbers = numbers_in(text, 63)) {
    for (const int n : *numbers) out.emplace_back(n);
    return out;
  }
  std::string words(text);
  std::replace(words.begin(), words.end(), ',', ' ');
  for (const std::string_view word : host::words(words)) {
    if (const auto numbers = numbers_in(word, 63)) {
      for (const int n : *numbers) out.emplace_back(n);
    } else if (word == "default" || word == "be") {
      out.emplace_back(0);
    } else if (const auto dscp = parse_dscp(lower_case(word))) {
      out.push_back(*dscp);
    } else {
      return std::nullopt;
    }
  }
  if (out.empty()) return std::nullopt;
  return out;
}

bool is_rule(std::string_view text) {
  return text.size() >= 3 && text.find_first_not_of("-=+| \t") == std::string_view::npos &&
         text.find_first_of("-=") != std::string_view::npos;
}

bool abbreviates(std::string_view word, std::string_view full, std::size_t least) {
  return word.size() >= least && full.starts_with(word);
}

namespace {

void add_ports(std::string_view part, std::string& prefix, std::vector<std::string>& out) {
  // A name ends in its own number: "Ethernet1/49" or, with a range, "1/49-52" or "Ethernet1/49-1/52".
  if (!part.empty() && is_digit(part.front())) {
    part = trimmed(part);
  } else {
    prefix = std::string(part.substr(0, part.find_first_of("0123456789")));
    part.remove_prefix(prefix.size());
  }
  const auto dash = part.rfind('-');
  const auto last_number = [](std::string_view text) {
    std::size_t at = text.size();
    while (at > 0 && is_digit(text[at - 1])) --at;
    return at;
  };
  if (dash != std::string_view::npos && dash > 0 && dash + 1 < part.size()) {
    const std::string_view from = part.substr(0, dash), to = part.substr(dash + 1);
    const std::size_t from_at = last_number(from), to_at = last_number(to);
    const auto first = count_in(from.substr(from_at)), last = count_in(to.substr(to_at));
    // "et-0/0/1" is no range: a range repeats what stands before its number, or leaves it out.
    const bool is_range = first && last && *first < *last && *last - *first < kMostPorts &&
                          (to_at == 0 || to.substr(0, to_at) == from.substr(0, from_at));
    if (is_range) {
      for (std::uint64_t n = *first; n <= *last && out.size() < kMostPorts; ++n) {
        out.push_back(prefix + std::string(from.substr(0, from_at)) + std::to_string(n));
      }
      return;
    }
  }
  if (out.size() < kMostPorts) out.push_back(prefix + std::string(part));
}

}  // namespace

std::vector<std::string> ports_in(std::string_view text) {
  std::vector<std::string> out;
  std::string prefix;
  while (!text.empty()) {
    const auto [part, rest] = split_at(text, ',');
    if (!part.empty()) add_ports(part, prefix, out);
    text = rest;
  }
  return out;
}

Columns::Columns(std::vector<std::string_view> heads) : heads_(heads.begin(), heads.end()) {}

std::optional<std::size_t> Columns::find(std::string_view head) const {
  const auto found = std::find(heads_.begin(), heads_.end(), head);
  if (found == heads_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - heads_.begin());
}

void Columns::set_rule(std::string_view line) {
  spans_.clear();
  for (std::size_t at = line.find('-'); at != std::string_view::npos; at = line.find('-', at)) {
    const std::size_t end = std::min(line.find_first_not_of('-', at), line.size());
    spans_.emplace_back(at, end);
    at = end;
  }
  if (spans_.size() != heads_.size()) spans_.clear();
}

std::optional<std::vector<std::string_view>> Columns::row(std::string_view line) const {
  std::vector<std::string_view> out;
  for (const std::string_view word : host::words(line)) {
    // "653.87 MB/s" is one cell.
    if (!out.empty() && is_rate_unit(word)) {
      out.back() = std::string_view(out.back().data(),
                                    static_cast<std::size_t>(word.data() + word.size() - out.back().data()));
    } else {
      out.push_back(word);
    }
  }
  if (out.size() == heads_.size()) return out;
  out = cells_of(line);
  if (out.size() == heads_.size()) return out;
  if (spans_.empty() || out.empty()) return std::nullopt;
  out.clear();
  bool any = false;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const auto [begin, end] = spans_[i];
    // Nothing may stand across the gap between two columns.
    if (i > 0 && begin > 0 && begin <= line.size() && line[begin - 1] != ' ') return std::nullopt;
    const std::string_view cell =
        begin < line.size() ? trimmed(line.substr(begin, end - begin)) : std::string_view();
    any = any || !cell.empty();
    out.push_back(cell);
  }
  if (!any) return std::nullopt;
  return out;
}

}  // namespace rocetune::evidence
