#include "agent/evidence/host_tools/dcb.h"

#include <cmath>
#include <cstdlib>

#include "agent/evidence/host_tools/dcb_json.h"
#include "agent/evidence/host_tools/dcb_port.h"
#include "agent/evidence/host_tools/words.h"

namespace rocetune::evidence {
namespace {

// One "N:VALUE" of a list.
struct DcbItem {
  int index = 0;
  std::string_view value;
};

// Calls `each` with every "N:VALUE" of the words, N of 0..limit; false if one is none.
template <class Each>
bool for_items(const std::vector<std::string_view>& words, std::size_t from, int limit, Each each) {
  if (from >= words.size()) return false;
  for (std::size_t i = from; i < words.size(); ++i) {
    const auto colon = words[i].rfind(':');
    if (colon == std::string_view::npos) return false;
    const auto index = small_number_of(words[i].substr(0, colon));
    if (!index || *index < 0 || *index > limit) return false;
    if (!each(DcbItem{*index, words[i].substr(colon + 1)})) return false;
  }
  return true;
}

std::optional<host::Tsa> dcb_tsa_of(std::string_view text) {
  if (text == "strict") return host::Tsa::strict;
  if (text == "ets") return host::Tsa::ets;
  if (text == "cbs") return host::Tsa::credit_based;
  if (text == "vendor") return host::Tsa::vendor;
  return std::nullopt;
}

// "130944b", "128Kb", "1Mb": print_size of iproute2, powers of 1024.
std::optional<Bytes> dcb_size_of(std::string_view text) {
  double number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
    ++digits;
  if (digits == 0 || digits > 15) return std::nullopt;
  number = std::strtod(std::string(text.substr(0, digits)).c_str(), nullptr);
  const std::string_view unit = text.substr(digits);
  const double factor = unit == "b" || unit.empty()    ? 1
                        : unit == "Kb" || unit == "KB" ? 1024
                        : unit == "Mb" || unit == "MB" ? 1048576
                                                       : 0;
  if (factor == 0 || number * factor > 1e15) return std::nullopt;
  return Bytes(std::llround(number * factor));
}

// "0bit", "10Gbit", "25000Mbit": print_rate, powers of 1000.
std::optional<BitRate> dcb_rate_of(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
    ++digits;
  if (digits == 0 || digits > 12) return std::nullopt;
  const double number = std::strtod(std::string(text.substr(0, digits)).c_str(), nullptr);
  const std::string_view unit = text.substr(digits);
  const double factor = unit == "bit"    ? 1
                        : unit == "Kbit" ? 1e3
                        : unit == "Mbit" ? 1e6
                        : unit == "Gbit" ? 1e9
                        : unit == "Tbit" ? 1e12
                                         : 0;
  if (factor == 0 || number * factor > 1e15) return std::nullopt;
  return BitRate(static_cast<std::int64_t>(number * factor));
}

struct AppTable {
  std::string_view word;
  host::AppSelector selector;
};
constexpr AppTable kAppTables[] = {
    {"dscp-prio", host::AppSelector::dscp},       {"ethtype-prio", host::AppSelector::ethertype},
    {"stream-port-prio", host::AppSelector::tcp}, {"dgram-port-prio", host::AppSelector::udp},
    {"port-prio", host::AppSelector::any_port},   {"pcp-prio", host::AppSelector::pcp}};

// "show" of one of the tool's objects: "dcb -s pfc show dev eth0".
std::optional<DcbObject> object_shown(std::string_view command) {
  if (!calls(command, "dcb")) return std::nullopt;
  std::optional<DcbObject> object;
  bool shows = false;
  for (const std::string_view word : command_words(command)) {
    if (word == "-j" || word == "--json" || word == "-jp" || word == "-pj")
      return std::nullopt;  // the frame's
    if (!object) object = dcb_object_named(word);
    shows = shows || word == "show";
  }
  return shows ? object : std::nullopt;
}

class DcbReader : public DocumentReader {
 public:
  explicit DcbReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_command) return take_command(line.text);
    const std::string_view text = trimmed(line.text);
    const auto words = host::words(text);
    if (words.empty()) return Verdict::not_mine;
    return take_words(words) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    if (port_.is_empty()) return std::nullopt;
    return port_.finish();
  }

 private:
  Verdict take_command(std::string_view command) {
    const auto object = object_shown(command);
    if (!object) return Verdict::not_mine;
    const std::string device(option_value(command, "dev"));
    if (port_.is_empty()) {
      port_ = DcbPort(device);
    } else if (device != port_.device()) {
      return Verdict::next_document;
    }
    port_.note(*object);
    // An empty table prints nothing at all.
    if (*object == DcbObject::app) port_.app();
    return Verdict::mine;
  }

  bool take_words(const std::vector<std::string_view>& words) {
    return take_pfc(words) || take_ets(words) || take_app(words) || take_buffer(words) || take_other(words);
  }

