#include "agent/evidence/host_tools/ethtool_tunable.h"

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kStallPrevention = "pfc-prevention-tout";

// "pfc-prevention-tout: 100": its value; nothing for another line.
std::optional<std::uint16_t> stall_prevention_in(std::string_view text) {
  const auto [key, value] = split_at(text, ':');
  if (key != kStallPrevention) return std::nullopt;
  const auto number = small_number_of(value);
  if (!number || *number < 0 || *number > UINT16_MAX) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

class EthtoolTunableReader : public DocumentReader {
 public:
  explicit EthtoolTunableReader(const Context& context) {
    const auto words = command_words(context.command);
    // "ethtool --get-tunable eth0 pfc-prevention-tout"
    if (words.size() >= 4 && calls(context.command, "ethtool")) port_.name = words[2];
  }

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const auto value = stall_prevention_in(trimmed(line.text));
    if (!value) return Verdict::not_mine;
    if (port_.pfc_prevention_ms) return Verdict::next_document;
    port_.pfc_prevention_ms = *value;
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (!port_.pfc_prevention_ms) return std::nullopt;
    Document document;
    document.host_part.emplace().ports.push_back(std::move(port_));
    return document;
  }

 private:
  host::Port port_;
};

constexpr std::string_view kTunableAnchors[] = {kStallPrevention};

}  // namespace

Format ethtool_tunable_format() {
  return {.name = "ethtool-tunable",
          .anchors = kTunableAnchors,
          .begins =
              [](const Line& line, const Context&) {
                return !line.is_command && stall_prevention_in(trimmed(line.text)).has_value();
              },
          .open = open_reader<EthtoolTunableReader>};
}

}  // namespace rocetune::evidence
