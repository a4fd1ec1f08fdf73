#include "agent/evidence/switches/nvue_roce.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

bool is_nvue_head(std::string_view text) {
  const auto words = host::words(text);
  return words.size() >= 2 && words[0] == "operational" && words[1] == "applied";
}

constexpr std::string_view kMapTitle = "RoCE PCP/DSCP->SP mapping configurations";
constexpr std::string_view kClassTitle = "RoCE SP->TC mapping and ETS configurations";

bool is_yes(std::string_view value) {
  const std::string word = lower_case(value);
  return word == "yes" || word == "on" || word == "enable" || word == "enabled";
}

// "DWRR-50%", "dwrr-50%", "strict-priority", "strict priority".
bool take_nvue_share(std::string_view text, SwitchQueue& queue) {
  const std::string word = lower_case(text);
  if (word.starts_with("strict")) {
    queue.strict = true;
    return true;
  }
  if (!word.starts_with("dwrr-")) return false;
  std::string_view number = std::string_view(word).substr(5);
  const auto share = take_number<std::uint64_t>(number);
  if (!share || *share > 100) return false;
  queue.strict = false;
  queue.share_percent = static_cast<int>(*share);
  return true;
}

// What `nv show` says by keys, in text and JSON alike.
class NvueRoce {
 public:
  // False: no key of this output.
  bool take(std::string_view key, std::string_view value, int line) {
    SwitchModel& model = content.model;
    if (key == "pfc-priority") {
      const auto priorities = priorities_in(value);
      if (!priorities && value != "-") return false;
      model.common.pfc = priorities.value_or(PrioritySet());
      model.note_line("pfc", line);
    } else if (key == "rx-enabled" || key == "tx-enabled") {
      one_way_ = one_way_ || !is_yes(value);
    } else if (key == "cable-length") {
      if (const auto metres = count_in(value))
        model.common.cable = Metres(static_cast<std::int64_t>(*metres));
    } else if (key == "congestion-mode") {
      marking_.marks = lower_case(value).find("ecn") != std::string::npos;
      model.note_line("ecn", line);
    } else if (key == "enabled-tc") {
      marked_ = numbers_in(value, 7).value_or(std::vector<int>());
    } else if (key == "min-threshold") {
      marking_.mark_from = size_in(value, true);
    } else if (key == "max-threshold") {
      marking_.mark_all = size_in(value, true);
    } else if (key == "probability") {
      if (const auto percent = count_in(value); percent && *percent <= 100)
        marking_.mark_percent = static_cast<int>(*percent);
    } else if (key == "trust-mode") {
      const bool dscp = value.find("dscp") != value.npos, pcp = value.find("pcp") != value.npos;
      model.common.trust = dscp && pcp ? SwitchTrust::both
                           : dscp      ? SwitchTrust::dscp
                           : pcp       ? SwitchTrust::pcp
                                       : SwitchTrust::none;
      model.note_line("trust", line);
    } else if (key == "priority") {
      if (const auto priority = count_in(value); priority && *priority <= 7)
        announced_ = Priority(static_cast<int>(*priority));
    } else if (key == "protocol-id") {
      is_roce_port_ = value == "4791";
    } else {
      // Headings, and words that other outputs of `nv show` have too, prove nothing.
      return key == "mode" || key == "state" || key == "enable" || key == "selector" || key == "pfc" ||
             key == "congestion-control" || key == "trust" || key == "lldp-app-tlv";
    }
    any = true;
    return true;
  }

  // "3  3  24,25,26  3" or "roce  3  26  3".
  bool take_mapping(std::string_view text, int line) {
    const auto words = host::words(text);
    if (words.size() != 4) return false;
    const auto priority = count_in(words[3]);
    if (!priority || *priority > 7) return false;
    if (words[2] == "-") return true;
    const auto dscps = numbers_in(words[2], 63);
    if (!dscps) return false;
    for (const int dscp : *dscps) {
      content.model.common.priority_of_dscp[Dscp(dscp)] = Priority(static_cast<int>(*priority));
      content.model.note_line("dscp " + std::to_string(dscp), line);
    }
    return any = true;
  }

