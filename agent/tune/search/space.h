// All knobs of a plant, and a candidate: one value for each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tune/search/knob.h"

namespace rocetune::search {

// One value per knob of the space, in its order.
struct Candidate {
  std::vector<double> values;
  bool operator==(const Candidate&) const = default;
  auto operator<=>(const Candidate&) const = default;
};

// One knob, by its place in the space, and the value it gets.
struct Setting {
  std::size_t knob = 0;
  double value = 0;
  bool operator==(const Setting&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("knob", self.knob...);
    visit("value", self.value...);
  }
};

class Space {
 public:
  Space() = default;
  // Error: bad_input with every knob that is not as knob.h says (two of one name, an empty range, a life that
  // depends on a knob that does not stand before it).
  static Expected<Space> of(std::vector<Knob> knobs);

  const std::vector<Knob>& knobs() const { return knobs_; }
  std::size_t size() const { return knobs_.size(); }
  const Knob& operator[](std::size_t i) const { return knobs_[i]; }
  std::optional<std::size_t> find(std::string_view name) const;
  // Error: bad_input with the nearest name, or as Knob::value_of.
  Expected<Setting> setting(std::string_view knob, std::string_view value) const;

  // What the plant has now.
  Candidate start() const;
  Candidate with(Candidate candidate, const std::vector<Setting>& settings) const;
  // Where `to` differs from `from`, in the order of the knobs.
  std::vector<Setting> difference(const Candidate& from, const Candidate& to) const;
  // Whether the knob does anything in this candidate (Knob::lives_while, followed to its end).
  bool is_alive(std::size_t knob, const Candidate& candidate) const;
  // The same candidate with every dead knob at its start value: two candidates that differ in dead knobs
  // alone are one.
  Candidate canonical(Candidate candidate) const;
  // Every value is one that its knob calls safe.
  bool is_safe(const Candidate& candidate) const;
  // Of the dearest knob that differs from the start.
  ChangeCost cost(const Candidate& candidate) const;

  // "switches.kmin=5000 bytes switches.kmax=200000 bytes"; "nothing" of none.
  std::string text(const std::vector<Setting>& settings) const;
  // Names, kinds, ranges, start values: lower-case hex SHA-256. A trial log belongs to one of them.
  std::string sha256() const;

 private:
  std::vector<Knob> knobs_;
};

}  // namespace rocetune::search
