#include "agent/evidence/switches/sonic_tables.h"

#include <boost/json/object.hpp>

#include <map>

#include "agent/evidence/line.h"
#include "agent/evidence/switches/columns.h"

namespace rocetune::evidence {
namespace {

using Object = boost::json::object;

// Numbers are texts in config_db; some tools write numbers.
std::string sonic_text(const boost::json::value* value) {
  if (value == nullptr) return {};
  if (const auto* text = value->if_string()) return std::string(text->data(), text->size());
  if (value->is_int64()) return std::to_string(value->as_int64());
  if (value->is_uint64()) return std::to_string(value->as_uint64());
  return {};
}

std::string sonic_member(const Object& object, std::string_view key) {
  return sonic_text(object.if_contains(key));
}

std::optional<int> sonic_number(const Object& object, std::string_view key, int least, int most) {
  std::string text = sonic_member(object, key);
  const bool negative = text.starts_with('-');
  const auto count = count_in(negative ? std::string_view(text).substr(1) : text);
  if (!count || *count > 1'000'000'000) return std::nullopt;
  const int value = negative ? -static_cast<int>(*count) : static_cast<int>(*count);
  return value >= least && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<Bytes> sonic_bytes(const Object& object, std::string_view key) {
  const auto count = count_in(sonic_member(object, key));
  if (!count || *count > (std::uint64_t{1} << 48)) return std::nullopt;
  return Bytes(static_cast<std::int64_t>(*count));
}

std::optional<Duration> sonic_milliseconds(const Object& object, std::string_view key) {
  const auto count = count_in(sonic_member(object, key));
  if (!count || *count > 3'600'000) return std::nullopt;
  return milliseconds(static_cast<std::int64_t>(*count));
}

// "[DSCP_TO_TC_MAP|AZURE]" of older versions, or "AZURE".
std::string referred(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    text = text.substr(text.find('|') + 1);
  }
  return std::string(text);
}

class SonicConfig {
 public:
  explicit SonicConfig(const Object& tables) : tables_(tables) {
    model_.system = SwitchSystem::sonic;
    if (const Object* metadata = row("DEVICE_METADATA", "localhost"))
      model_.name = sonic_member(*metadata, "hostname");
    take_maps();
    for_each("PORT", [&](const std::string& port, const Object& fields) { take_port(port, fields); });
    for_each("PORT_QOS_MAP",
             [&](const std::string& key, const Object& fields) { take_port_qos(key, fields); });
    for_each("QUEUE", [&](const std::string& key, const Object& fields) { take_queue(key, fields); });
    for_each("BUFFER_PG", [&](const std::string& key, const Object& fields) { take_buffer(key, fields); });
    for_each("PFC_WD", [&](const std::string& key, const Object& fields) { take_watchdog(key, fields); });
    for_each("CABLE_LENGTH", [&](const std::string&, const Object& fields) { take_cables(fields); });
    take_loose_profiles();
    share_weights();
  }

  SwitchModel take() { return std::move(model_); }

 private:
  const Object* table(std::string_view name) const {
    const auto* value = tables_.if_contains(name);
    return value == nullptr ? nullptr : value->if_object();
  }
  const Object* row(std::string_view name, std::string_view key) const {
    const Object* found = table(name);
    const auto* value = found == nullptr ? nullptr : found->if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
  }
  template <class Visit>
  void for_each(std::string_view name, Visit visit) const {
    const Object* found = table(name);
    if (found == nullptr) return;
    for (const auto& member : *found) {
      if (const auto* fields = member.value().if_object())
        visit(std::string(member.key().data(), member.key().size()), *fields);
    }
  }

  std::map<Dscp, Priority> dscp_map(const Object& fields) const {
    std::map<Dscp, Priority> out;
    for (const auto& member : fields) {
      const auto dscp = numbers_in(std::string_view(member.key().data(), member.key().size()), 63);
      const auto tc = count_in(sonic_text(&member.value()));
      if (!dscp || !tc || *tc > 7) continue;
      for (const int d : *dscp) out[Dscp(d)] = Priority(static_cast<int>(*tc));
    }
    return out;
  }
  std::map<Priority, TrafficClass> queue_map(const Object& fields) const {
    std::map<Priority, TrafficClass> out;
    for (const auto& member : fields) {
      const auto tc = count_in(std::string_view(member.key().data(), member.key().size()));
      const auto queue = count_in(sonic_text(&member.value()));
      if (!tc || *tc > 7 || !queue || *queue > 7) continue;
      out[Priority(static_cast<int>(*tc))] = TrafficClass(static_cast<int>(*queue));
    }
    return out;
  }

  // Maps that no port names are for all ports, if there is only one of the kind.
  void take_maps() {
    const Object* dscp = table("DSCP_TO_TC_MAP");
    const Object* queues = table("TC_TO_QUEUE_MAP");
    const bool bound = table("PORT_QOS_MAP") != nullptr;
    if (!bound && dscp != nullptr && dscp->size() == 1 && dscp->begin()->value().is_object())
      model_.common.priority_of_dscp = dscp_map(dscp->begin()->value().as_object());
    if (!bound && queues != nullptr && queues->size() == 1 && queues->begin()->value().is_object())
      model_.common.queue_of_priority = queue_map(queues->begin()->value().as_object());
  }

  void take_port(const std::string& port, const Object& fields) {
    SwitchSettings& settings = model_.ports[port];
    if (const auto mtu = sonic_number(fields, "mtu", 64, 65535)) settings.mtu = Bytes(*mtu);
    if (const auto speed = sonic_number(fields, "speed", 1, 10'000'000))
      settings.speed = megabits_per_second(*speed);
  }

  // "Ethernet0", "Ethernet0,Ethernet4", "global".
  std::vector<std::string> names(std::string_view key) const {
    std::vector<std::string> out;
    while (!key.empty()) {
      const auto [name, rest] = split_at(key, ',');
      if (!name.empty()) out.emplace_back(name);
      key = rest;
    }
    return out;
  }
  SwitchSettings& settings_of(const std::string& port) {
    return port == "global" || port == "GLOBAL" ? model_.common : model_.ports[port];
  }

  void take_port_qos(const std::string& key, const Object& fields) {
    for (const std::string& port : names(key)) {
      SwitchSettings& settings = settings_of(port);
      if (const std::string map = sonic_member(fields, "dscp_to_tc_map"); !map.empty()) {
        settings.trust = SwitchTrust::dscp;
        if (const Object* entries = row("DSCP_TO_TC_MAP", referred(map)))
          settings.priority_of_dscp = dscp_map(*entries);
      } else if (!sonic_member(fields, "dot1p_to_tc_map").empty()) {
        settings.trust = SwitchTrust::pcp;
      }
      if (const std::string map = sonic_member(fields, "tc_to_queue_map"); !map.empty()) {
        if (const Object* entries = row("TC_TO_QUEUE_MAP", referred(map)))
          settings.queue_of_priority = queue_map(*entries);
      }
      if (fields.contains("pfc_enable")) {
        settings.pfc = priorities_in(sonic_member(fields, "pfc_enable")).value_or(PrioritySet());
      }
    }
  }

  void take_wred(SwitchQueue& queue, const Object& profile) const {
    const std::string ecn = sonic_member(profile, "ecn");
    queue.marks = !ecn.empty() && ecn != "ecn_none";
    queue.mark_from = sonic_bytes(profile, "green_min_threshold");
    queue.mark_all = sonic_bytes(profile, "green_max_threshold");
    queue.mark_percent = sonic_number(profile, "green_drop_probability", 0, 100);
  }

  // "Ethernet0,Ethernet4|3-4"; of chassis "host|asic|Ethernet0|3".
  void take_queue(const std::string& key, const Object& fields) {
    const auto bar = key.rfind('|');
    if (bar == std::string::npos) return;
    const auto numbers = numbers_in(std::string_view(key).substr(bar + 1), 7);
    std::string_view ports = std::string_view(key).substr(0, bar);
    ports = ports.substr(ports.rfind('|') == ports.npos ? 0 : ports.rfind('|') + 1);
    if (!numbers) return;
    for (const std::string& port : names(ports)) {
      for (const int number : *numbers) {
        SwitchQueue& queue = model_.ports[port].queues[TrafficClass(number)];
        if (const Object* scheduler = row("SCHEDULER", referred(sonic_member(fields, "scheduler")))) {
          queue.strict = sonic_member(*scheduler, "type") == "STRICT";
          if (!*queue.strict)
            weights_[{port, number}] = sonic_number(*scheduler, "weight", 0, 100).value_or(1);
        }
        const std::string wred = referred(sonic_member(fields, "wred_profile"));
        if (const Object* profile = row("WRED_PROFILE", wred)) {
          take_wred(queue, *profile);
        } else if (wred.empty() && !fields.empty()) {
          queue.marks = false;  // the table says what the queue has, and a profile is not among it
        }
      }
    }
  }

  void take_buffer(const std::string& key, const Object& fields) {
    const auto bar = key.rfind('|');
    if (bar == std::string::npos) return;
    const auto numbers = numbers_in(std::string_view(key).substr(bar + 1), 7);
    const Object* profile = row("BUFFER_PROFILE", referred(sonic_member(fields, "profile")));
    if (!numbers) return;
    for (const std::string& port : names(std::string_view(key).substr(0, bar))) {
      for (const int number : *numbers) {
        SwitchBuffer& buffer = model_.ports[port].buffers[Priority(number)];
        // "NULL": computed by the buffer manager, which does so for lossless groups only.
        buffer.lossless = sonic_member(fields, "profile") == "NULL";
        if (profile != nullptr) buffer = buffer_of(*profile);
      }
    }
  }

  SwitchBuffer buffer_of(const Object& profile) const {
    SwitchBuffer out;
    out.headroom = sonic_bytes(profile, "xoff");
    out.lossless = out.headroom.has_value();
    out.alpha_exponent = sonic_number(profile, "dynamic_th", -8, 7);
    out.pause_from = sonic_bytes(profile, "static_th");
    if (const Object* pool = row("BUFFER_POOL", referred(sonic_member(profile, "pool"))))
      out.pool = sonic_bytes(*pool, "size");
    return out;
  }

  void take_watchdog(const std::string& key, const Object& fields) {
    if (key == "GLOBAL") return;
    SwitchWatchdog watchdog;
    watchdog.detection = sonic_milliseconds(fields, "detection_time");
    watchdog.restoration = sonic_milliseconds(fields, "restoration_time");
    watchdog.action = sonic_member(fields, "action");
    if (!watchdog.detection) return;
    for (const std::string& port : names(key)) model_.ports[port].watchdog = watchdog;
  }

  void take_cables(const Object& fields) {
    for (const auto& member : fields) {
      const std::string text = sonic_text(&member.value());
      if (const auto metres = parse_metres(text))
        model_.ports[std::string(member.key().data(), member.key().size())].cable = *metres;
    }
  }

  // Profiles without the tables that bind them: for every lossless priority that is known, or the usual one.
  void take_loose_profiles() {
    const Object* wred = table("WRED_PROFILE");
    if (table("QUEUE") == nullptr && wred != nullptr) {
      for (const auto& member : *wred) {
        const std::string name(member.key().data(), member.key().size());
        if (!member.value().is_object() || (wred->size() > 1 && name.find("LOSSLESS") == std::string::npos))
          continue;
        for (const int p : loose_priorities())
          take_wred(model_.common.queues[TrafficClass(p)], member.value().as_object());
      }
    }
    const Object* buffers = table("BUFFER_PROFILE");
    if (table("BUFFER_PG") == nullptr && buffers != nullptr) {
      for (const auto& member : *buffers) {
        const std::string_view name(member.key().data(), member.key().size());
        if (!member.value().is_object() || !name.starts_with("pg_lossless")) continue;
        for (const int p : loose_priorities())
          model_.common.buffers[Priority(p)] = buffer_of(member.value().as_object());
      }
    }
  }
  std::vector<int> loose_priorities() const {
    std::vector<int> out;
    for (const auto& [port, settings] : model_.ports) {
      for (int p = 0; settings.pfc && p < 8; ++p) {
        if (settings.pfc->contains(Priority(p))) out.push_back(p);
      }
      if (!out.empty()) return out;
    }
    return {3, 4};  // SONiC's stock lossless pair
  }

  // Weights of a port's queues as shares.
  void share_weights() {
    std::map<std::string, int> total;
    for (const auto& [key, weight] : weights_) total[key.first] += weight;
    for (const auto& [key, weight] : weights_) {
      const int sum = total[key.first];
      if (sum > 0)
        model_.ports[key.first].queues[TrafficClass(key.second)].share_percent =
            (weight * 100 + sum / 2) / sum;
    }
  }

  const Object& tables_;
  SwitchModel model_;
  std::map<std::pair<std::string, int>, int> weights_;
};

}  // namespace

SwitchModel switch_of_tables(const boost::json::object& tables) { return SonicConfig(tables).take(); }

}  // namespace rocetune::evidence
