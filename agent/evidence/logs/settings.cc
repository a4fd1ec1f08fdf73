#include "agent/evidence/logs/settings.h"

#include <algorithm>
#include <array>

#include "agent/evidence/line.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kPrefixes[] = {"NCCL_",     "RCCL_", "UCX_",   "NVSHMEM_", "ROCSHMEM_", "MC_",
                                          "MOONCAKE_", "UCCL_", "GLOO_",  "MORI_",    "OMPI_",     "I_MPI_",
                                          "FI_",       "MLX5_", "RDMAV_", "IBV_",     "DEEPEP_",   "DEEP_EP_",
                                          "VLLM_",     "HCCL_", "MV2_"};

bool is_variable_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 80 && name.front() >= 'A' && name.front() <= 'Z' &&
         name.find('_') != std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Without quotes around it, and without a comment behind it.
std::string_view plain(std::string_view value) {
  value = trimmed(value);
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
    const auto close = value.find(value.front(), 1);
    if (close != std::string_view::npos) return value.substr(1, close - 1);
  }
  const auto comment = value.find(" #");
  if (comment != std::string_view::npos) value = trimmed(value.substr(0, comment));
  while (!value.empty() && (value.back() == ';' || value.back() == '\\'))
    value = trimmed(value.substr(0, value.size() - 1));
  return value;
}

// A value has no blanks, unless it is quoted: what has is a sentence or a command.
std::optional<Setting> made(std::string_view name, std::string_view value) {
  if (!is_variable_name(name)) return std::nullopt;
  const std::string_view text = trimmed(value);
  const std::string_view inside = plain(text);
  const bool quoted = !text.empty() && (text.front() == '"' || text.front() == '\'');
  if (!quoted && inside.find_first_of(" \t") != std::string_view::npos) return std::nullopt;
  return Setting{.name = std::string(name), .value = std::string(inside), .line = 0, .host = {}};
}

}  // namespace

bool is_rdma_variable(std::string_view name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::optional<Setting> assignment_of(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  return made(word.substr(0, equals), word.substr(equals + 1));
}

std::optional<Setting> setting_of(std::string_view line) {
  std::string_view text = trimmed(line);
  if (text.starts_with("- ")) text = trimmed(text.substr(2));
  for (const std::string_view word : {"export ", "set ", "declare -x ", "-x ", "-e "}) {
    if (text.starts_with(word)) text = trimmed(text.substr(word.size()));
  }
  if (text.empty() || text.front() < 'A' || text.front() > 'Z') {
    if (!text.starts_with("setenv ")) return std::nullopt;
    const Words words(text);
    if (words.size() != 3 || !is_rdma_variable(words[1])) return std::nullopt;
    return made(words[1], words[2]);
  }
  const auto name_end = text.find_first_of("=: \t");
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, name_end);
  if (text[name_end] == '=') return made(name, text.substr(name_end + 1));
  const std::string_view rest = trimmed(text.substr(name_end));
  if (rest.size() < 2 || !is_rdma_variable(name)) return std::nullopt;
  if (rest.front() == '=' || (rest.front() == ':' && rest[1] == ' ')) return made(name, rest.substr(1));
  return std::nullopt;
}

std::optional<int> traffic_class_of(const Setting& setting) {
  static constexpr std::string_view kEndings[] = {"_TRAFFIC_CLASS", "_IB_TC", "_RDMA_TC", "_TCLASS",
                                                  "_ROCE_TC"};
  if (setting.name == "NCCL_IB_FIFO_TC" ||
      std::none_of(std::begin(kEndings), std::end(kEndings),
                   [&](std::string_view ending) { return setting.name.ends_with(ending); })) {
    return std::nullopt;
  }
  const auto value = integer_of_any_base(setting.value);
  if (!value || *value < 0 || *value > 255) return std::nullopt;
  return static_cast<int>(*value);
}

void add_traffic_class_facts(Document& document, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    const auto traffic_class = traffic_class_of(setting);
    if (!traffic_class) continue;
    document.add_fact("map.traffic_class", *traffic_class);
    document.add_fact("map.dscp", *traffic_class >> 2);
    return;
  }
}

}  // namespace rocetune::evidence
