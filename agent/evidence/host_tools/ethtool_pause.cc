#include "agent/evidence/host_tools/ethtool_pause.h"

#include <boost/json.hpp>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kPauseTitle = "Pause parameters for ";

std::optional<bool> on_or_off(std::string_view text) {
  if (text == "on") return true;
  if (text == "off") return false;
  return std::nullopt;
}

struct PauseText {
  std::string device;
  std::optional<bool> autonegotiate, receive, transmit;
};

// Nothing if neither direction was read.
std::optional<Document> document_of(const PauseText& text, Document document) {
  if (!text.receive && !text.transmit) return std::nullopt;
  host::Port port;
  port.name = text.device;
  // One direction alone is on or off all the same; the other is then taken to be off.
  port.pause = host::GlobalPause{text.autonegotiate.value_or(false), text.receive.value_or(false),
                                 text.transmit.value_or(false)};
  document.host_part.emplace().ports.push_back(std::move(port));
  return document;
}

class EthtoolPauseReader : public DocumentReader {
 public:
  explicit EthtoolPauseReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view title = interface_in_title(line.text, kPauseTitle);
    if (!title.empty()) {
      if (titled_) return Verdict::next_document;
      titled_ = true;
      text_.device = title;
      return Verdict::mine;
    }
    if (!titled_ || line.is_command) return Verdict::not_mine;
    const auto [key, value] = split_at(line.text, ':');
    if (key == "Statistics" && value.empty()) {
      counts_ = true;
      return Verdict::mine;
    }
    if (key == "RX negotiated" || key == "TX negotiated") return Verdict::mine;
    if (const auto is_on = on_or_off(value)) {
      std::optional<bool>* const into = key == "Autonegotiate" ? &text_.autonegotiate
                                        : key == "RX"          ? &text_.receive
                                        : key == "TX"          ? &text_.transmit
                                                               : nullptr;
      if (into == nullptr) return Verdict::not_mine;
      *into = is_on;
      return Verdict::mine;
    }
    if (!counts_ || (key != "tx_pause_frames" && key != "rx_pause_frames")) return Verdict::not_mine;
    const auto count = count_of(value);
    if (!count) return Verdict::not_mine;
    document_.counters.push_back({text_.device, std::string(key), *count, line.number});
    return Verdict::mine;
  }

  std::optional<Document> finish() override { return document_of(text_, std::move(document_)); }

 private:
  PauseText text_;
  bool titled_ = false;
  bool counts_ = false;
  Document document_;
};

bool begins_pause(const Line& line, const Context&) {
  return !interface_in_title(line.text, kPauseTitle).empty();
}

// [{"ifname": "eth0", "autonegotiate": true, "rx": false, "tx": false, "statistics": {...}}]
std::optional<Document> pause_from_json(const boost::json::value& json, const Context&) {
  const boost::json::array* list = json.if_array();
  if (list == nullptr || list->size() != 1) return std::nullopt;
  const boost::json::object* object = list->front().if_object();
  if (object == nullptr) return std::nullopt;
  PauseText text;
  const auto flag = [&](std::string_view key) -> std::optional<bool> {
    const boost::json::value* value = object->if_contains(key);
    return value != nullptr && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
  };
  const boost::json::value* name = object->if_contains("ifname");
  if (name == nullptr || !name->is_string()) return std::nullopt;
  text.device = std::string(name->get_string());
  text.autonegotiate = flag("autonegotiate");
  text.receive = flag("rx");
  text.transmit = flag("tx");
  Document document;
  if (const boost::json::value* counts = object->if_contains("statistics");
      counts != nullptr && counts->is_object()) {
    for (const auto& [key, value] : counts->get_object()) {
      if (value.is_int64() && value.get_int64() >= 0) {
        document.counters.push_back(
            {text.device, std::string(key), static_cast<std::uint64_t>(value.get_int64()), 0});
      }
    }
  }
  return document_of(text, std::move(document));
}

}  // namespace

Format ethtool_pause_format() {
  static constexpr std::string_view kAnchors[] = {kPauseTitle};
  return {.name = "ethtool-pause",
          .anchors = kAnchors,
          .begins = begins_pause,
          .open = open_reader<EthtoolPauseReader>,
          .from_json = pause_from_json};
}

}  // namespace rocetune::evidence
