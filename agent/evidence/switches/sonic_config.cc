#include "agent/evidence/switches/sonic_config.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>

#include "agent/evidence/switches/sonic_tables.h"
#include "agent/evidence/switches/switch_evidence.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kSonicTables[] = {
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_QUEUE_MAP",
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "PFC_WD",
    "CABLE_LENGTH",
    "DOT1P_TO_TC_MAP",
};
// Tables that a part may have besides; alone they say nothing of classes.
constexpr std::string_view kSonicOtherTables[] = {"PORT",
                                                  "DEVICE_METADATA",
                                                  "BUFFER_QUEUE",
                                                  "BUFFER_PORT_INGRESS_PROFILE_LIST",
                                                  "BUFFER_PORT_EGRESS_PROFILE_LIST",
                                                  "LOSSLESS_TRAFFIC_PATTERN",
                                                  "DEFAULT_LOSSLESS_BUFFER_PARAMETER"};

bool is_sonic_table(std::string_view name) {
  return std::ranges::find(kSonicTables, name) != std::end(kSonicTables);
}

std::optional<Document> sonic_document(const boost::json::value& json) {
  const auto* object = json.if_object();
  if (object == nullptr) return std::nullopt;
  const bool known = std::ranges::any_of(*object, [](const auto& member) {
    return is_sonic_table(std::string_view(member.key().data(), member.key().size())) &&
           member.value().is_object();
  });
  if (!known) return std::nullopt;
  SwitchEvidence content;
  content.model = switch_of_tables(*object);
  Document document;
  document.content = std::move(content);
  return document;
}

// Tables cut out of the file: `"DSCP_TO_TC_MAP": {` ... `},`
class SonicFragmentReader : public DocumentReader {
 public:
  explicit SonicFragmentReader(const Context&) {}

  static bool begins(std::string_view text) {
    text = trimmed(text);
    if (!text.starts_with('"')) return false;
    const auto close = text.find('"', 1);
    if (close == text.npos) return false;
    const std::string_view name = text.substr(1, close - 1);
    const std::string_view rest = trimmed(text.substr(close + 1));
    if (!rest.starts_with(':') || !trimmed(rest.substr(1)).starts_with('{')) return false;
    return is_sonic_table(name) || std::ranges::find(kSonicOtherTables, name) != std::end(kSonicOtherTables);
  }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    const std::string_view text = trimmed(line.text);
    if (line.is_command || std::string_view("\"{}[],").find(text.front()) == std::string_view::npos)
      return Verdict::not_mine;
    if (depth_ <= 0 && !begins(text) && text.find_first_not_of("{}, ") != text.npos) return Verdict::not_mine;
    if (text_.size() > kLongest) return Verdict::not_mine;
    bool quoted = false;
    for (const char c : text) {
      quoted = quoted != (c == '"');
      if (quoted) continue;
      if (c == '{' || c == '[') ++depth_;
      if (c == '}' || c == ']') --depth_;
    }
    // The brace that closes the whole file, whose opening one was cut off.
    if (depth_ < 0) {
      depth_ = 0;
      return Verdict::mine;
    }
    text_ += text;
    text_ += '\n';
    if (depth_ == 0 && !text.ends_with(',')) text_ += ",\n";
    return Verdict::mine;
  }

  std::optional<Document> finish() override {
    boost::json::parse_options options;
    options.allow_trailing_commas = true;
    // Where it is cut, lines at the end may be broken: they are given up one by one.
    for (int tries = 0; tries < 8 && !text_.empty(); ++tries) {
      boost::system::error_code error;
      const auto json = boost::json::parse("{" + closed(text_) + "}", error, {}, options);
      if (!error) return sonic_document(json);
      const auto newline = text_.rfind('\n', text_.size() - 2);
      text_.resize(newline == std::string::npos ? 0 : newline + 1);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kLongest = 8 << 20;

  static std::string closed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == ','))
      text.pop_back();
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
      quoted = quoted != (c == '"');
      if (!quoted) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
    for (; depth > 0; --depth) text += '}';
    return text;
  }

  std::string text_;
  int depth_ = 0;
};

constexpr std::string_view kSonicConfigAnchors[] = {
    "\"DSCP_TO_TC_MAP\"", "\"TC_TO_QUEUE_MAP\"", "PRIORITY_TO_QUEUE", "TO_PRIORITY_GROUP_MAP",
    "\"PORT_QOS_MAP\"",   "\"QUEUE\"",           "\"SCHEDULER\"",     "\"WRED_PROFILE\"",
    "\"BUFFER_P",         "\"PFC_WD\"",          "\"CABLE_LENGTH\"",  "\"DOT1P_TO_TC_MAP\""};

}  // namespace

Format sonic_config_format() {
  return {.name = "switch-config",
          .anchors = kSonicConfigAnchors,
          .begins = [](const Line& line, const Context&) { return SonicFragmentReader::begins(line.text); },
          .open = open_reader<SonicFragmentReader>,
          .from_json = [](const boost::json::value& json, const Context&) { return sonic_document(json); }};
}

}  // namespace rocetune::evidence
