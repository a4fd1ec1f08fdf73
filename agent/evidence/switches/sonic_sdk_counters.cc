#include "agent/evidence/switches/sonic_sdk_counters.h"

#include <set>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

// "Port 0x10500 - IEEE 802.3 Counters Group": its port; empty for another line.
std::string_view port_of_group(std::string_view text) {
  if (!text.starts_with("Port ") || text.find("Counters Group") == std::string_view::npos) return {};
  const auto words = host::words(text);
  return words.size() > 2 && words[2] == "-" ? words[1] : std::string_view();
}

// "Prio 3".
std::optional<int> priority_of_group(std::string_view text) {
  const auto words = host::words(text);
  if (words.size() != 2 || words[0] != "Prio") return std::nullopt;
  const auto number = count_in(words[1]);
  if (!number || *number > 7) return std::nullopt;
  return static_cast<int>(*number);
}

// "name = value": names are identifiers.
std::optional<std::pair<std::string_view, std::uint64_t>> assignment_in(std::string_view text) {
  const auto [name, value] = split_at(text, '=');
  const auto number = count_in(value);
  if (!number || name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != name.npos)
    return std::nullopt;
  return std::pair(name, *number);
}

class SonicSdkCountersReader : public DocumentReader {
 public:
  explicit SonicSdkCountersReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    if (const auto port = port_of_group(line.text); !port.empty()) {
      port_ = port;
      priority_.reset();
      return Verdict::mine;
    }
    if (const auto priority = priority_of_group(line.text)) {
      priority_ = priority;
      priorities_.insert(*priority);
      return Verdict::mine;
    }
    if (is_rule(line.text)) return Verdict::mine;
    const auto assignment = assignment_in(line.text);
    if (!assignment) return Verdict::not_mine;
    rows_.push_back({port_, priority_, std::string(assignment->first), assignment->second, line.number});
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (rows_.empty()) return std::nullopt;
    Document document;
    SwitchEvidence content;
    for (const Row& row : rows_) {
      const bool qualified = row.priority && priorities_.size() > 1;
      document.counters.push_back(
          {row.port, qualified ? "prio" + std::to_string(*row.priority) + "." + row.name : row.name,
           row.value, row.line});
      if (row.priority && row.name == "rx_pause") add_frames(content, row, true);
      if (row.priority && row.name == "tx_pause") add_frames(content, row, false);
    }
    // Where no priorities are listed: all MAC control frames that are pause frames, global ones too.
    for (const Row& row : rows_) {
      const bool received = row.name == "a_pause_mac_ctrl_frames_received";
      const bool sent = row.name == "a_pause_mac_ctrl_frames_transmitted";
      if ((!received && !sent) || has_frames(content, row.port, received)) continue;
      PfcFrames frames;
      frames.port = row.port;
      frames.received = received;
      frames.total = row.value;
      frames.line = row.line;
      content.pfc_frames.push_back(std::move(frames));
    }
    document.content = std::move(content);
    return document;
  }

 private:
  struct Row {
    std::string port;
    std::optional<int> priority;
    std::string name;
    std::uint64_t value = 0;
    int line = 0;
  };

  static bool has_frames(const SwitchEvidence& content, const std::string& port, bool received) {
    for (const PfcFrames& frames : content.pfc_frames) {
      if (frames.port == port && frames.received == received) return true;
    }
    return false;
  }

  static void add_frames(SwitchEvidence& content, const Row& row, bool received) {
    for (PfcFrames& frames : content.pfc_frames) {
      if (frames.port != row.port || frames.received != received) continue;
      frames.of_priority[static_cast<std::size_t>(*row.priority)] = row.value;
      return;
    }
    PfcFrames frames;
    frames.port = row.port;
    frames.received = received;
    frames.of_priority[static_cast<std::size_t>(*row.priority)] = row.value;
    frames.line = row.line;
    content.pfc_frames.push_back(std::move(frames));
  }

  std::string port_;
  std::optional<int> priority_;
  std::set<int> priorities_;
  std::vector<Row> rows_;
};

constexpr std::string_view kSdkAnchors[] = {"Counters Group",
                                            "a_pause_mac_ctrl",
                                            "rx_pause_duration",
                                            "a_mac_control_frames",
                                            "a_frames_",
                                            "dot3in_pause_frames",
                                            "Prio "};

bool begins_sdk_dump(const Line& line, const Context&) {
  if (!port_of_group(line.text).empty() || priority_of_group(line.text)) return true;
  const auto assignment = assignment_in(line.text);
  return assignment && (assignment->first.starts_with("a_") || assignment->first.starts_with("dot3") ||
                        assignment->first.find("_pause") != std::string_view::npos);
}

}  // namespace

Format sonic_sdk_counters_format() {
  return {.name = "sonic-sdk-counters",
          .anchors = kSdkAnchors,
          .begins = begins_sdk_dump,
          .open = open_reader<SonicSdkCountersReader>};
}

}  // namespace rocetune::evidence
