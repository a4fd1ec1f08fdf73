#include "agent/evidence/rdma_tools/fec_histogram.h"

#include <array>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace fec_histogram_text {
namespace {

constexpr std::size_t kMostBins = 256;
constexpr std::array<std::string_view, 4> kAnchors{"Bin", "bin", "BIN", "Symbol Errors Per Codeword"};

// Titles of mlxlink and of SONiC's "show interfaces counters fec-histogram".
bool is_title(std::string_view text) {
  return text.starts_with("Histogram of FEC") || text.starts_with("Symbol Errors Per Codeword") ||
         text.starts_with("Header  ") ||
         (text.size() > 2 && text.find_first_not_of("- ") == std::string_view::npos);
}

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  return text.starts_with("Symbol Errors Per Codeword") || fec_bin_of(text).has_value();
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (auto bin = fec_bin_of(text)) {
      if (!histogram_.bins.empty() && bin->bin <= histogram_.bins.back().bin) return Verdict::next_document;
      if (histogram_.bins.size() >= kMostBins) return Verdict::not_mine;
      bin->line = line.number;
      histogram_.bins.push_back(*bin);
      return Verdict::mine;
    }
    return is_title(text) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (histogram_.bins.empty()) return std::nullopt;
    Document document;
    document.content = std::move(histogram_);
    return document;
  }

 private:
  FecHistogram histogram_;
  PromptWatch prompts_;
};

}  // namespace
}  // namespace fec_histogram_text

std::optional<FecBin> fec_bin_of(std::string_view text) {
  if (!text.starts_with("Bin") && !text.starts_with("bin") && !text.starts_with("BIN")) return std::nullopt;
  text = trimmed(text.substr(3));
  if (text.starts_with('[') || text.starts_with('_')) text.remove_prefix(1);
  const auto number = leading_number<int>(text);
  if (!number || *number < 0 || *number > 255) return std::nullopt;
  const auto end = text.find_first_not_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  const auto words = host::words(text.substr(end));
  if (words.empty()) return std::nullopt;
  // The last word is the count; a range and signs may stand in front of it.
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i].find_first_not_of("0123456789[]:-=,") != std::string_view::npos) return std::nullopt;
  }
  const auto count = whole_number<std::uint64_t>(words.back(), 0, UINT64_MAX);
  if (!count) return std::nullopt;
  return FecBin{*number, *count, 0};
}

Format fec_histogram_format() {
  return {.name = "fec-histogram",
          .anchors = fec_histogram_text::kAnchors,
          .begins = fec_histogram_text::begins,
          .open = open_reader<fec_histogram_text::Reader>};
}

}  // namespace rocetune::evidence
