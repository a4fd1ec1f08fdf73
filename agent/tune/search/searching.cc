// What is looked for: exploration, the model, the race among the best, and the smallest change that is as
// good.
#include <algorithm>
#include <climits>
#include <cmath>

#include "agent/tune/search/stages.h"

namespace rocetune::search {
namespace {

// Every so many-th model proposal goes where the model expects most, the others where most may be found.
constexpr int kGreedyEvery = 3;
// The search ends when, this many proposals in a row, the model promises no step ahead (kLeastPromise) and
// nothing got better.
constexpr int kPatience = 6;
// The most of what is left after the choices that goes into exploring numbers: a trial of it brings about
// half as much again as one of the model (docs/decisions/0007).
constexpr double kExplored = 0.6;
constexpr int kShrinks = 5;
// This part of a score is given for a smaller plan, where chance hides it.
constexpr double kPartOfGain = 0.05;
constexpr int kShrinkRepeats = 3;
constexpr int kLeastShrink = 2;  // trials: one may be lucky

bool tried(Session& session, const Proposal& proposal, bool is_foundation = false) {
  // As good is not better: more runs would not make it worth a change.
  return challenge(session, proposal.phase, proposal.why, proposal.candidate,
                   {.allowance = -session.least_gain() * kLeastPromise, .is_foundation = is_foundation});
}

// Changes of the best and what the model expects of taking each of them back, the most needless first.
// More than `most` of them: published sets as one.
std::vector<std::pair<double, ChangeGroup>> expected_losses(Session& session, const Proposer& proposer,
                                                            int most = INT_MAX) {
  std::vector<std::pair<double, ChangeGroup>> out;
  const Candidate& best = session.best();
  const double expected = proposer.expected(best);
  std::vector<ChangeGroup> groups = groups_of(session.plant(), best);
  if (static_cast<int>(groups.size()) > most)
    groups = in_sets(session.plant(), std::move(groups), [](const ChangeGroup&) { return true; });
  for (const ChangeGroup& group : groups) {
    // Doctor's fixes have a reason of their own, and what they are for may not show in these workloads.
    if (group.is_fix) continue;
    out.emplace_back(expected - proposer.expected(without(session.space(), best, {group})), group);
  }
  // What costs more than a word to the NIC or the switch has to be worth more.
  const auto rank = [&](const std::pair<double, ChangeGroup>& loss) {
    ChangeCost dearest = ChangeCost::none;
    for (const Setting& setting : loss.second.settings)
      dearest = std::max(dearest, session.space()[setting.knob].cost);
    return loss.first - (dearest == ChangeCost::none ? 0 : session.least_gain());
  };
  std::ranges::stable_sort(out, {}, rank);
  return out;
}

// What may be lost by all that is taken back.
double allowance_of(const Session& session) {
  const auto at_best = session.standing(session.best());
  const double noise = session.noise_sd() / std::sqrt(static_cast<double>(std::max(1, at_best->runs())));
  const double most = std::max(session.least_gain() / 2, kPartOfGain * session.best_score());
  return std::min(most, std::max(session.negligible(), noise));
}

// All that the model calls needless, then half of it, …
void take_back_together(Session& session, Proposer& proposer, double& allowance, int reserve) {
  const double needless = allowance;
  std::size_t share = 1;
  for (int attempt = 0; attempt < kShrinks && session.left() >= reserve + kShrinkRepeats; ++attempt) {
    auto losses = expected_losses(session, proposer);
    std::erase_if(losses, [&](const auto& loss) { return loss.first > needless; });
    losses.resize((losses.size() + share - 1) / share);
    if (losses.size() < 2) return;  // one by one, then
    std::vector<ChangeGroup> groups;
    for (auto& [loss, group] : losses) groups.push_back(std::move(group));
    const Candidate smaller = without(session.space(), session.best(), groups);
    share *= 2;
    if (smaller == session.space().start() || !session.is_allowed(smaller)) continue;
    const double before = session.best_score();
    const std::string why = fmt::format("without {} of the changes", groups.size());
    if (!challenge(session, Phase::ablate, why, smaller,
                   {.allowance = allowance, .most_repeats = kShrinkRepeats, .takes_back = true}))
      return;
    if (session.best() == smaller) {
      allowance = std::max(0.0, allowance - std::max(0.0, before - session.best_score()));
      share = 1;
    }
    proposer.learn();
  }
}

}  // namespace

std::string search_on(Session& session, Proposer& proposer, int reserve) {
  // Choices first: the best place of a number depends on them more than they on it.
  const int flips = session.left() == INT_MAX ? INT_MAX : (session.left() - reserve) / 3;
  for (int i = 0; i < flips && session.left() > reserve; ++i) {
    const auto proposal = proposer.flip();
    if (!proposal || !tried(session, *proposal, true)) break;
  }
  reassure(session, reserve);
  const int left = std::max(0, session.left() - reserve);
  const int explored = std::min(static_cast<int>(kExplored * left), proposer.deal());
  for (int i = 0; i < explored && session.left() > reserve; ++i) {
    const auto proposal = proposer.explore();
    if (!proposal || !tried(session, *proposal)) break;
  }
  reassure(session, reserve);
  int idle = 0;
  double best = session.best_score();
  for (int i = 1; session.left() > reserve; ++i) {
    const auto proposal = proposer.model(i % kGreedyEvery == 0);
    if (!proposal) return "nothing is left to try";
    if (!tried(session, *proposal)) break;
    if (i % kGreedyEvery == 0) reassure(session, reserve);
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

Losses shrink(Session& session, Proposer& proposer, int reserve) {
  Losses out;
  const auto at_best = session.standing(session.best());
  if (!at_best || !at_best->is_good() || !proposer.learn()) return out;
  double allowance = allowance_of(session);
  take_back_together(session, proposer, allowance, reserve);
  for (const auto& [expected, group] : expected_losses(session, proposer, session.left() - reserve)) {
    const Candidate best = session.best();
    const Candidate smaller = without(session.space(), best, {group});
    if (session.left() < reserve + kLeastShrink) break;
    if (smaller == session.space().start() || !session.is_allowed(smaller)) continue;
    const double before = session.best_score();
    const std::string why = "the best without " + session.space().text(group.settings);
    const Terms terms{.allowance = allowance,
                      .most_repeats = std::min(kShrinkRepeats, session.left() - reserve),
                      .takes_back = true};
    if (!challenge(session, Phase::ablate, why, smaller, terms)) break;
    const auto standing = session.standing(smaller);
    if (session.best() == smaller) {
      allowance = std::max(0.0, allowance - std::max(0.0, before - session.best_score()));
    } else if (standing) {
      out[knobs_of(group)] = standing->is_good() ? lead_of(session, best, smaller) : Lead{kMostGain, 0};
    }
  }
  return out;
}

}  // namespace rocetune::search