  // "3  3  3  DWRR-50%": index, switch priority, traffic class, weight.
  bool take_class(std::string_view text, int line) {
    const auto words = host::words(text);
    if (words.size() < 4) return false;
    const auto priority = count_in(words[1]), queue = count_in(words[2]);
    if (!priority || *priority > 7 || !queue || *queue > 7) return false;
    const TrafficClass number(static_cast<int>(*queue));
    if (!take_nvue_share(words[3], content.model.common.queues[number])) return false;
    content.model.common.queue_of_priority[Priority(static_cast<int>(*priority))] = number;
    content.model.note_line("queue " + std::to_string(number.value()), line);
    return any = true;
  }

  std::optional<Document> finish() {
    if (!any) return std::nullopt;
    SwitchSettings& common = content.model.common;
    for (const int tc : marked_) {
      SwitchQueue& queue = common.queues[TrafficClass(tc)];
      queue.marks = marking_.marks;
      queue.mark_from = marking_.mark_from;
      queue.mark_all = marking_.mark_all;
      queue.mark_percent = marking_.mark_percent;
    }
    if (one_way_ && common.pfc && !common.pfc->is_empty()) common.pfc = PrioritySet();
    if (is_roce_port_ && announced_) content.model.announced_priority = announced_;
    Document document;
    document.content = std::move(content);
    return document;
  }

  SwitchEvidence content;
  bool any = false;

 private:
  std::vector<int> marked_;
  SwitchQueue marking_;
  std::optional<Priority> announced_;
  bool is_roce_port_ = false, one_way_ = false;
};

class NvueRoceReader : public DocumentReader {
 public:
  explicit NvueRoceReader(const Context&) { roce_.content.model.system = SwitchSystem::nvue; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (is_nvue_head(text)) {
      if (roce_.any) return Verdict::next_document;
      section_ = Section::keys;
      return Verdict::mine;
    }
    if (text.starts_with("RoCE ")) {
      section_ = text.starts_with(kMapTitle)     ? Section::mapping
                 : text.starts_with(kClassTitle) ? Section::classes
                                                 : Section::other;
      return Verdict::mine;
    }
    if (is_rule(text)) return Verdict::mine;
    return take_line(text, line.number) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override { return roce_.finish(); }

 private:
  enum class Section { keys, mapping, classes, other };

  bool take_line(std::string_view text, int line) {
    if (text.starts_with("Exception List") || text.starts_with("No Data")) return true;
    switch (section_) {
      case Section::keys: {
        const auto cells = cells_of(text);
        const auto words = host::words(text);
        const std::string_view value = cells.size() > 1   ? cells[1]
                                       : words.size() > 1 ? words[1]
                                                          : std::string_view();
        return roce_.take(words[0], value, line);
      }
      case Section::mapping:
        return text.find("switch-prio") != text.npos || roce_.take_mapping(text, line);
      case Section::classes:
        return text.find("traffic-class") != text.npos || roce_.take_class(text, line);
      case Section::other:
        return text.find("mode") != text.npos || text.find("ress") != text.npos;
    }
    return false;
  }

  NvueRoce roce_;
  Section section_ = Section::keys;
};

// `-o json`: the same keys in nested objects.
void take_object(NvueRoce& roce, const boost::json::object& object) {
  for (const auto& member : object) {
    const std::string_view key(member.key().data(), member.key().size());
    if (const auto* inner = member.value().if_object()) {
      if (key != "prio-map" && key != "tc-map" && key != "pool-map" && key != "pool")
        take_object(roce, *inner);
    } else if (const auto* text = member.value().if_string()) {
      roce.take(key, std::string_view(text->data(), text->size()), 0);
    } else if (member.value().is_number()) {
      roce.take(key, boost::json::serialize(member.value()), 0);
    }
  }
}

std::optional<Document> nvue_roce_from_json(const boost::json::value& json, const Context&) {
  const auto* object = json.if_object();
  if (object == nullptr || !object->contains("congestion-control") || !object->contains("pfc"))
    return std::nullopt;
  NvueRoce roce;
  roce.content.model.system = SwitchSystem::nvue;
  take_object(roce, *object);
  return roce.finish();
}

constexpr std::string_view kNvueRoceAnchors[] = {"operational", kMapTitle, kClassTitle};

}  // namespace

Format nvue_roce_format() {
  return {.name = "onyx-roce",
          .anchors = kNvueRoceAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const std::string_view text = trimmed(line.text);
                return is_nvue_head(text) || text.starts_with(kMapTitle) || text.starts_with(kClassTitle);
              },
          .open = open_reader<NvueRoceReader>,
          .from_json = nvue_roce_from_json};
}

}  // namespace rocetune::evidence
