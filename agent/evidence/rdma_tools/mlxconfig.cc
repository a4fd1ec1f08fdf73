#include "agent/evidence/rdma_tools/mlxconfig.h"

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace mlxconfig_text {
namespace {

constexpr std::size_t kMostDevices = 1024;
constexpr std::size_t kMostSettings = 4096;
constexpr std::array<std::string_view, 15> kAnchors{
    "(0)",  "(1)",       "(2)",  "(3)", "(4)", "Configurations:", "Device type:", "ROCE_", "NUM_OF_VFS",
    "RPG_", "CLAMP_TGT", "CNP_", "_P1", "_P2", "MAX_ACC_OUT"};
constexpr std::array<std::string_view, 18> kPlainNames{"ROCE_",
                                                       "NUM_OF_",
                                                       "RPG_",
                                                       "CLAMP_TGT",
                                                       "CNP_",
                                                       "MAX_ACC_OUT",
                                                       "LOG_",
                                                       "PF_",
                                                       "NUM_PF",
                                                       "INITIAL_ALPHA",
                                                       "MIN_TIME_BETWEEN",
                                                       "DCE_TCP",
                                                       "RATE_",
                                                       "TRACER",
                                                       "MPFS_",
                                                       "VL15",
                                                       "NUM_VFS",
                                                       "PCI_"};

bool is_name(std::string_view word) {
  if (word.size() < 4 || word[0] < 'A' || word[0] > 'Z') return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '[' || c == ']' || c == '.';
  });
}

// "True(1)", "HCA(0)"
bool is_named_value(std::string_view word) {
  const auto open = word.find('(');
  if (open == std::string_view::npos || !word.ends_with(')') || open + 2 >= word.size()) return false;
  return whole_number<long long>(word.substr(open + 1, word.size() - open - 2), -1, INT64_MAX).has_value();
}

bool is_value(std::string_view word) {
  return is_named_value(word) || leading_number<long long>(word).has_value() || word.starts_with("0x") ||
         word.starts_with("Array[") || word == "N/A" || word == "None";
}

std::string_view without_star(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('*')) text = trimmed(text.substr(1));
  return text;
}

// "NAME value", "NAME default current next-boot".
bool is_row(const std::vector<std::string_view>& words, bool begun) {
  if (words.size() < 2 || words.size() > 4 || !is_name(words[0])) return false;
  if (!std::all_of(words.begin() + 1, words.end(), is_value)) return false;
  if (begun || is_named_value(words[1])) return begun || words[0].find('_') != std::string_view::npos;
  return std::any_of(kPlainNames.begin(), kPlainNames.end(),
                     [&](std::string_view name) { return words[0].starts_with(name); });
}

bool begins(const Line& line, const Context&) {
  if (line.text.size() > 400) return false;
  const std::string_view text = without_star(line.text);
  if (text.starts_with("Configurations:") || text.starts_with("Device type:")) return true;
  return is_row(host::words(text), false);
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    if (line.text.size() > 400) return Verdict::not_mine;
    const std::string_view text = without_star(line.text);
    if (text.empty()) return Verdict::not_mine;
    if (text.find_first_not_of('-') == std::string_view::npos) return Verdict::mine;
    const auto [key, value] = split_at(text, ':');
    if (key.starts_with("Device #")) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      add_device(line.number);
      return Verdict::mine;
    }
    if (take_head(key, value, line.number)) return Verdict::mine;
    const auto words = host::words(text);
    if (!is_row(words, !query_.devices.empty())) return Verdict::not_mine;
    take_row(words, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    const bool any = std::any_of(query_.devices.begin(), query_.devices.end(), [](const MlxconfigDevice& d) {
      return !d.settings.empty() || !d.type.empty();
    });
    if (!any) return std::nullopt;
    Document document;
    document.content = std::move(query_);
    return document;
  }

 private:
  void add_device(int line) {
    if (query_.devices.size() < kMostDevices) query_.devices.emplace_back().line = line;
  }
  MlxconfigDevice& device(int line) {
    if (query_.devices.empty()) add_device(line);
    return query_.devices.back();
  }

  bool take_head(std::string_view key, std::string_view value, int line) {
    if (key == "Device type") {
      if (!query_.devices.empty() && !query_.devices.back().type.empty()) add_device(line);
      device(line).type = value;
    } else if (key == "Name" && !query_.devices.empty()) {
      device(line).part_number = value;
    } else if ((key == "Device" || key == "PCI device") && !query_.devices.empty()) {
      device(line).device = value;
    } else if (key == "Configurations") {
      device(line);
    } else {
      return key == "Description" && !query_.devices.empty();
    }
    return true;
  }

  void take_row(const std::vector<std::string_view>& words, int line) {
    MlxconfigDevice& d = device(line);
    if (d.settings.size() >= kMostSettings) return;
    MlxconfigSetting setting;
    setting.name = words[0];
    setting.next_boot = words.back();
    if (words.size() >= 3) setting.current = std::string(words[words.size() - 2]);
    setting.line = line;
    d.settings.push_back(std::move(setting));
  }

  MlxconfigQuery query_;
  PromptWatch prompts_;
};

}  // namespace
}  // namespace mlxconfig_text

const MlxconfigSetting* MlxconfigDevice::find(std::string_view name) const {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const MlxconfigSetting& s) { return s.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

std::optional<long long> mlxconfig_number(std::string_view value) {
  const auto open = value.find('(');
  if (open != std::string_view::npos) value = value.substr(open + 1);
  return leading_number<long long>(value);
}

Format mlxconfig_format() {
  return {.name = "mlxconfig",
          .anchors = mlxconfig_text::kAnchors,
          .begins = mlxconfig_text::begins,
          .open = open_reader<mlxconfig_text::Reader>};
}

}  // namespace rocetune::evidence
