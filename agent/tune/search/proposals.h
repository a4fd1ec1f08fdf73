// Which candidate to try next.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/tune/search/session.h"
#include "agent/tune/search/surrogate.h"

namespace rocetune::search {

struct Proposal {
  Candidate candidate;
  Phase phase = Phase::model;
  std::string why;
};

// Changed together or not at all: the settings of one suggestion, or one knob.
struct ChangeGroup {
  std::vector<Setting> settings;
  std::string suggestion;  // its id; empty: the search's own
  bool is_fix = false;     // of doctor's
};
// The changes that make the candidate out of the start: first the plant's fixes that it has in full, numbers
// refined or not, in their order, then the other knobs one by one.
std::vector<ChangeGroup> groups_of(const Plant& plant, const Candidate& candidate);
// Those of one knob that come from one published set, and may, joined: where a dozen changes are more than
// can be looked at, one that is looked at says more.
std::vector<ChangeGroup> in_sets(const Plant& plant, std::vector<ChangeGroup> groups,
                                 const std::function<bool(const ChangeGroup&)>& may_join);
std::vector<std::size_t> knobs_of(const ChangeGroup& group);
// The candidate with the groups' knobs back at the start.
Candidate without(const Space& space, Candidate candidate, const std::vector<ChangeGroup>& groups);

class Proposer {
 public:
  explicit Proposer(Session& session);

  // The best with one choice or switch as no trial has had it yet.
  std::optional<Proposal> flip();
  // Deals the numbers that the choices of the best leave in force into candidates to explore: each twice,
  // once to each side, always among others (group screening: Watson, Technometrics 3(3), 1961). How many.
  int deal();
  // The best with the numbers of the next of them far away. None: all were, or nothing was dealt.
  std::optional<Proposal> explore();
  // What the model of all trials expects most of: the largest expected improvement over the best (Jones,
  // Schonlau, Welch, Journal of Global Optimization 13, 1998), averaged over the model's draws; `greedy`: the
  // largest expectation. Sets `promise`.
  std::optional<Proposal> model(bool greedy);
  // Expected improvement of the last model proposal, as a score.
  double promise() const { return promise_; }

  // What the model expects of a candidate, as a compressed score: near the best scores as they are, far below
  // it their logarithm, so that a collapse counts as one however deep.
  double expected(const Candidate& candidate) const { return surrogate_.expected(candidate); }
  // Takes all trials so far into the model. False: too few.
  bool learn();

 private:
  std::vector<Candidate> parents() const;
  std::vector<Candidate> pool();
  // Choices of doctor's fixes that the best has: taken back one by one, not by the model.
  std::set<std::size_t> kept() const;
  // Values of choices and switches that no trial had, most promising first.
  std::vector<Setting> untried_choices() const;
  std::optional<Candidate> mutated(const Candidate& parent);
  double far_value(std::size_t knob, double value, bool is_up);
  double mutated_value(std::size_t knob, double value);
  std::size_t some_knob();
  // With other numbers where a constraint is broken that they can mend: Kmax follows Kmin.
  Candidate repaired(Candidate candidate);
  bool is_new(const Candidate& candidate);
  std::string described(const Candidate& candidate) const;

  Session& session_;
  Surrogate surrogate_;
  std::set<std::size_t> kept_;
  std::vector<std::size_t> turnable_;                             // knobs with more than one safe value
  std::vector<std::vector<std::pair<std::size_t, bool>>> dealt_;  // knobs and whether they go up, last first
  double promise_ = 0;
};

}  // namespace rocetune::search
