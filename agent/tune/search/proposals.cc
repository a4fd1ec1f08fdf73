#include "agent/tune/search/proposals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace rocetune::search {
namespace {

constexpr int kPool = 700;
constexpr std::size_t kParents = 4;
constexpr double kAnyKnob = 0.3;  // how often a knob is turned whatever the model says of it
// Scores this far below the best are told apart as they are, farther ones by their logarithm.
constexpr double kLinear = 0.15;
constexpr int kRepairs = 12;
constexpr int kAttempts = 20;  // to find something allowed
// Numbers moved in one explored candidate: few enough that one bad move does not hide a good one too often.
constexpr std::size_t kMovedTogether = 3;
// So many settings of one published set, each as it has them, make up that set.
constexpr std::ptrdiff_t kLeastOfSet = 4;

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double distribution(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }

double improvement(const Surrogate::Belief& belief, double best) {
  if (belief.sd <= 0) return std::max(0.0, belief.mean - best);
  const double z = (belief.mean - best) / belief.sd;
  return belief.sd * (z * distribution(z) + density(z));
}

bool has_several_values(const Knob& knob) {
  if (knob.is_numeric())
    return knob.at_position(0) != knob.at_position(1) || knob.at_position(0) != knob.start;
  int safe = 0;
  for (int value = 0; value < static_cast<int>(knob.count()); ++value) safe += knob.is_safe(value) ? 1 : 0;
  return safe > 1;
}

// The candidate has the suggestion in full: its choices, and its numbers or what the search made of them.
bool has_settings(const Space& space, const Candidate& candidate, const std::vector<Setting>& settings) {
  return std::ranges::all_of(settings, [&](const Setting& s) {
    const double value = candidate.values[s.knob];
    return value == s.value || (space[s.knob].is_numeric() && value != space[s.knob].start);
  });
}

// What belongs to one finding is one change. A published set is a list of changes, of which few may matter.
bool is_one_change(const Suggestion& suggestion) {
  return suggestion.kind == Suggestion::Kind::remedy || suggestion.settings.size() == 1;
}

}  // namespace

std::vector<ChangeGroup> groups_of(const Plant& plant, const Candidate& candidate) {
  const Space& space = plant.space();
  std::vector<ChangeGroup> out;
  std::set<std::size_t> taken;
  for (const Suggestion& suggestion : plant.suggestions()) {
    ChangeGroup group{{}, suggestion.id, suggestion.kind == Suggestion::Kind::remedy};
    if (!is_one_change(suggestion) || !has_settings(space, candidate, suggestion.settings)) continue;
    for (const Setting& setting : suggestion.settings) {
      const double value = candidate.values[setting.knob];
      if (value != space[setting.knob].start && !taken.contains(setting.knob))
        group.settings.push_back({setting.knob, value});
    }
    if (group.settings.empty()) continue;
    for (const Setting& setting : group.settings) taken.insert(setting.knob);
    out.push_back(std::move(group));
  }
  for (const Setting& setting : space.difference(space.start(), candidate)) {
    if (!taken.contains(setting.knob)) out.push_back({{setting}, {}, false});
  }
  return out;
}

std::vector<ChangeGroup> in_sets(const Plant& plant, std::vector<ChangeGroup> groups,
                                 const std::function<bool(const ChangeGroup&)>& may_join) {
  for (const Suggestion& preset : plant.suggestions()) {
    if (preset.kind != Suggestion::Kind::preset) continue;
    const auto is_of_it = [&](const ChangeGroup& group) {
      return group.suggestion.empty() && may_join(group) &&
             std::ranges::find(preset.settings, group.settings.front()) != preset.settings.end();
    };
    if (std::ranges::count_if(groups, is_of_it) < kLeastOfSet) continue;
    ChangeGroup set{{}, preset.id, false};
    for (const ChangeGroup& group : groups) {
      if (is_of_it(group)) set.settings.push_back(group.settings.front());
    }
    std::erase_if(groups, is_of_it);
    groups.push_back(std::move(set));
  }
  return groups;
}

std::vector<std::size_t> knobs_of(const ChangeGroup& group) {
  std::vector<std::size_t> out;
  for (const Setting& setting : group.settings) out.push_back(setting.knob);
  return out;
}

