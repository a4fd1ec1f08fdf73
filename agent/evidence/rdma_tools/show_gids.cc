#include "agent/evidence/rdma_tools/show_gids.h"

#include <array>

#include "agent/evidence/rdma_tools/rdma_view.h"
#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/gid_address.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace show_gids_text {
namespace {

constexpr std::size_t kMostPorts = 4096;
constexpr std::size_t kMostGids = 1 << 16;

constexpr std::array<std::string_view, 6> kAnchors{"DEV", "fe80:", "0000:", ":ffff:", "n_gids_found", "\tv2"};

bool is_header(const std::vector<std::string_view>& words) {
  return words.size() >= 4 && words[0] == "DEV" && words[1] == "PORT" && words[2] == "INDEX" &&
         words[3] == "GID";
}

struct Row {
  std::string_view device;
  int port = 1;
  host::Gid gid;
};

bool is_device_name(std::string_view word) {
  if (word.empty() || word.size() > 63) return false;
  const char first = word.front();
  if (!((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'))) return false;
  return word.find_first_of(":=,()[]<>\"'") == std::string_view::npos;
}

host::GidType type_of(std::string_view word) {
  if (word == "v2") return host::GidType::roce_v2;
  if (word == "v1") return host::GidType::roce_v1;
  return host::GidType::unknown;
}

// "mlx5_0 1 3 0000:...:c612:0048 198.18.0.72 v2 ens3np0": IPv4, version and netdev may each be missing.
std::optional<Row> row_of(const std::vector<std::string_view>& words) {
  if (words.size() < 4 || words.size() > 8 || !is_device_name(words[0])) return std::nullopt;
  const auto port = whole_number<int>(words[1], 0, 255);
  const auto index = whole_number<int>(words[2], 0, 1 << 20);
  if (!port || !index || words[3].find(':') == std::string_view::npos) return std::nullopt;
  const auto address = host::normal_gid_address(words[3]);
  if (!address) return std::nullopt;
  Row row{words[0], *port, {}};
  row.gid.index = *index;
  row.gid.address = *address;
  for (std::size_t i = 4; i < words.size(); ++i) {
    const std::string_view word = words[i];
    // "RoCE v2" as the kernel words it; the IPv4 address, which the GID says as well.
    const bool is_ipv4 = word.find('.') != std::string_view::npos &&
                         word.find_first_not_of("0123456789.") == std::string_view::npos;
    if (is_ipv4 || word == "RoCE" || word == "IB/RoCE" || word == "IB") continue;
    if (word == "v1" || word == "v2") {
      row.gid.type = type_of(word);
    } else if (is_device_name(word)) {
      row.gid.netdev = std::string(word);
    } else {
      return std::nullopt;
    }
  }
  return row;
}

bool begins(const Line& line, const Context&) {
  if (line.text.size() > 256) return false;
  const auto words = host::words(line.text);
  return is_header(words) || row_of(words).has_value();
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    if (line.text.size() > 256) return Verdict::not_mine;
    const auto words = host::words(line.text);
    if (words.empty()) return Verdict::not_mine;
    if (is_header(words)) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      has_header_ = true;
      return Verdict::mine;
    }
    if (words[0].starts_with("n_gids_found=")) return Verdict::mine;
    if (has_header_ && words[0].find_first_not_of('-') == std::string_view::npos) return Verdict::mine;
    const auto row = row_of(words);
    if (!row) return Verdict::not_mine;
    if (prompts_.is_other_host()) return Verdict::next_document;
    take_row(*row, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (view_.ports.empty() && !has_header_) return std::nullopt;
    return document_of(std::move(view_));
  }

 private:
  void take_row(const Row& row, int line) {
    if (host::is_empty_gid(row.gid.address)) return;
    RdmaPortView* port = nullptr;
    for (auto it = view_.ports.rbegin(); it != view_.ports.rend(); ++it) {
      if (it->rdma.device == row.device && it->rdma.port == row.port) {
        port = &*it;
        break;
      }
    }
    if (port == nullptr) {
      if (view_.ports.size() >= kMostPorts) return;
      port = &view_.ports.emplace_back();
      port->rdma.device = row.device;
      port->rdma.port = row.port;
      port->vendor = vendor_of_device(row.device);
      port->line = line;
    }
    if (port->rdma.gids.size() >= kMostGids) return;
    port->rdma.gids.push_back(row.gid);
    port->gid_lines.push_back(line);
  }

  RdmaView view_;
  PromptWatch prompts_;
  bool has_header_ = false;
};

}  // namespace
}  // namespace show_gids_text

Format show_gids_format() {
  return {.name = "show-gids",
          .anchors = show_gids_text::kAnchors,
          .begins = show_gids_text::begins,
          .open = open_reader<show_gids_text::Reader>};
}

}  // namespace rocetune::evidence
