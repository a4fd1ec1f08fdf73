// What is there and what is known: baseline, doctor's fixes, published sets.
#include <algorithm>
#include <cmath>

#include "agent/tune/search/interval.h"
#include "agent/tune/search/stages.h"
#include "dataplane/base/statistics.h"

namespace rocetune::search {
namespace {

constexpr int kBaselineTrials = 3;
constexpr int kMostPresets = 9;
constexpr int kMostJoined = 3;

// Why a suggestion cannot be tried as it stands; empty: it can.
std::string obstacle(const Session& session, const Candidate& candidate,
                     const std::vector<Setting>& settings) {
  const Space& space = session.space();
  for (const Setting& setting : settings) {
    if (!space[setting.knob].is_safe(setting.value))
      return fmt::format("{} is outside the safe set", space.text({setting}));
  }
  if (const auto why = broken(session.plant().constraints(), space, candidate)) {
    const Constraint& constraint = session.plant().constraints()[why->constraint];
    return fmt::format("breaks {} ({}): {}", constraint.id, constraint.rule, why->why);
  }
  return {};
}

// Settings of the suggestions over a candidate; of two for one knob the first stands.
Candidate all_of(const Space& space, const Candidate& over,
                 const std::vector<const Suggestion*>& suggestions) {
  Candidate out = over;
  std::vector<bool> taken(space.size(), false);
  for (const Suggestion* suggestion : suggestions) {
    for (const Setting& setting : suggestion->settings) {
      if (!taken[setting.knob]) out.values[setting.knob] = setting.value;
    }
    for (const Setting& setting : suggestion->settings) taken[setting.knob] = true;
  }
  return space.canonical(std::move(out));
}

std::vector<const Suggestion*> remedies_of(const Session& session) {
  std::vector<const Suggestion*> out;
  for (const Suggestion& suggestion : session.plant().suggestions()) {
    if (suggestion.kind == Suggestion::Kind::remedy && !suggestion.settings.empty())
      out.push_back(&suggestion);
  }
  return out;
}

std::string names_of(const std::vector<const Suggestion*>& suggestions) {
  std::string out;
  for (const Suggestion* suggestion : suggestions) out += (out.empty() ? "" : ", ") + suggestion->id;
  return out;
}

// One after the other over what has been kept so far. A fix that cannot be made before another one has
// another chance after it.
void try_one_by_one(Session& session, std::vector<const Suggestion*> suggestions, Outcome& outcome) {
  std::map<std::string, std::string> obstacles;  // by id
  for (std::size_t round = 0; round < 2 && !suggestions.empty(); ++round) {
    std::vector<const Suggestion*> later;
    for (const Suggestion* suggestion : suggestions) {
      const Candidate candidate = all_of(session.space(), session.best(), {suggestion});
      const std::string why_not = obstacle(session, candidate, suggestion->settings);
      if (!why_not.empty()) {
        obstacles[suggestion->id] = why_not;
        later.push_back(suggestion);
        continue;
      }
      obstacles.erase(suggestion->id);
      if (!challenge(session, Phase::remedy, "fix of " + suggestion->id, candidate,
                     {.allowance = session.negligible(), .patience = 1}))
        return;
    }
    if (later.size() == suggestions.size()) break;
    suggestions = std::move(later);
  }
  for (const auto& [id, why] : obstacles) outcome.not_tried.push_back({id, why});
}

// Each of the fixes taken back from all of them: one that is none is found out before the search builds on
// it, and what each is worth is known.
void leave_out(Session& session, const std::vector<const Suggestion*>& remedies) {
  for (std::size_t i = 0; i < remedies.size(); ++i) {
    Candidate candidate = session.best();
    for (const Setting& setting : remedies[i]->settings)
      candidate.values[setting.knob] = session.space()[setting.knob].start;
    candidate = session.space().canonical(std::move(candidate));
    if (session.standing(candidate) || !session.is_allowed(candidate)) continue;
    // A fix has a reason of its own: it goes if it does harm.
    if (!challenge(session, Phase::remedy, "all fixes but that of " + remedies[i]->id, candidate,
                   {.allowance = -session.least_gain()}))
      return;
  }
}

// Several choices and nothing else.
bool is_mode(const Space& space, const Suggestion& suggestion) {
  return suggestion.settings.size() > 1 &&
         std::ranges::none_of(suggestion.settings,
                              [&](const Setting& setting) { return space[setting.knob].is_numeric(); });
}

}  // namespace

bool measure_baseline(Session& session, Outcome& outcome) {
  const Candidate start = session.space().start();
  std::vector<const Trial*> trials;
  for (int repeat = 0; repeat < kBaselineTrials; ++repeat) {
    const Trial* trial = session.run({.phase = Phase::baseline,
                                      .why = "as it is",
                                      .candidate = start,
                                      .repeat = repeat,
                                      .held_out = true,
                                      .with_series = repeat == 0});
    if (trial == nullptr) return !trials.empty();
    trials.push_back(trial);
  }
  std::vector<double> scores;
  for (const Trial* trial : trials) {
    if (const auto score = session.scorer().score(*trial, WorkloadSet::searched, true))
      scores.push_back(*score);
  }
  outcome.noise.repeats = static_cast<int>(scores.size());
  if (scores.size() < 2) return true;
  Moments moments;
  for (const double score : scores) moments.add(score);
  outcome.noise.sd = moments.standard_deviation();
  const double half =
      outcome.noise.sd * student_quantile(static_cast<int>(scores.size()) - 1, session.confidence());
  outcome.noise.percent = percent_of(Interval{-half, 0, half});
  session.set_baseline_noise(outcome.noise.sd, static_cast<int>(scores.size()) - 1);
  return true;
}

Candidate fixes_of(const Session& session) {
  return all_of(session.space(), session.space().start(), remedies_of(session));
}

void try_remedies(Session& session, Outcome& outcome) {
  const std::vector<const Suggestion*> remedies = remedies_of(session);
  if (remedies.empty()) return;
  const Candidate start = session.space().start();
  const Candidate together = fixes_of(session);
  std::vector<Setting> settings;
  for (const Suggestion* remedy : remedies)
    settings.insert(settings.end(), remedy->settings.begin(), remedy->settings.end());
  if (together == start) return;
  const std::string why_not = obstacle(session, together, settings);
  if (why_not.empty()) {
    if (!challenge(session, Phase::remedy, "fix of " + names_of(remedies), together, {.patience = 1})) return;
    if (remedies.size() == 1) return;
    if (session.best() == together) return leave_out(session, remedies);
  } else if (remedies.size() == 1) {
    outcome.not_tried.push_back({remedies.front()->id, why_not});
    return;
  }
  try_one_by_one(session, remedies, outcome);
}

void add_remedies(Session& session) {
  const Space& space = session.space();
  Candidate candidate = session.best();
  std::string names;
  for (const Suggestion& suggestion : session.plant().suggestions()) {
    if (suggestion.kind != Suggestion::Kind::remedy) continue;
    // What the search has made of a number of it stays.
    const bool is_there = std::ranges::any_of(suggestion.settings, [&](const Setting& setting) {
      return session.best().values[setting.knob] != space[setting.knob].start;
    });
    const Candidate with = space.canonical(space.with(candidate, suggestion.settings));
    if (is_there || with == candidate || !session.is_allowed(with)) continue;
    candidate = with;
    names += (names.empty() ? "" : ", ") + suggestion.id;
  }
  if (candidate == session.best()) return;
  (void)challenge(session, Phase::remedy, "the best with the fix of " + names, candidate,
                  {.allowance = session.negligible(), .patience = 1});
}

void try_presets(Session& session, Outcome& outcome, int reserve) {
  const Space& space = session.space();
  Suggestion standard{Suggestion::Kind::preset, "standard values", "", {}};
  for (std::size_t k = 0; k < space.size(); ++k) {
    if (space[k].standard && space[k].is_safe(*space[k].standard))
      standard.settings.push_back({k, *space[k].standard});
  }
  std::vector<const Suggestion*> presets{&standard};
  for (const Suggestion& suggestion : session.plant().suggestions()) {
    if (suggestion.kind == Suggestion::Kind::preset) presets.push_back(&suggestion);
  }
  // Each by itself over the same: what looks good over another set may live by it.
  const Candidate base = session.best();
  const Terms terms{.allowance = -session.least_gain() * kLeastPromise, .is_foundation = true};
  int tried = 0;
  std::vector<std::pair<double, const Suggestion*>> helped;
  for (const Suggestion* preset : presets) {
    const Candidate candidate = all_of(space, base, {preset});
    if (session.standing(candidate)) continue;
    const std::string why_not = obstacle(session, candidate, preset->settings);
    if (!why_not.empty()) {
      outcome.not_tried.push_back({preset->id, why_not});
      continue;
    }
    if (tried == kMostPresets || session.left() <= reserve) {
      outcome.not_tried.push_back({preset->id, "no trials left for it"});
      continue;
    }
    ++tried;
    if (!challenge(session, Phase::preset, preset->id, candidate, terms)) return;
    const auto standing = session.standing(candidate);
    if (standing && standing->is_good() && lead_of(session, candidate, base).score > session.least_gain())
      helped.emplace_back(-standing->mean(), preset);
  }
  // What helped by itself over the best of them.
  std::ranges::stable_sort(helped, {}, &std::pair<double, const Suggestion*>::first);
  int joined = 0;
  for (const auto& [score, preset] : helped) {
    const Candidate candidate = all_of(space, session.best(), {preset});
    if (session.standing(candidate) || !session.is_allowed(candidate)) continue;
    if (joined++ == kMostJoined || session.left() <= reserve) return;
    if (!challenge(session, Phase::preset, preset->id + " as well", candidate, terms)) return;
  }
  // A mode whose parts make sense together only, with the best's numbers: they decide whether it works.
  for (const Suggestion* preset : presets) {
    const Candidate candidate = all_of(space, session.best(), {preset});
    if (!is_mode(space, *preset) || session.standing(candidate) || !session.is_allowed(candidate)) continue;
    if (session.left() <= reserve) return;
    if (!challenge(session, Phase::preset, preset->id + " with the best's numbers", candidate, terms)) return;
  }
}

}  // namespace rocetune::search
