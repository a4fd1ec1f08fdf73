#include "agent/evidence/switches/sonic_qos_show.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

bool is_priority_head(std::string_view text) {
  const auto words = host::words(text);
  return words.size() == 3 && words[0] == "Interface" && words[1] == "Lossless" && words[2] == "priorities";
}

class SonicQosShowReader : public DocumentReader {
 public:
  explicit SonicQosShowReader(const Context&) { content_.model.system = SwitchSystem::sonic; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    if (is_priority_head(line.text)) {
      in_priorities_ = true;
      return Verdict::mine;
    }
    const auto words = host::words(line.text);
    if (words.size() == 2 && words[0] == "Profile:") {
      in_priorities_ = false;
      profile_ = words[1];
      return Verdict::mine;
    }
    if (is_rule(line.text)) return Verdict::mine;
    if (words.size() != 2) return Verdict::not_mine;
    const bool taken = in_priorities_ ? take_priorities(words, line.number) : take_wred(words, line.number);
    return taken ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (content_.model.is_empty()) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  bool take_priorities(const std::vector<std::string_view>& words, int line) {
    const auto priorities = priorities_in(words[1]);
    if (!priorities && words[1] != "N/A") return false;
    content_.model.ports[std::string(words[0])].pfc = priorities.value_or(PrioritySet());
    content_.model.note_line("pfc", line, words[0]);
    return true;
  }

  // Profiles are of the stock lossless pair unless their name says otherwise.
  bool take_wred(const std::vector<std::string_view>& words, int line) {
    if (profile_.empty()) return false;
    if (profile_.find("LOSSLESS") == std::string::npos) return true;
    for (const int number : {3, 4}) {
      SwitchQueue& queue = content_.model.common.queues[TrafficClass(number)];
      const auto count = count_in(words[1]);
      const auto size = count && *count < (std::uint64_t{1} << 48)
                            ? std::optional(Bytes(static_cast<std::int64_t>(*count)))
                            : std::nullopt;
      if (words[0] == "ecn") queue.marks = words[1] != "ecn_none";
      if (words[0] == "green_min_threshold") queue.mark_from = size;
      if (words[0] == "green_max_threshold") queue.mark_all = size;
      if (words[0] == "green_drop_probability" && count && *count <= 100)
        queue.mark_percent = static_cast<int>(*count);
    }
    content_.model.note_line("ecn", line);
    return true;
  }

  SwitchEvidence content_;
  bool in_priorities_ = false;
  std::string profile_;
};

constexpr std::string_view kQosShowAnchors[] = {"Lossless priorities", "Profile: "};

}  // namespace

Format sonic_qos_show_format() {
  return {.name = "switch-config",
          .anchors = kQosShowAnchors,
          .begins =
              [](const Line& line, const Context&) {
                const auto words = host::words(line.text);
                return is_priority_head(line.text) || (words.size() == 2 && words[0] == "Profile:");
              },
          .open = open_reader<SonicQosShowReader>};
}

}  // namespace rocetune::evidence
