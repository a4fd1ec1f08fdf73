#include "agent/evidence/switches/junos_interface.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kPhysical = "Physical interface: ";
constexpr std::string_view kPfcTitle = "MAC Priority Flow Control Statistics";

enum class JunosSection { other, input_errors, output_errors, queues, classes, pfc, schedule };

// Sections that matter, by their title.
std::optional<JunosSection> junos_section_of(std::string_view text) {
  if (text.starts_with("Input errors:")) return JunosSection::input_errors;
  if (text.starts_with("Output errors:")) return JunosSection::output_errors;
  if (text.starts_with("Queue counters:")) return JunosSection::queues;
  if (text.starts_with("Queue number:")) return JunosSection::classes;
  if (text.starts_with(kPfcTitle)) return JunosSection::pfc;
  if (text.starts_with("CoS information:")) return JunosSection::schedule;
  return std::nullopt;
}

// The number behind "Drops: " in a list of them.
std::optional<std::uint64_t> junos_value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    if (at > 0 && text[at - 1] != ' ' && text[at - 1] != ',') continue;
    std::string_view value = trimmed(text.substr(at + key.size()));
    return take_number<std::uint64_t>(value);
  }
  return std::nullopt;
}

class JunosInterfaceReader : public DocumentReader {
 public:
  explicit JunosInterfaceReader(const Context&) { content_.model.system = SwitchSystem::junos; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    const bool is_indented = line.text.front() == ' ' || line.text.front() == '\t';
    const std::string_view text = trimmed(line.text);
    if (text.starts_with(kPhysical)) {
      port_ = split_at(text.substr(kPhysical.size()), ',').first;
      content_.model.ports[port_];
      section_ = JunosSection::other;
      return Verdict::mine;
    }
    if (const auto section = junos_section_of(text)) {
      section_ = *section;
      any_ = true;
      return Verdict::mine;
    }
    if (take_row(text, line.number)) return Verdict::mine;
    if (!is_indented || port_.empty()) return Verdict::not_mine;
    section_ = JunosSection::other;
    take_line(text, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (!any_ && port_.empty()) return std::nullopt;
    for (QueueTraffic& queue : content_.queues) {
      const auto found = classes_.find({queue.port, *queue.number});
      if (found != classes_.end() && queue.forwarding_class.empty()) queue.forwarding_class = found->second;
      if (!queue.forwarding_class.empty()) queue.queue += " " + queue.forwarding_class;
    }
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  PortTraffic& traffic(int line) {
    if (content_.traffic.empty() || content_.traffic.back().port != port_) {
      content_.traffic.push_back({});
      content_.traffic.back().port = port_;
      content_.traffic.back().line = line;
    }
    return content_.traffic.back();
  }

  PfcFrames& frames(bool received, int line) {
    for (PfcFrames& row : content_.pfc_frames) {
      if (row.port == port_ && row.received == received) return row;
    }
    PfcFrames row;
    row.port = port_;
    row.received = received;
    row.line = line;
    content_.pfc_frames.push_back(std::move(row));
    return content_.pfc_frames.back();
  }

  // A row of the section that is open.
  bool take_row(std::string_view text, int line) {
    const auto words = host::words(text);
    switch (section_) {
      case JunosSection::other:
        return false;
      case JunosSection::input_errors:
        if (const auto drops = junos_value_of(text, "Drops: ")) traffic(line).rx_drop = drops;
        return junos_value_of(text, "Errors: ").has_value();
      case JunosSection::output_errors:
        if (const auto drops = junos_value_of(text, "Drops: ")) traffic(line).tx_drop = drops;
        return junos_value_of(text, "Errors: ").has_value();
      case JunosSection::queues:
        return take_queue(words, line);
      case JunosSection::classes: {
        const auto number = words.size() == 2 ? count_in(words[0]) : std::nullopt;
        if (!number || *number > 63) return false;
        classes_[{port_, static_cast<int>(*number)}] = words[1];
        return true;
      }
      case JunosSection::pfc:
        return take_pfc(words, line);
      case JunosSection::schedule:
        return take_schedule(words);
    }
    return false;
  }

  // "4  no-loss  0  0  0" or "4  0  0  0": queued, transmitted, dropped.
  bool take_queue(const std::vector<std::string_view>& words, int line) {
    if (words.size() != 4 && words.size() != 5) return false;
    const auto number = count_in(words[0]);
    const std::size_t n = words.size();
    const auto queued = count_in(words[n - 3]), sent = count_in(words[n - 2]),
               dropped = count_in(words[n - 1]);
    if (!number || *number > 63 || !queued || !sent || !dropped) return false;
    QueueTraffic out;
    out.port = port_;
    out.queue = words[0];
    out.number = static_cast<int>(*number);
    if (n == 5) out.forwarding_class = words[1];
    out.sent = sent;
    out.dropped = dropped;
    out.line = line;
    content_.queues.push_back(std::move(out));
    return true;
  }

  // "Priority :  3    0    0": received, sent.
  bool take_pfc(const std::vector<std::string_view>& words, int line) {
    std::size_t at = 0;
    if (words.empty() || !words[0].starts_with("Priority")) return false;
    at = words.size() > 1 && words[1] == ":" ? 2 : 1;
    if (words.size() < at + 3) return false;
    const auto priority = count_in(words[at]), received = count_in(words[at + 1]),
               sent = count_in(words[at + 2]);
    if (!priority || *priority > 7 || !received || !sent) return false;
    frames(true, line).of_priority[*priority] = received;
    frames(false, line).of_priority[*priority] = sent;
    return true;
  }

  // "4 no-loss  35  14000000000  35  0  low  none": percent of the bandwidth.
  bool take_schedule(const std::vector<std::string_view>& words) {
    if (!words.empty() && (words[0] == "Direction" || words[0] == "CoS" || words[0] == "%")) return true;
    if (words.size() < 7) return false;
    const auto number = count_in(words[0]), share = count_in(words[2]);
    if (!number || *number > 7) return false;
    SwitchQueue& queue = content_.model.ports[port_].queues[TrafficClass(static_cast<int>(*number))];
    queue.strict = words[words.size() - 2].find("strict") != std::string_view::npos;
    if (share && *share <= 100 && !*queue.strict) queue.share_percent = static_cast<int>(*share);
    return true;
  }

  void take_line(std::string_view text, int line) {
    if (text.starts_with("Input  packets") || text.starts_with("Input packets")) {
      traffic(line).rx_ok = behind_colon(text);
    } else if (text.starts_with("Output packets")) {
      traffic(line).tx_ok = behind_colon(text);
    } else if (text.find("MTU: ") != text.npos) {
      if (const auto mtu = junos_value_of(text, "MTU: "); mtu && *mtu < 65536) {
        content_.model.ports[port_].mtu = Bytes(static_cast<std::int64_t>(*mtu));
        content_.model.note_line("mtu", line, port_);
      }
      const auto at = text.find("Speed: ");
      if (at != text.npos) {
        const std::string_view speed = split_at(text.substr(at + 7), ',').first;
        if (const auto rate = parse_bit_rate(speed)) content_.model.ports[port_].speed = *rate;
      }
    }
  }

  static std::optional<std::uint64_t> behind_colon(std::string_view text) {
    const auto words = host::words(split_at(text, ':').second);
    return words.empty() ? std::nullopt : count_in(words[0]);
  }

  SwitchEvidence content_;
  std::string port_;
  JunosSection section_ = JunosSection::other;
  std::map<std::pair<std::string, int>, std::string> classes_;
  bool any_ = false;
};

constexpr std::string_view kJunosInterfaceAnchors[] = {"Physical interface:", "MAC Priority Flow Control",
                                                       "Queue counters:"};

}  // namespace

Format junos_interface_format() {
  return {.name = "junos-interface",
          .anchors = kJunosInterfaceAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const std::string_view text = trimmed(line.text);
                return text.starts_with(kPhysical) || text.starts_with(kPfcTitle) ||
                       (text.starts_with("Queue counters:") && text.find("packets") != text.npos);
              },
          .open = open_reader<JunosInterfaceReader>};
}

}  // namespace rocetune::evidence