  bool take_pfc(const std::vector<std::string_view>& words) {
    host::Pfc pfc = port_.dcb().pfc ? *port_.dcb().pfc : host::Pfc();
    bool counts = false;
    if (words[0] == "pfc-cap") {
      for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
        const auto number = small_number_of(words[i + 1]);
        if (words[i] == "pfc-cap" && number && *number >= 0 && *number <= 8)
          pfc.capable = static_cast<std::uint8_t>(*number);
        if (words[i] == "macsec-bypass") pfc.macsec_bypass = words[i + 1] == "on";
        if (words[i] == "delay" && number && *number >= 0 && *number <= 65535)
          pfc.delay = static_cast<std::uint16_t>(*number);
      }
      // Without the list of priorities nothing is known of them.
      cap_ = pfc;
      port_.note(DcbObject::pfc);
      return true;
    }
    if (words[0] == "prio-pfc") {
      PrioritySet enabled;
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        if (item.value == "on") enabled = enabled.with(Priority(item.index));
        return item.value == "on" || item.value == "off";
      });
      if (!ok) return false;
      if (cap_) pfc = *cap_;
      pfc.enabled = enabled;
    } else if (words[0] == "requests" || words[0] == "indications") {
      auto& into = words[0] == "requests" ? pfc.requests : pfc.indications;
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        const auto count = count_of(item.value);
        if (count) into[static_cast<std::size_t>(item.index)] = *count;
        return count.has_value();
      });
      if (!ok) return false;
      counts = true;
      // Counts without the list of priorities: kept as counters, and PFC itself stays unknown.
      if (!port_.dcb().pfc) return false;
    } else {
      return false;
    }
    port_.pfc() = pfc;
    port_.note(DcbObject::pfc);
    if (counts) port_.note_pfc_counts();
    return true;
  }

  bool take_ets(const std::vector<std::string_view>& words) {
    if (words[0].starts_with("reco-")) {
      port_.note(DcbObject::ets);
      return words.size() > 1 && words[1].find(':') != std::string_view::npos;
    }
    if (words[0] == "willing" && words.size() >= 4 && words[2] == "ets-cap") {
      willing_ = words[1] == "on";
      const auto cap = small_number_of(words[3]);
      if (cap && *cap >= 0 && *cap <= 8) ets_cap_ = static_cast<std::uint8_t>(*cap);
      port_.note(DcbObject::ets);
      return true;
    }
    if (words[0] == "tc-bw" || words[0] == "pg-bw") {
      std::array<std::uint8_t, 8> shares{};
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        const auto percent = small_number_of(item.value);
        if (percent && *percent >= 0 && *percent <= 100)
          shares[static_cast<std::size_t>(item.index)] = static_cast<std::uint8_t>(*percent);
        return percent.has_value();
      });
      if (ok && words[0] == "tc-bw") shares_ = shares;
      return ok && note_ets();
    }
    if (words[0] == "tc-tsa") {
      std::array<host::Tsa, 8> algorithms{};
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        const auto tsa = dcb_tsa_of(item.value);
        if (tsa) algorithms[static_cast<std::size_t>(item.index)] = *tsa;
        return tsa.has_value();
      });
      if (ok) algorithms_ = algorithms;
      return ok && note_ets();
    }
    if (words[0] != "prio-tc") return false;
    std::array<TrafficClass, 8> classes{};
    const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
      const auto tc = small_number_of(item.value);
      if (!tc || !TrafficClass::is_valid(*tc)) return false;
      classes[static_cast<std::size_t>(item.index)] = TrafficClass(*tc);
      return true;
    });
    if (ok) classes_ = classes;
    return ok && note_ets();
  }

  // ETS is known once algorithms and classes are.
  bool note_ets() {
    port_.note(DcbObject::ets);
    if (!algorithms_ || !classes_) return true;
    host::Ets& ets = port_.ets();
    ets.willing = willing_;
    ets.tc_count = ets_cap_;
    ets.tsa = *algorithms_;
    ets.tc_of_priority = *classes_;
    ets.tx_share_percent = shares_;
    return true;
  }

  bool take_app(const std::vector<std::string_view>& words) {
    for (const AppTable& table : kAppTables) {
      if (words[0] != table.word || words.size() < 2) continue;
      std::vector<host::AppEntry> entries;
      for (std::size_t i = 1; i < words.size(); ++i) {
        const auto colon = words[i].rfind(':');
        if (colon == std::string_view::npos) return false;
        const std::string_view what = words[i].substr(0, colon);
        const auto priority = small_number_of(words[i].substr(colon + 1));
        const auto protocol =
            table.selector == host::AppSelector::dscp ? number_of(dscp_of(what)) : small_number_of(what);
        if (!priority || !Priority::is_valid(*priority) || !protocol || *protocol < 0 || *protocol > 65535)
          return false;
        entries.push_back({table.selector, static_cast<std::uint16_t>(*protocol), Priority(*priority)});
      }
      auto& app = port_.app();
      app.insert(app.end(), entries.begin(), entries.end());
      port_.note(DcbObject::app);
      return true;
    }
    if (words[0] == "default-prio" && words.size() >= 2 && small_number_of(words[1])) {
      port_.app();
      port_.note(DcbObject::app);
      return true;
    }
    return false;
  }

  static std::optional<int> number_of(const std::optional<Dscp>& dscp) {
    return dscp ? std::optional(dscp->value()) : std::nullopt;
  }

  bool take_buffer(const std::vector<std::string_view>& words) {
    if (words[0] == "prio-buffer") {
      std::array<std::uint8_t, 8> map{};
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        const auto buffer = small_number_of(item.value);
        if (!buffer || *buffer < 0 || *buffer > 7) return false;
        map[static_cast<std::size_t>(item.index)] = static_cast<std::uint8_t>(*buffer);
        return true;
      });
      if (ok) port_.buffers().buffer_of_priority = map;
      if (ok) port_.note(DcbObject::buffer);
      return ok;
    }
    if (words[0] == "buffer-size") {
      std::array<Bytes, 8> sizes{};
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        const auto size = dcb_size_of(item.value);
        if (size) sizes[static_cast<std::size_t>(item.index)] = *size;
        return size.has_value();
      });
      if (ok) port_.buffers().size = sizes;
      if (ok) port_.note(DcbObject::buffer);
      return ok;
    }
    if (words[0] != "total-size" || words.size() != 2) return false;
    const auto total = dcb_size_of(words[1]);
    if (!total) return false;
    port_.buffers().total = *total;
    port_.note(DcbObject::buffer);
    return true;
  }

  bool take_other(const std::vector<std::string_view>& words) {
    if (words[0] == "tc-maxrate") {
      std::array<BitRate, 8> rates{};
      const bool ok = for_items(words, 1, 7, [&](const DcbItem& item) {
        const auto rate = dcb_rate_of(item.value);
        if (rate) rates[static_cast<std::size_t>(item.index)] = *rate;
        return rate.has_value();
      });
      if (ok) port_.dcb().max_rate = rates;
      if (ok) port_.note(DcbObject::maxrate);
      return ok;
    }
    if (words[0] == "order" && port_.has(DcbObject::apptrust) && words.size() > 1) {
      port_.dcb().trust = words[1] == "dscp" ? host::Trust::dscp : host::Trust::pcp;
      return true;
    }
    host::DcbxMode mode;
    for (const std::string_view word : words) {
      bool* const flag = word == "host"          ? &mode.host
                         : word == "lld-managed" ? &mode.lld_managed
                         : word == "cee"         ? &mode.cee
                         : word == "ieee"        ? &mode.ieee
                         : word == "static"      ? &mode.is_static
                                                 : nullptr;
      if (flag == nullptr) return false;
      *flag = true;
    }
    // Behind its command, or where nothing else can be meant.
    if (!port_.has(DcbObject::dcbx) && !(mode.ieee || mode.cee || mode.lld_managed)) return false;
    port_.dcb().dcbx = mode;
    port_.note(DcbObject::dcbx);
    return true;
  }

  DcbPort port_;
  std::optional<host::Pfc> cap_;
  bool willing_ = false;
  std::uint8_t ets_cap_ = 8;
  std::array<std::uint8_t, 8> shares_{};
  std::optional<std::array<host::Tsa, 8>> algorithms_;
  std::optional<std::array<TrafficClass, 8>> classes_;
};