Candidate without(const Space& space, Candidate candidate, const std::vector<ChangeGroup>& groups) {
  for (const ChangeGroup& group : groups) {
    for (const Setting& setting : group.settings) candidate.values[setting.knob] = space[setting.knob].start;
  }
  return space.canonical(std::move(candidate));
}

Proposer::Proposer(Session& session) : session_(session), surrogate_(session.space()) {
  for (std::size_t k = 0; k < session.space().size(); ++k) {
    if (has_several_values(session.space()[k])) turnable_.push_back(k);
  }
}

Candidate Proposer::repaired(Candidate candidate) {
  const Space& space = session_.space();
  const std::vector<Constraint>& constraints = session_.plant().constraints();
  Random& random = session_.random();
  for (int attempt = 0; attempt < kRepairs; ++attempt) {
    const auto why = broken(constraints, space, candidate);
    if (!why) break;
    std::vector<std::size_t> knobs;
    for (const std::size_t k : constraints[why->constraint].knobs) {
      if (space[k].is_numeric() && std::ranges::find(turnable_, k) != turnable_.end()) knobs.push_back(k);
    }
    if (knobs.empty()) break;
    const std::size_t k = knobs[random.below(knobs.size())];
    candidate.values[k] =
        uniform(random) < 0.5 ? space[k].at_position(uniform(random)) : mutated_value(k, candidate.values[k]);
  }
  return space.canonical(std::move(candidate));
}

bool Proposer::is_new(const Candidate& candidate) {
  return !session_.standing(candidate) && session_.is_allowed(candidate);
}

std::string Proposer::described(const Candidate& candidate) const {
  return session_.space().text(session_.space().difference(session_.best(), candidate));
}

int Proposer::deal() {
  const Space& space = session_.space();
  Random& random = session_.random();
  dealt_.clear();
  std::vector<std::pair<std::size_t, bool>> moves;
  for (const std::size_t k : turnable_) {
    if (space[k].is_numeric() && space.is_alive(k, session_.best()))
      moves.emplace_back(k, random.below(2) == 0);
  }
  for (int pass = 0; pass < 2; ++pass) {
    random.shuffle(std::span(moves));
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (i % kMovedTogether == 0) dealt_.emplace_back();
      dealt_.back().push_back(moves[i]);
    }
    for (auto& [knob, is_up] : moves) is_up = !is_up;
  }
  std::ranges::reverse(dealt_);
  return static_cast<int>(dealt_.size());
}

double Proposer::far_value(std::size_t knob, double value, bool is_up) {
  const Knob& k = session_.space()[knob];
  const double from = std::clamp(k.position(value), 0.0, 1.0);
  if (is_up ? from > 0.9 : from < 0.1) is_up = !is_up;  // no room
  const double way = 0.25 + 0.6 * uniform(session_.random());
  return k.at_position(is_up ? from + (1 - from) * way : from * (1 - way));
}

std::optional<Proposal> Proposer::explore() {
  const Space& space = session_.space();
  const Candidate best = session_.best();
  while (!dealt_.empty()) {
    const auto moves = std::move(dealt_.back());
    dealt_.pop_back();
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Candidate candidate = best;
      for (const auto& [knob, is_up] : moves) {
        if (space.is_alive(knob, candidate))
          candidate.values[knob] = far_value(knob, best.values[knob], is_up);
      }
      candidate = repaired(space.canonical(std::move(candidate)));
      if (is_new(candidate)) return Proposal{candidate, Phase::explore, described(candidate)};
    }
  }
  return std::nullopt;
}

std::optional<Proposal> Proposer::flip() {
  for (const Setting& setting : untried_choices()) {
    const Candidate candidate = session_.space().canonical(session_.space().with(session_.best(), {setting}));
    if (is_new(candidate)) return Proposal{candidate, Phase::explore, described(candidate)};
  }
  return std::nullopt;
}

