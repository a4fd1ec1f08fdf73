#include "agent/tune/search/space.h"

#include <algorithm>
#include <cmath>

#include "dataplane/base/sha256.h"

namespace rocetune::search {
namespace {

// What is wrong with a knob; empty: nothing.
std::string flaw(const Knob& knob, std::size_t index, const std::vector<Knob>& all) {
  for (std::size_t i = 0; i < index; ++i) {
    if (all[i].name == knob.name) return "another knob has this name";
  }
  if (knob.name.empty()) return "has no name";
  if (!std::isfinite(knob.start)) return "start is not a number";
  if (knob.is_numeric()) {
    if (!(knob.min <= knob.max) || !std::isfinite(knob.max - knob.min)) return "min is above max";
    if (!(knob.step > 0)) return "step is not above 0";
    if (knob.scale == Scale::logarithmic && !(knob.min > 0)) return "a logarithmic scale needs min above 0";
    if (knob.count() > 9e15) return "more steps than a double counts";
  } else {
    if (knob.count() < 1) return "has no choices";
    if (!(knob.start >= 0 && knob.start < knob.count() && knob.start == std::floor(knob.start)))
      return "start is none of its choices";
    for (const std::size_t safe : knob.safe_choices) {
      if (static_cast<double>(safe) >= knob.count()) return "a safe choice is none of its choices";
    }
  }
  if (knob.lives_while && knob.lives_while->knob >= index)
    return "lives by a knob that does not stand before it";
  return {};
}

}  // namespace

Expected<Space> Space::of(std::vector<Knob> knobs) {
  std::string flaws;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const std::string what = flaw(knobs[i], i, knobs);
    if (!what.empty())
      flaws += fmt::format("{}knob {} ({}): {}", flaws.empty() ? "" : "; ", i, knobs[i].name, what);
  }
  if (!flaws.empty()) return fail(ErrorKind::bad_input, "{}", flaws);
  Space space;
  space.knobs_ = std::move(knobs);
  return space;
}

std::optional<std::size_t> Space::find(std::string_view name) const {
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (knobs_[i].name == name) return i;
  }
  return std::nullopt;
}

Expected<Setting> Space::setting(std::string_view knob, std::string_view value) const {
  const auto index = find(knob);
  if (!index) {
    std::vector<std::string> names;
    for (const Knob& known : knobs_) names.push_back(known.name);
    const std::string near = nearest_name(knob, names);
    return fail(ErrorKind::bad_input, "no knob {}{}", knob,
                near.empty() ? std::string() : fmt::format("; did you mean {}?", near));
  }
  const auto number = knobs_[*index].value_of(value);
  if (!number) return tl::unexpected(number.error());
  return Setting{*index, *number};
}

Candidate Space::start() const {
  Candidate out;
  for (const Knob& knob : knobs_) out.values.push_back(knob.start);
  return out;
}

Candidate Space::with(Candidate candidate, const std::vector<Setting>& settings) const {
  for (const Setting& setting : settings) {
    ROCETUNE_ASSERT(setting.knob < candidate.values.size());
    candidate.values[setting.knob] = setting.value;
  }
  return candidate;
}

std::vector<Setting> Space::difference(const Candidate& from, const Candidate& to) const {
  std::vector<Setting> out;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (from.values[i] != to.values[i]) out.push_back({i, to.values[i]});
  }
  return out;
}

bool Space::is_alive(std::size_t knob, const Candidate& candidate) const {
  while (knobs_[knob].lives_while) {
    const Knob::Life& life = *knobs_[knob].lives_while;
    if (std::ranges::find(life.values, candidate.values[life.knob]) == life.values.end()) return false;
    knob = life.knob;
  }
  return true;
}

Candidate Space::canonical(Candidate candidate) const {
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (!is_alive(i, candidate)) candidate.values[i] = knobs_[i].start;
  }
  return candidate;
}

bool Space::is_safe(const Candidate& candidate) const {
  if (candidate.values.size() != knobs_.size()) return false;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (!knobs_[i].is_safe(candidate.values[i])) return false;
  }
  return true;
}

ChangeCost Space::cost(const Candidate& candidate) const {
  ChangeCost dearest = ChangeCost::none;
  for (std::size_t i = 0; i < knobs_.size(); ++i) {
    if (candidate.values[i] != knobs_[i].start) dearest = std::max(dearest, knobs_[i].cost);
  }
  return dearest;
}

std::string Space::text(const std::vector<Setting>& settings) const {
  if (settings.empty()) return "nothing";
  std::string out;
  for (const Setting& setting : settings) {
    const Knob& knob = knobs_[setting.knob];
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", knob.name, knob.text(setting.value));
  }
  return out;
}

std::string Space::sha256() const {
  std::string all;
  for (const Knob& knob : knobs_) {
    all += fmt::format("{}\n{} {} {} {} {} {} {} {}\n", knob.name, enum_name(knob.kind),
                       enum_name(knob.scale), knob.min, knob.max, knob.step, knob.start,
                       knob.safe_min.value_or(knob.min), knob.safe_max.value_or(knob.max));
    for (const std::string& choice : knob.choices) all += choice + "\n";
    for (const std::size_t safe : knob.safe_choices) all += fmt::format("{} ", safe);
    if (knob.lives_while) {
      all += fmt::format("lives by {}:", knob.lives_while->knob);
      for (const double value : knob.lives_while->values) all += fmt::format(" {}", value);
    }
    all += "\n";
  }
  return sha256_text(all);
}

}  // namespace rocetune::search
