#include "agent/diagnose/told.h"

#include <fmt/core.h>

namespace rocetune::diagnose {

Told told_of(const CountedPort& port, std::optional<std::uint64_t> errors,
             std::optional<std::uint64_t> packets, Ratio notable, const Policy& policy) {
  if (!errors) return Told::nothing;
  if (*errors == 0) return Told::none;
  if (packets && *packets > 0) {
    const double share = static_cast<double>(*errors) / static_cast<double>(*packets);
    // A handful is chance, whatever it is a share of: a grep may show a part of the packets only.
    return share >= notable.value() && *errors >= policy.told_increase ? Told::many : Told::few;
  }
  return *errors >= (port.is_total ? policy.told_total : policy.told_increase) ? Told::many : Told::few;
}

Evidence share_shown(std::string name, std::uint64_t errors, std::uint64_t packets, const CountedPort& port) {
  const double share = packets == 0 ? 1 : static_cast<double>(errors) / static_cast<double>(packets);
  return {std::move(name), fmt::format("{:.3g}", share * 100), "%",
          fmt::format("{} {}", port.subject(), port.span())};
}

bool is_notable_told(const CountedPort& port, const Pause& pause, const Policy& policy) {
  if (port.is_total) {
    const std::string name =
        fmt::format("{}_{}pause_duration_us", pause.side == PauseSide::received ? "rx" : "tx",
                    pause.priority ? "" : "global_");
    const auto us = port.count(name, pause.priority);
    // Frames say little where time is counted: one may hold a link for 300 us or be taken back at once.
    if (us) return static_cast<double>(*us) >= policy.told_pause.microseconds();
    return pause.frames.value_or(0) >= policy.told_pause_frames;
  }
  if (port.elapsed) return is_notable(pause, policy);
  // As if it had been a second: how long it was is not said.
  return pause.frames.value_or(0) >= policy.notable_pause_frames_per_s;
}

std::string total_caution(const CountedPort& port) {
  return port.is_total ? " These are totals since boot or reset: take a second dump under load to see "
                         "whether they still rise."
                       : "";
}

}  // namespace rocetune::diagnose
