#include "agent/evidence/host_tools/ethtool_fec.h"

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kFecTitle = "FEC parameters for ";

bool is_fec_statistic(std::string_view key) {
  return key == "corrected_blocks" || key == "uncorrectable_blocks" || key == "corrected_bits";
}

class EthtoolFecReader : public DocumentReader {
 public:
  explicit EthtoolFecReader(const Context& context) : device_(interface_of_ethtool(context.command)) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const std::string_view title = interface_in_title(line.text, kFecTitle);
    if (!title.empty()) {
      if (lines_ > 0) return Verdict::next_document;
      device_ = title;
      ++lines_;
      return Verdict::mine;
    }
    const auto [key, value] = split_at(line.text, ':');
    if (key == "Active FEC encoding" || key == "Active FEC encodings") {
      active_ = value;
    } else if (is_fec_statistic(key)) {
      const auto count = count_of(value);
      if (!count) return Verdict::not_mine;
      if (document_.find_counter(key) != nullptr) return Verdict::next_document;
      document_.counters.push_back({device_, std::string(key), *count, line.number});
      of_lanes_ = key;
    } else if (key.starts_with("Lane ") && !of_lanes_.empty()) {
      const auto count = count_of(value);
      if (!count) return Verdict::not_mine;
      // "corrected_blocks of lane 3" of the four blocks that a lane lists.
      document_.counters.push_back(
          {device_, of_lanes_ + ".lane" + std::string(key.substr(5)), *count, line.number});
    } else if (key != "Configured FEC encodings" && key != "Supported/Configured FEC encodings" &&
               key != "Supported FEC encodings" && !(key == "Statistics" && value.empty() && lines_ > 0)) {
      return Verdict::not_mine;
    }
    ++lines_;
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (lines_ == 0) return std::nullopt;
    host::Port port;
    port.name = device_;
    if (!active_.empty()) {
      host::Link link;
      link.fec = active_;
      link.carrier = active_ != "Off" && active_ != "None";
      link.admin_up = link.carrier;
      port.link = link;
      document_.host_part.emplace().ports.push_back(std::move(port));
    }
    return std::move(document_);
  }

 private:
  std::string device_;
  std::string active_;
  std::string of_lanes_;
  int lines_ = 0;
  Document document_;
};

bool begins_fec(const Line& line, const Context&) {
  if (!interface_in_title(line.text, kFecTitle).empty()) return true;
  const auto [key, value] = split_at(line.text, ':');
  return (is_fec_statistic(key) && count_of(value)) || (key == "Active FEC encoding" && !value.empty());
}

}  // namespace

Format ethtool_fec_format() {
  static constexpr std::string_view kAnchors[] = {
      kFecTitle, "corrected_blocks:", "uncorrectable_blocks:", "Active FEC encoding"};
  return {.name = "ethtool-fec",
          .anchors = kAnchors,
          .begins = begins_fec,
          .open = open_reader<EthtoolFecReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
