#include "agent/evidence/switches/mqc_config.h"

#include <algorithm>

#include "agent/evidence/switches/columns.h"
#include "agent/evidence/switches/mqc_model.h"
#include "agent/evidence/switches/mqc_words.h"
#include "agent/evidence/switches/switch_evidence.h"
#include "agent/host/words.h"

namespace rocetune::evidence {
namespace {

enum class MqcPlace { none, class_map, policy, policy_class, block, queue, system };

class MqcConfigReader : public DocumentReader {
 public:
  explicit MqcConfigReader(const Context&) {}

  Verdict take(const Line& line) override {
    if (line.is_blank()) return Verdict::mine;
    if (line.is_command && !line.text.starts_with("config")) return Verdict::not_mine;
    const std::string_view text = without_config_prompt(trimmed(line.text));
    const MqcWords words = host::words(text);
    if (words.empty()) return Verdict::mine;
    line_ = line.number;
    // A block whose lines are indented ends with the first that is not.
    const bool indented = line.text.front() == ' ' || line.text.front() == '\t';
    if (!indented && is_indented_) close();
    is_indented_ = indented;
    if (take_head(words) || take_statement(words)) return Verdict::mine;
    if (words[0].starts_with('!')) return Verdict::mine;
    if (is_other_mqc(words[0])) return Verdict::mine;
    return Verdict::not_mine;
  }

  std::optional<Document> finish() override {
    SwitchEvidence content;
    content.model = config_.model();
    if (content.model.is_empty()) return std::nullopt;
    if (content.model.system == SwitchSystem::unknown && !content.model.has_classes() &&
        content.model.common.mtu)
      return std::nullopt;
    Document document;
    document.content = std::move(content);
    return document;
  }

 private:
  static std::optional<int> small(std::string_view text) {
    const auto count = count_in(text);
    return count && *count <= 7 ? std::optional(static_cast<int>(*count)) : std::nullopt;
  }
  std::vector<MqcBlock*> blocks() {
    std::vector<MqcBlock*> out;
    for (const std::string& port : open_ports_) out.push_back(&config_.ports[port]);
    if (!open_profile_.empty()) out.push_back(&config_.profiles[open_profile_]);
    if (out.empty()) out.push_back(&config_.common);
    return out;
  }
  void leave() {
    open_ports_.clear();
    open_profile_.clear();
  }
  void close() {
    leave();
    place_ = MqcPlace::none;
  }

  // Lines that open a block, whatever was open.
  bool take_head(const MqcWords& words) {
    if (words[0] == "hostname" && words.size() == 2) {
      config_.name = words[1];
      return true;
    }
    if (words[0] == "class-map" && words.size() >= 2) {
      leave();
      open_class_map_ = words.back();
      config_.class_maps[open_class_map_];
      place_ = MqcPlace::class_map;
      return true;
    }
    if (words[0] == "policy-map" && words.size() >= 2) {
      leave();
      open_policy_ = words.back();
      const std::string_view type = words.size() >= 4 ? words[2] : std::string_view("qos");
      MqcPolicy& policy = config_.policies[open_policy_];
      policy.kind = type == "network-qos"                     ? MqcKind::network_qos
                    : type == "queuing" || type == "tx-queue" ? MqcKind::queuing
                                                              : MqcKind::qos;
      config_.is_nxos |= type == "network-qos" || type == "queuing";
      config_.is_eos |= type == "quality-of-service" || type == "tx-queue";
      place_ = MqcPlace::policy;
      return true;
    }
    if (words[0] == "interface" && words.size() >= 2) {
      leave();
      std::string name;
      for (std::size_t i = 1; i < words.size(); ++i) name += words[i];  // "Ethernet 1/1"
      open_ports_ = ports_in(name);
      for (const std::string& port : open_ports_) config_.ports[port];
      place_ = MqcPlace::block;
      return true;
    }
    if (words[0] == "qos" && words.size() == 3 && words[1] == "profile" && open_ports_.empty()) {
      leave();
      open_profile_ = words[2];
      config_.profiles[open_profile_];
      config_.is_eos = true;
      place_ = MqcPlace::block;
      return true;
    }
    if (words[0] == "system" && words.size() == 2 && words[1] == "qos") {
      leave();
      config_.is_nxos = true;
      place_ = MqcPlace::system;
      return true;
    }
    return false;
  }

