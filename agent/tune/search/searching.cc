// What is looked for: exploration, the model, the race among the best, and the smallest change that is as
// good.
#include <algorithm>
#include <climits>

#include "agent/tune/search/stages.h"

namespace rocetune::search {
namespace {

constexpr int kFinalists = 3;
constexpr int kRaceRepeats = 2;
// Every so many-th model proposal goes where the model expects most, the others where most may be found.
constexpr int kGreedyEvery = 3;
// The search ends when, this many proposals in a row, the model promises less than this part of the least
// worthwhile gain and nothing got better.
constexpr int kPatience = 6;
constexpr double kLeastPromise = 0.125;

int exploration(const Session& session, int reserve) {
  const int left = session.left() == INT_MAX ? 40 : session.left() - reserve;
  return std::clamp(left / 4, 2, 12);
}

bool run(Session& session, const Proposal& proposal) {
  return session.run({.phase = proposal.phase, .why = proposal.why, .candidate = proposal.candidate}) !=
         nullptr;
}

// Mean scores of good candidates, best first.
std::vector<std::pair<double, Candidate>> ranked(const Session& session) {
  std::vector<std::pair<double, Candidate>> out;
  for (const auto& [candidate, standing] : session.standings()) {
    if (standing.is_good()) out.emplace_back(standing.mean(), candidate);
  }
  std::ranges::sort(out, [](const auto& a, const auto& b) { return a.first > b.first; });
  return out;
}

}  // namespace

std::string search_on(Session& session, Proposer& proposer, int reserve) {
  const int explored = exploration(session, reserve);
  for (int i = 0; i < explored && session.left() > reserve; ++i) {
    const auto proposal = proposer.explore(i, explored);
    if (!proposal) break;
    if (!run(session, *proposal)) break;
  }
  int idle = 0;
  double best = session.best_score();
  for (int i = 1; session.left() > reserve; ++i) {
    const auto proposal = proposer.model(i % kGreedyEvery == 0);
    if (!proposal) return "nothing is left to try";
    if (!run(session, *proposal)) break;
    const double now = session.best_score();
    const bool got_better = now > best + session.least_gain() * kLeastPromise;
    const bool is_promising = proposer.promise() > session.least_gain() * kLeastPromise;
    idle = got_better || is_promising ? 0 : idle + 1;
    best = std::max(best, now);
    if (idle >= kPatience) return "the model of all trials expects nothing more that would be worth a change";
  }
  if (session.is_stopped()) return session.plant_error() ? "the plant failed" : "it was stopped";
  return "the budget is spent";
}

void race(Session& session, int reserve) {
  // Where chance is far below what is worth a change, one run tells.
  if (session.noise_sd() < session.least_gain() / 8) return;
  for (int repeat = 1; repeat <= kRaceRepeats; ++repeat) {
    auto racers = ranked(session);
    if (racers.empty()) return;
    const double near = racers.front().first - 2 * session.noise_sd();
    std::erase_if(racers, [&](const auto& racer) { return racer.first < near; });
    const std::size_t count = static_cast<std::size_t>(kFinalists - repeat + 1);
    if (racers.size() > count) racers.resize(count);
    for (const auto& [score, candidate] : racers) {
      if (candidate == session.space().start() || session.left() <= reserve) continue;
      const std::string why = fmt::format(
          "again: {}", session.space().text(session.space().difference(session.space().start(), candidate)));
      if (!session.run({.phase = Phase::race, .why = why, .candidate = candidate, .repeat = repeat})) return;
    }
  }
}

Candidate shrink(Session& session, Proposer& proposer, const Candidate& best, int reserve) {
  Candidate kept = best;
  const double tolerance =
      std::min(session.least_gain() / 2, std::max(session.least_gain() / 8, session.noise_sd()));
  const auto at_best = session.standing(best);
  if (!at_best || !at_best->is_good() || !proposer.learn()) return kept;
  const double needed = at_best->mean() - tolerance;
  std::size_t share = 1;  // of the changes: all that the model calls needless, then half of them, …
  for (int attempt = 0; attempt < 4 && session.left() > reserve; ++attempt) {
    std::vector<std::pair<double, ChangeGroup>> losses;
    const double expected = proposer.expected(kept);
    for (const ChangeGroup& group : groups_of(session.plant(), kept)) {
      if (!group.suggestion.empty()) continue;  // a fault's fix stays, whatever this workload says of it
      losses.emplace_back(expected - proposer.expected(without(session.space(), kept, {group})), group);
    }
    std::ranges::stable_sort(losses, [](const auto& a, const auto& b) { return a.first < b.first; });
    std::erase_if(losses, [&](const auto& loss) { return loss.first > tolerance; });
    losses.resize((losses.size() + share - 1) / share);
    if (losses.empty()) break;
    std::vector<ChangeGroup> needless;
    for (auto& [loss, group] : losses) needless.push_back(std::move(group));
    const Candidate smaller = without(session.space(), kept, needless);
    if (!session.is_allowed(smaller)) {
      share *= 2;
      continue;
    }
    auto standing = session.standing(smaller);
    if (!standing) {
      const Trial* trial = session.run({.phase = Phase::ablate,
                                        .why = fmt::format("without {} of the changes", needless.size()),
                                        .candidate = smaller});
      if (trial == nullptr) break;
      standing = session.standing(smaller);
      proposer.learn();
    }
    if (standing->is_good() && standing->mean() >= needed) {
      kept = smaller;
    } else {
      share *= 2;
    }
  }
  return kept;
}

}  // namespace rocetune::search
