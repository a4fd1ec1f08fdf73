#include "dataplane/html/page.h"

#include <gmock/gmock.h>

#include "dataplane/html/markup.h"
#include "tests/dataplane/html/well_formed.h"

namespace rocetune::html {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kHostile = "'\"><script>alert(\"&\")</script>\x1b[31m\xff";

TEST(Escaped, NothingOfANameIsMarkup) {
  EXPECT_EQ(escaped(kHostile),
            "&#39;&quot;&gt;&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;\uFFFD[31m\uFFFD");
  EXPECT_EQ(escaped("switch 0 → host 3"), "switch 0 → host 3");
}

TEST(ShareBar, IsCutAtItsEnds) {
  EXPECT_EQ(share_bar(0.613, Hue::vermilion),
            "<span class='bar vermilion'><i style='width:61.3%'></i></span>");
  EXPECT_THAT(share_bar(7, Hue::ink), HasSubstr("width:100.0%"));
  EXPECT_THAT(share_bar(-1, Hue::ink), HasSubstr("width:0.0%"));
  EXPECT_THAT(share_bar(0.0 / 0.0, Hue::ink), HasSubstr("width:0.0%"));
}

TEST(Page, IsWellFormedAndNeedsNothingElse) {
  const std::string page =
      page_text({.title = std::string(kHostile), .body = "<p>body</p>\n", .reads_out = true});
  EXPECT_EQ(markup_problem(page), "");
  EXPECT_THAT(page, HasSubstr("</h1>\n<p>body</p>\n<footer>"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  for (const char* outside : {"http", "src=", "url(", "@import", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(Page, HasAScriptOnlyWhereItReadsOut) {
  EXPECT_THAT(page_text({.title = "a", .body = ""}), Not(HasSubstr("<script")));
}

TEST(VerdictLine, SaysItWithoutColour) {
  EXPECT_EQ(verdict_line(Verdict::bad, "<b>No.</b>"),
            "<div class='verdict bad'><b class='sign'>✗</b><div><b>No.</b></div></div>\n");
}

TEST(Tiles, HaveANoteOnlyIfThereIsOne) {
  Tiles tiles;
  tiles.add({.title = "a<b", .value = "1"});
  tiles.add({.title = "drops", .value = "2", .note = "packets", .is_notable = true});
  EXPECT_EQ(tiles.text(),
            "<dl class='tiles'>\n<div><dt>a&lt;b</dt><dd>1</dd></div>\n"
            "<div class='warn'><dt>drops</dt><dd>2</dd><dd class='note'>packets</dd></div>\n</dl>\n");
}

TEST(MarkupProblem, IsFound) {
  EXPECT_EQ(markup_problem("<!DOCTYPE html><p class='a'>b &amp; c<br/></p>"), "");
  EXPECT_THAT(markup_problem("<p>"), HasSubstr("not closed: p"));
  EXPECT_THAT(markup_problem("<p></b>"), HasSubstr("closes nothing: b"));
  EXPECT_THAT(markup_problem("a & b"), HasSubstr("a bare &"));
  EXPECT_THAT(markup_problem("1 < 2"), HasSubstr("a bare <"));
  EXPECT_THAT(markup_problem("<p a='1' a='2'/>"), HasSubstr("twice: a"));
  EXPECT_THAT(markup_problem("<p a='1/>"), HasSubstr("open quote of a"));
  EXPECT_THAT(markup_problem("<p a/>"), HasSubstr("no value of a"));
}

}  // namespace
}  // namespace rocetune::html
