#include "agent/evidence/rdma_tools/topology_xml.h"

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/scan.h"

namespace rocetune::evidence {
namespace topology_xml_text {
namespace {

constexpr std::size_t kMostElements = 65536;
constexpr std::array<std::string_view, 14> kAnchors{"<system", "<cpu ",    "<pci ",    "<nic",    "<net ",
                                                    "<gpu ",   "<graph",   "<channel", "<nvlink", "</pci",
                                                    "<xgmi",   "</system", "</graph",  "<c2c"};
constexpr std::array<std::string_view, 12> kTags{"system", "cpu",   "pci",     "nic",    "net",  "gpu",
                                                 "graphs", "graph", "channel", "nvlink", "xgmi", "c2c"};

// "<pci busid=..." -> pci; "</pci>" -> pci.
std::string_view tag_of(std::string_view text) {
  if (!text.starts_with('<')) return {};
  text.remove_prefix(text.starts_with("</") ? 2 : 1);
  const auto end = text.find_first_of(" />\t");
  return text.substr(0, end);
}

bool is_tag(std::string_view text) {
  const std::string_view tag = tag_of(text);
  return std::find(kTags.begin(), kTags.end(), tag) != kTags.end();
}

// A piece may begin anywhere, but with something only these files have.
bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  const std::string_view tag = tag_of(text);
  if (!is_tag(text)) return false;
  const auto has = [&](std::string_view attribute) { return text.find(attribute) != std::string_view::npos; };
  if (tag == "pci") return has("busid=") || text.starts_with("</");
  if (tag == "net") return has("dev=") || has("name=");
  if (tag == "gpu") return has("dev=") || has("rank=");
  if (tag == "system") return has("version=");
  if (tag == "graph") return has("pattern=") || has("nchannels=");
  if (tag == "cpu") return has("numaid=") || has("affinity=");
  if (tag == "nvlink" || tag == "xgmi" || tag == "c2c") return has("target=") || has("count=");
  return tag == "nic" || tag == "graphs" || tag == "channel";
}

// The value of attribute "name" of a tag; nothing if it is not written.
std::optional<std::string_view> attribute(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while ((at = text.find(name, at)) != std::string_view::npos) {
    const std::size_t behind = at + name.size();
    if (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t') && text.substr(behind).starts_with("=\"")) {
      const auto end = text.find('"', behind + 2);
      return text.substr(behind + 2, (end == std::string_view::npos ? text.size() : end) - behind - 2);
    }
    at = behind;
  }
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_attribute(std::string_view text, std::string_view name) {
  const auto value = attribute(text, name);
  return value ? leading_number<Number>(*value) : std::nullopt;
}

std::string_view without_prefix(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return text;
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context&) {}

  Verdict take(const Line& line) override {
    std::string_view text = trimmed(line.text);
    if (text.starts_with("<?xml") || text.starts_with("<!--")) return Verdict::mine;
    if (!is_tag(text)) return Verdict::not_mine;
    // Some files hold several tags a line.
    while (!text.empty()) {
      const auto next = text.find('<', 1);
      take_tag(trimmed(text.substr(0, next)), line.number);
      if (next == std::string_view::npos) break;
      text = text.substr(next);
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    Document document;
    document.content = std::move(topology_);
    return document;
  }

 private:
  void take_tag(std::string_view text, int line) {
    const std::string_view tag = tag_of(text);
    if (text.starts_with("</")) {
      if (tag == "pci" && !open_pcis_.empty()) open_pcis_.pop_back();
      return;
    }
    if (tag == "pci") take_pci(text, line);
    if (tag == "net") take_net(text, line);
    if (tag == "gpu") take_gpu(text, line);
    if (tag == "graph") take_graph(text, line);
  }

  void take_pci(std::string_view text, int line) {
    if (topology_.pcis.size() >= kMostElements || open_pcis_.size() >= 64) return;
    TopologyPci pci;
    pci.bus_id = attribute(text, "busid").value_or("");
    pci.pci_class = attribute(text, "class").value_or("");
    const auto vendor = attribute(text, "vendor"), device = attribute(text, "device");
    if (vendor && device) {
      pci.id = std::string(without_prefix(*vendor)) + ":" + std::string(without_prefix(*device));
    }
    const auto speed = attribute(text, "link_speed");
    pci.link_speed = speed.value_or("");
    pci.link_width = number_attribute<int>(text, "link_width");
    pci.has_link = speed || pci.link_width;
    pci.line = line;
    if (!text.ends_with("/>")) open_pcis_.push_back(pci.bus_id);
    topology_.pcis.push_back(std::move(pci));
  }

  void take_net(std::string_view text, int line) {
    const auto dev = number_attribute<int>(text, "dev");
    if (!topology_.graphs.empty() && !attribute(text, "name")) {
      auto& nets = topology_.graphs.back().nets;
      if (dev && nets.size() < kMostElements) nets.push_back(*dev);
      return;
    }
    if (topology_.nets.size() >= kMostElements) return;
    TopologyNet net;
    net.name = attribute(text, "name").value_or("");
    net.bus_id = open_pcis_.empty() ? std::string() : open_pcis_.back();
    net.dev = dev;
    net.speed_mbps = number_attribute<double>(text, "speed");
    if (const auto gdr = number_attribute<int>(text, "gdr")) net.gdr = *gdr != 0;
    net.guid = attribute(text, "guid").value_or("");
    net.line = line;
    topology_.nets.push_back(std::move(net));
  }

  void take_gpu(std::string_view text, int line) {
    if (!topology_.graphs.empty() || topology_.gpus.size() >= kMostElements) return;
    TopologyGpu gpu;
    gpu.bus_id = open_pcis_.empty() ? std::string() : open_pcis_.back();
    gpu.dev = number_attribute<int>(text, "dev");
    if (const auto gdr = number_attribute<int>(text, "gdr")) gpu.gdr = *gdr != 0;
    gpu.line = line;
    topology_.gpus.push_back(std::move(gpu));
  }

  void take_graph(std::string_view text, int line) {
    if (topology_.graphs.size() >= kMostElements) return;
    TopologyGraph graph;
    graph.id = number_attribute<int>(text, "id").value_or(0);
    graph.pattern = number_attribute<int>(text, "pattern").value_or(0);
    graph.channels = number_attribute<int>(text, "nchannels").value_or(0);
    graph.speed_inter_gbps = number_attribute<double>(text, "speedinter").value_or(0);
    graph.line = line;
    topology_.graphs.push_back(std::move(graph));
  }

  Topology topology_;
  std::vector<std::string> open_pcis_;
};

}  // namespace
}  // namespace topology_xml_text

Format topology_xml_format() {
  return {.name = "topology-xml",
          .anchors = topology_xml_text::kAnchors,
          .begins = topology_xml_text::begins,
          .open = open_reader<topology_xml_text::Reader>};
}

}  // namespace rocetune::evidence
