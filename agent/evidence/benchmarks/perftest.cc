#include "agent/evidence/benchmarks/perftest.h"

#include <algorithm>
#include <utility>

#include "agent/evidence/benchmarks/perftest_json.h"
#include "agent/evidence/verbs_words.h"
#include "agent/evidence/words.h"

namespace rocetune::evidence {

const PerftestRow* PerftestRun::best() const {
  const auto found = std::max_element(
      rows.begin(), rows.end(),
      [](const PerftestRow& a, const PerftestRow& b) { return a.average_gbps < b.average_gbps; });
  return found == rows.end() ? nullptr : &*found;
}

namespace {

constexpr std::string_view kPerftestAnchors[] = {"BW Test",
                                                 "Latency Test",
                                                 "BW average",
                                                 "t_typical[usec]",
                                                 "t_avg[usec]",
                                                 "Dual-port ",
                                                 "Number of qps",
                                                 "GID types",
                                                 "Failed to modify QP",
                                                 "HCA's through the link",
                                                 "Completion with error at",
                                                 "Couldn't read remote address",
                                                 "Couldn't listen to port",
                                                 "Couldn't connect to",
                                                 "Waiting for client to connect",
                                                 "BW peak won't be measured",
                                                 "Data ex. method",
                                                 "ibv_wr* API",
                                                 "Failed status "};

// Texts that take a result's place. Source: perftest's src/perftest_communication.c, perftest_resources.c.
constexpr std::string_view kErrors[] = {"Found Incompatibility issue with GID types",
                                        "Failed to modify QP",
                                        "Unable to Connect the HCA's through the link",
                                        "Completion with error at",
                                        "Couldn't read remote address",
                                        "Couldn't listen to port",
                                        "Couldn't connect to",
                                        "Failed status",
                                        "Couldn't allocate MR",
                                        "Couldn't create",
                                        "Failed to create",
                                        "Failed to exchange data",
                                        "Unable to find the IB device",
                                        "Couldn't get context for the device",
                                        "IB device mlx"};

// What else perftest says in between.
constexpr std::string_view kRemarks[] = {"Conflicting CPU frequency",
                                         "Please Try to use a different IP version",
                                         "WARNING: BW peak",
                                         "Waiting for client to connect",
                                         "Device not recognized to implement inline",
                                         "Test with events",
                                         "Requested mtu is higher",
                                         "Changing to active mtu",
                                         "Perftest doesn't supports",
                                         "initializing CUDA",
                                         "Listing all CUDA devices",
                                         "Picking device No",
                                         "CUDA device",
                                         "creating CUDA Ctx",
                                         "making it the current CUDA Ctx",
                                         "cuMemAlloc",
                                         "allocated GPU buffer",
                                         "deallocating",
                                         "destroying current CUDA Ctx",
                                         "Please make sure",
                                         "Post send failed",
                                         "CPU Frequency is not max"};

constexpr std::string_view kBannerKeys[] = {
    "Dual-port",       "Number of qps",  "Connection type", "PCIe relax order", "ibv_wr* API",
    "TX depth",        "RX depth",       "CQ Moderation",   "CQE Poll Batch",   "Mtu",
    "Link type",       "GID index",      "Max inline data", "rdma_cm QPs",      "Use ROCE",
    "Data ex. method", "Outstand reads", "Post List",       "Number of users",  "Device",
    "Gid index",       "CQ moderation",  "Use DC",          "Using DDP"};

template <std::size_t N>
bool holds_one_of(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return contains(text, part); });
}

// The value behind "key", colon and blanks: "Number of qps   : 1" with more columns behind it.
std::string_view banner_value(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  const auto colon = text.find(':', at + key.size());
  if (colon == std::string_view::npos ||
      text.substr(at + key.size(), colon - at - key.size()).find_first_not_of(" \t") !=
          std::string_view::npos) {
    return {};
  }
  return word_behind(text.substr(colon), ":");
}

std::optional<int> small_number(std::string_view text) {
  const auto number = leading_integer(text);
  if (!number || *number < 0 || *number > 1 << 24) return std::nullopt;
  return static_cast<int>(*number);
}

enum class Table { none, bandwidth, latency, latency_of_duration };

