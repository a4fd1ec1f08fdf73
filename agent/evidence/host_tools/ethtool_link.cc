#include "agent/evidence/host_tools/ethtool_link.h"

#include <algorithm>
#include <charconv>

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kSettingsTitle = "Settings for ";

// "100000Mb/s"; nothing for "Unknown!".
std::optional<BitRate> speed_of(std::string_view text) {
  std::int64_t mbps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mbps);
  if (error != std::errc() || mbps <= 0 || mbps > 10'000'000) return std::nullopt;
  if (std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)) != "Mb/s")
    return std::nullopt;
  return megabits_per_second(mbps);
}

// The fastest of "25000baseCR/Full 100000baseSR4/Full".
void note_modes(std::string_view modes, std::optional<BitRate>& fastest) {
  for (const std::string_view mode : host::words(modes)) {
    const auto base = mode.find("base");
    if (base == std::string_view::npos) continue;
    std::int64_t mbps = 0;
    const auto [end, error] = std::from_chars(mode.data(), mode.data() + base, mbps);
    if (error != std::errc() || end != mode.data() + base || mbps <= 0 || mbps > 10'000'000) continue;
    fastest = std::max(fastest.value_or(BitRate(0)), megabits_per_second(mbps));
  }
}

bool is_mode_list(std::string_view text) {
  return text.find("base") != std::string_view::npos && text.find('/') != std::string_view::npos &&
         text.find(':') == std::string_view::npos;
}

// Keys of `ethtool IF` that say nothing to rules.
bool is_other_key(std::string_view key) {
  for (const std::string_view known : {"Supported ports",
                                       "Supports auto-negotiation",
                                       "Supported pause frame use",
                                       "Supported FEC modes",
                                       "Advertised pause frame use",
                                       "Advertised auto-negotiation",
                                       "Advertised FEC modes",
                                       "Link partner advertised pause frame use",
                                       "Link partner advertised auto-negotiation",
                                       "Link partner advertised FEC modes",
                                       "Port",
                                       "PHYAD",
                                       "Transceiver",
                                       "MDI-X",
                                       "Supports Wake-on",
                                       "Wake-on",
                                       "Current message level",
                                       "master-slave cfg",
                                       "master-slave status",
                                       "SQI",
                                       "Link Down Events"}) {
    if (key == known) return true;
  }
  return false;
}

class EthtoolLinkReader : public DocumentReader {
 public:
  explicit EthtoolLinkReader(const Context& context) { link_.device = interface_of_ethtool(context.command); }

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const std::string_view title = interface_in_title(line.text, kSettingsTitle);
    if (!title.empty()) {
      if (lines_ > 0) return Verdict::next_document;
      link_.device = title;
      titled_ = true;
      ++lines_;
      return Verdict::mine;
    }
    const std::string_view text = trimmed(line.text);
    const auto [key, value] = split_at(text, ':');
    if (titled_ && modes_ != nullptr && is_mode_list(text)) {
      note_modes(text, *modes_);
      return Verdict::mine;
    }
    const Verdict verdict = take_key(key, value, line.number);
    if (verdict == Verdict::mine) ++lines_;
    return verdict;
  }

  std::optional<Document> finish() override {
    if (!titled_ && !link_.speed && !link_.detected) return std::nullopt;
    Document document;
    host::Port port;
    port.name = link_.device;
    if (link_.speed || link_.detected) {
      host::Link link;
      link.carrier = link_.detected.value_or(link_.speed.has_value());
      link.admin_up = link.carrier;
      link.speed = link_.speed;
      link.full_duplex = link_.full_duplex;
      link.autonegotiation = autonegotiation_;
      link.lanes = lanes_;
      port.link = link;
    }
    document.host_part.emplace().ports.push_back(std::move(port));
    document.content = std::move(link_);
    return document;
  }

 private:
  Verdict take_key(std::string_view key, std::string_view value, int number) {
    if (key == "Supported link modes") return begin_modes(value, link_.fastest_supported);
    if (key == "Advertised link modes") return begin_modes(value, link_.fastest_advertised);
    if (key == "Link partner advertised link modes") return begin_modes(value, link_.fastest_of_partner);
    if (key == "Speed") {
      if (!titled_ && !speed_of(value)) return Verdict::not_mine;
      if (link_.speed) return Verdict::next_document;
      link_.speed = speed_of(value);
      link_.speed_line = number;
    } else if (key == "Duplex") {
      link_.duplex = value;
      if (value == "Full" || value == "Half") link_.full_duplex = value == "Full";
    } else if (key == "Auto-negotiation") {
      autonegotiation_ = value == "on";
    } else if (key == "Lanes") {
      if (const auto lanes = count_of(value); lanes && *lanes <= 64)
        lanes_ = static_cast<std::uint32_t>(*lanes);
    } else if (key == "Link detected") {
      link_.detected = value.starts_with("yes");
    } else {
      if (!titled_ || !(is_other_key(key) || value.empty())) return Verdict::not_mine;
      return is_other_key(key) ? Verdict::mine : Verdict::not_mine;
    }
    modes_ = nullptr;
    return Verdict::mine;
  }

  Verdict begin_modes(std::string_view value, std::optional<BitRate>& into) {
    note_modes(value, into);
    modes_ = &into;
    return Verdict::mine;
  }

  EthtoolLink link_;
  std::optional<bool> autonegotiation_;
  std::optional<std::uint32_t> lanes_;
  std::optional<BitRate>* modes_ = nullptr;
  bool titled_ = false;
  int lines_ = 0;
};

bool begins_link(const Line& line, const Context&) {
  if (line.is_command) return false;
  if (!interface_in_title(line.text, kSettingsTitle).empty()) return true;
  const auto [key, value] = split_at(line.text, ':');
  if (key == "Speed") return speed_of(value).has_value();
  return key == "Link detected" && (value.starts_with("yes") || value.starts_with("no"));
}

}  // namespace

Format ethtool_link_format() {
  static constexpr std::string_view kAnchors[] = {kSettingsTitle, "Speed:", "Link detected:"};
  return {.name = "ethtool-link",
          .anchors = kAnchors,
          .begins = begins_link,
          .open = open_reader<EthtoolLinkReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
