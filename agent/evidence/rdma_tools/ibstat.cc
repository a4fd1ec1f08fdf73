#include "agent/evidence/rdma_tools/ibstat.h"

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/rdma_view.h"
#include "agent/evidence/rdma_tools/scan.h"

namespace rocetune::evidence {
namespace ibstat_text {
namespace {

constexpr std::size_t kMostPorts = 4096;
constexpr std::array<std::string_view, 8> kAnchors{
    "CA '",       "CA type:", "Link layer:", "Base lid:", "System image GUID:", "Physical state:",
    "Port GUID:", "Rate:"};
constexpr std::array<std::string_view, 15> kKeys{"CA type",          "Number of ports",
                                                 "Firmware version", "Hardware version",
                                                 "Node GUID",        "State",
                                                 "Physical state",   "Rate",
                                                 "Base lid",         "LMC",
                                                 "SM lid",           "Capability mask",
                                                 "Port GUID",        "Link layer",
                                                 "System image GUID"};

// "CA 'mlx5_0'" -> mlx5_0. Grepped with -o or pasted as prose it may lack its end.
std::string_view device_in(std::string_view text) {
  if (!text.starts_with("CA '")) return {};
  const auto end = text.find('\'', 4);
  return end == std::string_view::npos || end == 4 ? std::string_view() : text.substr(4, end - 4);
}

bool is_key(std::string_view key) { return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end(); }

// "State: Active": the colon stands at the word, which tells it from mlxlink's "State   : Active".
bool is_row(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && is_key(text.substr(0, colon));
}

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (!device_in(text).empty()) return true;
  if (!is_row(text)) return false;
  const auto [key, value] = split_at(text, ':');
  if (key == "Link layer") return value == "Ethernet" || value == "InfiniBand";
  if (key == "Physical state") return value == "LinkUp" || value == "Disabled" || value == "Polling";
  if (key == "Base lid") return leading_number<std::uint64_t>(value).has_value();
  if (key == "Rate")
    return leading_number<std::uint64_t>(value).has_value() && value.find(' ') == std::string_view::npos;
  return key == "CA type" || key == "System image GUID" || key == "Port GUID";
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (const std::string_view device = device_in(text); !device.empty()) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      begin_device(device, line.number);
      return Verdict::mine;
    }
    if (text.starts_with("Port ") && text.ends_with(':')) {
      const auto number = leading_number<std::uint64_t>(text.substr(5));
      if (!number || *number > 255) return Verdict::not_mine;
      begin_port(static_cast<int>(*number), line.number);
      return Verdict::mine;
    }
    if (!is_row(text)) return Verdict::not_mine;
    const auto [key, value] = split_at(text, ':');
    take_value(key, value, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (view_.ports.empty()) return std::nullopt;
    return document_of(std::move(view_));
  }

 private:
  void begin_device(std::string_view name, int line) {
    device_ = RdmaPortView();
    device_.rdma.device = name;
    device_.vendor = vendor_of_device(name);
    device_.line = line;
    port_begun_ = false;
    add_port(1, line);
  }

  void begin_port(int number, int line) {
    if (port_begun_ || view_.ports.empty()) {
      add_port(number, line);
    } else {
      view_.ports.back().rdma.port = number;
    }
    port_begun_ = true;
  }

  void add_port(int number, int line) {
    if (view_.ports.size() >= kMostPorts) return;
    view_.ports.push_back(device_);
    view_.ports.back().rdma.port = number;
    view_.ports.back().line = line;
  }

  RdmaPortView& port(int line) {
    if (view_.ports.empty()) add_port(1, line);
    return view_.ports.back();
  }

  void take_value(std::string_view key, std::string_view value, int line) {
    RdmaPortView& p = port(line);
    if (key == "CA type") {
      device_.part = p.part = value;
      if (device_.vendor.empty() && value.starts_with("MT")) device_.vendor = p.vendor = "mlx5";
    } else if (key == "Firmware version") {
      if (!value.empty()) device_.rdma.firmware = p.rdma.firmware = std::string(value);
      device_.firmware_line = p.firmware_line = line;
    } else if (key == "Node GUID") {
      device_.rdma.node_guid = p.rdma.node_guid = normal_guid(value);
    } else if (key == "System image GUID") {
      device_.rdma.system_image_guid = p.rdma.system_image_guid = normal_guid(value);
      device_.guid_line = p.guid_line = line;
    } else if (key == "State") {
      p.rdma.state = port_state(value);
      p.state_line = line;
    } else if (key == "Physical state") {
      p.rdma.physical_state = std::string(value);
    } else if (key == "Rate") {
      const auto gigabits = leading_number<std::uint64_t>(value);
      // A port that is down shows a placeholder.
      const bool down = !p.rdma.state.empty() && p.rdma.state != "ACTIVE";
      if (gigabits && *gigabits > 0 && *gigabits < 100000 && !down) {
        p.rdma.rate = BitRate(static_cast<std::int64_t>(*gigabits) * 1'000'000'000);
        p.rate_line = line;
      }
    } else if (key == "Base lid") {
      p.lid = leading_number<std::uint64_t>(value);
    } else if (key == "Link layer") {
      p.rdma.link_layer = link_layer(value);
      p.layer_line = line;
    }
  }

  RdmaView view_;
  RdmaPortView device_;
  PromptWatch prompts_;
  bool port_begun_ = false;
};

}  // namespace
}  // namespace ibstat_text

Format ibstat_format() {
  return {.name = "ibstat",
          .anchors = ibstat_text::kAnchors,
          .begins = ibstat_text::begins,
          .open = open_reader<ibstat_text::Reader>};
}

}  // namespace rocetune::evidence
