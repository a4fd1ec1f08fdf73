#include "agent/evidence/switches/onyx_roce.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

// The titles of its blocks.
enum class OnyxBlock { top, application, congestion, classes, pools, exceptions };

std::optional<OnyxBlock> onyx_block_of(std::string_view text) {
  if (text.starts_with("Application TLV")) return OnyxBlock::application;
  if (text.starts_with("Port congestion-control")) return OnyxBlock::congestion;
  if (text.starts_with("RoCE used TCs")) return OnyxBlock::classes;
  if (text.starts_with("RoCE buffer pools")) return OnyxBlock::pools;
  if (text.starts_with("Exception list")) return OnyxBlock::exceptions;
  return std::nullopt;
}

bool is_onyx_key(std::string_view key) {
  return key == "RoCE mode" || key == "Port trust mode" || key == "RoCE";
}

// "WRR 50%", "Strict".
bool take_onyx_share(std::string_view text, SwitchQueue& queue) {
  if (lower_case(text).starts_with("strict")) {
    queue.strict = true;
    return true;
  }
  const auto digits = text.find_first_of("0123456789");
  if (digits == text.npos) return false;
  text.remove_prefix(digits);
  const auto share = take_number<std::uint64_t>(text);
  if (!share || *share > 100) return false;
  queue.strict = false;
  queue.share_percent = static_cast<int>(*share);
  return true;
}

class OnyxRoceReader : public DocumentReader {
 public:
  explicit OnyxRoceReader(const Context&) { content_.model.system = SwitchSystem::onyx; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (const auto block = onyx_block_of(text)) {
      block_ = *block;
      return Verdict::mine;
    }
    if (is_rule(text)) return Verdict::mine;
    const auto [key, value] = split_at(text, ':');
    if (key == "RoCE mode" && any_) return Verdict::next_document;
    if (take_setting(key, value, line.number)) {
      any_ = true;
      return Verdict::mine;
    }
    switch (block_) {
      case OnyxBlock::classes:
        return take_class(text, line.number) ? Verdict::mine : Verdict::not_mine;
      case OnyxBlock::pools:
        return take_pool(text) ? Verdict::mine : Verdict::not_mine;
      case OnyxBlock::exceptions:
        return text == "N/A" ? Verdict::mine : Verdict::not_mine;
      default:
        return Verdict::not_mine;
    }
  }

