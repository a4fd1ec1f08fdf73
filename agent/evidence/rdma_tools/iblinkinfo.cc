#include "agent/evidence/rdma_tools/iblinkinfo.h"

#include <array>

#include "agent/evidence/rdma_tools/scan.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace iblinkinfo_text {
namespace {

constexpr std::array<std::string_view, 3> kAnchors{"==(", "CA: ", "Switch: 0x"};

bool is_link(std::string_view text) {
  const auto open = text.find("==(");
  return open != std::string_view::npos && text.find(")==>", open) != std::string_view::npos;
}

// "CA: node1 mlx5_0:", "Switch: 0x506b4b0300820910 MF0;sw1:MSB7700/U1:"
bool is_node(std::string_view text) {
  return (text.starts_with("CA: ") || text.starts_with("Switch: 0x") || text.starts_with("Switch 0x")) &&
         text.ends_with(':');
}

bool begins(const Line& line, const Context&) { return is_link(line.text) || is_node(trimmed(line.text)); }

class Reader : public DocumentReader {
 public:
  explicit Reader(const Context& context) : prompts_(context) {}

  Verdict take(const Line& line) override {
    if (prompts_.take(line)) return Verdict::not_mine;
    const std::string_view text = trimmed(line.text);
    if (is_node(text)) {
      node_ = text.substr(0, text.size() - 1);
      return Verdict::mine;
    }
    if (!is_link(text)) return Verdict::not_mine;
    if (prompts_.is_other_host()) return Verdict::next_document;
    take_link(text, line.number);
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    if (links_.active + links_.down == 0) return std::nullopt;
    Document document;
    document.content = std::move(links_);
    return document;
  }

 private:
  // "3    1[  ] ==( 4X          14.0625 Gbps Active/  LinkUp)==>  1   12[  ] "sw1" ( Could be 25.78125 Gbps)"
  void take_link(std::string_view text, int line) {
    const auto open = text.find("==(") + 3;
    const auto close = text.find(")==>", open);
    const auto words = host::words(text.substr(open, close - open));
    FabricLink link;
    // With -l the near node stands in front, between quotation marks.
    const std::string_view in_front = text.substr(0, open - 3);
    const auto near = in_front.find('"');
    link.node = near == std::string_view::npos
                    ? node_
                    : std::string(trimmed(in_front.substr(near + 1, in_front.rfind('"') - near - 1)));
    link.line = line;
    for (const std::string_view word : words) {
      if (word.ends_with('X') && link.width_lanes == 0) {
        link.width_lanes = leading_number<int>(word).value_or(0);
      } else if (word == "Active/" || word == "Down/" || word == "Init/" || word == "Initialize/" ||
                 word == "Armed/") {
        link.state = word.substr(0, word.size() - 1);
      } else if (link.lane_gbps == 0) {
        link.lane_gbps = leading_number<double>(word).value_or(0);
      }
    }
    const std::string_view behind = text.substr(close + 4);
    const auto quote = behind.find('"');
    if (quote != std::string_view::npos)
      link.far_end = behind.substr(quote + 1, behind.find('"', quote + 1) - quote - 1);
    if (const auto could = behind.find("Could be"); could != std::string_view::npos) {
      link.could_be = trimmed(behind.substr(could, behind.find(')', could) - could));
    }
    const bool active = link.state == "Active";
    ++(active ? links_.active : links_.down);
    if (links_.links.size() < kFabricLinksKept) links_.links.push_back(std::move(link));
  }

  FabricLinks links_;
  std::string node_;
  PromptWatch prompts_;
};

}  // namespace
}  // namespace iblinkinfo_text

Format iblinkinfo_format() {
  return {.name = "iblinkinfo",
          .anchors = iblinkinfo_text::kAnchors,
          .begins = iblinkinfo_text::begins,
          .open = open_reader<iblinkinfo_text::Reader>};
}

}  // namespace rocetune::evidence
