#include "agent/evidence/benchmarks/pair_matrix.h"

#include <algorithm>
#include <utility>

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

double median_of(const std::vector<const MeasuredPair*>& sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? *sorted[n / 2]->value : (*sorted[n / 2 - 1]->value + *sorted[n / 2]->value) / 2;
}

}  // namespace

std::optional<PairSplit> split_pairs(const PairMatrix::Table& table) {
  std::vector<const MeasuredPair*> sorted;
  for (const MeasuredPair& pair : table.pairs) {
    if (pair.value && *pair.value > 0) sorted.push_back(&pair);
  }
  if (sorted.size() < 2) return std::nullopt;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const MeasuredPair* a, const MeasuredPair* b) { return *a->value < *b->value; });
  std::size_t cut = 0;
  double widest = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const double gap = *sorted[i]->value / *sorted[i - 1]->value;
    if (gap > widest) {
      widest = gap;
      cut = i;
    }
  }
  if (cut == 0) return std::nullopt;
  PairSplit out;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(cut);
  out.slow.assign(sorted.begin(), middle);
  out.fast.assign(middle, sorted.end());
  out.slow_median = median_of(out.slow);
  out.fast_median = median_of(out.fast);
  if (table.is_latency) {
    std::swap(out.slow, out.fast);
    // Slow ones take longer; the ratio stays one of speeds.
  }
  return out;
}

namespace {

// "node1", "mlx5_0", "gpu-07.rack2", "hostA": a name with a letter, which numbers and sentences have not.
bool is_pair_name(std::string_view word) {
  if (word.empty() || word.size() > 64) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!is_letter(word.front())) return false;
  return std::all_of(word.begin(), word.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':';
  });
}

// Names as column heads end in a digit or a capital: words of a sentence do not.
bool is_head_name(std::string_view word) {
  return is_pair_name(word) && ((word.back() >= '0' && word.back() <= '9') ||
                                (word.size() > 1 && word.back() >= 'A' && word.back() <= 'Z' &&
                                 word[word.size() - 2] >= 'a' && word[word.size() - 2] <= 'z'));
}

bool is_unit(std::string_view word) {
  const std::string lower = lower_case(word);
  return contains_any(lower, {"b/s", "bps", "bytes/sec", "bits/sec", "b/sec", "usec"}) || lower == "us" ||
         lower == "gb";
}

bool is_failure_word(std::string_view word) {
  const std::string lower = lower_case(word);
  return lower == "timeout" || lower == "fail" || lower == "failed" || lower == "error" || lower == "hang" ||
         lower == "unreachable" || lower == "n/a" || lower == "nan" || lower == "err";
}

// "hostA,hostB  12.5", "hostA -> hostB: 12.5 Gb/s", "hostA <-> hostB 12.5", "hostA,hostB,12.5".
struct PairLine {
  MeasuredPair pair;
  std::string_view unit;
};
std::optional<PairLine> pair_line_of(const Line& line) {
  std::string_view text = trimmed(line.text);
  PairLine out;
  std::size_t cut = std::string_view::npos, width = 0;
  for (const std::string_view mark : {"<->", "->", "<-->", "\xe2\x86\x94", "\xe2\x86\x92", ","}) {
    if (const auto at = text.find(mark); at != std::string_view::npos) {
      cut = at;
      width = mark.size();
      break;
    }
  }
  if (cut == std::string_view::npos) return std::nullopt;
  const std::string_view a = trimmed(text.substr(0, cut));
  std::string_view rest = trimmed(text.substr(cut + width));
  const auto name_end = rest.find_first_of(" \t,:=");
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view b = rest.substr(0, name_end);
  rest = rest.substr(name_end);
  while (!rest.empty() && std::string_view(" \t,:=|").find(rest.front()) != std::string_view::npos)
    rest.remove_prefix(1);
  const Words words(rest);
  if (!is_pair_name(a) || !is_pair_name(b) || words.size() == 0 || words.size() > 2) return std::nullopt;
  out.pair.value = decimal_of(words[0]);
  if (!out.pair.value) {
    if (!is_failure_word(words[0])) return std::nullopt;
    out.pair.word = words[0];
  }
  if (words.size() == 2) {
    if (!is_unit(words[1])) return std::nullopt;
    out.unit = words[1];
  }
  out.pair.a = a;
  out.pair.b = b;
  out.pair.line = line.number;
  return out;
}

