#include "agent/evidence/switches/switch_model.h"

namespace rocetune::evidence {
namespace {

template <class T>
void take_over(std::optional<T>& mine, const std::optional<T>& over) {
  if (over) mine = over;
}

template <class Map>
void take_entries(Map& mine, const Map& over) {
  for (const auto& [key, value] : over) mine[key] = value;
}

std::string line_key(std::string_view what, std::string_view port) {
  return std::string(what) + (port.empty() ? "" : " of " + std::string(port));
}

bool says_classes(const SwitchSettings& s) {
  return s.trust || !s.priority_of_dscp.empty() || !s.queue_of_priority.empty() || s.pfc ||
         !s.queues.empty() || !s.buffers.empty() || s.watchdog;
}

}  // namespace

void SwitchSettings::overlay(const SwitchSettings& over) {
  take_over(trust, over.trust);
  take_entries(priority_of_dscp, over.priority_of_dscp);
  take_entries(queue_of_priority, over.queue_of_priority);
  take_over(pfc, over.pfc);
  for (const auto& [number, queue] : over.queues) {
    SwitchQueue& mine = queues[number];
    take_over(mine.strict, queue.strict);
    take_over(mine.share_percent, queue.share_percent);
    take_over(mine.marks, queue.marks);
    take_over(mine.mark_from, queue.mark_from);
    take_over(mine.mark_all, queue.mark_all);
    take_over(mine.mark_percent, queue.mark_percent);
  }
  take_entries(buffers, over.buffers);
  take_over(mtu, over.mtu);
  take_over(speed, over.speed);
  take_over(cable, over.cable);
  if (over.watchdog) {
    SwitchWatchdog merged = *over.watchdog;
    if (watchdog && !merged.detection) merged.detection = watchdog->detection;
    if (watchdog && !merged.restoration) merged.restoration = watchdog->restoration;
    if (watchdog && merged.action.empty()) merged.action = watchdog->action;
    watchdog = std::move(merged);
  }
}

SwitchSettings SwitchModel::of(std::string_view port) const {
  SwitchSettings out = common;
  const auto found = ports.find(std::string(port));
  if (found != ports.end()) out.overlay(found->second);
  return out;
}

std::vector<std::pair<std::string, SwitchSettings>> SwitchModel::all() const {
  std::vector<std::pair<std::string, SwitchSettings>> out;
  for (const auto& [port, settings] : ports) out.emplace_back(port, of(port));
  if (out.empty()) out.emplace_back("", common);
  return out;
}

int SwitchModel::line_of(std::string_view what, std::string_view port) const {
  auto found = lines.find(line_key(what, port));
  if (found == lines.end()) found = lines.find(what);
  return found == lines.end() ? 0 : found->second;
}

void SwitchModel::note_line(std::string_view what, int line, std::string_view port) {
  lines.insert_or_assign(line_key(what, port), line);
}

bool SwitchModel::has_classes() const {
  if (says_classes(common)) return true;
  for (const auto& [port, settings] : ports) {
    if (says_classes(settings)) return true;
  }
  return false;
}

TrafficClass queue_of(const SwitchSettings& settings, Priority priority) {
  const auto found = settings.queue_of_priority.find(priority);
  return found == settings.queue_of_priority.end() ? TrafficClass(priority.value()) : found->second;
}

std::optional<Priority> priority_of(const SwitchSettings& settings, Dscp dscp) {
  const auto found = settings.priority_of_dscp.find(dscp);
  if (found == settings.priority_of_dscp.end()) return std::nullopt;
  return found->second;
}

std::string_view maker_name(SwitchSystem system) {
  switch (system) {
    case SwitchSystem::unknown:
      return "switch";
    case SwitchSystem::sonic:
      return "SONiC";
    case SwitchSystem::nvue:
      return "Cumulus";
    case SwitchSystem::onyx:
      return "Onyx";
    case SwitchSystem::eos:
      return "EOS";
    case SwitchSystem::nxos:
      return "NX-OS";
    case SwitchSystem::junos:
      return "Junos";
    case SwitchSystem::routeros:
      return "RouterOS";
  }
  return "switch";
}

}  // namespace rocetune::evidence
