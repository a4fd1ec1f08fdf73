#include "agent/evidence/switches/mqc_model.h"

#include <algorithm>

#include "agent/evidence/switches/columns.h"

namespace rocetune::evidence {
namespace {

// "c-8q-nq3", "c-out-8q-q3", "c-out-q-default", "class-default": the number of a system-defined class.
std::optional<int> number_of_class(std::string_view name) {
  if (name.ends_with("default")) return 0;
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  if (at == 0 || at == name.size() || name[at - 1] != 'q') return std::nullopt;
  const auto number = count_in(name.substr(at));
  return number && *number <= 7 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

class MqcComposer {
 public:
  explicit MqcComposer(const MqcConfig& config) : config_(config) {}

  SwitchModel compose() {
    model_.system = config_.is_nxos  ? SwitchSystem::nxos
                    : config_.is_eos ? SwitchSystem::eos
                                     : SwitchSystem::unknown;
    model_.name = config_.name;
    for (const auto& [what, line] : config_.lines) model_.note_line(what, line);
    SwitchSettings& common = model_.common;
    common.priority_of_dscp = config_.dscp_map;
    common.queue_of_priority = config_.queue_map;
    for (const auto& [name, policy] : config_.policies) {
      if (policy.kind == MqcKind::network_qos && is_attached(name, MqcKind::network_qos))
        take_system_classes(policy);
    }
    take_policies(config_.system_policies, common);
    if (attached_to_ports(MqcKind::qos).empty() && !any_attached(MqcKind::qos))
      take_all(MqcKind::qos, common);
    if (attached_to_ports(MqcKind::queuing).empty() && !any_attached(MqcKind::queuing))
      take_all(MqcKind::queuing, common);
    take_common_block(common);
    for (const auto& [port, block] : config_.ports) model_.ports[port] = settings_of(block, port);
    // A fragment without interfaces: what it says is for all ports.
    if (!says_pfc_ && !no_drop_.is_empty()) common.pfc = no_drop_;
    if (config_.ports.empty() && config_.profiles.size() == 1) {
      common.overlay(settings_of(config_.profiles.begin()->second, ""));
    }
    return std::move(model_);
  }

 private:
  const MqcPolicy* policy(const std::string& name) const {
    const auto found = config_.policies.find(name);
    return found == config_.policies.end() ? nullptr : &found->second;
  }
  bool has(const std::vector<std::string>& names, MqcKind kind) const {
    return std::ranges::any_of(names, [&](const std::string& name) {
      const MqcPolicy* found = policy(name);
      return found != nullptr && found->kind == kind;
    });
  }
  std::vector<std::string> attached_to_ports(MqcKind kind) const {
    std::vector<std::string> out;
    for (const auto* blocks : {&config_.ports, &config_.profiles}) {
      for (const auto& [name, block] : *blocks) {
        if (has(block.policies, kind)) out.push_back(name);
      }
    }
    return out;
  }
  bool any_attached(MqcKind kind) const {
    return has(config_.system_policies, kind) || has(config_.common.policies, kind);
  }
  // Attached, or nothing of its kind is: then this is a fragment.
  bool is_attached(const std::string& name, MqcKind kind) const {
    const auto& names = config_.system_policies;
    return !any_attached(kind) || std::ranges::find(names, name) != names.end();
  }

  // Group of a class: of its own, or of the class map that it names.
  std::optional<int> group_of(const MqcClass& c) const {
    if (c.group) return c.group;
    const auto found = config_.class_maps.find(c.name);
    if (found != config_.class_maps.end() && found->second.group) return found->second.group;
    return number_of_class(c.name);
  }

  // network-qos: which groups are lossless, and what their PFC frames name.
  void take_system_classes(const MqcPolicy& policy) {
    for (const MqcClass& c : policy.classes) {
      const auto group = group_of(c);
      if (!group || !c.no_drop) continue;
      PrioritySet named = c.pfc.value_or(PrioritySet());
      if (named.is_empty()) {
        const auto found = config_.class_maps.find(c.name);
        if (found != config_.class_maps.end()) {
          for (const int pcp : found->second.pcps) named = named.with(Priority(pcp));
        }
        if (named.is_empty()) named = PrioritySet::of(Priority(*group));
      }
      for (int p = 0; p < 8; ++p) {
        if (!named.contains(Priority(p))) continue;
        priority_of_group_.emplace(*group, Priority(p));
        no_drop_ = no_drop_.with(Priority(p));
      }
    }
  }
  Priority priority_of(int group) const {
    const auto found = priority_of_group_.find(group);
    return found == priority_of_group_.end() ? Priority(group) : found->second;
  }

  void take_policy(const MqcPolicy& policy, SwitchSettings& settings) const {
    std::map<int, bool> shares;
    for (const MqcClass& c : policy.classes) {
      const auto group = group_of(c);
      if (!group) continue;
      if (policy.kind == MqcKind::queuing) {
        settings.queues[TrafficClass(*group)] = c.queue;
        continue;
      }
      const auto found = config_.class_maps.find(c.name);
      if (policy.kind != MqcKind::qos || found == config_.class_maps.end()) continue;
      const Priority priority = priority_of(*group);
      if (!found->second.dscps.empty()) settings.trust = SwitchTrust::dscp;
      if (found->second.dscps.empty() && !found->second.pcps.empty()) settings.trust = SwitchTrust::pcp;
      for (const Dscp dscp : found->second.dscps) settings.priority_of_dscp[dscp] = priority;
      if (config_.is_nxos) settings.queue_of_priority[priority] = TrafficClass(*group);
    }
  }
  void take_policies(const std::vector<std::string>& names, SwitchSettings& settings) const {
    for (const std::string& name : names) {
      if (const MqcPolicy* found = policy(name)) take_policy(*found, settings);
    }
  }
  void take_all(MqcKind kind, SwitchSettings& settings) const {
    for (const auto& [name, policy] : config_.policies) {
      if (policy.kind == kind) take_policy(policy, settings);
    }
  }

  // EOS: priorities count only where PFC is on; a fragment in which no port has it on lacks that line.
  bool any_on() const {
    for (const auto* blocks : {&config_.ports, &config_.profiles}) {
      for (const auto& [name, block] : *blocks) {
        if (block.pfc_on) return true;
      }
    }
    return config_.common.pfc_on.has_value();
  }
  std::optional<PrioritySet> pfc_of(const MqcBlock& block) {
    if (!block.has_pfc) return std::nullopt;
    says_pfc_ = true;
    if (block.mode && *block.mode == "off") return PrioritySet();
    if (block.mode && *block.mode == "on") return block.no_drop.is_empty() ? no_drop_ : block.no_drop;
    if (block.mode) return std::nullopt;  // "auto": DCBX decides
    if (block.pfc_on) return *block.pfc_on ? std::optional(block.no_drop) : std::optional(PrioritySet());
    if (block.no_drop.is_empty()) return std::nullopt;
    return any_on() ? PrioritySet() : block.no_drop;
  }

  SwitchSettings settings_of(const MqcBlock& block, const std::string& port) {
    SwitchSettings out;
    for (const std::string& name : block.profiles) {
      const auto found = config_.profiles.find(name);
      if (found == config_.profiles.end()) continue;
      out.overlay(settings_of(found->second, port));
    }
    take_policies(block.policies, out);
    out.overlay(block.settings);
    if (const auto pfc = pfc_of(block)) out.pfc = pfc;
    for (const auto& [what, line] : block.lines) {
      if (port.empty()) {
        model_.note_line(what, line);
      } else {
        model_.note_line(what, line, port);
      }
    }
    return out;
  }

  void take_common_block(SwitchSettings& common) { common.overlay(settings_of(config_.common, "")); }

  const MqcConfig& config_;
  SwitchModel model_;
  std::map<int, Priority> priority_of_group_;
  PrioritySet no_drop_;
  bool says_pfc_ = false;
};

}  // namespace

SwitchModel MqcConfig::model() const { return MqcComposer(*this).compose(); }

}  // namespace rocetune::evidence
