#include "agent/evidence/host_tools/tc_qdisc.h"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kMostQdiscs = 10000;  // of one document

// "qdisc tbf 8002: dev eth0 root refcnt 2 rate 60Mbit ...".
std::optional<Qdisc> qdisc_of(std::string_view line) {
  const auto words = host::words(line);
  if (words.size() < 3 || words[0] != "qdisc" || !words[2].ends_with(':')) return std::nullopt;
  Qdisc out;
  out.kind = words[1];
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "root") out.is_root = true;
    if (words[i] == "dev" && i + 1 < words.size()) out.device = words[i + 1];
  }
  return out;
}

// The number in front of a word: "12 marked", or behind it: "marked 12", "dropped 14992,".
std::optional<std::uint64_t> count_at(const std::vector<std::string_view>& words, std::string_view word) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::string_view key = words[i];
    if (key.starts_with('(')) key.remove_prefix(1);
    std::string_view value = words[i + 1];
    while (!value.empty() && (value.back() == ',' || value.back() == ')')) value.remove_suffix(1);
    if (key == word) return count_of(value);
  }
  return std::nullopt;
}

std::optional<Document> document_of(TcQdisc content) {
  if (content.qdiscs.empty()) return std::nullopt;
  Document document;
  std::set<std::string> devices;
  for (const Qdisc& qdisc : content.qdiscs) devices.insert(qdisc.device);
  const auto name = [&](const Qdisc& qdisc, const char* what) {
    return "tc." + (devices.size() > 1 && !qdisc.device.empty() ? qdisc.device + "." : std::string()) + what;
  };
  for (const Qdisc& qdisc : content.qdiscs) {
    if (qdisc.is_root && qdisc.dropped)
      document.add_fact(name(qdisc, "dropped"), static_cast<double>(*qdisc.dropped));
    if (qdisc.marked) document.add_fact(name(qdisc, "marked"), static_cast<double>(*qdisc.marked));
  }
  document.content = std::move(content);
  return document;
}

class TcQdiscReader : public DocumentReader {
 public:
  explicit TcQdiscReader(const Context& context) : device_(option_value(context.command, "dev")) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (auto qdisc = qdisc_of(text)) {
      if (content_.qdiscs.size() >= kMostQdiscs) return Verdict::not_mine;
      if (qdisc->device.empty()) qdisc->device = device_;
      qdisc->line = line.number;
      if (qdisc->is_root && has_root(qdisc->device)) return Verdict::next_document;
      content_.qdiscs.push_back(std::move(*qdisc));
      return Verdict::mine;
    }
    if (content_.qdiscs.empty()) return Verdict::not_mine;
    Qdisc& qdisc = content_.qdiscs.back();
    if (text.starts_with("Sent ")) {
      const auto words = host::words(text);
      if (words.size() >= 5 && words[2] == "bytes") qdisc.sent_packets = count_of(words[3]);
      qdisc.dropped = count_at(words, "dropped");
      return Verdict::mine;
    }
    if (text.starts_with("marked ") || text.find(" ecn_mark ") != std::string_view::npos) {
      const auto words = host::words(text);
      qdisc.marked = count_at(words, text.starts_with("marked ") ? "marked" : "ecn_mark");
      return Verdict::mine;
    }
    for (const std::string_view known :
         {"backlog ", "rate ", "maxpacket ", "new_flows_len", "count ", "EWMA ", "ewma ", "Probability ",
          "early ", "flows ", "throttled", "ecn "}) {
      if (text.starts_with(known)) return Verdict::mine;
    }
    return Verdict::not_mine;
  }

  std::optional<Document> finish() override { return document_of(std::move(content_)); }

 private:
  bool has_root(std::string_view device) const {
    return std::any_of(content_.qdiscs.begin(), content_.qdiscs.end(),
                       [&](const Qdisc& q) { return q.is_root && q.device == device; });
  }

  std::string device_;
  TcQdisc content_;
};

bool begins_tc_qdisc(const Line& line, const Context&) {
  return !line.is_command && qdisc_of(line.text).has_value();
}

// [{"kind": "red", "handle": "1:", "dev": "eth0", "root": true, "packets": 5852, "drops": 14992, "marked":
// 0}]
std::optional<Document> tc_qdisc_from_json(const boost::json::value& json, const Context&) {
  const boost::json::array* list = json.if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  TcQdisc content;
  for (const boost::json::value& element : *list) {
    const boost::json::object* object = element.if_object();
    if (object == nullptr) return std::nullopt;
    const boost::json::value* kind = object->if_contains("kind");
    if (kind == nullptr || !kind->is_string() || object->if_contains("handle") == nullptr)
      return std::nullopt;
    const auto number = [&](std::string_view key) -> std::optional<std::uint64_t> {
      const boost::json::value* value = object->if_contains(key);
      if (value == nullptr || !value->is_int64() || value->get_int64() < 0) return std::nullopt;
      return static_cast<std::uint64_t>(value->get_int64());
    };
    Qdisc qdisc;
    qdisc.kind = std::string(kind->get_string());
    if (const boost::json::value* device = object->if_contains("dev");
        device != nullptr && device->is_string()) {
      qdisc.device = std::string(device->get_string());
    }
    const boost::json::value* root = object->if_contains("root");
    qdisc.is_root = root != nullptr && root->is_bool() && root->get_bool();
    qdisc.sent_packets = number("packets");
    qdisc.dropped = number("drops");
    qdisc.marked = number("marked");
    content.qdiscs.push_back(std::move(qdisc));
  }
  return document_of(std::move(content));
}

}  // namespace

Format tc_qdisc_format() {
  static constexpr std::string_view kAnchors[] = {"qdisc "};
  return {.name = "tc-qdisc",
          .anchors = kAnchors,
          .begins = begins_tc_qdisc,
          .open = open_reader<TcQdiscReader>,
          .from_json = tc_qdisc_from_json};
}

}  // namespace rocetune::evidence
