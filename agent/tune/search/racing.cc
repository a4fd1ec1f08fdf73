// Who is the best so far.
#include <algorithm>
#include <cmath>

#include "agent/tune/search/stages.h"

namespace rocetune::search {
namespace {

// The best is not run under more repeats than this, however large the noise: the confirmation has its own.
constexpr int kMostRepeats = 3;

// Of a plant that repeats nothing, chance may be another at the best than at the baseline, where the A/A
// trials saw it: a slow link is slow evenly.
int least_repeats(const Session& session) {
  return session.plant().traits().is_repeatable || session.best() == session.space().start() ? 1 : 2;
}

// Repeats under which the best is to be run: where chance is far below what is worth a change, one tells.
int repeats_wanted(const Session& session) {
  const double times = session.noise_sd() / (session.least_gain() / 4);
  return std::clamp(static_cast<int>(std::ceil(times * times)), least_repeats(session), kMostRepeats);
}

bool run(Session& session, Phase phase, const std::string& why, const Candidate& candidate, int repeat) {
  return session.run({.phase = phase, .why = why, .candidate = candidate, .repeat = repeat}) != nullptr;
}

}  // namespace

bool challenge(Session& session, Phase phase, const std::string& why, const Candidate& candidate,
               double allowance, int most_repeats) {
  const Candidate challenger = session.space().canonical(candidate);
  const Candidate best = session.best();
  if (challenger == best) return true;
  const auto champion = session.standing(best);
  std::vector<int> repeats;
  if (champion && champion->is_good()) {
    for (const auto& [repeat, score] : champion->latest) {
      if (repeat < Session::kFresh) repeats.push_back(repeat);
    }
  }
  if (repeats.empty()) repeats.push_back(0);
  const auto wanted = static_cast<std::size_t>(std::min(most_repeats, repeats_wanted(session)));
  if (repeats.size() > wanted) repeats.resize(wanted);
  bool is_first = true;
  for (const int repeat : repeats) {
    auto own = session.standing(challenger);
    if (!own || !own->latest.contains(repeat)) {
      if (!run(session, is_first ? phase : Phase::race, is_first ? why : "again: " + why, challenger, repeat))
        return false;
      is_first = false;
      own = session.standing(challenger);
    }
    if (!own->is_good()) return true;
    if (!champion || !champion->is_good()) continue;
    double ahead = 0;
    for (const int shared : repeats) {
      if (own->latest.contains(shared)) ahead += own->latest.at(shared) - champion->latest.at(shared);
      if (shared == repeat) break;
    }
    if (ahead < -allowance * static_cast<double>(own->runs())) return true;
  }
  session.crown(challenger);
  return true;
}

std::vector<Candidate> by_rank(const Session& session) {
  std::vector<std::pair<double, Candidate>> ranked;
  for (const auto& [candidate, standing] : session.standings()) {
    if (!standing.is_good() || candidate == session.space().start()) continue;
    const double chance = session.noise_sd() / std::sqrt(static_cast<double>(standing.runs()));
    ranked.emplace_back(chance - standing.mean(), candidate);
  }
  std::ranges::sort(ranked);
  std::vector<Candidate> out;
  for (auto& [score, candidate] : ranked) out.push_back(std::move(candidate));
  return out;
}

bool reassure(Session& session, int reserve) {
  for (int repeat = 0; repeat < repeats_wanted(session) && session.left() > reserve; ++repeat) {
    const auto standing = session.standing(session.best());
    if (standing && (!standing->is_good() || standing->latest.contains(repeat))) continue;
    if (!run(session, Phase::race, "the best again", session.best(), repeat)) return false;
    if (session.standing(session.best())->is_good() || session.best() == session.space().start()) continue;
    // It does not always run: the next one, from the first repeat on.
    const std::vector<Candidate> next = by_rank(session);
    session.crown(next.empty() ? session.space().start() : next.front());
    repeat = -1;
  }
  return true;
}

}  // namespace rocetune::search
