#include "agent/evidence/benchmarks/traffic_generator.h"

#include <algorithm>

#include "agent/evidence/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kGeneratorAnchors[] = {"flow_name", "Flow Name", "frame_sequence_error",
                                                  "ip_dscp",   "frames_tx", "Frame Sequence Error"};

// Names of columns in one spelling: "Flow Name" and "flow_name" are one.
std::string column_name(std::string_view text) {
  std::string out = lower_case(trimmed(text));
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

enum class Layout { bars, commas, blanks };

std::vector<std::string_view> generator_cells(std::string_view text, Layout layout) {
  std::vector<std::string_view> out;
  if (layout == Layout::blanks) {
    // Names of flows and ports have single blanks inside: columns are parted by two, or a tab.
    while (!text.empty() && out.size() < 256) {
      text = trimmed(text);
      std::size_t end = std::min(text.find("  "), text.find('\t'));
      if (text.empty()) break;
      end = std::min(end, text.size());
      out.push_back(text.substr(0, end));
      text.remove_prefix(end);
    }
    return out;
  }
  const char separator = layout == Layout::bars ? '|' : ',';
  if (layout == Layout::bars) {
    text = trimmed(text);
    if (text.starts_with('|')) text.remove_prefix(1);
    if (text.ends_with('|')) text.remove_suffix(1);
  }
  while (out.size() < 256) {
    const auto at = text.find(separator);
    out.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return out;
}

bool is_generator_head(std::string_view text) {
  const std::string lower = lower_case(text);
  const bool named = contains_any(lower, {"flow_name", "flow name"});
  return named && contains_any(lower, {"sequence", "dscp", "frames_tx", "tx frames", "loss", "nak", "port_tx",
                                       "tx_port", "tx port"});
}

class GeneratorReader final : public DocumentReader {
 public:
  explicit GeneratorReader(const Context&) {}

  Verdict take(const Line& line) override {
    const std::string_view text = line.text;
    if (text.empty()) return Verdict::not_mine;
    if (is_generator_head(text)) {
      if (!generator_.flows.empty()) return Verdict::next_document;
      layout_ = contains(text, "|") ? Layout::bars : contains(text, ",") ? Layout::commas : Layout::blanks;
      columns_.clear();
      for (const std::string_view cell : generator_cells(text, layout_))
        columns_.push_back(column_name(cell));
      return Verdict::mine;
    }
    if (columns_.empty()) return Verdict::not_mine;
    if (text.find_first_not_of("+-|=: \t") == std::string_view::npos) return Verdict::mine;
    std::vector<std::string_view> cells = generator_cells(text, layout_);
    // A table of pandas has its row numbers in front of the first column.
    if (layout_ == Layout::blanks && cells.size() == columns_.size() + 1) cells.erase(cells.begin());
    if (cells.size() != columns_.size()) return Verdict::not_mine;
    GeneratedFlow flow;
    flow.line = line.number;
    bool has_number = false;
    for (std::size_t i = 0; i < cells.size(); ++i) has_number |= keep(columns_[i], cells[i], flow);
    if (!has_number) return Verdict::not_mine;
    if (generator_.flows.size() < TrafficGenerator::kMostFlows) generator_.flows.push_back(std::move(flow));
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (generator_.flows.empty()) return std::nullopt;
    Document document;
    double errors = 0;
    bool has_errors = false;
    for (const GeneratedFlow& flow : generator_.flows) {
      if (!flow.sequence_errors) continue;
      errors += static_cast<double>(*flow.sequence_errors);
      has_errors = true;
    }
    if (has_errors) document.add_fact("generator.sequence_errors", errors);
    document.content = std::move(generator_);
    return document;
  }

 private:
  static bool keep(const std::string& column, std::string_view cell, GeneratedFlow& flow) {
    if (column == "flow_name" || column == "name") {
      flow.name = cell;
    } else if (column == "port_tx" || column == "tx_port") {
      flow.transmitter = cell;
    } else if (column == "port_rx" || column == "rx_port") {
      flow.receiver = cell;
    } else if (column == "ip_dscp" || column == "dscp") {
      if (const auto dscp = leading_integer(cell); dscp && *dscp >= 0 && *dscp < 64)
        flow.dscp = static_cast<int>(*dscp);
      return flow.dscp.has_value();
    } else if (const auto count = count_of(cell)) {
      if (column.starts_with("nak_rx") || column == "nak") flow.naks = count;
      if (contains(column, "sequence_error")) flow.sequence_errors = count;
      if (column == "frames_tx" || column == "tx_frames") flow.sent_frames = count;
      if (column == "frames_rx" || column == "rx_frames") flow.received_frames = count;
      return true;
    }
    return false;
  }

  TrafficGenerator generator_;
  std::vector<std::string> columns_;
  Layout layout_ = Layout::bars;
};

bool begins_generator(const Line& line, const Context&) {
  // A table's upper border belongs to no one: what it frames is not known yet.
  return is_generator_head(line.text);
}

}  // namespace

Format traffic_generator_format() {
  return {.name = "traffic-generator",
          .anchors = kGeneratorAnchors,
          .begins = begins_generator,
          .open = open_reader<GeneratorReader>};
}

}  // namespace rocetune::evidence
