#include "agent/evidence/benchmarks/iperf.h"

#include <boost/json/object.hpp>

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kIperfAnchors[] = {
    "bits/sec",     "[ ID]", "Connecting to host", "Client connecting to", "Server listening on",
    "iperf3: error"};

// "9.39 Gbits/sec" -> 9.39; bytes as well ("1.1 GBytes/sec").
std::optional<double> rate_in(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view unit = words[i];
    const bool bits = unit.ends_with("bits/sec");
    if (!bits && !unit.ends_with("Bytes/sec")) continue;
    const auto value = decimal_of(words[i - 1]);
    if (!value) return std::nullopt;
    const double scale = unit.front() == 'G'   ? 1
                         : unit.front() == 'M' ? 1e-3
                         : unit.front() == 'K' ? 1e-6
                         : unit.front() == 'T' ? 1e3
                                               : 1e-9;
    return *value * scale * (bits ? 1 : 8);
  }
  return std::nullopt;
}

class IperfReader final : public DocumentReader {
 public:
  explicit IperfReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (const auto host = behind(text, "onnecting to host "); host) {
      return begin(word_behind(text, "onnecting to host "));
    }
    if (text.starts_with("Client connecting to ")) return begin(word_behind(text, "Client connecting to "));
    if (contains(text, "iperf3: error") || contains(text, "unable to connect")) {
      iperf_.failed = true;
      iperf_.line = line.number;
      return Verdict::mine;
    }
    if (text.front() == '[' && text.find(']') != std::string_view::npos) return take_row(line);
    if (text.find_first_not_of("- ") == std::string_view::npos && text.size() > 3) return Verdict::mine;
    return contains_any(text,
                        {"Server listening on", "Accepted connection from", "iperf Done", "Test Complete",
                         "TCP window size", "TCP port", "Reverse mode", "iperf 3", "-----"})
               ? Verdict::mine
               : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (!iperf_.rate_gbps() && !iperf_.failed) return std::nullopt;
    Document document;
    document.content = std::move(iperf_);
    return document;
  }

 private:
  Verdict begin(std::string_view server) {
    if (iperf_.rate_gbps()) return Verdict::next_document;
    iperf_.server = server;
    return Verdict::mine;
  }

  // "[  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec    0             sender"
  Verdict take_row(const Line& line) {
    const std::string_view text = line.text;
    if (contains_any(text, {"[ ID]", "connected to", "local "})) return Verdict::mine;
    const Words words(text.substr(text.find(']') + 1));
    const auto rate = rate_in(words);
    if (!rate || !contains(text, "sec")) return Verdict::not_mine;
    const bool is_sum = text.starts_with("[SUM]");
    iperf_.line = line.number;
    if (contains(text, "sender") || contains(text, "receiver")) {
      const bool sends = contains(text, "sender");
      auto& total = sends ? iperf_.sent_gbps : iperf_.received_gbps;
      auto& summed = sends ? sent_is_sum_ : received_is_sum_;
      if (is_sum) {
        total = *rate;
        summed = true;
      } else if (!summed) {
        total = total.value_or(0) + *rate;
      }
      if (sends && words.size() >= 6) {
        if (const auto count = count_of(words[words.size() - 2]); count && (is_sum || !summed))
          iperf_.retransmits = *count;
      }
    } else if (is_sum || !interval_is_sum_) {
      iperf_.interval_gbps = *rate;
      interval_is_sum_ = is_sum;
    }
    return Verdict::mine;
  }

  Iperf iperf_;
  bool sent_is_sum_ = false, received_is_sum_ = false, interval_is_sum_ = false;
};

bool begins_iperf(const Line& line, const Context&) {
  const std::string_view text = line.text;
  if (text.starts_with("Connecting to host ") || text.starts_with("Client connecting to ") ||
      contains(text, "iperf3: error") || text.starts_with("Server listening on "))
    return true;
  if (text.front() != '[') return false;
  if (text.starts_with("[ ID]")) return contains_any(text, {"Interval", "Transfer"});
  return contains(text, "bits/sec") && contains(text, "sec ") && contains(text, "Bytes");
}

std::optional<double> bits_per_second(const boost::json::object& end, std::string_view key) {
  const auto* sum = end.if_contains(key);
  const auto* object = sum != nullptr ? sum->if_object() : nullptr;
  const auto* rate = object != nullptr ? object->if_contains("bits_per_second") : nullptr;
  if (rate == nullptr || !rate->is_number()) return std::nullopt;
  return rate->to_number<double>() / 1e9;
}

std::optional<Document> iperf_from_json(const boost::json::value& json, const Context&) {
  const auto* root = json.if_object();
  const auto* end = root != nullptr ? root->if_contains("end") : nullptr;
  if (end == nullptr || !end->is_object() || root->if_contains("intervals") == nullptr) return std::nullopt;
  Iperf iperf;
  iperf.sent_gbps = bits_per_second(end->get_object(), "sum_sent");
  iperf.received_gbps = bits_per_second(end->get_object(), "sum_received");
  if (!iperf.sent_gbps) iperf.sent_gbps = bits_per_second(end->get_object(), "sum");
  if (!iperf.rate_gbps()) return std::nullopt;
  Document document;
  document.content = std::move(iperf);
  return document;
}

}  // namespace

Format iperf_format() {
  return {.name = "iperf3",
          .anchors = kIperfAnchors,
          .begins = begins_iperf,
          .open = open_reader<IperfReader>,
          .from_json = iperf_from_json};
}

}  // namespace rocetune::evidence
