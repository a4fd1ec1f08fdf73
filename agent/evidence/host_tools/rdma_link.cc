#include "agent/evidence/host_tools/rdma_link.h"

#include <boost/json.hpp>

#include <algorithm>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

struct RdmaLinkText {
  std::string_view device;
  int port = 1;
  std::string_view state, physical_state, netdev;
  bool has_lid = false;
};

// "mlx5_0/1" or "mlx5_0/1:".
bool take_device_and_port(std::string_view word, RdmaLinkText& out) {
  if (word.ends_with(':')) word.remove_suffix(1);
  const auto slash = word.find('/');
  if (slash == std::string_view::npos || !is_made_of(word.substr(0, slash), "_-")) return false;
  const auto port = small_number_of(word.substr(slash + 1));
  if (!port || *port < 1 || *port > 255) return false;
  out.device = word.substr(0, slash);
  out.port = *port;
  return true;
}

// "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0"; old: "1/1: mlx5_0/1: state ACTIVE ...".
std::optional<RdmaLinkText> rdma_link_of(std::string_view line) {
  const auto words = host::words(line);
  if (words.size() < 4) return std::nullopt;
  const bool is_old = words[0].ends_with(':') && words[0].find('/') != std::string_view::npos;
  if (words[0] != "link" && !is_old) return std::nullopt;
  RdmaLinkText out;
  if (!take_device_and_port(words[1], out)) return std::nullopt;
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    if (words[i] == "state") out.state = words[i + 1];
    if (words[i] == "physical_state") out.physical_state = words[i + 1];
    if (words[i] == "netdev") out.netdev = words[i + 1];
    if (words[i] == "lid") out.has_lid = words[i + 1] != "0";
  }
  if (out.state.empty()) return std::nullopt;
  return out;
}

host::Port port_of(const RdmaLinkText& text) {
  host::RdmaPort rdma;
  rdma.device = text.device;
  rdma.port = text.port;
  rdma.state = text.state;
  if (!text.physical_state.empty()) rdma.physical_state = std::string(text.physical_state);
  // A netdev is behind RoCE and iWARP, a LID behind InfiniBand.
  if (!text.netdev.empty()) rdma.link_layer = host::LinkLayer::ethernet;
  if (text.netdev.empty() && text.has_lid) rdma.link_layer = host::LinkLayer::infiniband;
  host::Port port;
  port.name = text.netdev;
  port.rdma = std::move(rdma);
  return port;
}

class RdmaLinkReader : public DocumentReader {
 public:
  explicit RdmaLinkReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const auto link = rdma_link_of(line.text);
    if (link) {
      const auto known = [&](const host::Port& port) {
        return port.rdma->device == link->device && port.rdma->port == link->port;
      };
      if (std::any_of(ports_.begin(), ports_.end(), known)) return Verdict::next_document;
      ports_.push_back(port_of(*link));
      return Verdict::mine;
    }
    // What -d adds: "    caps: <...>".
    return trimmed(line.text).starts_with("caps: <") ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (ports_.empty()) return std::nullopt;
    Document document;
    document.host_part.emplace().ports = std::move(ports_);
    return document;
  }

 private:
  std::vector<host::Port> ports_;
};

bool begins_rdma_link(const Line& line, const Context&) {
  return !line.is_command && rdma_link_of(line.text).has_value();
}

std::optional<Document> rdma_link_from_json(const boost::json::value& json, const Context&) {
  const boost::json::array* list = json.if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  std::vector<host::Port> ports;
  for (const boost::json::value& element : *list) {
    const boost::json::object* object = element.if_object();
    if (object == nullptr) return std::nullopt;
    const auto word = [&](std::string_view key) -> std::string_view {
      const boost::json::value* value = object->if_contains(key);
      return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                    : std::string_view();
    };
    const boost::json::value* number = object->if_contains("port");
    if (number == nullptr || !number->is_int64() || number->get_int64() < 1 || number->get_int64() > 255) {
      return std::nullopt;
    }
    RdmaLinkText text{word("ifname"), static_cast<int>(number->get_int64()),
                      word("state"),  word("physical_state"),
                      word("netdev"), false};
    if (text.device.empty() || text.state.empty()) return std::nullopt;
    ports.push_back(port_of(text));
  }
  Document document;
  document.host_part.emplace().ports = std::move(ports);
  return document;
}

}  // namespace

Format rdma_link_format() {
  static constexpr std::string_view kAnchors[] = {" state "};
  return {.name = "rdma-link",
          .anchors = kAnchors,
          .begins = begins_rdma_link,
          .open = open_reader<RdmaLinkReader>,
          .from_json = rdma_link_from_json};
}

}  // namespace rocetune::evidence
