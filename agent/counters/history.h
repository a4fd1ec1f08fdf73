// The recent past, bounded: every reading for a while, then one of many, then nothing. What an always-on
// agent can afford to remember: readings are reduced to the counters of the schema, about 1.5 kB a port, and
// the increase over any span is the difference of two of them.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "agent/counters/reading.h"

namespace rocetune::counters {

class History {
 public:
  // Keeps up to `capacity` readings, one of every `keep_each` that came.
  struct Tier {
    std::size_t capacity = 0;
    std::size_t keep_each = 1;
  };
  // Finest tier first, its keep_each is 1; all numbers at least 1. The default, at ten readings a second: a
  // minute in full and an hour by tens of seconds. The schema must outlive the history.
  explicit History(const Schema& schema, std::vector<Tier> tiers = {{600, 1}, {360, 100}});

  // Readings come in order of time; one that does not (the sampler was restarted) makes all before it useless
  // and is kept alone.
  void add(const Reading& reading);

  std::size_t tier_count() const { return tiers_.size(); }
  // Oldest first, reduced.
  const std::deque<Reading>& tier(std::size_t index) const { return tiers_.at(index).kept; }
  // What happened in the last `span` (or a little more, by the grain of what is kept): up to the newest
  // reading, from the youngest one that is at least so much older. Nothing if that is further back than is
  // remembered.
  std::optional<Interval> last(Duration span) const;

 private:
  struct Level {
    Tier tier;
    std::deque<Reading> kept;
  };
  // How readings with one layout lose what no counter of the schema stands in.
  struct Reduction {
    std::shared_ptr<const Layout> of;
    std::array<std::shared_ptr<const NameList>, kSourceCount> names;
    std::array<std::vector<std::size_t>, kSourceCount> indexes;  // into the full block
    std::shared_ptr<const Layout> layout;                        // of the reduced blocks
  };
  PortReading reduced(const PortReading& port);

  const Schema& schema_;
  std::vector<Level> tiers_;
  std::map<std::string, Reduction> reductions_;  // by port
  std::size_t added_ = 0;
};

}  // namespace rocetune::counters
