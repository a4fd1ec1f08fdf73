#include "agent/evidence/file_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

namespace rocetune::evidence {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

bool is_all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "60s", "-1s", "500ms", "2min": an elapsed time.
std::optional<Duration> elapsed_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() || !(number > -1e6 && number < 1e6)) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const auto of = [&](double seconds_each) {
    return nanoseconds(static_cast<std::int64_t>(number * seconds_each * 1e9));
  };
  if (unit == "s" || unit == "sec") return of(1);
  if (unit == "ms") return of(1e-3);
  if (unit == "us") return of(1e-6);
  if (unit == "m" || unit == "min") return of(60);
  if (unit == "h") return of(3600);
  return std::nullopt;
}

// "before", "after60s", "before-2to1", "t0".
std::optional<Phase> phase_of(std::string_view part) {
  Phase out;
  out.text = part;
  std::string_view rest;
  if (part.starts_with("before")) {
    out.kind = Phase::Kind::before;
    rest = part.substr(6);
  } else if (part.starts_with("after")) {
    out.kind = Phase::Kind::after;
    rest = part.substr(5);
  } else if (part.size() >= 2 && part[0] == 't' && std::isdigit(static_cast<unsigned char>(part[1])) != 0) {
    const auto digits_end =
        std::find_if(part.begin() + 1, part.end(), [](unsigned char c) { return std::isdigit(c) == 0; });
    const std::string_view digits(part.data() + 1, static_cast<std::size_t>(digits_end - part.begin()) - 1);
    if (std::from_chars(digits.data(), digits.data() + digits.size(), out.ordinal).ec != std::errc()) {
      return std::nullopt;
    }
    out.kind = Phase::Kind::at;
    rest = part.substr(1 + digits.size());
    // "t0", "t0-2to1"; "t10g" or "t2u" is another word.
    if (!rest.empty() && rest.front() != '-' && rest.front() != '_') return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (rest.empty()) return out;
  if (const auto elapsed = elapsed_of(rest)) {
    out.elapsed = elapsed;
    return out;
  }
  if (rest.front() == '-' || rest.front() == '_') rest.remove_prefix(1);
  if (const auto elapsed = elapsed_of(rest)) {
    out.elapsed = elapsed;
  } else {
    out.run = rest;
  }
  return out;
}

// The word may also follow a dash at the end of a part: "counters-before". Returns where it begins.
std::optional<std::size_t> phase_within(std::string_view part) {
  for (const std::string_view word : {"-before", "-after", "_before", "_after", "-t"}) {
    const auto at = part.rfind(word);
    if (at != std::string_view::npos && at > 0 && phase_of(part.substr(at + 1))) return at + 1;
  }
  return std::nullopt;
}

// Words in front of a number that name something else than a machine: "gid3", "loss0", "mtu1500".
constexpr std::array<std::string_view, 30> kNotMachines{
    "gid",  "loss", "mtu",  "qp",   "size",    "prio",  "tc",  "queue", "run",  "part",
    "rail", "vlan", "pcp",  "dscp", "snaplen", "round", "try", "test",  "case", "step",
    "port", "lane", "bond", "gpu_", "cuda",    "all",   "fw",  "v",     "log",  "level"};
constexpr std::array<std::string_view, 28> kMachines{
    "host", "node",   "server",  "client", "sender", "receiver", "initiator", "target", "peer", "worker",
    "dgx",  "hgx",    "compute", "gpu",    "rank",   "machine",  "left",      "right",  "leaf", "spine",
    "tor",  "switch", "sw",      "srv",    "box",    "master",   "head-node", "storage"};

// "sender1", "nodeA", "gpu-node-07", "h3": a machine; "1to1", "fragment", "48-queues": not.
bool looks_like_host(std::string_view part) {
  if (part.empty() || std::isalpha(static_cast<unsigned char>(part.front())) == 0) return false;
  for (const std::string_view word : kMachines) {
    if (!part.starts_with(word)) continue;
    const std::string_view rest = part.substr(word.size());
    if (rest.empty() || rest.size() == 1 || !std::isalpha(static_cast<unsigned char>(rest.front())) ||
        std::isupper(static_cast<unsigned char>(rest.front()))) {
      return true;
    }
  }
  // One short word and a number, "g3", "c220-12": letters, then digits and dashes to the end.
  const auto letters_end =
      std::find_if(part.begin(), part.end(), [](unsigned char c) { return std::isalpha(c) == 0; });
  const std::string_view letters(part.data(), static_cast<std::size_t>(letters_end - part.begin()));
  if (std::find(kNotMachines.begin(), kNotMachines.end(), letters) != kNotMachines.end()) return false;
  const std::string_view digits = part.substr(letters.size());
  return is_all_digits(digits) && letters.size() <= 8;
}

}  // namespace

NameParts parts_of_name(std::string_view name) {
  NameParts out;
  const auto slash = name.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? "" : name.substr(0, slash + 1);
  const std::vector<std::string_view> parts = split(name.substr(folder.size()), '.');
  out.series = folder;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    const bool is_ending = i > 0 && i + 1 == parts.size();
    if (!is_ending) {
      if (auto phase = phase_of(part)) {
        if (!out.phase) out.phase = std::move(phase);
        continue;
      }
      if (const auto at = phase_within(part)) {
        if (!out.phase) out.phase = phase_of(part.substr(*at));
        part = part.substr(0, *at - 1);
      }
      if (parts.size() > 2 && looks_like_host(part)) out.host = part;
    } else if (!out.phase) {
      if (auto phase = phase_of(part)) {  // no ending at all: "counters.before"
        out.phase = std::move(phase);
        continue;
      }
    }
    if (out.series.size() > folder.size()) out.series += '.';
    out.series += part;
  }
  return out;
}

}  // namespace rocetune::evidence
