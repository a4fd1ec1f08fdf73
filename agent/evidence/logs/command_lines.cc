#include "agent/evidence/logs/command_lines.h"

#include <algorithm>
#include <array>

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

// What may follow the name of a program without a prompt in front: names stand in sentences too.
enum class Then {
  option,    // an option, or nothing
  anything,  // any word that a command line may hold
};
struct Program {
  std::string_view name;
  Then then;
};
constexpr Program kPrograms[] = {
    {"mpirun", Then::option},
    {"mpiexec", Then::option},
    {"srun", Then::option},
    {"torchrun", Then::option},
    {"ib_write_bw", Then::option},
    {"ib_write_lat", Then::option},
    {"ib_read_bw", Then::option},
    {"ib_read_lat", Then::option},
    {"ib_send_bw", Then::option},
    {"ib_send_lat", Then::option},
    {"ib_atomic_bw", Then::option},
    {"raw_ethernet_bw", Then::option},
    {"all_reduce_perf", Then::option},
    {"all_gather_perf", Then::option},
    {"alltoall_perf", Then::option},
    {"sendrecv_perf", Then::option},
    {"reduce_scatter_perf", Then::option},
    {"broadcast_perf", Then::option},
    {"reduce_perf", Then::option},
    {"mlnx_qos", Then::option},
    {"ethtool", Then::option},
    {"cma_roce_tos", Then::option},
    {"cma_roce_mode", Then::option},
    {"mlxconfig", Then::option},
    {"mlxreg", Then::option},
    {"setpci", Then::option},
    {"lspci", Then::option},
    {"ucx_perftest", Then::option},
    {"iperf3", Then::option},
    {"iperf", Then::option},
    {"ibv_rc_pingpong", Then::option},
    {"rping", Then::option},
    {"docker", Then::anything},
    {"modprobe", Then::anything},
    {"sysctl", Then::anything},
    {"echo", Then::anything},
    {"dcb", Then::anything},
    {"ip", Then::anything},
    {"tc", Then::anything},
    {"rdma", Then::anything},
    {"numactl", Then::option},
    {"taskset", Then::option},
    {"show_gids", Then::option},
    {"ibv_devinfo", Then::option},
    {"ibstat", Then::option},
    {"ibdev2netdev", Then::option},
    {"nvidia-smi", Then::anything},
    {"devlink", Then::anything},
    {"bnxt_setupcc.sh", Then::option},
    {"niccli", Then::option},
    {"bnxtnvm", Then::option},
    {"ping", Then::option},
    {"python", Then::option},
    {"python3", Then::option},
    {"vllm", Then::anything},
    {"cat", Then::anything},
    {"IMB-MPI1", Then::anything},
    {"osu_bw", Then::anything},
    {"lldptool", Then::option},
    {"nvshmemrun", Then::option},
    {"enroot", Then::anything},
    {"kubectl", Then::anything},
    {"tcpdump", Then::option},
    {"ibdump", Then::option},
    {"mlxlink", Then::option},
    {"mst", Then::anything},
};
// Second words that these really take: "ip" and "cat" are words of English too.
struct Second {
  std::string_view program;
  std::array<std::string_view, 8> words;
};
constexpr Second kSeconds[] = {
    {"ip", {"link", "addr", "a", "route", "rule", "neigh", "-s", "address"}},
    {"tc", {"qdisc", "filter", "class", "-s"}},
    {"dcb", {"pfc", "ets", "app", "buffer", "maxrate", "dcbx", "-j", "rewr"}},
    {"rdma", {"link", "dev", "statistic", "res", "system", "-p", "-j", "stat"}},
    {"docker", {"run", "exec"}},
    {"sysctl", {"-w", "-a", "-n"}},
    {"cat", {"/"}},
    {"devlink", {"dev", "port", "health", "-p"}},
    {"vllm", {"serve"}},
    {"nvidia-smi", {"topo", "-q", "nvlink", "-L"}},
    {"mst", {"start", "status"}},
    {"kubectl", {"exec", "logs", "get", "describe", "apply"}},
};

// Programs that only start another.
constexpr std::string_view kWrappers[] = {"sudo",    "time", "nohup", "numactl",
                                          "taskset", "exec", "env",   "timeout"};

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

const Program* find_program(std::string_view name) {
  const auto found = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                  [&](const Program& p) { return p.name == name; });
  return found == std::end(kPrograms) ? nullptr : found;
}

