// Pause as counters show it: per priority and for the whole link, in both directions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/diagnose/facts.h"

namespace rocetune::diagnose {

enum class PauseSide {
  received,  // the network holds this port: rx_ counters
  sent,      // this port holds the network: tx_ counters
};

struct Pause {
  std::optional<Priority> priority;  // nothing: 802.3x, the whole link
  PauseSide side = PauseSide::received;
  std::optional<Ratio> share;  // of the interval that was paused; nothing where the NIC counts no time
  std::optional<std::uint64_t> frames;
  Duration elapsed;  // measured, between the two reads of these counters
  std::vector<Evidence> evidence;

  std::string subject() const;  // "priority 3", "global pause"
};

// Every pause counter that is known, zeros included.
std::vector<Pause> pauses(const counters::PortDelta& delta);
// Why there is none of a priority, in words.
std::string why_no_pauses(const PortFacts& facts);

// Paused at least the storm's share of an interval that is at least the detection time.
bool is_storm(const Pause& pause, const Policy& policy);
// Worth a finding, by share of time or, where no time is counted, by frames. Includes storms.
bool is_notable(const Pause& pause, const Policy& policy);

}  // namespace rocetune::diagnose
