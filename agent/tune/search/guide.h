// Somebody who expects something of candidates before the plant has them: a model of the plant that was made
// elsewhere, such as a virtual fabric that stands for hosts (agent/tune/twin). What it says is tried and
// judged, never believed: a verdict rests on the plant alone.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/tune/search/outcome.h"

namespace rocetune::search {

class Guide {
 public:
  virtual ~Guide() = default;
  struct Proposal {
    Candidate candidate;
    std::string why;
  };

  // What it is and how it is asked: a trial log is only resumed under a guide of the same identity.
  virtual std::string identity() const = 0;
  // Once, after the baseline, whose trials these are: candidates of the plant's space that are worth trying,
  // the best first. None: it has nothing to say. Has to follow from the trials alone.
  virtual std::vector<Proposal> propose(const std::deque<Trial>& trials, std::stop_token stop) = 0;
  // Score over the baseline (as Trial::score) that it expects; none: it cannot say. Only after propose.
  virtual std::optional<double> expected(const Candidate& candidate) = 0;
  // Whether turning the knob shows in what it expects.
  virtual bool knows(std::size_t knob) const = 0;
};

}  // namespace rocetune::search
