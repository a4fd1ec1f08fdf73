// Who is the best so far.
#include <algorithm>
#include <cmath>

#include "agent/tune/search/stages.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

// The best is raced under no more repeats than this, however large the noise: the confirmation has its own.
constexpr int kMostRepeats = 3;

// Much is built on a candidate after so many runs, and no fewer trials.
constexpr int kFoundationRuns = 3;
constexpr int kLeastFoundation = 2;

// A lead of so many of its standard errors needs no more runs.
constexpr double kClear = 2.5;
// Scores nearer than that are the same.
constexpr double kSame = 1e-4;
// Better ones than the best so far that are looked at once it has been run again.
constexpr int kSeconds = 2;

// Of a plant that repeats nothing, chance may be another at the best than at the baseline, where the A/A
// trials saw it: a slow link is slow evenly.
int least_repeats(const Session& session) {
  return session.plant().traits().is_repeatable || session.best() == session.space().start() ? 1 : 2;
}

// Repeats under which the best is to be run: where chance is far below what is worth a change, one tells.
int repeats_wanted(const Session& session) {
  const double times = session.noise_sd() / (session.least_gain() / 3);
  return std::clamp(static_cast<int>(std::ceil(times * times)), least_repeats(session), kMostRepeats);
}

// The same before much is built on the best: as many as may be, unless chance does nothing at all.
int repeats_wanted(const Session& session, int most) {
  return session.baseline_sd() < kSame ? least_repeats(session) : most;
}

// The champion's searched repeats. Each challenger begins with another of them: one that was lucky for the
// champion does not keep all others away.
std::vector<int> repeats_of(const Session& session, const std::optional<Standing>& champion) {
  std::vector<int> out;
  if (champion && champion->is_good()) {
    for (const auto& [repeat, score] : champion->latest) {
      if (repeat < Session::kFresh) out.push_back(repeat);
    }
  }
  if (out.empty()) out.push_back(0);
  std::ranges::rotate(out, out.begin() + static_cast<std::ptrdiff_t>(session.trials().size() % out.size()));
  return out;
}

bool run(Session& session, Phase phase, const std::string& why, const Candidate& candidate, int repeat) {
  return session.run({.phase = phase, .why = why, .candidate = candidate, .repeat = repeat}) != nullptr;
}

}  // namespace

int trials_of(const Session& session, int runs, int least) {
  const int each = session.plant().traits().runs;
  return std::max(least, (runs + each - 1) / each);
}

bool challenge(Session& session, Phase phase, const std::string& why, const Candidate& candidate,
               const Terms& terms) {
  const Candidate challenger = session.space().canonical(candidate);
  const Candidate best = session.best();
  if (challenger == best) return true;
  const auto champion = session.standing(best);
  std::vector<int> repeats = repeats_of(session, champion);
  const auto wanted = static_cast<std::size_t>(std::min(
      terms.most_repeats, terms.is_foundation || terms.takes_back
                              ? repeats_wanted(session, trials_of(session, kFoundationRuns, kLeastFoundation))
                              : repeats_wanted(session)));
  if (wanted == 1) std::ranges::sort(repeats);
  if (repeats.size() > wanted) repeats.resize(wanted);
  int shared = 0;
  double ahead = 0;
  for (const int repeat : repeats) {
    auto own = session.standing(challenger);
    if (!own || !own->latest.contains(repeat)) {
      if (!run(session, shared == 0 ? phase : Phase::race, shared == 0 ? why : "again: " + why, challenger,
               repeat))
        return false;
      own = session.standing(challenger);
    }
    ++shared;
    if (!own->is_good()) return true;
    if (terms.takes_back && champion &&
        own->held_out < std::min(0.0, champion->held_out) - session.least_gain())
      return true;
    if (!champion || !session.standing(best)->is_good()) continue;
    // What the repeat does to all is in both.
    const double lead = own->latest.at(repeat) - session.standing(best)->latest.at(repeat);
    ahead += terms.takes_back ? std::min(lead, terms.allowance) : lead;
    // Nothing at all is not chance.
    if (shared == 1 && std::fabs(ahead) < kSame) {
      if (terms.allowance < 0) return true;
      break;
    }
    const double chance = session.noise_sd() * std::sqrt(2.0 * shared);
    const bool is_last = shared == static_cast<int>(repeats.size());
    const bool is_behind = ahead < -terms.allowance * shared - (is_last ? 0 : terms.patience * chance);
    // Ahead but for what one trial says of held-out workloads, whose tails are long.
    const bool is_charged = ahead + own->charge * shared > session.least_gain() * shared;
    if (is_behind && is_charged && !is_last && !terms.takes_back) continue;
    if (is_behind) return true;
    if (!terms.is_foundation && ahead > kClear * chance) break;
  }
  session.crown(challenger);
  return true;
}

Lead lead_of(const Session& session, const Candidate& one, const Candidate& other) {
  const Standing a = session.standing(one).value();
  const Standing b = session.standing(other).value();
  Moments differences;
  for (const auto& [repeat, score] : a.latest) {
    if (const auto beside = b.latest.find(repeat); beside != b.latest.end())
      differences.add(score - beside->second);
  }
  const bool is_paired = session.plant().traits().is_repeatable && differences.count() > 0;
  const double runs = static_cast<double>(differences.count());
  const double squares = is_paired ? 2 / runs : 1.0 / a.runs() + 1.0 / b.runs();
  Lead out{is_paired ? differences.mean() : a.mean() - b.mean(), 2 * session.noise_sd() * std::sqrt(squares)};
  if (is_paired && std::fabs(out.score) < kSame) out.half = 0;
  return out;
}

std::vector<Candidate> by_rank(const Session& session) {
  std::vector<std::pair<double, Candidate>> ranked;
  for (const auto& [candidate, standing] : session.standings()) {
    if (!standing.is_good() || candidate == session.space().start()) continue;
    const double sd = std::max(session.noise_sd(), standing.runs() < 3 ? 0 : standing.sd());
    const double chance = sd / std::sqrt(static_cast<double>(standing.runs()));
    ranked.emplace_back(chance - standing.mean(), candidate);
  }
  std::ranges::sort(ranked);
  std::vector<Candidate> out;
  for (auto& [score, candidate] : ranked) out.push_back(std::move(candidate));
  return out;
}

bool reassure(Session& session, int reserve, int most_repeats) {
  for (int seconds = 0; seconds <= kSeconds; ++seconds) {
    for (int repeat = 0; repeat < repeats_wanted(session, most_repeats) && session.left() > reserve;
         ++repeat) {
      const auto standing = session.standing(session.best());
      if (standing && (!standing->is_good() || standing->latest.contains(repeat))) continue;
      if (!run(session, Phase::race, "the best again", session.best(), repeat)) return false;
      if (session.standing(session.best())->is_good() || session.best() == session.space().start()) continue;
      // It does not always run: the next one, from the first repeat on.
      const std::vector<Candidate> next = by_rank(session);
      session.crown(next.empty() ? session.space().start() : next.front());
      repeat = -1;
    }
    // It was lucky: another one may be better.
    const std::vector<Candidate> ranked = by_rank(session);
    if (ranked.empty() || session.left() <= reserve) break;
    const Candidate before = session.best();
    const auto at_best = session.standing(before);
    if (ranked.front() == before || !at_best->is_good() ||
        session.standing(ranked.front())->mean() <= at_best->mean())
      break;
    // Behind under one repeat is what the best may be under another.
    if (!challenge(session, Phase::race, "the next best again", ranked.front(), {.patience = 1}))
      return false;
    if (session.best() == before) break;
  }
  return true;
}

}  // namespace rocetune::search
