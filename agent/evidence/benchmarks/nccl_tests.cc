#include "agent/evidence/benchmarks/nccl_tests.h"

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include "agent/evidence/words.h"

namespace rocetune::evidence {

double NcclTestsRow::busbw_gbytes_per_s() const {
  return std::max(out_of_place ? out_of_place->busbw_gbytes_per_s : 0,
                  in_place ? in_place->busbw_gbytes_per_s : 0);
}

double NcclTests::busbw_max_gbytes_per_s() const {
  double best = 0;
  for (const NcclTestsRow& row : rows) best = std::max(best, row.busbw_gbytes_per_s());
  return best;
}

double NcclTests::algbw_max_gbytes_per_s() const {
  double best = 0;
  for (const NcclTestsRow& row : rows) {
    for (const auto& side : {row.out_of_place, row.in_place}) {
      if (side) best = std::max(best, side->algbw_gbytes_per_s);
    }
  }
  return best;
}

const NcclTestsRow* NcclTests::cliff() const {
  double best = 0;
  for (const NcclTestsRow& row : rows) {
    if (!row.out_of_place) continue;
    if (row.out_of_place->busbw_gbytes_per_s < best / 2) return &row;
    best = std::max(best, row.out_of_place->busbw_gbytes_per_s);
  }
  return nullptr;
}

namespace {

constexpr std::string_view kNcclTestsAnchors[] = {"algbw",
                                                  "Avg bus bandwidth",
                                                  "Out of bounds values",
                                                  "# nThread",
                                                  "Using devices",
                                                  "#  Rank",
                                                  "#   Rank",
                                                  "float",
                                                  "half",
                                                  "int8",
                                                  "uint8",
                                                  "int32",
                                                  "uint32",
                                                  "int64",
                                                  "uint64",
                                                  "double",
                                                  "f8e",
                                                  "fp8",
                                                  "nccl-tests version",
                                                  "rccl-tests",
                                                  "Collective test starting",
                                                  "out-of-place"};

constexpr std::array<std::string_view, 17> kTypes{
    "float",  "half",   "bfloat16", "double",   "int8",     "uint8", "int32", "uint32", "int64",
    "uint64", "f8e4m3", "f8e5m2",   "fp8_e4m3", "fp8_e5m2", "char",  "int",   "float16"};

constexpr std::array<std::string_view, 7> kOperations{"sum", "prod", "max", "min", "avg", "none", "mulsum"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "[0]" and "[1,0]<stdout>:" that a launcher put in the middle of a row.
std::string without_tags(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      const auto close = text.find(']', i);
      const bool is_tag =
          close != std::string_view::npos && close > i + 1 && close - i <= 8 &&
          text.substr(i + 1, close - i - 1).find_first_not_of("0123456789,") == std::string_view::npos;
      if (is_tag) {
        i = close;
        const std::string_view rest = text.substr(close + 1);
        if (rest.starts_with("<stdout>:") || rest.starts_with("<stderr>:")) i += 9;
        out += ' ';
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

// What stands behind the operation: the root (an integer, in newer tables), then each side's columns, of
// which time, algbw and busbw are always the first; a time stamp may end the row.
struct Side {
  std::size_t begin, end;
};

bool is_number_or_none(std::string_view word) { return word == "N/A" || decimal_of(word).has_value(); }

std::optional<NcclTestsSide> side_of(const Words& words, Side side) {
  if (side.end - side.begin < 3) return std::nullopt;
  const auto time = decimal_of(words[side.begin]);
  const auto algbw = decimal_of(words[side.begin + 1]);
  const auto busbw = decimal_of(words[side.begin + 2]);
  if (!time || !algbw || !busbw) return std::nullopt;
  return NcclTestsSide{*time, *algbw, *busbw};
}

// `columns`: of a side, as the header says; 0: no header.
std::optional<NcclTestsRow> row_of(std::string_view raw, bool one_sided, std::size_t columns) {
  const std::string text = raw.find('[') == std::string_view::npos ? std::string() : without_tags(raw);
  const Words words(text.empty() ? raw : std::string_view(text));
  if (words.size() < 7) return std::nullopt;
  const auto bytes = integer_of(words[0]);
  const auto count = integer_of(words[1]);
  if (!bytes || *bytes < 0 || !count || *count < 0 || !is_one_of(kTypes, words[2])) return std::nullopt;
  std::size_t at = 3;
  if (is_one_of(kOperations, words[at])) {
    ++at;
  } else if (integer_of(words[at])) {
    // "root" in the place of the operation, in old tables of broadcast.
  } else {
    return std::nullopt;
  }
  std::size_t end = words.size();
  // A time stamp: "2026-06-10 12:00:00".
  while (end > at && !is_number_or_none(words[end - 1])) --end;
  for (std::size_t i = at; i < end; ++i) {
    if (!is_number_or_none(words[i])) return std::nullopt;
  }
  const bool has_root = integer_of(words[at]).has_value() && (end - at) % 2 == 1;
  if (has_root) ++at;
  NcclTestsRow row;
  row.bytes = static_cast<std::uint64_t>(*bytes);
  const std::size_t values = end - at;
  if (one_sided && values < 6) {
    row.out_of_place = side_of(words, {at, end});
    return row.out_of_place ? std::optional(row) : std::nullopt;
  }
  // Four columns a side at least: what has less was cut.
  if (values < 8 || values % 2 != 0 || (columns > 0 && values != 2 * columns)) return std::nullopt;
  row.out_of_place = side_of(words, {at, at + values / 2});
  row.in_place = side_of(words, {at + values / 2, end});
  if (!row.out_of_place && !row.in_place) return std::nullopt;
  return row;
}

// "all_reduce" of "./build/all_reduce_perf -b 8", "all_reduce_perf_mpi", "AllReduce" is not one.
std::string collective_in(std::string_view text) {
  for (const std::string_view name : {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv",
                                      "broadcast", "hypercube", "scatter", "gather", "reduce"}) {
    if (contains(text, std::string(name) + "_perf")) return std::string(name);
  }
  return {};
}

class NcclTestsReader final : public DocumentReader {
 public:
  explicit NcclTestsReader(const Context& context) {
    tests_.collective = collective_in(context.command);
    if (tests_.collective.empty()) tests_.collective = collective_in_name(context.file);
  }
  // Of what was read already.
  NcclTestsReader(const Context& context, NcclTests tests) : tests_(std::move(tests)) {
    if (tests_.collective.empty()) tests_.collective = collective_in_name(context.file);
  }

  Verdict take(const Line& line) override {
    std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    // A launcher's "[0] " in front of comments.
    if (text.front() == '[' && contains(text, "] #")) text = text.substr(text.find("] #") + 2);
    const auto first = text.find_first_not_of(' ');
    if (text[first] == '#' || text.starts_with("rccl-tests")) return take_comment(text, line);
    if (text.find("NCCL ") != std::string_view::npos) return Verdict::not_mine;
    // The rest of a row begins with a digit, whatever stands in front of it in brackets.
    if (text[first] != '[' && (text[first] < '0' || text[first] > '9')) return Verdict::not_mine;
    auto row = row_of(text, one_sided_, columns_);
    if (!row) return Verdict::not_mine;
    row->line = line.number;
    ++tests_.row_count;
    if (tests_.rows.size() < NcclTests::kMostRows) tests_.rows.push_back(*row);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    Document document;
    if (tests_.row_count > 0) {
      document.add_fact("bench.rows", static_cast<double>(tests_.row_count));
      document.add_fact("bench.busbw_max_GBps", tests_.busbw_max_gbytes_per_s());
      document.add_fact("bench.algbw_max_GBps", tests_.algbw_max_gbytes_per_s());
      if (const NcclTestsRow* cliff = tests_.cliff()) {
        document.add_fact("bench.cliff_bytes", static_cast<double>(cliff->bytes));
      }
    }
    if (tests_.footer_count == 1)
      document.add_fact("bench.busbw_avg_GBps", tests_.footers_gbytes_per_s.front());
    if (tests_.footer_count > 0) document.add_fact("bench.runs", static_cast<double>(tests_.footer_count));
    if (tests_.rank_lines > 0) {
      document.add_fact("bench.ranks", static_cast<double>(tests_.rank_lines));
      document.add_fact("bench.hosts", static_cast<double>(tests_.hosts.size()));
    }
    document.content = std::move(tests_);
    return document;
  }

 private:
  static std::string collective_in_name(std::string_view file) {
    for (const std::string_view name :
         {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv", "broadcast"}) {
      if (contains(file, name)) return std::string(name);
    }
    return {};
  }

  Verdict take_comment(std::string_view text, const Line& line) {
    if (contains(text, "Avg bus bandwidth")) {
      const auto value = leading_decimal(behind(text, ":").value_or(""));
      if (!value) return Verdict::mine;
      ++tests_.footer_count;
      if (tests_.footers_gbytes_per_s.size() < NcclTests::kMostRows)
        tests_.footers_gbytes_per_s.push_back(*value);
      if (!tests_.footer) tests_.footer = Quote(text, line.number);
    } else if (contains(text, " Rank ") && contains(text, " on ")) {
      take_rank(text);
    } else if (contains(text, "algbw")) {
      const auto second = text.find("algbw", text.find("algbw") + 5);
      one_sided_ = second == std::string_view::npos;
      columns_ = one_sided_ ? 0 : columns_in(text);
    } else if (contains(text, "nccl-library=")) {
      if (const auto version = integer_behind(text, "nccl-library="))
        tests_.library_version = static_cast<int>(*version);
    }
    std::string named = collective_in(text);
    const bool is_known =
        !named.empty() || trimmed(text) == "#" ||
        contains_any(text, {"Avg bus bandwidth", " Rank ", "algbw", "(us)", "-of-place", "in-place",
                            "nThread", "Out of bounds", "Using devices", "version", "Collective", "Version",
                            "Enabled", "Bitwise", "Per-Iteration"});
    if (!named.empty()) tests_.collective = std::move(named);
    return is_known ? Verdict::mine : Verdict::not_mine;
  }

  // From the first time to the second.
  static std::size_t columns_in(std::string_view head) {
    const Words words(head);
    std::size_t first = 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] != "time" && words[i] != "cputime") continue;
      if (first != 0) return i - first;
      first = i;
    }
    return 0;
  }

  // "#  Rank  0 Group  0 Pid 283571 on node01 device  0 [0x1b] NVIDIA H100 80GB HBM3"
  void take_rank(std::string_view text) {
    ++tests_.rank_lines;
    if (integer_behind(text, " Rank ") == std::int64_t{0}) ++tests_.rank_zero_lines;
    const std::string_view host = word_behind(text, " on ");
    if (!host.empty() && tests_.hosts.size() < 4096) tests_.hosts.emplace(host);
    if (const auto device = behind(text, "]"); device && tests_.first_rank.empty())
      tests_.first_rank = *device;
  }

  NcclTests tests_;
  bool one_sided_ = false;
  std::size_t columns_ = 0;
};

bool begins_nccl_tests(const Line& line, const Context&) {
  std::string_view text = line.text;
  if (text.front() == '[' && contains(text, "] #")) text = text.substr(text.find("] #") + 2);
  if (contains_any(text, {"# Avg bus bandwidth", "# Out of bounds values", "# nThread ", "# Using devices",
                          "# nccl-tests version", "rccl-tests: Version", "# Collective test starting"}))
    return true;
  if (contains(text, "#") && contains(text, " Rank ") && contains(text, " Pid ")) return true;
  const auto first = text.find_first_not_of(' ');
  if (text[first] == '#') {
    if (contains(text, "algbw") && contains(text, "busbw")) return true;
    return contains(text, "out-of-place") && contains(text, "in-place");
  }
  return row_of(text, false, 0).has_value();
}

// ---- the JSON file (option -J): config.devices, nccl_version, results[] ----

std::optional<double> number_in(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::optional<NcclTestsSide> json_side(const boost::json::object& result, std::string_view key) {
  const auto* value = result.if_contains(key);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  const boost::json::object& side = value->get_object();
  auto time = number_in(side, "time");
  if (!time) time = number_in(side, "cpu_time");
  const auto algbw = number_in(side, "alg_bw");
  const auto busbw = number_in(side, "bus_bw");
  if (!time || !algbw || !busbw) return std::nullopt;
  return NcclTestsSide{*time, *algbw, *busbw};
}

void take_json_devices(const boost::json::object& root, NcclTests& tests) {
  const auto* config = root.if_contains("config");
  const auto* devices =
      config != nullptr && config->is_object() ? config->get_object().if_contains("devices") : nullptr;
  if (devices == nullptr || !devices->is_array()) return;
  for (const boost::json::value& value : devices->get_array()) {
    const auto* device = value.if_object();
    if (device == nullptr) continue;
    ++tests.rank_lines;
    if (number_in(*device, "rank") == 0.0) ++tests.rank_zero_lines;
    if (const auto* host = device->if_contains("hostname"); host != nullptr && host->is_string()) {
      tests.hosts.emplace(host->get_string());
    }
  }
}

std::optional<Document> nccl_tests_from_json(const boost::json::value& json, const Context& context) {
  const auto* root = json.if_object();
  const auto* results = root != nullptr ? root->if_contains("results") : nullptr;
  if (results == nullptr || !results->is_array()) return std::nullopt;
  NcclTests tests;
  if (const auto version = number_in(*root, "nccl_version"))
    tests.library_version = static_cast<int>(*version);
  for (const boost::json::value& value : results->get_array()) {
    const auto* result = value.if_object();
    if (result == nullptr) return std::nullopt;
    const auto bytes = number_in(*result, "size");
    NcclTestsRow row;
    row.out_of_place = json_side(*result, "out_of_place");
    row.in_place = json_side(*result, "in_place");
    if (!bytes || *bytes < 0 || *bytes > 1e18 || (!row.out_of_place && !row.in_place)) continue;
    row.bytes = static_cast<std::uint64_t>(*bytes);
    ++tests.row_count;
    if (tests.rows.size() < NcclTests::kMostRows) tests.rows.push_back(row);
    if (const auto* name = result->if_contains("experiment_name"); name != nullptr && name->is_string()) {
      tests.collective = collective_in(std::string(name->get_string()) + "_perf");
    }
  }
  if (tests.row_count == 0 && root->if_contains("nccl_version") == nullptr) return std::nullopt;
  take_json_devices(*root, tests);
  for (const std::string_view key : {"average_bus_bandwidth", "avg_bus_bandwidth"}) {
    const auto* average = root->if_contains(key);
    if (average == nullptr) continue;
    std::optional<double> value = number_in(*root, key);
    if (average->is_object()) value = number_in(average->get_object(), "bandwidth");
    if (!value) continue;
    tests.footers_gbytes_per_s.push_back(*value);
    tests.footer_count = 1;
  }
  NcclTestsReader reader(context, std::move(tests));
  return reader.finish();
}

}  // namespace

Format nccl_tests_format() {
  return {.name = "nccl-tests",
          .anchors = kNcclTestsAnchors,
          .begins = begins_nccl_tests,
          .open = open_reader<NcclTestsReader>,
          .from_json = nccl_tests_from_json};
}

}  // namespace rocetune::evidence