  std::optional<Document> finish() override {
    if (!any_) return std::nullopt;
    SwitchSettings& common = content_.model.common;
    // Marking is set for the RoCE class's queue.
    if (marking_.marks && roce_queue_) {
      SwitchQueue& queue = common.queues[*roce_queue_];
      queue.marks = marking_.marks;
      queue.mark_from = marking_.mark_from;
      queue.mark_all = marking_.mark_all;
      content_.model.note_line("ecn", marking_line_);
    }
    if (pfc_on_) {
      if (!*pfc_on_) {
        common.pfc = PrioritySet();
      } else if (!pfc_.is_empty()) {
        common.pfc = pfc_;
      }
      content_.model.note_line("pfc", pfc_line_);
    }
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  bool take_setting(std::string_view key, std::string_view value, int line) {
    SwitchModel& model = content_.model;
    if (key == "RoCE mode" || key == "LLDP") return !value.empty();
    if (key == "Port trust mode") {
      const std::string trust = lower_case(value);
      model.common.trust = trust == "l3"               ? SwitchTrust::dscp
                           : trust == "l2"             ? SwitchTrust::pcp
                           : trust.starts_with("both") ? SwitchTrust::both
                                                       : SwitchTrust::none;
      model.note_line("trust", line);
      return true;
    }
    if (key == "Selector") {
      is_udp_ = lower_case(value).starts_with("udp");
      return true;
    }
    if (key == "Protocol") {
      is_roce_port_ = value == "4791";
      return true;
    }
    if (key == "Priority" && block_ == OnyxBlock::application) {
      const auto number = count_in(value);
      if (!number || *number > 7) return false;
      if (is_udp_ && is_roce_port_) {
        model.announced_priority = Priority(static_cast<int>(*number));
        model.note_line("application", line);
      }
      return true;
    }
    if (key == "Mode" && block_ == OnyxBlock::congestion) {
      marking_.marks = lower_case(value).find("ecn") != std::string::npos;
      marking_line_ = line;
      return true;
    }
    if (key == "Min (KB)" || key == "Max (KB)") {
      const auto size = size_in(std::string(value) + "KB", false);
      if (!size) return false;
      (key.starts_with("Min") ? marking_.mark_from : marking_.mark_all) = *size;
      return true;
    }
    if (key == "PFC") {
      pfc_on_ = lower_case(value) == "enabled";
      pfc_line_ = line;
      return true;
    }
    constexpr std::string_view kPriority = "switch-priority ";
    if (key.starts_with(kPriority)) {
      const auto priorities = priorities_in(key.substr(kPriority.size()));
      if (!priorities) return false;
      if (lower_case(value) == "enabled")
        pfc_ = PrioritySet(static_cast<std::uint8_t>(pfc_.mask() | priorities->mask()));
      return true;
    }
    return false;
  }

  // "3   3   RoCE   WRR 50%": switch priority, traffic class, application, share.
  bool take_class(std::string_view text, int line) {
    if (text.starts_with("Switch-Priority")) return true;
    const auto words = host::words(text);
    if (words.size() < 4) return false;
    const auto priority = count_in(words[0]), queue = count_in(words[1]);
    if (!priority || *priority > 7 || !queue || *queue > 7) return false;
    const TrafficClass number(static_cast<int>(*queue));
    content_.model.common.queue_of_priority[Priority(static_cast<int>(*priority))] = number;
    std::string share;
    for (std::size_t i = 3; i < words.size(); ++i) share += std::string(words[i]) + " ";
    take_onyx_share(share, content_.model.common.queues[number]);
    content_.model.note_line("queue " + std::to_string(number.value()), line);
    if (lower_case(words[2]) == "roce") roce_queue_ = number;
    any_ = true;
    return true;
  }

  // "roce-reserved  lossless  auto  3  3.6M  0  1.8M"; lists go on in the next line: "5, 6, 7".
  bool take_pool(std::string_view text) {
    if (text.starts_with("Traffic") || text.starts_with("Pool")) return true;
    if (numbers_in(text, 7)) return true;
    const auto cells = cells_of(text);
    if (cells.size() < 5 || (cells[1] != "lossy" && cells[1] != "lossless")) return false;
    if (cells[1] == "lossless") {
      if (const auto numbers = numbers_in(cells[3], 7)) {
        for (const int p : *numbers) {
          SwitchBuffer& buffer = content_.model.common.buffers[Priority(p)];
          buffer.lossless = true;
          buffer.pool = size_in(cells[4], true);
        }
      }
    }
    return true;
  }

  SwitchEvidence content_;
  OnyxBlock block_ = OnyxBlock::top;
  bool any_ = false, is_udp_ = false, is_roce_port_ = false;
  std::optional<bool> pfc_on_;
  PrioritySet pfc_;
  int pfc_line_ = 0, marking_line_ = 0;
  SwitchQueue marking_;
  std::optional<TrafficClass> roce_queue_;
};

constexpr std::string_view kOnyxAnchors[] = {"RoCE mode",       "Port trust mode",
                                             "Application TLV", "Port congestion-control",
                                             "RoCE used TCs",   "RoCE buffer pools"};

}  // namespace

Format onyx_roce_format() {
  return {.name = "onyx-roce",
          .anchors = kOnyxAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const std::string_view text = trimmed(line.text);
                return onyx_block_of(text).has_value() || is_onyx_key(split_at(text, ':').first);
              },
          .open = open_reader<OnyxRoceReader>};
}

}  // namespace rocetune::evidence