std::vector<Setting> Proposer::untried_choices() const {
  const Space& space = session_.space();
  const Candidate best = session_.best();
  const std::set<std::size_t> fixes = kept();
  // What a published set has changed, back as it was; switches and standard values: of many choices most are
  // wrong.
  std::vector<std::pair<int, Setting>> ranked;
  for (const std::size_t k : turnable_) {
    const Knob& knob = space[k];
    if (knob.is_numeric() || !space.is_alive(k, best) || fixes.contains(k)) continue;
    for (int choice = 0; choice < static_cast<int>(knob.count()); ++choice) {
      const double value = choice;
      // With the other choices as the best has them, and most numbers: a mode that breaks down says nothing
      // of its parts, nor does a choice that numbers of another set go with.
      const bool was_tried = std::ranges::any_of(session_.trials(), [&](const Trial& trial) {
        std::size_t moved = 0;
        for (std::size_t other = 0; other < space.size(); ++other) {
          const double wanted = other == k ? value : best.values[other];
          if (trial.candidate.values[other] == wanted) continue;
          if (!space[other].is_numeric() || ++moved > kMovedTogether) return false;
        }
        return true;
      });
      if (was_tried || !knob.is_safe(value)) continue;
      const int rank = knob.start == value ? -1 : knob.standard == value ? 0 : static_cast<int>(knob.count());
      ranked.emplace_back(rank, Setting{k, value});
    }
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, Setting>::first);
  std::vector<Setting> out;
  for (const auto& [rank, setting] : ranked) out.push_back(setting);
  return out;
}

double Proposer::mutated_value(std::size_t knob, double value) {
  const Knob& k = session_.space()[knob];
  Random& random = session_.random();
  const double die = uniform(random);
  if (!k.is_numeric()) {
    if (die < 0.2 && k.standard && k.is_safe(*k.standard) && *k.standard != value) return *k.standard;
    std::vector<double> others;
    for (int choice = 0; choice < static_cast<int>(k.count()); ++choice) {
      if (choice != value && k.is_safe(choice)) others.push_back(choice);
    }
    return others.empty() ? value : others[random.below(others.size())];
  }
  if (die < 0.08) return k.start;
  if (die < 0.16 && k.standard) return k.nearest_safe(*k.standard);
  if (die < 0.36) return k.at_position(uniform(random));
  const double spread = die < 0.6 ? 0.25 : die < 0.85 ? 0.1 : 0.03;
  const double from = std::clamp(k.position(value), 0.0, 1.0);
  double to = from + spread * normal(random);
  if (to < 0 || to > 1) to = uniform(random) < 0.5 ? std::clamp(to, 0.0, 1.0) : uniform(random);
  const double out = k.at_position(to);
  if (out != value) return out;
  // Finer than a step: one step.
  const double stepped = k.nearest_safe(value + (uniform(random) < 0.5 ? -k.step : k.step));
  return stepped;
}

std::set<std::size_t> Proposer::kept() const {
  std::set<std::size_t> out;
  const Space& space = session_.space();
  for (const Suggestion& suggestion : session_.plant().suggestions()) {
    if (suggestion.kind != Suggestion::Kind::remedy ||
        !has_settings(space, session_.best(), suggestion.settings))
      continue;
    for (const Setting& setting : suggestion.settings) {
      if (!space[setting.knob].is_numeric()) out.insert(setting.knob);
    }
  }
  return out;
}

std::size_t Proposer::some_knob() {
  Random& random = session_.random();
  if (uniform(random) < kAnyKnob) return turnable_[random.below(turnable_.size())];
  double sum = 0;
  for (const std::size_t k : turnable_) sum += surrogate_.relevance(k);
  double point = uniform(random) * sum;
  for (const std::size_t k : turnable_) {
    point -= surrogate_.relevance(k);
    if (point <= 0) return k;
  }
  return turnable_.back();
}

