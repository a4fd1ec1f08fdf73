// Texts of /proc cut into pieces that point into them.
#pragma once

#include <string_view>
#include <vector>

namespace rocetune::host {

// Pieces between blanks.
std::vector<std::string_view> words(std::string_view line);
// Pieces between separators; empty ones are left out.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace rocetune::host
