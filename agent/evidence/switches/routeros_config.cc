#include "agent/evidence/switches/routeros_config.h"

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

constexpr std::string_view kMenu = "/interface ethernet";

// "name=roce dscp=26": what stands without "=" are the items a `set` is about.
struct RouterosLine {
  std::map<std::string, std::string, std::less<>> values;
  std::vector<std::string> items;
  std::string_view value(std::string_view key) const {
    const auto found = values.find(key);
    return found == values.end() ? std::string_view() : std::string_view(found->second);
  }
};

RouterosLine routeros_line(const std::vector<std::string_view>& words, std::size_t from) {
  RouterosLine out;
  int brackets = 0;  // "[ find default-name=sfp28-1 ]" is one item
  for (std::size_t i = from; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.starts_with('[')) ++brackets;
    if (brackets > 0) {
      const auto name = word.find("name=");
      if (name != word.npos) {
        std::string_view item = word.substr(name + 5);
        while (!item.empty() && (item.back() == ']' || item.back() == '"')) item.remove_suffix(1);
        if (item.starts_with('"')) item.remove_prefix(1);
        out.items.emplace_back(item);
      } else if (const auto tc = word.find("traffic-class="); tc != word.npos) {
        out.items.emplace_back(word.substr(tc + 14, 1));
      }
      if (word.ends_with(']')) --brackets;
      continue;
    }
    const auto equals = word.find('=');
    if (equals == word.npos) {
      // No ranges: "qsfp56-1-1" is a name.
      for (std::string_view rest = word; !rest.empty();) {
        const auto [item, behind] = split_at(rest, ',');
        if (!item.empty()) out.items.emplace_back(item);
        rest = behind;
      }
    } else {
      out.values.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return out;
}

std::optional<int> small_number(std::string_view text) {
  const auto count = count_in(text);
  if (!count || *count > 7) return std::nullopt;
  return static_cast<int>(*count);
}

class RouterosConfigReader : public DocumentReader {
 public:
  explicit RouterosConfigReader(const Context&) { content_.model.system = SwitchSystem::routeros; }

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    std::string_view text = trimmed(line.text);
    if (text.starts_with('#')) return Verdict::mine;
    if (text.ends_with('\\')) {  // goes on in the next line
      pending_ += text.substr(0, text.size() - 1);
      pending_ += ' ';
      return Verdict::mine;
    }
    const std::string whole = pending_ + std::string(text);
    pending_.clear();
    return take_statement(whole, line.number) ? Verdict::mine : Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    for (const auto& [dscp, profile] : mapped_) {
      const auto found = profiles_.find(profile);
      if (found != profiles_.end()) content_.model.common.priority_of_dscp[dscp] = Priority(found->second);
    }
    for (const auto& [port, profile] : pfc_of_port_) {
      const auto found = pfc_.find(profile);
      content_.model.ports[port].pfc = found == pfc_.end() ? PrioritySet() : found->second;
    }
    if (pfc_of_port_.empty() && pfc_.size() == 1) content_.model.common.pfc = pfc_.begin()->second;
    if (content_.model.is_empty()) return std::nullopt;
    Document document;
    document.content = std::move(content_);
    return document;
  }

 private:
  bool take_statement(std::string_view text, int number) {
    if (text.starts_with('/')) {
      // The menu, and perhaps a command behind it.
      std::size_t end = text.size();
      for (const std::string_view verb : {" add ", " set "}) {
        const auto at = text.find(verb);
        if (at != text.npos) end = std::min(end, at);
      }
      menu_ = std::string(trimmed(text.substr(0, end)));
      if (!menu_.starts_with(kMenu)) return false;
      text = trimmed(text.substr(end));
      if (text.empty()) return true;
    }
    const auto words = host::words(text);
    if (words.empty() || (words[0] != "add" && words[0] != "set") || !menu_.starts_with(kMenu)) return false;
    take_command(routeros_line(words, 1), number);
    return true;
  }

  bool in_menu(std::string_view end) const { return menu_.ends_with(end); }

  void take_command(const RouterosLine& line, int number) {
    SwitchModel& model = content_.model;
    if (in_menu("qos profile")) {
      const auto tc = small_number(line.value("traffic-class"));
      if (!tc) return;
      profiles_[std::string(line.value("name"))] = *tc;
      if (const auto dscp = numbers_in(line.value("dscp"), 63))
        note_mapping(*dscp, line.value("name"), number);
    } else if (in_menu("qos map ip")) {
      if (const auto dscp = numbers_in(line.value("dscp"), 63))
        note_mapping(*dscp, line.value("profile"), number);
    } else if (in_menu("qos priority-flow-control")) {
      const auto priorities = priorities_in(line.value("traffic-class"));
      const bool both = line.value("rx") != "no" && line.value("tx") != "no";
      if (priorities) pfc_[std::string(line.value("name"))] = both ? *priorities : PrioritySet();
      model.note_line("pfc", number);
    } else if (in_menu("qos port")) {
      for (const std::string& port : line.items) take_port(port, line, number);
    } else if (in_menu("tx-manager queue")) {
      for (const std::string& item : line.items) {
        if (const auto queue = small_number(item))
          take_queue(model.common.queues[TrafficClass(*queue)], line, number);
      }
    } else if (in_menu("interface ethernet")) {
      const auto mtu = count_in(line.value("mtu"));
      for (const std::string& port : line.items) {
        if (!mtu || *mtu > 65535) continue;
        model.ports[port].mtu = Bytes(static_cast<std::int64_t>(*mtu));
        model.note_line("mtu", number, port);
      }
    }
  }

  void note_mapping(const std::vector<int>& dscps, std::string_view profile, int number) {
    for (const int dscp : dscps) {
      mapped_[Dscp(dscp)] = profile;
      content_.model.note_line("dscp " + std::to_string(dscp), number);
    }
  }

  void take_port(const std::string& port, const RouterosLine& line, int number) {
    SwitchSettings& settings = content_.model.ports[port];
    const bool l3 = !line.value("trust-l3").empty(), l2 = !line.value("trust-l2").empty();
    const bool trusts_l3 = l3 && line.value("trust-l3") != "ignore";
    const bool trusts_l2 = l2 && line.value("trust-l2") != "ignore";
    if (l3 || l2) {
      settings.trust = trusts_l3 && trusts_l2 ? SwitchTrust::both
                       : trusts_l3            ? SwitchTrust::dscp
                       : trusts_l2            ? SwitchTrust::pcp
                                              : SwitchTrust::none;
      content_.model.note_line("trust", number, port);
    }
    if (const std::string_view pfc = line.value("pfc"); !pfc.empty()) {
      pfc_of_port_[port] = pfc;
      content_.model.note_line("pfc", number, port);
    }
  }

  void take_queue(SwitchQueue& queue, const RouterosLine& line, int number) {
    if (const std::string_view ecn = line.value("ecn"); !ecn.empty()) {
      queue.marks = ecn == "yes";
      content_.model.note_line("ecn", number);
    }
    if (const std::string_view schedule = line.value("schedule"); !schedule.empty())
      queue.strict = schedule == "strict-priority";
  }

  SwitchEvidence content_;
  std::string menu_, pending_;
  std::map<std::string, int> profiles_;
  std::map<Dscp, std::string> mapped_;
  std::map<std::string, PrioritySet> pfc_;
  std::map<std::string, std::string> pfc_of_port_;
};

constexpr std::string_view kRouterosAnchors[] = {"/interface ethernet"};

}  // namespace

Format routeros_config_format() {
  return {.name = "switch-config",
          .anchors = kRouterosAnchors,
          .begins = [](const Line& line, const Context&) { return trimmed(line.text).starts_with(kMenu); },
          .open = open_reader<RouterosConfigReader>};
}

}  // namespace rocetune::evidence
