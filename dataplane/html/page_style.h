// What every page carries inside.
#pragma once

#include <string_view>

namespace rocetune::html {

extern const std::string_view kPageStyle;
extern const std::string_view kReadOutScript;

}  // namespace rocetune::html
