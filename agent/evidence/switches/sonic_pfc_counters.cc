#include "agent/evidence/switches/sonic_pfc_counters.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kCached = "Last cached time was ";

// "Port Rx  PFC0  PFC1 ...": true for Rx, false for Tx, nothing for another line.
std::optional<bool> direction_of_head(std::string_view text) {
  const auto words = host::words(text);
  if (words.size() < 3 || words[0] != "Port" || words[2] != "PFC0") return std::nullopt;
  if (words[1] == "Rx") return true;
  if (words[1] == "Tx") return false;
  return std::nullopt;
}

class SonicPfcCountersReader : public DocumentReader {
 public:
  explicit SonicPfcCountersReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    if (line.text.starts_with(kCached)) {
      if (has_tables_) return Verdict::next_document;
      content_.cached_since = line.text.substr(kCached.size());
      content_.cached_line = line.number;
      return Verdict::mine;
    }
    if (const auto received = direction_of_head(line.text)) return take_head(*received, line);
    if (!has_tables_) return Verdict::not_mine;
    if (is_rule(line.text)) return Verdict::mine;
    return take_row(line);
  }

  std::optional<Document> finish() override {
    if (!has_tables_) return std::nullopt;
    Document document;
    for (const bool received : {true, false}) {
      std::optional<std::uint64_t> sum;
      for (const PfcFrames& row : content_.pfc_frames) {
        if (row.received == received && row.sum()) sum = sum.value_or(0) + *row.sum();
      }
      if (sum)
        document.add_fact(received ? "sw.pfc_rx_frames" : "sw.pfc_tx_frames", static_cast<double>(*sum));
    }
    document.content = std::move(content_);
    return document;
  }

 private:
  Verdict take_head(bool received, const Line& line) {
    bool& seen = received ? seen_rx_ : seen_tx_;
    if (seen) return Verdict::next_document;
    seen = true;
    has_tables_ = true;
    is_received_ = received;
    priorities_ = host::words(line.text).size() - 2;
    return Verdict::mine;
  }

  Verdict take_row(const Line& line) {
    const auto words = host::words(line.text);
    if (words.size() != priorities_ + 1) return Verdict::not_mine;
    PfcFrames row;
    row.port = words[0];
    row.received = is_received_;
    row.line = line.number;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto frames = count_in(words[i]);
      if (!frames && words[i] != "N/A") return Verdict::not_mine;
      if (i <= row.of_priority.size()) row.of_priority[i - 1] = frames;
    }
    content_.pfc_frames.push_back(std::move(row));
    return Verdict::mine;
  }

  SwitchEvidence content_;
  bool has_tables_ = false, seen_rx_ = false, seen_tx_ = false, is_received_ = false;
  std::size_t priorities_ = 0;
};

constexpr std::string_view kPfcCounterAnchors[] = {"PFC0", kCached};

}  // namespace

Format sonic_pfc_counters_format() {
  return {.name = "sonic-pfc-counters",
          .anchors = kPfcCounterAnchors,
          .begins =
              [](const Line& line, const Context&) {
                return line.text.starts_with(kCached) || direction_of_head(line.text).has_value();
              },
          .open = open_reader<SonicPfcCountersReader>};
}

}  // namespace rocetune::evidence
