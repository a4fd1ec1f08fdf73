#include "agent/evidence/benchmarks/size_table.h"

#include <algorithm>
#include <utility>

#include "agent/evidence/words.h"

namespace rocetune::evidence {

std::optional<double> SizeTable::best_gbps() const {
  if (quantity != Quantity::bandwidth || rows.empty()) return std::nullopt;
  double best = 0;
  for (const Row& row : rows) best = std::max(best, row.value);
  return best;
}

namespace {

constexpr std::string_view kOsuAnchors[] = {"# OSU ", "OSU MPI", "OSU NCCL"};
constexpr std::string_view kImbAnchors[] = {"# Benchmarking ", "#bytes #repetitions", "#repetitions",
                                            "Intel(R) MPI Benchmarks", "Intel (R) MPI Benchmarks"};
constexpr std::string_view kUcxPerftestAnchors[] = {"| API:", "overhead (usec)", "# iterations",
                                                    "| Test:", "Final:"};

constexpr double kMegabytesToGbps = 8e-3;                     // OSU and IMB: 10^6 bytes
constexpr double kMebibytesToGbps = 8.0 * 1024 * 1024 / 1e9;  // ucx_perftest: 2^20 bytes

// A row of numbers only.
bool are_numbers(const Words& words) {
  return words.size() > 0 && std::all_of(words.begin(), words.end(),
                                         [](std::string_view word) { return decimal_of(word).has_value(); });
}

std::optional<Document> document_of(SizeTable table) {
  if (table.title.empty() && table.rows.empty()) return std::nullopt;
  Document document;
  document.content = std::move(table);
  return document;
}

// ---- OSU: "# OSU MPI Bandwidth Test v7.0", "# Size      Bandwidth (MB/s)", "4194304   12345.67" ----

class OsuReader final : public DocumentReader {
 public:
  explicit OsuReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (text.front() == '#') {
      if (contains(text, "OSU ")) {
        if (!table_.title.empty()) return Verdict::next_document;
        table_.title = trimmed(text.substr(1));
        if (contains(text, "Latency")) table_.quantity = SizeTable::Quantity::latency;
        return Verdict::mine;
      }
      if (contains(text, "Size")) {
        has_sizes_ = true;
        if (contains(text, "MB/s")) table_.quantity = SizeTable::Quantity::bandwidth;
        if (contains(text, "atency")) table_.quantity = SizeTable::Quantity::latency;
        return Verdict::mine;
      }
      return contains_any(text, {"pairs", "Datatype", "window", "Send Buffer", "Cuda", "Warmup"})
                 ? Verdict::mine
                 : Verdict::not_mine;
    }
    const Words words(text);
    if (!has_sizes_ || words.size() < 2 || !are_numbers(words)) return Verdict::not_mine;
    const auto bytes = integer_of(words[0]);
    if (!bytes || *bytes < 0) return Verdict::not_mine;
    const double value = *decimal_of(words[1]);
    const bool is_rate = table_.quantity == SizeTable::Quantity::bandwidth;
    if (table_.rows.size() < SizeTable::kMostRows) {
      table_.rows.push_back(
          {static_cast<std::uint64_t>(*bytes), is_rate ? value * kMegabytesToGbps : value, line.number});
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override { return document_of(std::move(table_)); }

 private:
  SizeTable table_;
  bool has_sizes_ = false;
};

bool begins_osu(const Line& line, const Context&) {
  return line.text.front() == '#' && contains(line.text, "OSU ") && contains(line.text, "Test");
}

// ---- IMB: "# Benchmarking PingPong", "#bytes #repetitions t[usec] Mbytes/sec", "0 1000 1.22 0.00" ----

class ImbReader final : public DocumentReader {
 public:
  explicit ImbReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    const std::string_view bare = trimmed(text);
    if (bare.starts_with('#')) {
      if (contains(bare, "# Benchmarking ")) {
        if (!table_.rows.empty()) return Verdict::next_document;
        table_.title = *behind(bare, "# Benchmarking ");
      } else if (contains(bare, "#repetitions")) {
        rate_column_ = contains(bare, "bytes/sec");
        table_.quantity = rate_column_ ? SizeTable::Quantity::bandwidth : SizeTable::Quantity::latency;
        has_head_ = true;
      }
      return Verdict::mine;
    }
    const Words words(text);
    if (!has_head_ || words.size() < 3 || !are_numbers(words)) return Verdict::not_mine;
    const auto bytes = integer_of(words[0]);
    if (!bytes || *bytes < 0) return Verdict::not_mine;
    const double value = rate_column_ ? *decimal_of(words[words.size() - 1]) * kMegabytesToGbps
                                      : *decimal_of(words[words.size() - 1]);
    if (table_.rows.size() < SizeTable::kMostRows) {
      table_.rows.push_back({static_cast<std::uint64_t>(*bytes), value, line.number});
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override { return document_of(std::move(table_)); }

 private:
  SizeTable table_;
  bool has_head_ = false, rate_column_ = false;
};

bool begins_imb(const Line& line, const Context&) {
  return contains(line.text, "#") &&
         contains_any(line.text, {"# Benchmarking ", "#repetitions", "MPI Benchmarks"});
}

// ---- ucx_perftest ----

class UcxPerftestReader final : public DocumentReader {
 public:
  explicit UcxPerftestReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (text.front() == '+' && text.find_first_not_of("+-") == std::string_view::npos) return Verdict::mine;
    if (text.front() == '|') {
      if (contains(text, "| Test:")) table_.title = trimmed(cell_behind(text, "Test:"));
      if (contains(text, "Message size:") || contains(text, "message size:")) {
        if (const auto size = integer_behind(text, "essage size:"); size && *size >= 0)
          bytes_ = static_cast<std::uint64_t>(*size);
      }
      if (contains(text, "bandwidth (MB/s)")) table_.quantity = SizeTable::Quantity::bandwidth;
      return Verdict::mine;
    }
    // "Final:  1000  1.2  1.2  1.2  3470.67  3470.67  444245  444245", "[thread 0]  56832 ...": iterations,
    // three times, two bandwidths, two rates. The overall bandwidth is the last but two.
    std::string_view rest = text;
    const bool is_final = rest.starts_with("Final:");
    if (is_final) rest.remove_prefix(6);
    if (rest.starts_with('[') && rest.find(']') != std::string_view::npos)
      rest = rest.substr(rest.find(']') + 1);
    const Words words(rest);
    if (words.size() < 7 || !are_numbers(words)) return Verdict::not_mine;
    const std::size_t overall = words.size() - 3;
    last_ = {bytes_, *decimal_of(words[overall]) * kMebibytesToGbps, line.number};
    if (is_final && table_.rows.size() < SizeTable::kMostRows) table_.rows.push_back(last_);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (table_.rows.empty() && last_.line > 0) table_.rows.push_back(last_);
    if (!table_.rows.empty()) table_.quantity = SizeTable::Quantity::bandwidth;
    if (table_.title.empty()) table_.title = "ucx_perftest";
    return document_of(std::move(table_));
  }

 private:
  static std::string_view cell_behind(std::string_view text, std::string_view mark) {
    std::string_view cell = behind(text, mark).value_or("");
    return cell.substr(0, cell.find('|'));
  }

  SizeTable table_;
  SizeTable::Row last_;
  std::uint64_t bytes_ = 0;
};

bool begins_ucx_perftest(const Line& line, const Context&) {
  const std::string_view text = line.text;
  if (text.front() == '|')
    return contains_any(text, {"| API:", "overhead (usec)", "# iterations", "| Test:"});
  return text.starts_with("Final:") && Words(text).size() >= 8;
}

}  // namespace

Format osu_format() {
  return {.name = "osu", .anchors = kOsuAnchors, .begins = begins_osu, .open = open_reader<OsuReader>};
}
Format imb_format() {
  return {.name = "imb", .anchors = kImbAnchors, .begins = begins_imb, .open = open_reader<ImbReader>};
}
Format ucx_perftest_format() {
  return {.name = "ucx-perftest",
          .anchors = kUcxPerftestAnchors,
          .begins = begins_ucx_perftest,
          .open = open_reader<UcxPerftestReader>};
}

}  // namespace rocetune::evidence
