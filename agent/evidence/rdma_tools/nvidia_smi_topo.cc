#include "agent/evidence/rdma_tools/nvidia_smi_topo.h"

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace nvidia_smi_topo_text {
namespace {

constexpr std::size_t kMostLabels = 256;
constexpr std::array<std::string_view, 5> kAnchors{"GPU0", "GPU1", "NIC0", "mlx5_0", "NIC Legend"};

// Copies keep what is left of the codes for underlining: "[4mGPU0" ... "ID[0m".
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out = host::words(text);
  for (std::string_view& word : out) {
    if (word.starts_with("[4m")) word.remove_prefix(3);
    if (word.starts_with("[0m")) word.remove_prefix(3);
    if (word.ends_with("[0m")) word.remove_suffix(3);
  }
  std::erase_if(out, [](std::string_view word) { return word.empty(); });
  return out;
}

bool is_label(std::string_view word) { return is_gpu_label(word) || is_nic_label(word); }

bool is_relation(std::string_view word) {
  return word == "X" || distance_of(word) || (word.starts_with("NV") && word.size() <= 4) || word == "N/A" ||
         word == "OK";
}

// "GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity GPU NUMA ID": labels first, at least two.
bool is_header(const std::vector<std::string_view>& words) {
  return words.size() >= 2 && is_label(words[0]) && is_label(words[1]);
}

// "GPU0  X NV18 PIX SYS 0-51 0 N/A"
bool is_row(const std::vector<std::string_view>& words) {
  return words.size() >= 3 && is_label(words[0]) && is_relation(words[1]) && is_relation(words[2]);
}

bool begins(const Line& line, const Context&) {
  if (line.text.size() > 4096) return false;
  const auto words = words_of(line.text);
  return is_header(words) || is_row(words);
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    if (line.text.size() > 4096) return Verdict::not_mine;
    const auto words = words_of(line.text);
    if (words.empty()) return any_row_ ? Verdict::mine : Verdict::not_mine;
    if (is_header(words)) {
      if (any_row_) return Verdict::next_document;
      for (const std::string_view word : words) {
        if (!is_label(word) || matrix_.columns.size() >= kMostLabels) break;
        matrix_.columns.emplace_back(word);
      }
      return Verdict::mine;
    }
    if (is_row(words) && matrix_.how.size() < kMostLabels) {
      take_row(words, line.number);
      return Verdict::mine;
    }
    return take_legend(trimmed(line.text), words) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (!any_row_) return std::nullopt;
    Document document;
    document.content = std::move(matrix_);
    return document;
  }

 private:
  void take_row(const std::vector<std::string_view>& words, int line) {
    any_row_ = true;
    const std::string row(words[0]);
    auto& how = matrix_.how[row];
    matrix_.lines[row] = line;
    std::size_t at = 1;
    for (; at < words.size() && is_relation(words[at]); ++at) {
      // Without a header the rows name the columns in their own order.
      const std::string column = at - 1 < matrix_.columns.size() ? matrix_.columns[at - 1] : std::string();
      if (!column.empty()) how[column] = words[at];
      if (!matrix_.columns.empty() && at == matrix_.columns.size()) {
        ++at;
        break;
      }
    }
    // "0-51,104-155  0  N/A": cores, NUMA node, the GPU's own node.
    if (is_gpu_label(row) && at + 1 < words.size()) matrix_.numa_of[row] = words[at + 1];
  }

  bool take_legend(std::string_view text, const std::vector<std::string_view>& words) {
    if (text == "Legend:" || text == "NIC Legend:") return true;
    if (words.size() == 2 && is_nic_label(words[0].substr(0, words[0].size() - 1)) &&
        words[0].ends_with(':')) {
      matrix_.names[std::string(words[0].substr(0, words[0].size() - 1))] = words[1];
      return true;
    }
    return words.size() > 2 && words[1] == "=" &&
           (words[0] == "X" || words[0] == "NV#" || distance_of(words[0]).has_value());
  }

  TopologyMatrix matrix_;
  PromptWatch prompts_;
  bool any_row_ = false;
};

}  // namespace
}  // namespace nvidia_smi_topo_text

const std::string& TopologyMatrix::name_of(const std::string& label) const {
  const auto found = names.find(label);
  return found == names.end() ? label : found->second;
}

std::optional<int> distance_of(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kNearest{"PIX", "PXB", "PHB", "NODE", "SYS", "SOC"};
  const auto found = std::find(kNearest.begin(), kNearest.end(), word);
  if (found == kNearest.end()) return std::nullopt;
  return std::min<int>(static_cast<int>(found - kNearest.begin()), 4);
}

bool is_gpu_label(std::string_view label) {
  return label.starts_with("GPU") && whole_number<int>(label.substr(3), 0, 255);
}

bool is_nic_label(std::string_view label) {
  if (label.starts_with("NIC")) return whole_number<int>(label.substr(3), 0, 255).has_value();
  static constexpr std::array<std::string_view, 6> kDevices{"mlx5_", "mlx4_", "bnxt_re",
                                                            "irdma", "rocep", "ibp"};
  return label.find(':') == std::string_view::npos &&
         std::any_of(kDevices.begin(), kDevices.end(),
                     [&](std::string_view device) { return label.starts_with(device); });
}

Format nvidia_smi_topo_format() {
  return {.name = "nvidia-smi-topo",
          .anchors = nvidia_smi_topo_text::kAnchors,
          .begins = nvidia_smi_topo_text::begins,
          .open = open_reader<nvidia_smi_topo_text::Reader>};
}

}  // namespace rocetune::evidence