std::optional<Candidate> Proposer::mutated(const Candidate& parent) {
  const Space& space = session_.space();
  Random& random = session_.random();
  const double die = uniform(random);
  const int moves = die < 0.4 ? 1 : die < 0.7 ? 2 : die < 0.85 ? 3 : 4 + static_cast<int>(random.below(4));
  Candidate candidate = parent;
  for (int i = 0; i < moves; ++i) {
    const std::size_t knob = some_knob();
    if (space.is_alive(knob, candidate)) candidate.values[knob] = mutated_value(knob, candidate.values[knob]);
  }
  if (uniform(random) < 0.1) {  // one of the changes taken back
    const std::vector<ChangeGroup> groups = groups_of(session_.plant(), candidate);
    if (!groups.empty()) candidate = without(space, candidate, {groups[random.below(groups.size())]});
  }
  for (const std::size_t k : kept_) candidate.values[k] = session_.best().values[k];
  candidate = repaired(space.canonical(std::move(candidate)));
  return is_new(candidate) ? std::optional(candidate) : std::nullopt;
}

std::vector<Candidate> Proposer::parents() const {
  std::vector<std::pair<double, Candidate>> ranked;
  for (const auto& [candidate, standing] : session_.standings()) {
    if (standing.is_good()) ranked.emplace_back(-surrogate_.expected(candidate), candidate);
  }
  std::ranges::sort(ranked);
  std::vector<Candidate> out{session_.best()};
  for (const auto& [value, candidate] : ranked) {
    if (out.size() == kParents) break;
    if (candidate != out.front()) out.push_back(candidate);
  }
  return out;
}

std::vector<Candidate> Proposer::pool() {
  const std::vector<Candidate> from = parents();
  kept_ = kept();
  Random& random = session_.random();
  std::set<Candidate> out;
  for (int attempt = 0; attempt < 2 * kPool && out.size() < kPool; ++attempt) {
    // Half of them around the best.
    const std::size_t which = uniform(random) < 0.5 ? 0 : static_cast<std::size_t>(random.below(from.size()));
    Candidate parent = from[which];
    if (from.size() > 1 && uniform(random) < 0.15) {  // of two good ones, knob by knob
      const Candidate& other = from[random.below(from.size())];
      for (std::size_t k = 0; k < parent.values.size(); ++k) {
        if (uniform(random) < 0.5) parent.values[k] = other.values[k];
      }
    }
    if (auto candidate = mutated(parent)) out.insert(std::move(*candidate));
  }
  return {out.begin(), out.end()};
}

bool Proposer::learn() {
  const double best = session_.best_score();
  const double scale = std::max({session_.least_gain(), 2 * session_.noise_sd(), kLinear});
  std::vector<Surrogate::Example> examples;
  double worst = 0;
  for (const auto& [candidate, standing] : session_.standings()) {
    if (!standing.is_good()) continue;
    const double below = best - standing.mean();
    const double value = best - scale * std::log1p(std::max(0.0, below) / scale);
    worst = std::min(worst, value - best);
    examples.push_back({candidate, value, standing.runs()});
  }
  for (const auto& [candidate, standing] : session_.standings()) {
    if (!standing.is_good()) examples.push_back({candidate, best + worst - scale, 1});
  }
  if (examples.size() < 3) return false;
  surrogate_.fit(examples, session_.random());
  return true;
}

std::optional<Proposal> Proposer::model(bool greedy) {
  if (turnable_.empty() || !learn()) return std::nullopt;
  double best_belief = -kMostGain;
  for (const auto& [candidate, standing] : session_.standings()) {
    if (standing.is_good()) best_belief = std::max(best_belief, surrogate_.expected(candidate));
  }
  const std::vector<Candidate> candidates = pool();
  const Candidate* chosen = nullptr;
  double most = -1e9;
  promise_ = 0;
  for (const Candidate& candidate : candidates) {
    double sum = 0;
    double mean = 0;
    const std::vector<Surrogate::Belief> beliefs = surrogate_.beliefs(candidate);
    for (const Surrogate::Belief& belief : beliefs) {
      sum += improvement(belief, best_belief);
      mean += belief.mean;
    }
    const double count = static_cast<double>(beliefs.size());
    promise_ = std::max(promise_, sum / count);
    const double value = (greedy ? mean : sum) / count;
    if (value > most) {
      most = value;
      chosen = &candidate;
    }
  }
  if (chosen == nullptr) return std::nullopt;
  return Proposal{*chosen, greedy ? Phase::pattern : Phase::model, described(*chosen)};
}

}  // namespace rocetune::search
