// Statements of EOS and NX-OS that mean the same wherever they stand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "agent/evidence/switches/switch_model.h"

namespace rocetune::evidence {

using MqcWords = std::vector<std::string_view>;

// "switch(config-if)# mtu 9216": what stands behind the prompt.
std::string_view without_config_prompt(std::string_view text);
// Whether a configuration can begin with this line.
bool begins_mqc(std::string_view text);
// First words of lines that say nothing of classes, so that a whole `running-config` is read.
bool is_other_mqc(std::string_view word);

// "bandwidth remaining percent 50", "priority level 1", "no priority", "random-detect ...".
void take_queue_words(const MqcWords& words, SwitchQueue& queue);

// NX-OS: "priority-flow-control watch-dog-interval on", "... watch-dog interval 100" (ms); EOS:
// "priority-flow-control pause watchdog default timeout 0.2" (s), "... action drop". Says whose statement it
// is; unknown: none about a watchdog.
SwitchSystem take_watchdog_words(const MqcWords& words, std::optional<SwitchWatchdog>& watchdog);

}  // namespace rocetune::evidence
