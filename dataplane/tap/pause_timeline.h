// When which priority was asked to be silent, by pause frames alone: a frame pauses for its quanta at the
// link's speed, the next one renews that, a resume ends it. Says what was asked for; what the peer did is not
// in a capture.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "congestion/pfc.h"
#include "dataplane/tap/facts.h"
#include "dataplane/wire/ethernet.h"

namespace rocetune::tap {

struct StormRule {
  Duration detection{milliseconds(100)};  // shortest storm; mlx5's pfc-prevention-tout in automatic mode
  Ratio share{Ratio::from_percent(99)};   // paused share of that time; what SONiC's watchdog looks at
};

class PauseTimeline {
 public:
  explicit PauseTimeline(BitRate link) : link_(link) {}
  void on_pfc(Instant now, const wire::MacAddress& source, const PfcMessage& message);
  void on_global_pause(Instant now, const wire::MacAddress& source, PauseQuanta quanta);
  // One entry per priority that was paused, then global pause. Pauses end with the capture at the latest.
  std::vector<PauseFacts> facts(Instant first, Instant last, const StormRule& rule) const;

 private:
  static constexpr int kGlobal = Priority::kCount;  // the row of global pause
  struct Interval {
    Instant start;
    Instant until;
    wire::MacAddress source;
  };
  void pause(Instant now, int row, const wire::MacAddress& source, PauseQuanta quanta);

  BitRate link_;
  std::array<std::vector<Interval>, kGlobal + 1> intervals_;
  std::array<std::map<wire::MacAddress, std::size_t>, kGlobal + 1> newest_;  // of each source
};

}  // namespace rocetune::tap
