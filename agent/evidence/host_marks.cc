#include "agent/evidence/host_marks.h"

#include <algorithm>
#include <map>

#include "agent/evidence/line.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kLongestHost = 64;
constexpr std::size_t kMostHosts = 4096;

constexpr bool is_number_sign(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_of_host(char c) {
  return is_word_letter(c) || is_number_sign(c) || c == '-' || c == '.' || c == '_';
}

// What numbered words are that name no host: devices, lanes, priorities, steps.
constexpr std::string_view kNumberedThings[] = {
    "mlx",  "bnxt_re", "roce", "irdma", "qedr", "rxe",   "siw",  "hns",   "erdma",    "efa",     "ionic",
    "xsc",  "ens",     "enp",  "eno",   "enP",  "eth",   "ib",   "bond",  "Ethernet", "swp",     "Et",
    "et-",  "xe-",     "Bin",  "bin",   "Lane", "lane",  "prio", "Prio",  "PFC",      "GPU",     "NIC",
    "tc",   "TC",      "cpu",  "CPU",   "numa", "NUMA",  "step", "Step",  "test",     "Test",    "run",
    "Run",  "case",    "Case", "round", "iter", "phase", "part", "stage", "attempt",  "try",     "port",
    "Port", "queue",   "rank", "Rank",  "DSCP", "dscp",  "v1",   "v2",    "rx_",      "tx_",     "usec",
    "H1",   "H2",      "A1",   "V1",    "B2",   "B3",    "L4",   "GB",    "CX",       "Connect", "BF",
    "MI",   "nccl",    "osu",  "ib_"};

// A host's name in practice has letters and a number: "node1", "gpu-07.rack2", "h100-3".
bool is_numbered_host(std::string_view word) {
  if (word.size() < 2 || word.size() > kLongestHost || !std::all_of(word.begin(), word.end(), is_of_host))
    return false;
  if (!is_word_letter(word.front()) || std::none_of(word.begin(), word.end(), is_number_sign)) return false;
  for (const std::string_view file : {".txt", ".log", ".sh", ".json", ".csv", ".py"}) {
    if (word.ends_with(file)) return false;
  }
  return std::none_of(std::begin(kNumberedThings), std::end(kNumberedThings),
                      [&](std::string_view thing) { return word.starts_with(thing); });
}

std::string_view without(std::string_view text, std::string_view signs) {
  while (!text.empty() && signs.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (!text.empty() && signs.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

// "node1" of "node1: text" and "node1:"; nothing for other lines.
std::string_view host_in_front(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && is_of_host(line[end])) ++end;
  if (end == line.size() || line[end] != ':') return {};
  if (end + 1 < line.size() && line[end + 1] != ' ') return {};
  const std::string_view word = line.substr(0, end);
  const bool is_end = word == "server" || word == "client" || word == "sender" || word == "receiver";
  return is_end || is_numbered_host(word) ? word : std::string_view();
}

// Calls `each` with every line and its number until it returns false.
template <class Each>
void for_each_line(std::string_view text, Each each) {
  int number = 0;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!each(line, ++number)) return;
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
}

}  // namespace

std::optional<std::string_view> heading_host(std::string_view line) {
  if (line.size() < 5 || line.size() > 3 * kLongestHost) return std::nullopt;
  if (line.ends_with(">>")) {  // "node3 | CHANGED | rc=0 >>", "node3 | SUCCESS | rc=0 | (stdout) >>"
    const auto [host, rest] = split_at(line, '|');
    if (rest.find("rc=") == std::string_view::npos || host.empty() || host.size() > kLongestHost ||
        !std::all_of(host.begin(), host.end(), is_of_host)) {
      return std::nullopt;
    }
    return host;
  }
  constexpr std::string_view kSigns = "=#-*>< ";
  const bool is_marked = line.starts_with("==") || line.starts_with("##") || line.starts_with("--") ||
                         line.starts_with("**") || line.starts_with("# ") || line.starts_with(">>");
  if (!is_marked) return std::nullopt;
  std::string_view word = without(line, kSigns);
  if (word.ends_with(':')) word.remove_suffix(1);
  for (const std::string_view kind : {"host ", "Host ", "node ", "Node ", "host: ", "Host: "}) {
    if (word.starts_with(kind)) word = trimmed(word.substr(kind.size()));
  }
  return is_numbered_host(word) ? std::optional(word) : std::nullopt;
}

bool is_bare_host(std::string_view line) { return is_numbered_host(line); }

std::vector<HostLines> split_by_host(std::string_view text) {
  std::map<std::string_view, std::size_t> counts;
  std::size_t lines = 0;
  bool all = true;
  for_each_line(text, [&](std::string_view line, int) {
    if (trimmed(line).empty()) return true;
    const std::string_view host = host_in_front(line);
    all = !host.empty() && (counts.contains(host) || counts.size() < kMostHosts);
    if (all) ++counts[host];
    ++lines;
    return all;
  });
  if (!all || lines < 3 || lines < 2 * counts.size()) return {};
  std::map<std::string_view, std::size_t> index;
  std::vector<HostLines> out;
  for_each_line(text, [&](std::string_view line, int number) {
    const std::string_view host = host_in_front(line);
    if (host.empty()) return true;
    const auto [at, is_new] = index.emplace(host, out.size());
    if (is_new) out.push_back({std::string(host), {}, {}});
    HostLines& mine = out[at->second];
    line.remove_prefix(host.size() + 1);
    if (!line.empty()) line.remove_prefix(1);
    mine.text.append(line);
    mine.text += '\n';
    mine.numbers.push_back(number);
    return true;
  });
  return out;
}

}  // namespace rocetune::evidence
