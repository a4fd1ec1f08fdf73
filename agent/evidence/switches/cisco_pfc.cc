#include "agent/evidence/switches/cisco_pfc.h"

#include <charconv>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

bool is_cisco_pfc_head(std::string_view text) {
  return text.find("Port") != text.npos && text.find("Mode") != text.npos && text.find("Oper") != text.npos &&
         (text.find("bmap") != text.npos || text.find("RxPPP") != text.npos ||
          text.find("Oper(VL)") != text.npos);
}

std::optional<PrioritySet> bitmap_in(std::string_view text) {
  const auto open = text.find('('), close = text.find(')');
  if (open == text.npos || close == text.npos || close < open) return std::nullopt;
  std::string_view digits = trimmed(text.substr(open + 1, close - open - 1));
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || value > 0xff) return std::nullopt;
  return PrioritySet(static_cast<std::uint8_t>(value));
}

class CiscoPfcReader : public DocumentReader {
 public:
  explicit CiscoPfcReader(const Context&) { content_.model.system = SwitchSystem::nxos; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command) return Verdict::not_mine;
    std::string_view text = line.text;
    if (text.starts_with("# ")) text = trimmed(text.substr(2));  // notes in comments
    if (is_cisco_pfc_head(text)) {
      if (!content_.pfc_states.empty()) return Verdict::next_document;
      has_head_ = true;
      return Verdict::mine;
    }
    if (!has_head_) return is_rule(text) ? Verdict::mine : Verdict::not_mine;
    if (is_rule(text)) return Verdict::mine;
    return take_row(text, line.number) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (!has_head_) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  // Port, mode, operation with its bitmap, and two numbers that may be missing.
  bool take_row(std::string_view text, int number) {
    auto words = host::words(text);
    if (words.size() < 3) return false;
    const std::string mode = lower_case(words[1]);
    if (mode != "auto" && mode != "on" && mode != "off") return false;
    std::size_t end = words.size();
    std::vector<std::uint64_t> counts;
    while (end > 3 && counts.size() < 2) {
      const auto count = count_in(words[end - 1]);
      if (!count) break;
      counts.insert(counts.begin(), *count);
      --end;
    }
    const std::string_view operation(
        words[2].data(),
        static_cast<std::size_t>(words[end - 1].data() + words[end - 1].size() - words[2].data()));
    const std::string word = lower_case(operation.substr(0, 2));
    PfcState state;
    state.port = words[0];
    state.negotiated = mode == "auto";
    state.priorities = bitmap_in(operation);
    state.active =
        word == "on" || (lower_case(operation).substr(0, 3) != "off" && state.priorities.has_value());
    if (!*state.active && lower_case(operation).substr(0, 3) != "off") return false;
    if (!*state.active) state.priorities = PrioritySet();
    // A bitmap of nothing: the mode is on, but no class is lossless.
    if (state.priorities && state.priorities->is_empty()) state.active = false;
    state.enabled = mode == "on" || *state.active;
    state.shown = std::string(words[1]) + " " + std::string(operation);
    state.line = number;
    SwitchSettings& port = content_.model.ports[state.port];
    if (state.priorities) port.pfc = state.priorities;
    content_.model.note_line("pfc", number, state.port);
    if (counts.size() == 2) {
      for (const bool received : {true, false}) {
        PfcFrames frames;
        frames.port = state.port;
        frames.received = received;
        frames.total = counts[received ? 0 : 1];
        frames.line = number;
        content_.pfc_frames.push_back(std::move(frames));
      }
    }
    content_.pfc_states.push_back(std::move(state));
    return true;
  }

  SwitchEvidence content_;
  bool has_head_ = false;
};

constexpr std::string_view kCiscoPfcAnchors[] = {"Oper"};

}  // namespace

Format cisco_pfc_format() {
  return {.name = "cisco-pfc",
          .anchors = kCiscoPfcAnchors,
          .begins = [](const Line& line, const Context&) { return is_cisco_pfc_head(line.text); },
          .open = open_reader<CiscoPfcReader>};
}

}  // namespace rocetune::evidence
