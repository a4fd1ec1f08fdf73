// Small words of the rules that judge counters out of texts.
#pragma once

#include <string>
#include <vector>

#include "agent/diagnose/facts.h"
#include "agent/diagnose/pause.h"

namespace rocetune::diagnose {

// What one counted port says about a matter: how bad its errors are.
enum class Told {
  nothing,  // not counted
  none,     // counted, and none
  few,      // some, and too few to act on
  many,
};

// Judges `errors` of `packets` (nothing: not counted): by their share if packets are counted, else by the
// policy's counts for a pair or a total.
Told told_of(const CountedPort& port, std::optional<std::uint64_t> errors,
             std::optional<std::uint64_t> packets, Ratio notable, const Policy& policy);

// "0.0123 %" of errors per packet.
Evidence share_shown(std::string name, std::uint64_t errors, std::uint64_t packets, const CountedPort& port);

// Pause out of texts that is worth a finding: by time or rate of a pair whose time is known, else by counts.
bool is_notable_told(const CountedPort& port, const Pause& pause, const Policy& policy);

// What to add to a cause that rests on totals; empty for a pair.
std::string total_caution(const CountedPort& port);

// Judges each counted port by itself: `judge` adds findings or evidence of what is fine. Not checked, for
// `reason`, if it did neither.
template <class Judge>
Outcome judge_counted(const DossierFacts& facts, const char* reason, Judge judge) {
  std::vector<Finding> findings;
  std::vector<Evidence> good;
  for (const CountedPort& port : facts.counted) judge(port, findings, good);
  return Outcome::of(std::move(findings), std::move(good), reason);
}

}  // namespace rocetune::diagnose
