#include "agent/evidence/rdma_tools/ibstatus.h"

#include <array>

#include "agent/evidence/rdma_tools/rdma_view.h"
#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/rdma_files.h"

namespace rocetune::evidence {
namespace ibstatus_text {
namespace {

constexpr std::size_t kMostPorts = 4096;
constexpr std::array<std::string_view, 4> kAnchors{"Infiniband device",
                                                   "default gid:", "phys state:", "Gb/sec ("};

struct Header {
  std::string_view device;
  int port = 1;
};

// "Infiniband device 'mlx5_0' port 1 status:"
std::optional<Header> header_of(std::string_view text) {
  constexpr std::string_view kBegin = "Infiniband device '";
  if (!text.starts_with(kBegin)) return std::nullopt;
  text.remove_prefix(kBegin.size());
  const auto quote = text.find('\'');
  if (quote == std::string_view::npos || quote == 0) return std::nullopt;
  Header header{text.substr(0, quote), 1};
  const auto port = text.find(" port ", quote);
  if (port != std::string_view::npos) {
    header.port = leading_number<std::uint8_t>(text.substr(port + 6)).value_or(1);
  }
  return header;
}

bool is_key(std::string_view key) {
  return key == "default gid" || key == "base lid" || key == "sm lid" || key == "state" ||
         key == "phys state" || key == "rate" || key == "link_layer";
}

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (header_of(text)) return true;
  const auto [key, value] = split_at(text, ':');
  if (key == "rate") return value.find("Gb/sec (") != std::string_view::npos;
  return !value.empty() && (key == "default gid" || key == "phys state");
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (const auto header = header_of(text)) {
      if (prompts_.is_other_host()) return Verdict::next_document;
      RdmaPortView* p = add_port(line.number);
      if (p != nullptr) {
        p->rdma.device = header->device;
        p->rdma.port = header->port;
        p->vendor = vendor_of_device(header->device);
      }
      return Verdict::mine;
    }
    const auto [key, value] = split_at(text, ':');
    if (!is_key(key) || value.empty()) return Verdict::not_mine;
    take_value(key, value, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (view_.ports.empty()) return std::nullopt;
    return document_of(std::move(view_));
  }

 private:
  RdmaPortView* add_port(int line) {
    if (view_.ports.size() >= kMostPorts) return nullptr;
    view_.ports.emplace_back().line = line;
    return &view_.ports.back();
  }

  void take_value(std::string_view key, std::string_view value, int line) {
    if (view_.ports.empty()) add_port(line);
    RdmaPortView& p = view_.ports.back();
    if (key == "base lid") {
      p.lid = hex_number(value);
    } else if (key == "state") {
      p.rdma.state = port_state(value);
      p.state_line = line;
    } else if (key == "phys state") {
      p.rdma.physical_state = std::string(split_at(value, ':').second);
    } else if (key == "rate") {
      const bool down = !p.rdma.state.empty() && p.rdma.state != "ACTIVE";  // shows a placeholder
      if (!down) p.rdma.rate = host::parse_rdma_rate(value);
      p.rate_line = line;
    } else if (key == "link_layer") {
      p.rdma.link_layer = link_layer(value);
      p.layer_line = line;
    }
  }

  RdmaView view_;
  PromptWatch prompts_;
};

}  // namespace
}  // namespace ibstatus_text

Format ibstatus_format() {
  return {.name = "ibstatus",
          .anchors = ibstatus_text::kAnchors,
          .begins = ibstatus_text::begins,
          .open = open_reader<ibstatus_text::Reader>};
}

}  // namespace rocetune::evidence
