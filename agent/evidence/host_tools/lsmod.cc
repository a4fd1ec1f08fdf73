#include "agent/evidence/host_tools/lsmod.h"

#include <algorithm>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kMostModules = 10000;

// "nvidia_peermem         16384  0" or with users: "ib_core   450560  9 rdma_cm,mlx5_ib".
std::optional<LoadedModule> module_of(std::string_view line) {
  const auto words = host::words(line);
  if (words.size() < 3 || words.size() > 5 || !is_made_of(words[0], "_")) return std::nullopt;
  const auto size = count_of(words[1]);
  const bool counts = count_of(words[2]) || words[2] == "-2" || words[2] == "-1";
  if (!size || *size < 512 || words[1].find(',') != std::string_view::npos || !counts) return std::nullopt;
  LoadedModule out{std::string(words[0]), {}, 0};
  if (words.size() > 3) {
    if (!is_made_of(words[3], "_,-[]")) return std::nullopt;
    for (const std::string_view user : host::split(words[3], ',')) out.users.emplace_back(user);
  }
  return out;
}

bool is_lsmod_header(std::string_view line) {
  const auto words = host::words(line);
  return words.size() >= 3 && words[0] == "Module" && words[1] == "Size" && words[2] == "Used";
}

// Modules that people grep for. A line of a name and two numbers may be anything; with these it is lsmod's.
bool is_known_module(std::string_view name) {
  for (const std::string_view prefix :
       {"mlx4_",  "mlx5_",  "ib_",     "iw_",    "rdma_", "bnxt_",   "irdma", "ice",
        "ionic",  "nvidia", "nv_peer", "amdgpu", "qede",  "qedr",    "efa",   "hns_roce",
        "gdrdrv", "i40e",   "bonding", "erdma",  "siw",   "peermem", "amdkfd"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

class LsmodReader : public DocumentReader {
 public:
  explicit LsmodReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    if (is_lsmod_header(line.text)) {
      if (lines_ > 0) return Verdict::next_document;
      content_.is_whole = true;
      ++lines_;
      return Verdict::mine;
    }
    auto module = module_of(line.text);
    if (!module || content_.modules.size() >= kMostModules) return Verdict::not_mine;
    module->line = line.number;
    content_.modules.push_back(std::move(*module));
    ++lines_;
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (content_.modules.empty()) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  Lsmod content_;
  int lines_ = 0;
};

bool begins_lsmod(const Line& line, const Context&) {
  if (line.is_command) return false;
  if (is_lsmod_header(line.text)) return true;
  const auto module = module_of(line.text);
  return module && is_known_module(module->name);
}

}  // namespace

const LoadedModule* Lsmod::find(std::string_view name) const {
  const auto at =
      std::find_if(modules.begin(), modules.end(), [&](const LoadedModule& m) { return m.name == name; });
  return at == modules.end() ? nullptr : &*at;
}

Format lsmod_format() {
  static constexpr std::string_view kAnchors[] = {
      "Module ", "mlx4_", "mlx5_",    "ib_",     "iw_",    "rdma_",   "bnxt_", "irdma",
      "ice ",    "ionic", "nvidia",   "nv_peer", "amdgpu", "qed",     "efa",   "hns_roce",
      "gdrdrv",  "i40e ", "bonding ", "erdma",   "siw",    "peermem", "amdkfd"};
  return {.name = "lsmod",
          .anchors = kAnchors,
          .begins = begins_lsmod,
          .open = open_reader<LsmodReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