// Cells between '|', else between commas, else words.
std::vector<std::string_view> cells_of(std::string_view text) {
  std::vector<std::string_view> out;
  const char separator = text.find('|') != std::string_view::npos   ? '|'
                         : text.find(',') != std::string_view::npos ? ','
                                                                    : ' ';
  if (separator == ' ') {
    for (const std::string_view word : Words(text)) out.push_back(word);
    return out;
  }
  text = trimmed(text);
  if (text.starts_with(separator) && separator == '|') text.remove_prefix(1);
  if (text.ends_with(separator) && separator == '|') text.remove_suffix(1);
  while (out.size() < 4096) {
    const auto at = text.find(separator);
    out.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return out;
}

// Names of the columns; empty if the line is no head of a matrix. `corner`: what stands over the row heads.
std::vector<std::string> heads_of(std::string_view text, std::string_view& corner) {
  // Most lines are decided by their last word.
  const auto last_blank = text.find_last_of(" \t|,");
  if (last_blank == std::string_view::npos ||
      (text.back() != '|' && !is_head_name(text.substr(last_blank + 1))))
    return {};
  std::vector<std::string_view> cells = cells_of(text);
  corner = {};
  if (cells.size() < 2) return {};
  const bool cornered = cells.front().empty() || contains(cells.front(), "/") ||
                        contains(cells.front(), "\\") || !is_head_name(cells.front());
  if (cornered) {
    corner = cells.front();
    if (corner.size() > 64) return {};
    cells.erase(cells.begin());
  }
  if (cells.size() < 2 || !std::all_of(cells.begin(), cells.end(), is_head_name)) return {};
  // The corner of a table without separators is at most one word like "host" or "from/to".
  if (text.find_first_of("|,") == std::string_view::npos && !corner.empty() && !contains(corner, "/") &&
      !contains(corner, "\\") && lower_case(corner) != "host" && lower_case(corner) != "node" &&
      lower_case(corner) != "src") {
    return {};
  }
  return {cells.begin(), cells.end()};
}

bool is_rule(std::string_view text) {
  return text.size() >= 3 && text.find_first_not_of("-|+=: \t") == std::string_view::npos;
}

class PairMatrixReader final : public DocumentReader {
 public:
  explicit PairMatrixReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) {
      heads_.clear();
      return Verdict::not_mine;
    }
    if (!heads_.empty() && is_rule(text)) return Verdict::mine;
    if (!heads_.empty() && take_row(line)) return Verdict::mine;
    if (const auto pair = pair_line_of(line)) {
      PairMatrix::Table& list = list_table();
      if (list.caption.empty()) set_caption(list, pair->unit);
      if (list.pairs.size() < PairMatrix::kMostPairs) list.pairs.push_back(pair->pair);
      return Verdict::mine;
    }
    std::string_view corner;
    auto heads = heads_of(text, corner);
    if (!heads.empty()) {
      heads_ = std::move(heads);
      PairMatrix::Table& table = matrix_.tables.emplace_back();
      table.caption = std::exchange(caption_, {});
      set_caption(table, table.caption);
      if (const auto slash = corner.find_first_of("/\\"); slash != std::string_view::npos) {
        table.row_side = trimmed(corner.substr(0, slash));
        table.column_side = trimmed(corner.substr(slash + 1));
      }
      return Verdict::mine;
    }
    if (is_caption(text)) {
      caption_ = text;
      return Verdict::mine;
    }
    return Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    std::erase_if(matrix_.tables, [](const PairMatrix::Table& table) { return table.pairs.size() < 2; });
    if (matrix_.tables.empty()) return std::nullopt;
    Document document;
    const PairMatrix::Table& first = matrix_.tables.front();
    document.add_fact("pairs.count", static_cast<double>(first.pairs.size()));
    if (const auto split = split_pairs(first))
      document.add_fact("pairs.slow_over_fast", split->slow_over_fast());
    document.content = std::move(matrix_);
    return document;
  }

  // "256KiB Mbytes/sec"
  static bool is_caption(std::string_view text) {
    const auto last = text.find_last_of(" \t");
    if (!is_unit(text.substr(last == std::string_view::npos ? 0 : last + 1))) return false;
    const Words words(text);
    return words.size() <= 6 && words.size() > 0 && std::any_of(words.begin(), words.end(), is_unit) &&
           text.find_first_of(":;=") == std::string_view::npos && is_unit(words[words.size() - 1]);
  }

 private:
  static void set_caption(PairMatrix::Table& table, std::string_view caption) {
    table.caption = caption;
    table.is_latency = contains_any(lower_case(caption), {"usec", " us", "latency"}) || caption == "us";
  }

  PairMatrix::Table& list_table() {
    if (list_at_ == kNone) {
      list_at_ = matrix_.tables.size();
      matrix_.tables.emplace_back();
      set_caption(matrix_.tables.back(), std::exchange(caption_, {}));
    }
    return matrix_.tables[list_at_];
  }

  // "mlx5_0 | timeout | 8402.31"
  bool take_row(const Line& line) {
    const auto cells = cells_of(line.text);
    if (cells.size() != heads_.size() + 1 || !is_pair_name(cells.front())) return false;
    std::vector<MeasuredPair> row;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const std::string_view cell = cells[i + 1];
      MeasuredPair pair{std::string(cells.front()), heads_[i], leading_decimal(cell), {}, line.number};
      if (!pair.value && is_failure_word(cell)) pair.word = cell;
      // "-", "x", "": the host itself, or not measured.
      if (!pair.value && pair.word.empty()) {
        if (cell.size() > 6) return false;
        continue;
      }
      row.push_back(std::move(pair));
    }
    if (row.empty()) return false;
    auto& pairs = matrix_.tables.back().pairs;
    for (MeasuredPair& pair : row) {
      if (pairs.size() < PairMatrix::kMostPairs) pairs.push_back(std::move(pair));
    }
    return true;
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  PairMatrix matrix_;
  std::vector<std::string> heads_;
  std::string caption_;
  std::size_t list_at_ = kNone;
};

bool begins_pair_matrix(const Line& line, const Context&) {
  if (line.is_command) return false;
  std::string_view corner;
  return pair_line_of(line) || !heads_of(line.text, corner).empty() ||
         PairMatrixReader::is_caption(line.text);
}

}  // namespace

Format pair_matrix_format() {
  return {.name = "pair-matrix",
          .anchors = {},
          .begins = begins_pair_matrix,
          .open = open_reader<PairMatrixReader>};
}

}  // namespace rocetune::evidence