bool is_plausible(const Program& program, const std::vector<std::string_view>& words, std::size_t at) {
  if (at + 1 >= words.size()) return true;
  const std::string_view next = words[at + 1];
  for (const Second& second : kSeconds) {
    if (second.program != program.name) continue;
    return std::any_of(second.words.begin(), second.words.end(), [&](std::string_view word) {
      return !word.empty() && (word == "/" ? next.starts_with('/') : next == word);
    });
  }
  // "ib_write_bw -q 8: 395 Gb/s" is a remark.
  if (std::any_of(
          words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end(), [](std::string_view word) {
            return word.ends_with("Gb/s") || word.ends_with("GB/s") ||
                   (word.size() > 1 && word.ends_with(':') && word.front() >= '0' && word.front() <= '9');
          })) {
    return false;
  }
  if (program.then == Then::anything) return true;
  // The first may be an address or device: "ib_write_bw 10.0.0.1 -d mlx5_0", "ethtool eth0".
  return next.front() == '-' || next.front() == '{' || next.front() == '<' || next.front() == '|' ||
         next.front() == '>' || next.front() == '&' || next.front() == '$' ||
         next.find_first_of("0123456789.:/") != std::string_view::npos;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t i = 0;
  while (i < text.size() && out.size() < CommandLine::kMostWords) {
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    if (i >= text.size()) break;
    const std::size_t begin = i;
    char quote = 0;
    for (; i < text.size() && (quote != 0 || (text[i] != ' ' && text[i] != '\t')); ++i) {
      if (quote == 0 && (text[i] == '"' || text[i] == '\'')) {
        quote = text[i];
      } else if (text[i] == quote) {
        quote = 0;
      }
    }
    out.push_back(text.substr(begin, i - begin));
  }
  return out;
}

// "server:", "client:", "node1:", "on node2:" in front.
std::string take_role(std::string_view& text) {
  const auto colon = text.find(": ");
  if (colon > 32) return {};
  const std::string_view role = text.substr(0, colon);
  if (role.empty() || role.find_first_of(" \t=/\"'") != std::string_view::npos || role.front() == '-')
    return {};
  text = trimmed(text.substr(colon + 2));
  return std::string(role);
}

void collect_settings(const std::vector<std::string_view>& words, std::vector<Setting>& out) {
  for (std::string_view word : words) {
    // docker -eNAME=value, srun --export=ALL,NAME=value,...
    if (word.starts_with("-e") && word.size() > 2) word.remove_prefix(2);
    if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') && word.back() == word.front()) {
      word = word.substr(1, word.size() - 2);
    }
    if (word.starts_with("--env=")) word.remove_prefix(6);
    if (word.starts_with("--export=")) {
      word.remove_prefix(9);
      while (!word.empty()) {
        const auto comma = word.find(',');
        if (auto setting = assignment_of(word.substr(0, comma))) out.push_back(*std::move(setting));
        word = comma == std::string_view::npos ? std::string_view() : word.substr(comma + 1);
      }
      continue;
    }
    if (auto setting = assignment_of(word)) out.push_back(*std::move(setting));
  }
}

}  // namespace

std::string_view CommandLine::value_of(std::string_view option) const {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == option) return i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view();
    if (word.starts_with(option) && word.size() > option.size()) {
      if (word[option.size()] == '=') return word.substr(option.size() + 1);
      // "-x3"
      if (option.size() == 2 && option[1] != '-' && word[2] >= '0' && word[2] <= '9') return word.substr(2);
    }
  }
  return {};
}

