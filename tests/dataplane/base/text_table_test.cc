#include "dataplane/base/text_table.h"

#include <gtest/gtest.h>

#include "dataplane/base/utf8.h"

namespace rocetune {
namespace {

TEST(TextTable, AlignsAndShowsUnitsBelowTitles) {
  TextTable table(
      {{.title = "port"}, {.title = "rx pause", .unit = "us", .align = Align::right}, {.title = "state"}});
  table.add_row({"eth0", "7", "up"});
  table.add_row({"enp129s0f0", "123456789012", ""});
  EXPECT_EQ(table.text(),
            "port            rx pause  state\n"
            "                      us\n"
            "eth0                   7  up\n"
            "enp129s0f0  123456789012\n");
}

TEST(TextTable, WithoutUnitsThereIsNoUnitRow) {
  TextTable table({{.title = "a"}, {.title = "b"}});
  table.add_row({"1"});
  table.add_rule();
  EXPECT_EQ(table.text(), "a  b\n1\n-  -\n");
}

TEST(TextTable, ColoursOnlyWhenTold) {
  TextTable table({{.title = "t"}, {.title = "u"}});
  table.add_row({{"x", Paint::bad}, "y"});
  EXPECT_EQ(table.text(), "t  u\nx  y\n");
  EXPECT_EQ(table.text({.coloured = true}), "\033[1mt\033[0m  \033[1mu\033[0m\n\033[31mx\033[0m  y\n");
}

TEST(TextTable, CutsOrWrapsTheWidestColumnsToFit) {
  TextTable table({{.title = "name", .overflow = Overflow::truncate},
                   {.title = "n"},
                   {.title = "cause", .overflow = Overflow::wrap}});
  table.add_row({"a-very-long-name-here", "1", "the switch sends more pause than it should"});
  const std::string text = table.text({.width = 30});
  EXPECT_EQ(text,
            "name          n  cause\n"
            "a-very-long\xE2\x80\xA6  1  the switch\n"
            "                 sends more\n"
            "                 pause than it\n"
            "                 should\n");
}

TEST(TextTable, ColumnsThatKeepTheirContentMayOverflow) {
  TextTable table({{.title = "name"}});
  table.add_row({"a-very-long-name-here"});
  EXPECT_EQ(table.text({.width = 5}), "name\na-very-long-name-here\n");
}

TEST(TextTable, IndentsEveryLine) {
  TextTable table({{.title = "a"}});
  table.add_row({"b"});
  EXPECT_EQ(table.text({.indent = 2}), "  a\n  b\n");
}

TEST(TextTable, AlignsByColumnsNotBytes) {
  TextTable table({{.title = "x"}, {.title = "y"}});
  table.add_row({"\xC3\xBC\xC3\xBC", "1"});  // two columns, four bytes
  table.add_row({"\xE7\xB6\xB2", "2"});      // one wide character
  table.add_row({"e\xCC\x81", "3"});         // e and a combining accent
  EXPECT_EQ(table.text(), "x   y\n\xC3\xBC\xC3\xBC  1\n\xE7\xB6\xB2  2\ne\xCC\x81   3\n");
}

TEST(TextTable, EscapeSequencesDoNotReachTheTerminal) {
  TextTable table({{.title = "x"}});
  table.add_row({"a\033[2Jb\nc"});
  EXPECT_EQ(table.text(), "x\na\xEF\xBF\xBD[2Jb c\n");
}

TEST(Utf8, KnowsValidSequences) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("\xC3\xA9x"), 2u);
  EXPECT_EQ(utf8_length("\xF0\x9F\x98\x80"), 4u);
  for (const char* bad : {"", "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(utf8_length(bad), 0u);
  }
}

TEST(Utf8, ReplacesC1Controls) {
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m\x7F"),
            "\xEF\xBF\xBD"
            "31m\xEF\xBF\xBD");
}

TEST(Utf8, CutsAtCharacters) {
  EXPECT_EQ(truncated("abc", 3), "abc");
  EXPECT_EQ(truncated("abcd", 3), "ab\xE2\x80\xA6");
  EXPECT_EQ(truncated("\xE7\xB6\xB2\xE7\xB6\xB2", 3), "\xE7\xB6\xB2\xE2\x80\xA6");
  EXPECT_EQ(truncated("abc", 0), "");
}

TEST(Utf8, WrapsAtBlanksAndBreaksLongWords) {
  EXPECT_EQ(wrapped("aa bb cc", 5), (std::vector<std::string>{"aa bb", "cc"}));
  EXPECT_EQ(wrapped("abcdef", 4), (std::vector<std::string>{"abcd", "ef"}));
  EXPECT_EQ(wrapped("", 4), (std::vector<std::string>{""}));
  EXPECT_EQ(wrapped("\xE7\xB6\xB2", 1), (std::vector<std::string>{"\xE7\xB6\xB2"}));
}

}  // namespace
}  // namespace rocetune
