#include "agent/evidence/rdma_tools/mlxlink.h"

#include <boost/json/value.hpp>

#include <algorithm>
#include <array>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace mlxlink_text {
namespace {

constexpr std::size_t kMostLanes = 64;
constexpr std::size_t kMostBins = 256;
constexpr std::array<std::string_view, 10> kAnchors{
    "State  ",           "Physical state  ", "Effective Physical",   "Raw Physical",
    "Operational Info",  "Symbol BER",       "Troubleshooting Info", "Physical Counters and BER",
    "Link Down Counter", "Symbol Errors  "};

constexpr std::array<std::string_view, 14> kSections{"Operational Info",
                                                     "Supported Info",
                                                     "Troubleshooting Info",
                                                     "Physical Counters and BER Info",
                                                     "Module Info",
                                                     "Tool Information",
                                                     "Histogram of FEC Errors",
                                                     "EYE Opening Info",
                                                     "FEC Histogram",
                                                     "Eye Opening Info",
                                                     "Port Extended Info",
                                                     "FEC Capability Info",
                                                     "Serdes Tuning Transmitter Info",
                                                     "PCIe Operational (Enumerated) Info"};

bool is_counter(std::string_view key) {
  return key.starts_with("Effective Physical") || key.starts_with("Raw Physical") || key == "Symbol BER" ||
         key == "Symbol Errors" || key == "Link Down Counter";
}

// "State                              : Active": blanks in front of the colon, unlike ibstat.
std::pair<std::string_view, std::string_view> row_of(std::string_view text) {
  const auto colon = text.find(" : ");
  const auto end = text.ends_with(" :") ? text.size() - 2 : std::string_view::npos;
  const auto at = std::min(colon, end);
  if (at == std::string_view::npos) {
    // The telemetry library prints the counters as "Link Down Counter: 3".
    const auto [key, value] = split_at(text, ':');
    return is_counter(key) && !value.empty() ? std::pair(key, value)
                                             : std::pair<std::string_view, std::string_view>();
  }
  if (at == 0) return {};
  return {trimmed(text.substr(0, at)), trimmed(text.substr(std::min(at + 3, text.size())))};
}

bool is_telling(std::string_view key, std::string_view value) {
  if (key == "State")
    return value == "Active" || value == "Disable" || value == "Polling" || value == "Close port" ||
           value == "Physical LinkUp" || value == "Rx disable" || value == "Port PLL Down";
  if (key == "Physical state") return !value.empty();
  return is_counter(key);
}

bool is_section(std::string_view text) {
  const auto at = text.find_first_not_of("-= ");
  if (at == std::string_view::npos) return false;
  text = text.substr(at, text.find_last_not_of("-= ") - at + 1);
  return std::find(kSections.begin(), kSections.end(), text) != kSections.end();
}

bool begins(const Line& line, const Context&) {
  const std::string_view text = trimmed(line.text);
  if (is_section(text)) return true;
  const auto [key, value] = row_of(text);
  return is_telling(key, value);
}

// "200G", "100GbE", "IB-HDR", "40G": gigabits if they are told.
std::optional<BitRate> speed_of(std::string_view text) {
  const auto number = leading_number<int>(text);
  if (!number || *number < 1 || *number > 3200 || text.find('G') == std::string_view::npos)
    return std::nullopt;
  return BitRate(std::int64_t{*number} * 1'000'000'000);
}

// "15E-255" is how the tool writes none at all.
std::optional<double> ratio_of(std::string_view text) {
  const auto value = leading_number<double>(text);
  if (!value || *value < 0) return std::nullopt;
  return *value < 1e-60 ? 0.0 : *value;
}

void set(MlxlinkReport& report, std::string_view key, std::string_view value, int line) {
  const auto count = [&] { return leading_number<std::uint64_t>(value); };
  if (key == "State") {
    report.state = value;
    report.state_line = line;
  } else if (key == "Physical state") {
    report.physical_state = value;
  } else if (key == "Speed") {
    report.speed = speed_of(value);
    report.speed_line = line;
  } else if (key == "Width") {
    report.width = value;
  } else if (key == "FEC") {
    report.fec = value;
  } else if (key == "Effective Physical Errors") {
    report.effective_errors = count();
    report.effective_line = line;
  } else if (key == "Effective Physical BER") {
    report.effective_ber = ratio_of(value);
    report.effective_line = line;
  } else if (key == "Symbol Errors") {
    report.symbol_errors = count();
    report.symbol_line = line;
  } else if (key == "Symbol BER") {
    report.symbol_ber = ratio_of(value);
    report.symbol_line = line;
  } else if (key == "Raw Physical BER") {
    report.raw_ber = ratio_of(value);
  } else if (key == "Raw Physical Errors Per Lane") {
    report.raw_errors_of_lane.clear();
    for (const std::string_view lane : host::split(value, ',')) {
      const auto errors = leading_number<std::uint64_t>(lane);
      if (!errors || report.raw_errors_of_lane.size() >= kMostLanes) break;
      report.raw_errors_of_lane.push_back(*errors);
    }
    report.lanes_line = line;
  } else if (key == "Link Down Counter") {
    report.link_downs = count();
    report.downs_line = line;
  } else if (key.starts_with("Time Since Last Clear")) {
    report.minutes_since_clear = leading_number<double>(value);
  } else if (key == "Recommendation") {
    if (!value.starts_with("No issue") && value != "N/A") report.recommendation = value;
    report.recommendation_line = line;
  }
}

std::optional<Document> document_of(MlxlinkReport report) {
  Document document;
  if (!report.is_active()) report.speed.reset();  // a port that is down shows a placeholder
  std::uint64_t sum = 0;
  for (const std::uint64_t errors : report.raw_errors_of_lane) sum += errors;
  if (sum > 0) {
    const auto worst = std::max_element(report.raw_errors_of_lane.begin(), report.raw_errors_of_lane.end());
    document.add_fact("link.worst_lane", static_cast<double>(worst - report.raw_errors_of_lane.begin()));
    document.add_fact("link.worst_lane_share", static_cast<double>(*worst) / static_cast<double>(sum));
  }
  document.content = std::move(report);
  return document;
}

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (text.empty()) return Verdict::not_mine;
    if (auto bin = fec_bin_of(text)) {
      bin->line = line.number;
      if (report_.bins.size() < kMostBins) report_.bins.push_back(*bin);
      return Verdict::mine;
    }
    if (is_section(text)) {
      if (text == "Operational Info" && any_) return Verdict::next_document;
      return Verdict::mine;
    }
    if (text.find_first_not_of('-') == std::string_view::npos) return Verdict::mine;
    const auto [key, value] = row_of(text);
    if (key.empty()) return Verdict::not_mine;
    if (key == "State" && report_.state_line > 0) return Verdict::next_document;
    if (report_.line == 0) report_.line = line.number;
    any_ = any_ || is_telling(key, value);
    set(report_, key, value, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (!any_ && report_.bins.empty()) return std::nullopt;
    return document_of(std::move(report_));
  }

 private:
  MlxlinkReport report_;
  PromptWatch prompts_;
  bool any_ = false;
};

// ---- JSON: sections as objects; a list of lanes plain or as {"values": []} ----

std::string text_of(const boost::json::value& json) {
  if (json.is_string()) return std::string(json.as_string());
  if (json.is_int64()) return std::to_string(json.as_int64());
  if (json.is_uint64()) return std::to_string(json.as_uint64());
  if (json.is_double()) return std::to_string(json.as_double());
  std::string out;
  if (const auto* list = json.if_array()) {
    for (const auto& item : *list) {
      if (out.size() > 4096) break;
      out += (out.empty() ? "" : ",") + text_of(item);
    }
  }
  if (const auto* object = json.if_object()) {
    if (const auto* values = object->if_contains("values")) return text_of(*values);
  }
  return out;
}

// Takes all sections of an object; how many of them are mlxlink's.
int take_sections(const boost::json::object& object, MlxlinkReport& report, int depth) {
  int sections = 0;
  for (const auto& [name, value] : object) {
    const auto* section = value.if_object();
    if (section == nullptr) continue;
    if (is_section(name)) {
      ++sections;
      for (const auto& [key, item] : *section) {
        std::string text = text_of(item);
        std::string spaced = text;  // "[0:0],27284"
        std::replace(spaced.begin(), spaced.end(), ',', ' ');
        if (auto bin = fec_bin_of(std::string(key) + " " + spaced); bin && report.bins.size() < kMostBins)
          report.bins.push_back(*bin);
        set(report, key, text, 0);
      }
    } else if (depth < 4) {
      sections += take_sections(*section, report, depth + 1);
    }
  }
  return sections;
}

std::optional<Document> from_json(const boost::json::value& json, const Context&) {
  const auto* object = json.if_object();
  if (object == nullptr) return std::nullopt;
  MlxlinkReport report;
  if (take_sections(*object, report, 0) == 0) return std::nullopt;
  return document_of(std::move(report));
}

}  // namespace
}  // namespace mlxlink_text

Format mlxlink_format() {
  return {.name = "mlxlink",
          .anchors = mlxlink_text::kAnchors,
          .begins = mlxlink_text::begins,
          .open = open_reader<mlxlink_text::Reader>,
          .from_json = mlxlink_text::from_json};
}

}  // namespace rocetune::evidence
