#include "agent/evidence/line.h"

#include <cstring>
#include <utility>

#include "agent/evidence/host_marks.h"

namespace rocetune::evidence {
namespace {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

// What has to be taken out of the middle of a line: escape sequences, overstrikes, non-breaking blanks.
bool needs_rewriting(std::string_view raw) {
  return std::memchr(raw.data(), '\x1b', raw.size()) != nullptr ||
         std::memchr(raw.data(), '\b', raw.size()) != nullptr ||
         raw.find("\xc2\xa0") != std::string_view::npos ||
         std::memchr(raw.data(), '\r', raw.size()) != nullptr;
}

// ECMA-48: ESC [ parameters, intermediates, a final byte 0x40..0x7e; ESC ] ... BEL or ESC \ (a title); else
// two bytes.
std::size_t end_of_escape(std::string_view raw, std::size_t at) {
  std::size_t next = at + 1;
  if (next >= raw.size()) return raw.size();
  if (raw[next] == '[') {
    for (++next; next < raw.size(); ++next) {
      if (raw[next] >= 0x40 && raw[next] <= 0x7e) return next + 1;
    }
    return raw.size();
  }
  if (raw[next] == ']') {
    for (++next; next < raw.size(); ++next) {
      if (raw[next] == '\a') return next + 1;
      if (raw[next] == '\x1b') return next + 2 < raw.size() ? next + 2 : raw.size();
    }
    return raw.size();
  }
  return next + 1;
}

void rewrite(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] == '\x1b') {
      i = end_of_escape(raw, i);
    } else if (raw[i] == '\b') {
      if (!out.empty()) out.pop_back();
      ++i;
    } else if (raw[i] == '\r') {
      // At the end: of a DOS line. In the middle: a progress line that was written over.
      if (raw.find_first_not_of('\r', i) != std::string_view::npos) out.clear();
      ++i;
    } else if (raw.substr(i).starts_with("\xc2\xa0")) {
      out += ' ';
      i += 2;
    } else {
      out += raw[i++];
    }
  }
}

std::string_view without_end_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// "> " of a quotation in a mail or a thread, also of one within another.
void take_quote_marks(Line& line) {
  constexpr int kDeepest = 4;
  for (int depth = 0; depth < kDeepest && line.text.starts_with('>'); ++depth) {
    if (line.text.size() > 1 && line.text[1] != ' ' && line.text[1] != '>') return;
    line.text.remove_prefix(line.text.starts_with("> ") ? 2 : 1);
  }
}

// "[1,0]<stdout>:" and "[1,0]<stderr>:" of mpirun --tag-output.
void take_tag(Line& line) {
  if (!line.text.starts_with('[')) return;
  const auto close = line.text.find(']');
  if (close > 24) return;
  const std::string_view behind = line.text.substr(close + 1);
  for (const std::string_view stream : {"<stdout>:", "<stderr>:", "<stddiag>:"}) {
    if (!behind.starts_with(stream)) continue;
    line.tag = line.text.substr(1, close - 1);
    line.text = behind.substr(stream.size());
    return;
  }
}

// Programs whose calls stand behind a bare "#" (a root's prompt) or "+" (set -x), where a comment may stand
// too.
constexpr std::string_view kCalled[] = {
    "ethtool",      "dcb",         "rdma",      "mlnx_qos",   "ip",           "ifconfig",     "tc",
    "lspci",        "lsmod",       "cat",       "grep",       "dmesg",        "ibstat",       "ibstatus",
    "ibv_devinfo",  "ibv_devices", "show_gids", "iblinkinfo", "mlxlink",      "mlxconfig",    "mstconfig",
    "mlxfwmanager", "nvidia-smi",  "ping",      "iperf3",     "ibdev2netdev", "cma_roce_tos", "sysctl",
    "mst",          "show",        "lldptool",  "modprobe"};

// "# /opt/mellanox/iproute2/sbin/rdma statistic show", "+ ethtool -S eth0".
bool take_bare_prompt(Line& line) {
  std::string_view rest = trimmed(line.text.substr(1));
  const std::string_view command = rest;
  if (rest.starts_with("sudo ")) rest = trimmed(rest.substr(5));
  std::string_view program = rest.substr(0, rest.find_first_of(" \t"));
  // With an argument: "# ip" and "# show" alone are words of a comment.
  if (program.size() == rest.size()) return false;
  program.remove_prefix(program.rfind('/') + 1);
  for (const std::string_view known : kCalled) {
    if (program != known) continue;
    line.text = command;
    line.is_command = true;
    return true;
  }
  return false;
}

// "user@host:~$ command", "[user@host dir]# command", "$ command", "leaf1#show ...", "admin@leaf1:~$ show
// ...".
void take_prompt(Line& line) {
  std::string_view text = line.text;
  if (text.starts_with("$ ")) {
    line.text = trimmed(text.substr(2));
    line.is_command = true;
    return;
  }
  // "(base) user@host": the Python environment in front.
  if (text.starts_with('(')) {
    const auto close = text.find(") ");
    if (close > 40) return;
    text.remove_prefix(close + 2);
  }
  if ((text.starts_with("# ") || text.starts_with("+ ")) && take_bare_prompt(line)) return;
  const bool bracketed = text.starts_with('[');
  std::size_t at = bracketed ? 1 : 0;
  std::size_t word_end = at;
  while (word_end < text.size() && is_word(text[word_end])) ++word_end;
  if (word_end == at || word_end - at > 64) return;
  if (word_end < text.size() && text[word_end] == '@') {
    const std::size_t host_begin = word_end + 1;
    std::size_t host_end = host_begin;
    while (host_end < text.size() && is_word(text[host_end])) ++host_end;
    if (host_end == host_begin) return;
    // The sign that ends a prompt, with at most a folder in between.
    const std::size_t sign = text.find_first_of("$#>", host_end);
    if (sign == std::string_view::npos || sign - host_end > 80) return;
    if (sign + 1 < text.size() && !is_blank(text[sign + 1])) return;
    line.prompt_host = text.substr(host_begin, host_end - host_begin);
    line.text = trimmed(text.substr(sign + 1));
    line.is_command = true;
    return;
  }
  // A switch's: "leaf1#show priority-flow-control", "leaf1(config)# interface ...".
  std::size_t sign = word_end;
  if (sign < text.size() && text[sign] == '(') {
    const auto close = text.find(')', sign);
    if (close == std::string_view::npos || close - sign > 40) return;
    sign = close + 1;
  }
  if (sign >= text.size() || (text[sign] != '#' && text[sign] != '>')) return;
  std::string_view command = trimmed(text.substr(sign + 1));
  if (!command.starts_with("show ") && !command.starts_with("sh ") && !command.starts_with("config")) return;
  line.prompt_host = text.substr(at, word_end - at);
  line.text = command;
  line.is_command = true;
}

}  // namespace

Line LineCleaner::clean(std::string_view raw, int number) {
  while (!raw.empty() && raw.back() == '\r') raw.remove_suffix(1);
  Line line;
  line.number = number;
  if (needs_rewriting(raw)) {
    rewrite(raw, buffer_);
    line.text = buffer_;
  } else {
    line.text = raw;
  }
  line.text = without_end_blanks(line.text);
  take_quote_marks(line);
  take_tag(line);
  if (const auto host = heading_host(line.text)) {
    line.prompt_host = *host;
    line.text = {};
    line.is_command = true;
    return line;
  }
  take_prompt(line);
  return line;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return without_end_blanks(text);
}

std::pair<std::string_view, std::string_view> split_at(std::string_view text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return {trimmed(text), {}};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

}  // namespace rocetune::evidence