bool CommandLine::has(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<ReadCommand> command_of(std::string_view line, bool prompted) {
  std::string_view text = trimmed(line);
  if (text.starts_with("# ")) text = trimmed(text.substr(2));  // nccl-tests repeat it as a comment
  ReadCommand out;
  std::string_view behind_role = text;
  std::string role = take_role(behind_role);
  std::vector<std::string_view> words = words_of(behind_role);
  if (words.empty()) return std::nullopt;
  std::size_t at = 0;
  std::size_t assignments = 0;
  const bool is_export = words[0] == "export";
  if (is_export) at = 1;
  while (at < words.size() && assignment_of(words[at])) {
    ++at;
    ++assignments;
  }
  if (at >= words.size()) {
    // Only assignments: an environment, unless several are exported at once.
    if (!prompted && (!is_export || assignments < 2)) return std::nullopt;
    out.command.program = "export";
  } else {
    if (is_export && assignments == 0) return std::nullopt;
    std::size_t wrapper = at;
    // A wrapper's own options and numbers stand in between.
    while (at < words.size() && std::find(std::begin(kWrappers), std::end(kWrappers), base_name(words[at])) !=
                                    std::end(kWrappers)) {
      ++at;
      while (at < words.size() && find_program(base_name(words[at])) == nullptr &&
             (words[at].front() == '-' || words[at].find_first_of("0123456789=") != std::string_view::npos) &&
             words[at].find("_perf") == std::string_view::npos) {
        ++at;
      }
    }
    if (at >= words.size()) at = wrapper;
    const std::string_view name = base_name(words[at]);
    const Program* program = find_program(name);
    if (program == nullptr) {
      if (!prompted && assignments == 0) return std::nullopt;
    } else if (!prompted && assignments == 0 && at == wrapper && !is_plausible(*program, words, at)) {
      return std::nullopt;
    }
    out.command.program = name;
  }
  out.command.role = std::move(role);
  out.command.words.assign(words.begin(), words.end());
  collect_settings(words, out.settings);
  return out;
}

namespace {

// Cheap: most lines of a log do not begin as a command does.
bool may_be_command(std::string_view text) {
  const auto is_one = [](std::string_view word) {
    return word == "export" || word.find('=') != std::string_view::npos ||
           find_program(base_name(word)) != nullptr ||
           std::find(std::begin(kWrappers), std::end(kWrappers), base_name(word)) != std::end(kWrappers);
  };
  for (int i = 0; i < 3; ++i) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '#'))
      text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (word.empty()) return false;
    if (is_one(word)) return true;
    if (word.back() != ':') return false;  // "server:"
    text.remove_prefix(word.size());
  }
  return false;
}

// A traffic class that a command writes, under the name of what it writes: sysfs, rdma_cm's default,
// perftest's own.
std::optional<Setting> written_traffic_class(const CommandLine& command) {
  std::string_view value;
  if (command.program == "echo" && command.words.size() >= 4 &&
      contains_any(command.words.back(), {"/traffic_class", "default_roce_tos"})) {
    value = command.words[1];
  } else if (command.program == "cma_roce_tos") {
    value = command.value_of("-t");
  } else if (command.program.starts_with("ib_")) {
    value = command.value_of("--tclass");
    if (value.empty() && command.has("-R")) value = command.value_of("-T");
  }
  if (value.empty()) return std::nullopt;
  return Setting{.name = std::string(kWrittenTrafficClass),
                 .value = std::string(value),
                 .line = command.line,
                 .host = {}};
}

class CommandReader final : public DocumentReader {
 public:
  explicit CommandReader(const Context& context) : host_(context.host) {}

  Verdict take(const Line& line) override {
    if (line.is_blank()) {
      finish_command();
      return Verdict::not_mine;
    }
    if (!pending_.empty()) {
      append(line.text);
      return Verdict::mine;
    }
    if (line.is_command ? line.text.empty() : !may_be_command(line.text) || !command_of(line.text, false)) {
      return Verdict::not_mine;
    }
    is_prompted_ = line.is_command;
    number_ = line.number;
    append(line.text);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    finish_command();
    if (lines_.commands.empty()) return std::nullopt;
    Document document;
    add_traffic_class_facts(document, lines_.settings);
    document.content = std::move(lines_);
    return document;
  }

 private:
  // A line that ends in a backslash goes on.
  void append(std::string_view text) {
    const bool goes_on = text.ends_with('\\');
    if (goes_on) text.remove_suffix(1);
    if (pending_.size() < kLongest) {
      pending_ += pending_.empty() ? "" : " ";
      pending_ += text;
    }
    if (!goes_on) finish_command();
  }

  void finish_command() {
    if (pending_.empty()) return;
    auto read = command_of(pending_, is_prompted_);
    pending_.clear();
    if (!read || lines_.commands.size() >= CommandLines::kMost) return;
    read->command.line = number_;
    for (Setting& setting : read->settings) {
      setting.line = number_;
      setting.host = host_;
      lines_.settings.push_back(std::move(setting));
    }
    if (auto written = written_traffic_class(read->command)) {
      written->host = host_;
      lines_.settings.push_back(*std::move(written));
    }
    lines_.commands.push_back(std::move(read->command));
  }

  static constexpr std::size_t kLongest = 64 << 10;
  std::string host_;
  std::string pending_;
  int number_ = 0;
  bool is_prompted_ = false;
  CommandLines lines_;
};

bool begins_command(const Line& line, const Context&) {
  if (line.is_command) return !line.text.empty();
  return may_be_command(line.text) && command_of(line.text, false).has_value();
}

}  // namespace

Format command_format() {
  return {.name = "command", .anchors = {}, .begins = begins_command, .open = open_reader<CommandReader>};
}

}  // namespace rocetune::evidence
