// The parts of a tuning run's page, in their order. Each is empty where there is nothing of it.
#pragma once

#include <string>

#include "agent/report/tune_page.h"

namespace rocetune::report {

// Each workload in all it measures, as found and with the changes, the held-out ones too.
std::string tune_workloads_section(const TunePage& page);
// What each change is worth alone, and what is lost without it.
std::string tune_effects_section(const TunePage& page);
// Every change with its words, and its undoing; by the names of makers.
std::string tune_plan_section(const TunePage& page);
std::string tune_findings_section(const TunePage& page);
// The gain of every trial, those no other is better than, all of them one by one, and what was not tried.
std::string tune_trials_section(const TunePage& page);
std::string tune_front_section(const TunePage& page);
std::string tune_not_tried_section(const TunePage& page);

}  // namespace rocetune::report
