// What a tuning run's values are called on its page.
#pragma once

#include <string>
#include <string_view>

#include "agent/report/tune_page.h"
#include "dataplane/html/quantity.h"

namespace rocetune::report {

// "+12.3 %", "+12.3 % (+10.1 to +14.2 %)".
std::string percent_text(double percent);
std::string interval_text(const search::Interval& percent);

// What turning a knob disturbs: "links go down for a moment".
std::string_view disturbance_of(search::ChangeCost cost);
// "adds its share".
std::string_view effect_words(search::Attribution::Effect effect);
// "switches.kmin, switches.kmax"; of a larger set that has a name, "11 settings".
std::string settings_name(const search::Space& space, const search::Attribution& one);
// Whether the command goes on with the run that ended so, and does not begin it anew.
bool goes_on(const search::Outcome& outcome, std::string_view command);
// Why a candidate was tried: "doctor's fix".
std::string_view phase_words(search::Phase phase);
// "slowest 1 % of transfers": an objective for people, and its numbers.
std::string_view objective_words(search::Objective objective);
html::Unit objective_unit(search::Objective objective);
std::string objective_text(search::Objective objective, double value);

// With a capital letter and a full stop.
std::string sentence_of(std::string text);

// A setting's text as markup: numbers of five digits and more in groups of three. Not for what is to be
// pasted.
std::string value_markup(std::string_view text);
// Lines as they are, for <pre>.
std::string lines_markup(std::string_view text);

// "switches.kmin 3 000 000 bytes → 147 000 bytes; …" as markup; "as it is" of none.
std::string changes_markup(const search::Space& space, const std::vector<search::Setting>& settings);
std::string changes_markup(const TunePage& page, const search::Candidate& candidate);

}  // namespace rocetune::report