class PerftestReader final : public DocumentReader {
 public:
  explicit PerftestReader(const Context& context) : command_(context.command) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (line.is_command || is_test_command(text)) {
      command_ = text;
      table_ = Table::none;
      return Verdict::not_mine;
    }
    if (dump_.take(text, line.number)) return Verdict::mine;
    if (take_row(line) || take_title(line) || take_error(line) || take_head(text) || take_address(text) ||
        take_banner(text)) {
      return Verdict::mine;
    }
    return is_ornament(text) || holds_one_of(text, kRemarks) ? take_remark(text) : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (perftest_.runs.empty()) return std::nullopt;
    Document document;
    add_perftest_facts(document, perftest_);
    document.content = std::move(perftest_);
    return document;
  }

 private:
  // "taskset -c 0 ib_read_bw -d mlx5_0 node2", without a prompt.
  static bool is_test_command(std::string_view text) {
    return (text.starts_with("ib_") || text.starts_with("taskset ") || text.starts_with("numactl ")) &&
           contains_any(text, {"_bw", "_lat"});
  }

  // Of the run that is going on; one is begun where there is none.
  PerftestRun& run() {
    if (perftest_.runs.empty()) begin_run(0);
    return perftest_.runs.back();
  }

  void begin_run(int line) {
    if (perftest_.runs.size() >= Perftest::kMostRuns) perftest_.runs.pop_back();
    perftest_.runs.emplace_back();
    perftest_.runs.back().line = line;
    perftest_.runs.back().command = command_;
    perftest_.runs.back().uses_gpu_memory = contains_any(command_, {"--use_cuda", "--use_rocm"});
    table_ = Table::none;
  }

  // An error text or a remark may stand before the title of its run.
  bool has_title() const { return !perftest_.runs.empty() && !perftest_.runs.back().test.empty(); }

  bool take_title(const Line& line) {
    const std::string_view text = trimmed(line.text);
    const bool bandwidth = text.ends_with("BW Test");
    if (!bandwidth && !text.ends_with("Latency Test")) return false;
    if (text.size() > 60 || text.find_first_of(":=/") != std::string_view::npos) return false;
    if (perftest_.runs.empty() || has_title() || !run().rows.empty()) begin_run(line.number);
    run().test = text.substr(0, text.rfind(" Test"));
    return true;
  }

  bool take_error(const Line& line) {
    const std::string_view text = line.text;
    if (!holds_one_of(text, kErrors)) return false;
    // An error may follow a row without a line break: take_row has had it then.
    keep_error(Quote(text, line.number));
    return true;
  }

  void keep_error(Quote quote) {
    const std::string text = quote.text;
    PerftestRun& current = run();
    if (current.line == 0) current.line = quote.line;
    if (contains(text, "GID types")) current.gid_types_differ = true;
    Signs& signs = perftest_.signs;
    if (contains(text, "Failed to modify QP")) {
      FailedQpSetup failed;
      failed.quote = quote;
      failed.error = errno_in(text);
      failed.device = current.device;
      failed.gid_index = current.gid_index;
      signs.qp_setups.add(std::move(failed));
    } else if (contains(text, "Failed status")) {
      // " Failed status 12: wr_id 0 syndrom 0x81"
      FailedCompletion failed;
      failed.quote = quote;
      failed.status = static_cast<int>(integer_behind(text, "Failed status").value_or(0));
      if (const auto vendor = hexadecimal_behind(text, "syndrom ")) failed.vendor = static_cast<int>(*vendor);
      failed.device = current.device;
      failed.is_first_request = current.rows.empty();
      if (failed.status > 0 && failed.status < 256) signs.add(std::move(failed));
    } else if (contains_any(text, {"Couldn't read remote address", "Couldn't listen to port",
                                   "Couldn't connect to", "Failed to exchange data"})) {
      signs.tcp_control.add(quote);
    } else if (contains(text, "Couldn't allocate MR")) {
      signs.registrations.add({quote, errno_in(text)});
    } else {
      signs.other_errors.add(quote);
    }
    if (current.errors.size() < Few<Quote>::kKept) current.errors.push_back(std::move(quote));
  }

  // " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
  bool take_head(std::string_view text) {
    if (!contains(text, "#bytes") || !contains_any(text, {"BW average[", "t_typical[", "t_avg["}))
      return false;
    run();  // begun before its table is: a head may be all that was copied of the banner
    if (contains(text, "BW average[")) {
      table_ = Table::bandwidth;
      const std::string_view unit = text.substr(text.find("BW average[") + 11);
      // MB/sec has always been MiB/s.
      factor_ = unit.starts_with("Gb")                              ? 1
                : unit.starts_with("GB") || unit.starts_with("GiB") ? kPerftestBitsPerMib * 1024 / 1e9
                                                                    : kPerftestBitsPerMib / 1e9;
      columns_before_ = 2 + (contains(text, "#sl") ? 1 : 0);
    } else if (contains(text, "t_typical[")) {
      table_ = Table::latency;
    } else {
      table_ = Table::latency_of_duration;
    }
    return true;
  }

  bool take_row(const Line& line) {
    if (table_ == Table::none) return false;
    const Words words(line.text);
    if (words.size() < 4) return false;
    const auto bytes = count_of(words[0]);
    if (!bytes || !leading_integer(words[1])) return false;
    return table_ == Table::bandwidth ? take_bandwidth(words, *bytes, line)
                                      : take_latency(words, *bytes, line.number);
  }

  bool take_bandwidth(const Words& words, std::uint64_t bytes, const Line& line) {
    const std::size_t average_at = columns_before_ + 1;
    if (words.size() <= average_at) return false;
    const auto iterations = count_of(words[1]);
    const auto average = leading_decimal(words[average_at]);
    if (!iterations || !average || *average < 0) return false;
    PerftestRow row;
    row.bytes = bytes;
    row.iterations = *iterations;
    row.average_gbps = *average * factor_;
    row.line = line.number;
    const std::string_view rate = words[average_at + 1];
    row.message_rate_mpps = leading_decimal(rate).value_or(0);
    PerftestRun& current = run();
    if (current.line == 0) current.line = line.number;
    if (current.rows.size() < PerftestRun::kMostRows) current.rows.push_back(row);
    if (holds_one_of(line.text, kErrors)) keep_error(Quote(line.text, line.number));
    return true;
  }

  bool take_latency(const Words& words, std::uint64_t bytes, int line) {
    PerftestLatency row;
    row.bytes = bytes;
    row.line = line;
    const std::size_t typical_at = table_ == Table::latency ? 4 : 2;
    const auto typical = leading_decimal(words[typical_at]);
    if (!typical) return false;
    (table_ == Table::latency ? row.typical_us : row.average_us) = *typical;
    if (table_ == Table::latency) {
      if (const auto p99 = leading_decimal(words[7])) row.p99_us = *p99;
    }
    if (run().latencies.size() < PerftestRun::kMostRows) run().latencies.push_back(row);
    return true;
  }

  // " local address: LID 0000 QPN 0x0024 ..." and, on the next line, " GID: 00:00:...:255:255:10:77:00:01"
  bool take_address(std::string_view text) {
    if (contains(text, "local address:") || contains(text, "remote address:")) {
      is_remote_ = contains(text, "remote address:");
      // A lost title does not hide that another run began.
      if (!is_remote_ && !run().rows.empty()) begin_run(0);
      return true;
    }
    const std::string_view gid = trimmed(text);
    if (!gid.starts_with("GID:")) return false;
    if (const auto value = GidText::of_decimal_bytes(trimmed(gid.substr(4)))) {
      auto& list = is_remote_ ? run().remote : run().local;
      if (list.size() < 64) list.push_back(*value);
    }
    return true;
  }

  bool take_banner(std::string_view text) {
    if (text.find(':') == std::string_view::npos || !holds_one_of(text, kBannerKeys)) return false;
    PerftestRun& current = run();
    if (const auto value = banner_value(text, "Device"); !value.empty()) current.device = value;
    if (const auto value = banner_value(text, "Number of qps"); !value.empty())
      current.qps = small_number(value);
    if (const auto value = banner_value(text, "Connection type"); !value.empty()) current.connection = value;
    if (const auto value = banner_value(text, "TX depth"); !value.empty())
      current.tx_depth = small_number(value);
    if (const auto value = banner_value(text, "Mtu"); !value.empty()) current.mtu_bytes = small_number(value);
    if (const auto value = banner_value(text, "Link type"); !value.empty()) current.link_type = value;
    if (const auto value = banner_value(text, "GID index"); !value.empty())
      current.gid_index = small_number(value);
    return true;
  }

  static bool is_ornament(std::string_view text) {
    return text.size() >= 8 && (text.find_first_not_of("- \t") == std::string_view::npos ||
                                text.find_first_not_of("* \t") == std::string_view::npos);
  }

  Verdict take_remark(std::string_view text) {
    // Ornaments alone are anybody's.
    if (perftest_.runs.empty() && is_ornament(text)) return Verdict::not_mine;
    if (contains(text, "Waiting for client")) {
      if (perftest_.runs.empty() || has_title()) begin_run(0);
      run().is_server = true;
    } else if (contains_any(text, {"CUDA", "GPU buffer"})) {
      run().uses_gpu_memory = true;
    } else if (perftest_.runs.empty()) {
      begin_run(0);
    }
    return Verdict::mine;
  }

  std::string command_;
  Perftest perftest_;
  Table table_ = Table::none;
  double factor_ = 1;
  std::size_t columns_before_ = 2;
  bool is_remote_ = false;
  CqeDump dump_;
};

