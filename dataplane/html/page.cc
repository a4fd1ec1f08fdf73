#include "dataplane/html/page.h"

#include <fmt/core.h>

#include <array>

#include "dataplane/html/markup.h"
#include "dataplane/html/page_style.h"

namespace rocetune::html {

// Every element is closed, so that whatever reads XML reads a page, too.
std::string page_text(const Page& page) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/>\n"
      "<meta name='viewport' content='width=device-width,initial-scale=1'/>\n<title>{0}</title>\n"
      "<style>\n{1}</style>\n</head><body>\n<h1>{0}</h1>\n",
      escaped(page.title), kPageStyle);
  out += page.body;
  out += "<footer>rocetune " ROCETUNE_VERSION "</footer>\n";
  if (page.reads_out) out += fmt::format("<script>\n{}</script>\n", kReadOutScript);
  return out + "</body></html>\n";
}

std::string verdict_line(Verdict verdict, std::string_view markup) {
  struct Form {
    std::string_view class_name;
    std::string_view sign;  // says it without colour
  };
  constexpr std::array kForms{Form{"good", "✓"}, Form{"warn", "!"}, Form{"bad", "✗"}};
  const Form& form = kForms[static_cast<std::size_t>(verdict)];
  return fmt::format("<div class='verdict {}'><b class='sign'>{}</b><div>{}</div></div>\n", form.class_name,
                     form.sign, markup);
}

void Tiles::add(const Tile& tile) {
  tiles_ += fmt::format("<div{}><dt>{}</dt><dd>{}</dd>", tile.is_notable ? " class='warn'" : "",
                        escaped(tile.title), escaped(tile.value));
  if (!tile.note.empty()) tiles_ += fmt::format("<dd class='note'>{}</dd>", escaped(tile.note));
  tiles_ += "</div>\n";
}

std::string Tiles::text() const { return "<dl class='tiles'>\n" + tiles_ + "</dl>\n"; }

}  // namespace rocetune::html
