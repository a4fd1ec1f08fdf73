// Text as markup, and the colours that pages and charts share.
#pragma once

#include <string>
#include <string_view>

namespace rocetune::html {

// `text` for any place between tags or in an attribute, whichever quotes that uses. Names come out of packets
// and files: nothing of them becomes markup, and what is no character becomes U+FFFD.
std::string escaped(std::string_view text);

// Colours by name, so that a page can give each quantity its own. Each has a light and a dark form, told
// apart by readers who confuse red and green. `ink` is the colour of text.
enum class Hue { ink, blue, orange, green, pink, sky, vermilion, purple, grey };
// The class that elements of this colour have: "blue".
std::string_view hue_class(Hue hue);

// A bar for `share` of its place (0..1, else cut), such as a ratio in a table.
std::string share_bar(double share, Hue hue);

}  // namespace rocetune::html
