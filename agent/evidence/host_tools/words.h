// Small words that the readers of host tools share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/evidence/words.h"
#include "agent/host/words.h"

namespace rocetune::evidence {

// A whole number that fits an int, in decimal or as 0x.
std::optional<int> small_number_of(std::string_view text);

// The words of a shell command up to its first pipe or redirection, without "sudo" and without the folder of
// the program: "ethtool -S eth0 | grep pause" -> ethtool, -S, eth0.
std::vector<std::string_view> command_words(std::string_view command);
// Whether it calls `program`.
bool calls(std::string_view command, std::string_view program);
// The word behind `option` ("-i", "dev"); empty: none.
std::string_view option_value(std::string_view command, std::string_view option);
// The interface that an ethtool command names: its last word that is no option.
std::string_view interface_of_ethtool(std::string_view command);
// "eth0" of "Pause parameters for eth0:", given "Pause parameters for "; empty: another line.
std::string_view interface_in_title(std::string_view line, std::string_view title);

// Whether it is made of letters, digits and the other characters that are given.
bool is_made_of(std::string_view text, std::string_view others);

}  // namespace rocetune::evidence