  bool take_statement(const MqcWords& words) {
    if (words[0] == "qos" && words.size() >= 3) return take_qos(words);
    if (words[0] == "match" && place_ == MqcPlace::class_map) return take_match(words);
    if (words[0] == "class" && (place_ == MqcPlace::policy || place_ == MqcPlace::policy_class) &&
        words.size() >= 2) {
      take_class(words);
      return true;
    }
    if (words[0] == "set" && place_ == MqcPlace::policy_class && words.size() >= 3) return take_set(words);
    if (words[0] == "pause" && place_ == MqcPlace::policy_class) return take_pause(words);
    if (words[0] == "mtu" && words.size() == 2) return take_mtu(words[1]);
    if (words[0] == "priority-flow-control" ||
        (words[0] == "no" && words.size() > 1 && words[1] == "priority-flow-control"))
      return take_pfc(words);
    if (words[0] == "service-policy" && words.size() >= 2) return take_service_policy(words);
    if (words[0] == "service-profile" && words.size() == 2) {
      for (MqcBlock* block : blocks()) block->profiles.emplace_back(words[1]);
      return true;
    }
    if ((words[0] == "tx-queue" || words[0] == "uc-tx-queue") && words.size() == 2) {
      const auto number = small(words[1]);
      if (!number) return false;
      config_.is_eos = true;
      open_queue_ = TrafficClass(*number);
      place_ = MqcPlace::queue;
      note("queue " + std::to_string(*number));
      return true;
    }
    return take_queue_statement(words);
  }

  void note(const std::string& what) { config_.lines[what] = line_; }
  void note_block(const std::string& what) {
    for (MqcBlock* block : blocks()) block->lines[what] = line_;
  }

  // EOS: "qos map dscp 24 25 to traffic-class 3", "qos map traffic-class 3 to tx-queue 3", "qos trust dscp".
  bool take_qos(const MqcWords& words) {
    if (words[1] == "trust") {
      for (MqcBlock* block : blocks()) {
        block->settings.trust = words[2] == "dscp"  ? SwitchTrust::dscp
                                : words[2] == "cos" ? SwitchTrust::pcp
                                                    : SwitchTrust::none;
        block->lines["trust"] = line_;
      }
      config_.is_eos = true;
      return true;
    }
    if (words[1] == "profile" || words[1] == "rewrite" || words[1] == "cos" || words[1] == "dscp")
      return true;
    if (words[1] != "map") return false;
    config_.is_eos = true;
    const auto to = std::ranges::find(words, std::string_view("to"));
    if (to == words.end() || words.end() - to < 3) return true;
    const auto target = small(*(to + 2));
    std::string list;
    for (auto it = words.begin() + 3; it != to; ++it) list += std::string(*it) + " ";
    if (!target) return true;
    if (words[2] == "dscp" && *(to + 1) == "traffic-class") {
      for (const Dscp dscp : dscps_in(list).value_or(std::vector<Dscp>())) {
        config_.dscp_map[dscp] = Priority(*target);
        note("dscp " + std::to_string(dscp.value()));
      }
    } else if (words[2] == "traffic-class" && (to + 1)->find("tx-queue") != std::string_view::npos) {
      for (const int tc : numbers_in(list, 7).value_or(std::vector<int>()))
        config_.queue_map[Priority(tc)] = TrafficClass(*target);
    }
    return true;
  }

  // "match dscp 26", "match ip dscp af31", "match cos 3", "match qos-group 3"
  bool take_match(const MqcWords& words) {
    MqcClassMap& map = config_.class_maps[open_class_map_];
    const std::size_t at = words.size() > 2 && (words[1] == "ip" || words[1] == "ipv6") ? 2 : 1;
    if (words.size() < at + 2) return true;
    std::string list;
    for (std::size_t i = at + 1; i < words.size(); ++i) list += std::string(words[i]) + " ";
    if (words[at] == "dscp") {
      for (const Dscp dscp : dscps_in(list).value_or(std::vector<Dscp>())) {
        if (std::find(map.dscps.begin(), map.dscps.end(), dscp) == map.dscps.end()) map.dscps.push_back(dscp);
        note("dscp " + std::to_string(dscp.value()));
      }
    } else if (words[at] == "cos") {
      map.pcps = numbers_in(list, 7).value_or(std::vector<int>());
    } else if (words[at] == "qos-group") {
      map.group = small(words[at + 1]);
      config_.is_nxos = true;
    }
    return true;
  }

  void take_class(const MqcWords& words) {
    MqcClass out;
    out.name = words.back();
    // EOS "class tx-queue 5"
    if (words.size() == 3 && words[1] == "tx-queue") out.group = small(words[2]);
    // A class that is named again is the same: a configuration may stand in a text several times.
    auto& classes = config_.policies[open_policy_].classes;
    const auto known =
        std::find_if(classes.begin(), classes.end(), [&](const MqcClass& c) { return c.name == out.name; });
    open_class_ = static_cast<std::size_t>(known - classes.begin());
    if (known == classes.end()) {
      classes.push_back(std::move(out));
    } else if (out.group) {
      known->group = out.group;
    }
    place_ = MqcPlace::policy_class;
  }
  MqcClass* open_class() {
    auto& classes = config_.policies[open_policy_].classes;
    return place_ == MqcPlace::policy_class && open_class_ < classes.size() ? &classes[open_class_] : nullptr;
  }