bool begins_dcb(const Line& line, const Context&) {
  if (line.is_command) return object_shown(line.text).has_value();
  const auto words = host::words(line.text);
  if (words.empty()) return false;
  if (words.size() >= 2 && words[0] == "willing" && words.size() >= 4) return words[2] == "ets-cap";
  if (words[0] == "pfc-cap" || words[0] == "total-size") return words.size() >= 2;
  for (const std::string_view word :
       {"prio-pfc", "tc-bw", "pg-bw", "tc-tsa", "prio-tc", "prio-buffer", "buffer-size", "tc-maxrate"}) {
    if (words[0] == word) return words.size() >= 2 && words[1].find(':') != std::string_view::npos;
  }
  for (const AppTable& table : kAppTables) {
    if (words[0] == table.word) return words.size() >= 2 && words[1].find(':') != std::string_view::npos;
  }
  // dcbx: "host ieee".
  return (words[0] == "host" || words[0] == "lld-managed") && words.size() == 2 &&
         (words[1] == "ieee" || words[1] == "cee");
}

}  // namespace

Format dcb_format() {
  static constexpr std::string_view kAnchors[] = {
      "dcb ",      "pfc-cap",     "prio-pfc",    "ets-cap",    "tc-bw",      "pg-bw",     "tc-tsa",
      "prio-tc",   "prio-buffer", "buffer-size", "total-size", "tc-maxrate", "dscp-prio", "ethtype-prio",
      "port-prio", "pcp-prio",    "host ieee",   "host cee",   "lld-managed"};
  return {.name = "dcb",
          .anchors = kAnchors,
          .begins = begins_dcb,
          .open = open_reader<DcbReader>,
          .from_json = dcb_from_json};
}

}  // namespace rocetune::evidence
