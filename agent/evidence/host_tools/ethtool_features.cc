#include "agent/evidence/host_tools/ethtool_features.h"

#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kFeaturesTitle = "Features for ";

// No rule looks at offloads: the reader says what the text is, and takes its lines.
class EthtoolFeaturesReader : public DocumentReader {
 public:
  explicit EthtoolFeaturesReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (!interface_in_title(line.text, kFeaturesTitle).empty()) {
      if (titled_) return Verdict::next_document;
      titled_ = true;
      return Verdict::mine;
    }
    const auto [key, value] = split_at(line.text, ':');
    const bool is_feature = key.find('-') != std::string_view::npos && is_made_of(key, "-_.");
    if (!is_feature ||
        !(value == "on" || value == "off" || value.starts_with("on [") || value.starts_with("off ["))) {
      return Verdict::not_mine;
    }
    return Verdict::mine;
  }

  std::optional<Document> finish() override { return Document(); }

 private:
  bool titled_ = false;
};

bool begins_features(const Line& line, const Context&) {
  return !interface_in_title(line.text, kFeaturesTitle).empty();
}

}  // namespace

Format ethtool_features_format() {
  static constexpr std::string_view kAnchors[] = {kFeaturesTitle};
  return {.name = "ethtool-features",
          .anchors = kAnchors,
          .begins = begins_features,
          .open = open_reader<EthtoolFeaturesReader>,
          .from_json = nullptr};
}

}  // namespace rocetune::evidence