bool begins_perftest(const Line& line, const Context&) {
  const std::string_view text = line.text;
  if (line.is_command) return false;
  if (contains(text, "#bytes") && contains_any(text, {"BW average[", "t_typical[", "t_avg["})) return true;
  if (contains_any(
          text, {"Found Incompatibility issue with GID types", "Unable to Connect the HCA's through the link",
                 "Couldn't read remote address", "Couldn't listen to port", "Completion with error at",
                 "Waiting for client to connect", "BW peak won't be measured"}))
    return true;
  // "Failed to modify QP 300 to RTR"; without a number it is another program's.
  if (integer_behind(text, "Failed to modify QP") && contains(text, " to RT")) return true;
  if (text.starts_with("Couldn't connect to ") && contains(text, ":")) return true;
  const std::string_view bare = trimmed(text);
  if ((bare.ends_with("BW Test") || bare.ends_with("Latency Test")) && bare.size() <= 60)
    return !bare.starts_with('#') && bare.find_first_of(":=/") == std::string_view::npos;
  return text.find(':') != std::string_view::npos &&
         contains_any(text, {"Number of qps", "Dual-port ", "Data ex. method", "ibv_wr* API"});
}

}  // namespace

Format perftest_format() {
  return {.name = "perftest",
          .anchors = kPerftestAnchors,
          .begins = begins_perftest,
          .open = open_reader<PerftestReader>,
          .from_json = perftest_from_json};
}

}  // namespace rocetune::evidence
