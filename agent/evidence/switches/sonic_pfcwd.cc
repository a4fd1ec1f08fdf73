#include "agent/evidence/switches/sonic_pfcwd.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

// Heads of both tables; what begins like another stands behind it.
constexpr std::string_view kPfcwdHeads[] = {
    "QUEUE",      "STATUS",          "STORM DETECTED/RESTORED", "TX OK/DROP",
    "RX OK/DROP", "TX LAST OK/DROP", "RX LAST OK/DROP",         "PORT",
    "ACTION",     "DETECTION TIME",  "RESTORATION TIME",        "HISTORY",
};

// The heads of a line, whatever blanks are between them; empty if it has other words.
std::vector<std::string_view> pfcwd_heads_of(std::string_view text) {
  std::vector<std::string_view> out;
  const auto words = host::words(text);
  for (std::size_t at = 0; at < words.size();) {
    bool found = false;
    for (const std::string_view head : kPfcwdHeads) {
      const auto parts = host::words(head);
      if (parts.size() > words.size() - at) continue;
      bool same = true;
      for (std::size_t i = 0; i < parts.size(); ++i) same = same && words[at + i] == parts[i];
      if (!same) continue;
      out.push_back(head);
      at += parts.size();
      found = true;
      break;
    }
    if (!found) return {};
  }
  return out;
}

bool is_stats_head(const std::vector<std::string_view>& heads) {
  return heads.size() >= 3 && heads[0] == "QUEUE" && heads[2] == "STORM DETECTED/RESTORED";
}
bool is_config_head(const std::vector<std::string_view>& heads) {
  return heads.size() >= 3 && heads[0] == "PORT" && heads[1] == "ACTION";
}

// "1/0": both numbers.
std::optional<std::pair<std::uint64_t, std::uint64_t>> pair_in(std::string_view cell) {
  const auto [first, second] = split_at(cell, '/');
  const auto a = count_in(first), b = count_in(second);
  if (!a || !b) return std::nullopt;
  return std::pair(*a, *b);
}

class SonicPfcwdReader : public DocumentReader {
 public:
  explicit SonicPfcwdReader(const Context&) { content_.model.system = SwitchSystem::sonic; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    const auto heads = pfcwd_heads_of(line.text);
    if (is_stats_head(heads) || is_config_head(heads)) {
      bool& seen = is_stats_head(heads) ? seen_stats_ : seen_config_;
      if (seen) return Verdict::next_document;
      seen = true;
      columns_.emplace(heads);
      is_stats_ = is_stats_head(heads);
      return Verdict::mine;
    }
    if (line.text.starts_with("Changed polling interval to ")) return Verdict::mine;
    if (!columns_) return Verdict::not_mine;
    if (is_rule(line.text)) {
      columns_->set_rule(line.text);
      return Verdict::mine;
    }
    const auto row = columns_->row(line.text);
    if (!row) return Verdict::not_mine;
    return (is_stats_ ? take_stats(*row, line) : take_config(*row, line)) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (!columns_) return std::nullopt;
    Document document;
    if (seen_stats_) {
      WatchdogQueue sum;
      for (const WatchdogQueue& row : content_.watchdog) {
        sum.detected += row.detected;
        sum.restored += row.restored;
        sum.tx_drop += row.tx_drop;
        sum.rx_drop += row.rx_drop;
      }
      document.add_fact("pfcwd.storms_detected", static_cast<double>(sum.detected));
      document.add_fact("pfcwd.storms_restored", static_cast<double>(sum.restored));
      document.add_fact("pfcwd.tx_drop", static_cast<double>(sum.tx_drop));
      document.add_fact("pfcwd.rx_drop", static_cast<double>(sum.rx_drop));
    }
    document.content = std::move(content_);
    return document;
  }

 private:
  using Row = std::vector<std::string_view>;

  std::string_view cell(const Row& row, std::string_view head) const {
    const auto column = columns_->find(head);
    return column ? row[*column] : std::string_view();
  }

  bool take_stats(const Row& row, const Line& line) {
    const auto [port, queue] = split_at(cell(row, "QUEUE"), ':');
    const auto number = count_in(queue);
    const auto storms = pair_in(cell(row, "STORM DETECTED/RESTORED"));
    if (port.empty() || !number || *number > 63 || !storms) return false;
    const auto tx = pair_in(cell(row, "TX OK/DROP")), rx = pair_in(cell(row, "RX OK/DROP"));
    WatchdogQueue out;
    out.port = port;
    out.queue = static_cast<int>(*number);
    out.status = cell(row, "STATUS");
    out.detected = storms->first;
    out.restored = storms->second;
    if (tx) std::tie(out.tx_ok, out.tx_drop) = *tx;
    if (rx) std::tie(out.rx_ok, out.rx_drop) = *rx;
    out.line = line.number;
    content_.watchdog.push_back(std::move(out));
    return true;
  }

  bool take_config(const Row& row, const Line& line) {
    const std::string port(cell(row, "PORT"));
    const auto detection = milliseconds_in(cell(row, "DETECTION TIME"));
    if (port.empty() || !detection) return false;
    SwitchWatchdog watchdog;
    watchdog.detection = detection;
    watchdog.restoration = milliseconds_in(cell(row, "RESTORATION TIME"));
    watchdog.action = cell(row, "ACTION");
    content_.model.ports[port].watchdog = std::move(watchdog);
    content_.model.note_line("watchdog", line.number, port);
    return true;
  }

  static std::optional<Duration> milliseconds_in(std::string_view cell) {
    if (cell.ends_with("ms")) cell.remove_suffix(2);
    const auto count = count_in(cell);
    if (!count || *count > 3'600'000) return std::nullopt;
    return milliseconds(static_cast<std::int64_t>(*count));
  }

  SwitchEvidence content_;
  std::optional<Columns> columns_;
  bool is_stats_ = false, seen_stats_ = false, seen_config_ = false;
};

constexpr std::string_view kPfcwdAnchors[] = {"STORM DETECTED/RESTORED", "DETECTION TIME"};

}  // namespace

Format sonic_pfcwd_format() {
  return {.name = "sonic-pfcwd",
          .anchors = kPfcwdAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const auto heads = pfcwd_heads_of(line.text);
                return is_stats_head(heads) || is_config_head(heads);
              },
          .open = open_reader<SonicPfcwdReader>};
}

}  // namespace rocetune::evidence
