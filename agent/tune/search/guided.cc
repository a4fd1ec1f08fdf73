// What a guide foretells, tried before anything is guessed.
#include <algorithm>
#include <cmath>

#include "agent/tune/search/foresight.h"
#include "agent/tune/search/stages.h"

namespace rocetune::search {
namespace {

constexpr int kMostUnknown = 8;  // choices of knobs that the guide does not know

// Chance must not be taken for an answer.
double tolerance_of(const Session& session) { return std::max(session.least_gain(), 2 * session.noise_sd()); }

// Choices that the guide knows nothing of are the plant's own to find out; numbers are not spread over.
void try_unknown(Session& session, const Guide& guide, int reserve) {
  const Space& space = session.space();
  int tried = 0;
  for (std::size_t k = 0; k < space.size(); ++k) {
    if (guide.knows(k) || space[k].is_numeric()) continue;
    const auto count = static_cast<std::size_t>(space[k].count());
    for (std::size_t choice = 0; choice < count; ++choice) {
      Candidate candidate = session.best();
      const auto value = static_cast<double>(choice);
      if (candidate.values[k] == value || !space[k].is_safe(value) || !space.is_alive(k, candidate)) continue;
      candidate.values[k] = value;
      candidate = space.canonical(std::move(candidate));
      if (session.standing(candidate) || !session.is_allowed(candidate)) continue;
      if (tried++ == kMostUnknown || session.left() <= reserve) return;
      const std::string why = "not foretold: " + space.text({{k, value}});
      if (!challenge(session, Phase::explore, why, candidate)) return;
    }
  }
}

}  // namespace

Guidance guidance_of(const Session& session, Guide& guide) {
  Guidance out;
  out.tolerance = tolerance_of(session);
  out.loss_weight = session.policy().loss_weight;
  const Candidate start = session.space().start();
  for (const Trial& trial : session.trials()) {
    if (trial.candidate == start) continue;
    const bool is_known = std::ranges::any_of(
        out.foretold, [&](const Foretold& one) { return one.candidate == trial.candidate; });
    const bool is_wanted =
        trial.phase == Phase::remedy || trial.phase == Phase::foretold || trial.candidate == session.best();
    if (is_known || !is_wanted) continue;
    const auto expected = guide.expected(trial.candidate);
    if (!expected) continue;
    const auto standing = session.standing(trial.candidate);
    Foretold one{.candidate = trial.candidate, .trial = trial.number, .expected = *expected};
    if (standing->is_good()) one.measured = standing->mean();
    out.foretold.push_back(std::move(one));
  }
  return out;
}

bool follow(Session& session, Guide& guide, const std::vector<Guide::Proposal>& proposals, Outcome& outcome,
            int reserve) {
  const Space& space = session.space();
  for (const Guide::Proposal& proposal : proposals) {
    const Candidate candidate = space.canonical(proposal.candidate);
    if (session.standing(candidate)) continue;
    const std::string what = space.text(space.difference(space.start(), candidate));
    if (!session.is_allowed(candidate)) {
      const auto why = broken(session.plant().constraints(), space, candidate);
      outcome.not_tried.push_back({what, why ? why->why : "outside the safe set"});
      continue;
    }
    if (session.left() <= reserve) {
      outcome.not_tried.push_back({what, "no trials left for it"});
      continue;
    }
    if (!challenge(session, Phase::foretold, proposal.why, candidate)) return false;
  }
  outcome.guidance = guidance_of(session, guide);
  const Foresight foresight = foresight_of(*outcome.guidance);
  outcome.guidance->is_followed = foresight.holds();
  if (foresight.holds()) try_unknown(session, guide, reserve);
  return foresight.holds();
}

}  // namespace rocetune::search