  bool take_set(const MqcWords& words) {
    const auto number = small(words[2]);
    if (words[1] == "qos-group" && number) {
      config_.is_nxos = true;
      open_class()->group = number;
      return true;
    }
    if (words[1] == "traffic-class" && number) {
      config_.is_eos = true;
      open_class()->group = number;
      return true;
    }
    return words[1] == "cos" || words[1] == "dscp" || words[1] == "ip" || words[1] == "qos-group";
  }

  // "pause pfc-cos 3", "pause no-drop"
  bool take_pause(const MqcWords& words) {
    config_.is_nxos = true;
    open_class()->no_drop = true;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (words[i] == "pfc-cos") open_class()->pfc = priorities_in(words[i + 1]);
    }
    note("pfc");
    return true;
  }

  bool take_mtu(std::string_view text) {
    const auto mtu = count_in(text);
    if (!mtu || *mtu < 64 || *mtu > 65535) return false;
    if (place_ == MqcPlace::policy_class) return true;  // of a system class
    if (open_ports_.empty()) return place_ == MqcPlace::block;
    for (MqcBlock* block : blocks()) block->settings.mtu = Bytes(static_cast<std::int64_t>(*mtu));
    note_block("mtu");
    return true;
  }

  bool take_pfc(const MqcWords& words) {
    const bool no = words[0] == "no";
    const std::size_t at = no ? 2 : 1;
    const std::string_view what = words.size() > at ? words[at] : std::string_view();
    if (what == "mode" && words.size() > at + 1) {
      config_.is_nxos |= words[at + 1] == "auto";
      for (MqcBlock* block : blocks()) {
        block->has_pfc = true;
        block->mode = no ? "off" : std::string(words[at + 1]);
      }
      note_block("pfc");
    } else if (what == "priority" && words.size() > at + 1) {
      const auto priorities = priorities_in(words[at + 1]);
      const bool drop = no || (words.size() > at + 2 && words[at + 2] == "drop");
      config_.is_eos = true;
      if (!priorities) return false;
      for (MqcBlock* block : blocks()) {
        block->has_pfc = true;
        const unsigned mask =
            drop ? block->no_drop.mask() & ~priorities->mask() : block->no_drop.mask() | priorities->mask();
        block->no_drop = PrioritySet(static_cast<std::uint8_t>(mask));
      }
      note_block("pfc");
    } else if (what == "on" || what == "off" || (no && what.empty())) {
      config_.is_eos = true;
      for (MqcBlock* block : blocks()) {
        block->has_pfc = true;
        block->pfc_on = what == "on" && !no;
      }
      note_block("pfc");
    } else {
      take_watchdog(words);
    }
    return true;
  }

  void take_watchdog(const MqcWords& words) {
    for (MqcBlock* block : blocks()) {
      const auto system = take_watchdog_words(words, block->settings.watchdog);
      config_.is_nxos |= system == SwitchSystem::nxos;
      config_.is_eos |= system == SwitchSystem::eos;
      if (system != SwitchSystem::unknown) block->lines["watchdog"] = line_;
    }
  }

  // "service-policy type qos input ROCE", "service-policy type network-qos NQ"
  bool take_service_policy(const MqcWords& words) {
    if (place_ == MqcPlace::system) {
      config_.system_policies.emplace_back(words.back());
    } else {
      for (MqcBlock* block : blocks()) block->policies.emplace_back(words.back());
    }
    return true;
  }

  // Of a class of a queuing policy, or of an EOS tx-queue.
  bool take_queue_statement(const MqcWords& words) {
    if (words[0] != "bandwidth" && words[0] != "priority" && words[0] != "random-detect" &&
        !(words[0] == "no" && words.size() == 2 && words[1] == "priority"))
      return false;
    if (MqcClass* c = open_class()) {
      take_queue(words, c->queue);
      return true;
    }
    if (place_ != MqcPlace::queue) return false;
    for (MqcBlock* block : blocks()) take_queue(words, block->settings.queues[open_queue_]);
    return true;
  }

  void take_queue(const MqcWords& words, SwitchQueue& queue) {
    take_queue_words(words, queue);
    if (words[0] == "random-detect") note("ecn");
  }

  MqcConfig config_;
  MqcPlace place_ = MqcPlace::none;
  int line_ = 0;
  bool is_indented_ = false;
  std::string open_class_map_, open_policy_, open_profile_;
  std::size_t open_class_ = 0;  // of the open policy
  std::vector<std::string> open_ports_;
  TrafficClass open_queue_;
};

constexpr std::string_view kMqcAnchors[] = {
    "hostname ",       "class-map ",    "policy-map ",  "priority-flow-control ",
    "qos map ",        "qos trust ",    "qos profile ", "system qos",
    "interface E",     "interface e",   "interface p",  "interface P",
    "service-policy ", "random-detect "};

}  // namespace

Format mqc_config_format() {
  return {.name = "switch-config",
          .anchors = kMqcAnchors,
          .begins =
              [](const Line& line, const Context&) {
                return !line.is_command && begins_mqc(without_config_prompt(trimmed(line.text)));
              },
          .open = open_reader<MqcConfigReader>};
}

}  // namespace rocetune::evidence
