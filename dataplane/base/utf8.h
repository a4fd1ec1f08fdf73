// UTF-8 as far as writing it to a terminal or into JSON needs: what is valid, how many columns it takes,
// where it can be cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rocetune {

// Length of the valid sequence at the start of `text` in bytes, 1..4, or 0 (RFC 3629: no surrogates, no
// overlong forms). 0 for an empty text.
std::size_t utf8_length(std::string_view text);

// `text` made safe to print on one line: control characters (escape sequences in a name we were given must
// not reach a terminal) and invalid bytes become U+FFFD, tabs and line breaks a blank.
std::string printable(std::string_view text);

// Columns a terminal uses for printable text: combining marks 0, East Asian wide and emoji 2, the rest 1.
int display_width(std::string_view text);

// At most `width` columns of `text`, the last one "…" if anything was cut. Width 0 is empty.
std::string truncated(std::string_view text, int width);
// `text` in lines of at most `width` columns (at least 1 character each), broken at blanks where possible.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace rocetune
