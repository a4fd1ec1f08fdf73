#include "agent/diagnose/pause.h"

#include <fmt/core.h>

namespace rocetune::diagnose {
namespace {

std::optional<Pause> pause_of(const counters::PortDelta& delta, PauseSide side,
                              std::optional<Priority> priority) {
  const std::string prefix =
      fmt::format("{}_{}", side == PauseSide::received ? "rx" : "tx", priority ? "" : "global_");
  const std::string frames = prefix + "pause_frames", duration = prefix + "pause_duration_us";
  Pause out{priority,
            side,
            delta.share_of_time(duration, priority),
            delta.increment(frames, priority),
            delta.elapsed_of(frames),
            {}};
  if (!out.share && !out.frames) return std::nullopt;
  out.evidence = counters_seen(delta, {duration, frames, prefix + "pause_transitions"}, priority);
  if (out.share) {
    out.evidence.insert(
        out.evidence.begin(),
        setting(side == PauseSide::received ? "time paused by the network" : "time pausing the network",
                fmt::format("{:.1f}", out.share->percent()), "%", "duration over measured time"));
  }
  return out;
}

}  // namespace

std::string Pause::subject() const {
  return priority ? fmt::format("priority {}", priority->value()) : std::string("global pause");
}

std::vector<Pause> pauses(const counters::PortDelta& delta) {
  std::vector<Pause> out;
  for (const PauseSide side : {PauseSide::received, PauseSide::sent}) {
    for (int p = 0; p < Priority::kCount; ++p) {
      if (auto one = pause_of(delta, side, Priority(p))) out.push_back(std::move(*one));
    }
    if (auto one = pause_of(delta, side, std::nullopt)) out.push_back(std::move(*one));
  }
  return out;
}

std::string why_no_pauses(const PortFacts& facts) {
  if (facts.port.dcb.pfc && facts.port.dcb.pfc->enabled.is_empty()) {
    return "no pause is counted: PFC is off, and NICs count it only where it is on";
  }
  return "this NIC or driver counts no pause";
}

bool is_storm(const Pause& pause, const Policy& policy) {
  return pause.share && *pause.share >= policy.storm_share && pause.elapsed >= policy.storm_detection;
}

bool is_notable(const Pause& pause, const Policy& policy) {
  if (pause.share) return *pause.share >= policy.notable_pause_share;
  if (!pause.frames || pause.elapsed <= Duration(0)) return false;
  return static_cast<double>(*pause.frames) >=
         static_cast<double>(policy.notable_pause_frames_per_s) * pause.elapsed.seconds();
}

}  // namespace rocetune::diagnose
