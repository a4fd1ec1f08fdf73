#include "agent/evidence/host_tools/ethtool_driver.h"

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

bool is_driver_line(std::string_view line) {
  const auto [key, value] = split_at(line, ':');
  if (key == "driver") return is_made_of(value, "_-");
  if (key == "bus-info") return is_made_of(value, ".:-");
  return key == "firmware-version";
}

class EthtoolDriverReader : public DocumentReader {
 public:
  explicit EthtoolDriverReader(const Context& context) { port_.name = interface_of_ethtool(context.command); }

  Verdict take(const Line& line) override {
    if (line.is_command) return Verdict::not_mine;
    const auto [key, value] = split_at(line.text, ':');
    if (key == "driver" && is_made_of(value, "_-")) {
      if (lines_ > 0) return Verdict::next_document;
      port_.driver = value;
    } else if (key == "firmware-version") {
      // "20.31.1014 (MT_0000000359)": the board's id is mlx5's addition.
      const std::string_view version = value.substr(0, value.find(' '));
      if (!version.empty() && version != "N/A") port_.firmware = std::string(version);
      const auto board = value.find('(');
      if (board != std::string_view::npos && value.ends_with(')')) {
        port_.psid = std::string(value.substr(board + 1, value.size() - board - 2));
      }
    } else if (key == "bus-info") {
      if (value.find(':') != std::string_view::npos) port_.pci_address = std::string(value);
    } else if (lines_ == 0 ||
               (key != "version" && key != "expansion-rom-version" && !key.starts_with("supports-"))) {
      return Verdict::not_mine;
    }
    ++lines_;
    return Verdict::mine;
  }

  // One line alone may be anybody's; a version of firmware or two lines are this tool's.
  std::optional<Document> finish() override {
    if (lines_ < 2 && !port_.firmware) return std::nullopt;
    Document document;
    document.host_part.emplace().ports.push_back(std::move(port_));
    return document;
  }

 private:
  host::Port port_;
  int lines_ = 0;
};

bool begins_driver(const Line& line, const Context&) { return !line.is_command && is_driver_line(line.text); }

}  // namespace

Format ethtool_driver_format() {
  static constexpr std::string_view kAnchors[] = {"driver:", "firmware-version:", "bus-info:"};
  return {.name = "ethtool-driver",
          .anchors = kAnchors,
          .begins = begins_driver,
          .open = open_reader<EthtoolDriverReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
