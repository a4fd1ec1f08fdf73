#include "agent/evidence/host_tools/rdma_statistic.h"

#include <boost/json.hpp>

#include <unordered_set>

#include "agent/evidence/host_tools/rdma_counter_names.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::size_t kMostLinkCounters = 200000;  // of one document

// "mlx5_0/1".
bool is_rdma_link_name(std::string_view text) {
  const auto slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && is_made_of(text.substr(0, slash), "_-") &&
         count_of(text.substr(slash + 1)).has_value();
}

// A port of the host for "mlx5_0/1".
host::Port port_of_link(std::string_view link) {
  host::RdmaPort rdma;
  const auto slash = link.find('/');
  rdma.device = link.substr(0, slash);
  rdma.port = small_number_of(link.substr(slash + 1)).value_or(1);
  host::Port port;
  port.rdma = std::move(rdma);
  return port;
}

class RdmaStatisticReader : public DocumentReader {
 public:
  explicit RdmaStatisticReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const auto words = host::words(line.text);
    if (words.empty()) return Verdict::not_mine;
    if (words[0] == "link" && words.size() >= 2 && is_rdma_link_name(words[1]))
      return take_link(words, line.number);
    if (link_.empty()) return Verdict::not_mine;
    // A pair per line (-p), or a long line that was broken.
    if (words.size() % 2 != 0 || !is_made_of(words[0], "_") || !count_of(words[1])) return Verdict::not_mine;
    if (!is_rdma_counter(words[0]) && words[0].find('_') == std::string_view::npos) return Verdict::not_mine;
    return add_pairs(words, 0, line.number) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (document_.counters.empty()) return std::nullopt;
    document_.host_part.emplace().ports = std::move(ports_);
    return std::move(document_);
  }

 private:
  Verdict take_link(const std::vector<std::string_view>& words, int number) {
    if (words.size() > 2 && (words[2] == "state" || words[2] == "subnet_prefix")) return Verdict::not_mine;
    std::string link(words[1]);
    // Counters bound to queue pairs: "link mlx5_0/1 cntn 4 ...". They are part of the port's.
    if (words.size() > 3 && words[2] == "cntn") link += " cntn " + std::string(words[3]);
    if (!links_.insert(link).second) return Verdict::next_document;  // the next snapshot
    link_ = std::move(link);
    if (link_.find(' ') == std::string::npos) ports_.push_back(port_of_link(words[1]));
    add_pairs(words, 2, number);
    return Verdict::mine;
  }

  // Pairs of a name and a count; words that belong to no pair ("type", "RC") are passed over.
  bool add_pairs(const std::vector<std::string_view>& words, std::size_t from, int number) {
    bool added = false;
    for (std::size_t i = from; i + 1 < words.size(); ++i) {
      const auto value = count_of(words[i + 1]);
      if (!value || !is_made_of(words[i], "_") || words[i] == "cntn" || words[i] == "pid") continue;
      if (document_.counters.size() >= kMostLinkCounters) return added;
      document_.counters.push_back({link_, std::string(words[i]), *value, number});
      added = true;
      ++i;
    }
    return added;
  }

  std::string link_;
  std::unordered_set<std::string> links_;
  std::vector<host::Port> ports_;
  Document document_;
};

bool begins_statistic(const Line& line, const Context&) {
  if (line.is_command) return false;
  const auto words = host::words(line.text);
  if (words.size() < 2 || words[0] != "link" || !is_rdma_link_name(words[1])) return false;
  if (words.size() == 2) return true;  // -p
  return (words.size() >= 4 && is_rdma_counter(words[2]) && count_of(words[3])) || words[2] == "cntn";
}

// [{"ifname": "mlx5_0", "port": 1, "rx_write_requests": 0, ...}]
std::optional<Document> statistic_from_json(const boost::json::value& json, const Context&) {
  const boost::json::array* list = json.if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  Document document;
  std::vector<host::Port> ports;
  for (const boost::json::value& element : *list) {
    const boost::json::object* object = element.if_object();
    if (object == nullptr) return std::nullopt;
    const boost::json::value* device = object->if_contains("ifname");
    const boost::json::value* port = object->if_contains("port");
    if (device == nullptr || !device->is_string() || port == nullptr || !port->is_int64())
      return std::nullopt;
    const std::string link = std::string(device->get_string()) + "/" + std::to_string(port->get_int64());
    if (!is_rdma_link_name(link)) return std::nullopt;
    for (const auto& [key, value] : *object) {
      if (!value.is_int64() && !value.is_uint64()) continue;
      if (key == "port" || key == "ifindex" || key == "cntn" || key == "pid") continue;
      if (value.is_int64() && value.get_int64() < 0) continue;
      const std::uint64_t count =
          value.is_uint64() ? value.get_uint64() : static_cast<std::uint64_t>(value.get_int64());
      document.counters.push_back({link, std::string(key), count, 0});
    }
    ports.push_back(port_of_link(link));
  }
  if (document.counters.empty()) return std::nullopt;
  document.host_part.emplace().ports = std::move(ports);
  return document;
}

}  // namespace

Format rdma_statistic_format() {
  static constexpr std::string_view kAnchors[] = {"link "};
  return {.name = "rdma-statistic",
          .anchors = kAnchors,
          .begins = begins_statistic,
          .open = open_reader<RdmaStatisticReader>,
          .from_json = statistic_from_json};
}

}  // namespace rocetune::evidence
