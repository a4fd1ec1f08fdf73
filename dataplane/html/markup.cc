#include "dataplane/html/markup.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "dataplane/base/utf8.h"

namespace rocetune::html {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string_view hue_class(Hue hue) {
  constexpr std::array<std::string_view, 9> kClasses{"ink", "blue",      "orange", "green", "pink",
                                                     "sky", "vermilion", "purple", "grey"};
  return kClasses[static_cast<std::size_t>(hue)];
}

std::string share_bar(double share, Hue hue) {
  // Not clamp(): a ratio that is no number shows nothing.
  const double shown = share > 0 ? std::min(share, 1.0) : 0;
  return fmt::format("<span class='bar {}'><i style='width:{:.1f}%'></i></span>", hue_class(hue),
                     100 * shown);
}

}  // namespace rocetune::html
