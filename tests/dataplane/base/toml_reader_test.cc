#include "dataplane/base/toml_reader.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace toml_test {
enum class Colour { red, green, blue };
}
ROCETUNE_ENUM(toml_test::Colour, P{E::red, "red"}, P{E::green, "green"}, P{E::blue, "blue"});

namespace {
using toml_test::Colour;

// All issues of reading `text`, one a line, or "".
std::string issues_of(std::string_view text, const TomlRead& read) {
  const auto result = read_toml(text, "f.toml", read);
  return result ? "" : result.error().text();
}

TEST(TomlReader, ReadsEveryTypeOfTheVocabulary) {
  std::string name;
  bool flag = false;
  std::uint8_t small = 0;
  double gain = 0;
  Bytes size;
  Duration wait;
  BitRate rate;
  Ratio share;
  Metres cable;
  Priority priority;
  TrafficClass tc;
  Dscp dscp, named_dscp;
  PrioritySet array_set, text_set, single_set;
  Colour colour = Colour::red;
  std::vector<int> numbers;
  std::array<Bytes, 2> pair;
  std::map<std::string, std::string> map;
  std::optional<Duration> maybe, never;
  const auto result = read_toml(R"(
name = "x"
flag = true
small = 0xFF
gain = 1.5
size = "64KiB"
wait = "55us"
rate = "100Gbps"
share = "12.5%"
cable = "7m"
priority = 3
tc = 4
dscp = 26
named_dscp = "cs6"
array_set = [3, 4]
text_set = "none"
single_set = 5
colour = "green"
numbers = [1, -2]
pair = ["1B", "2B"]
maybe = "1ms"
[map]
a = "b"
"c d" = "e"
)",
                                "f.toml", [&](TableReader& t) {
                                  EXPECT_TRUE(t.required("name", name));
                                  t.required("flag", flag);
                                  t.required("small", small);
                                  t.required("gain", gain);
                                  t.required("size", size);
                                  t.required("wait", wait);
                                  t.required("rate", rate);
                                  t.required("share", share);
                                  t.required("cable", cable);
                                  t.required("priority", priority);
                                  t.required("tc", tc);
                                  t.required("dscp", dscp);
                                  t.required("named_dscp", named_dscp);
                                  t.required("array_set", array_set);
                                  t.required("text_set", text_set);
                                  t.required("single_set", single_set);
                                  t.required("colour", colour);
                                  t.required("numbers", numbers);
                                  t.required("pair", pair);
                                  t.required("map", map);
                                  EXPECT_TRUE(t.optional("maybe", maybe));
                                  EXPECT_FALSE(t.optional("never", never));
                                });
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(name, "x");
  EXPECT_TRUE(flag);
  EXPECT_EQ(small, 255);
  EXPECT_EQ(gain, 1.5);
  EXPECT_EQ(size, Bytes(65'536));
  EXPECT_EQ(wait, microseconds(55));
  EXPECT_EQ(rate, gigabits_per_second(100));
  EXPECT_EQ(share, Ratio(125'000'000));
  EXPECT_EQ(cable, Metres(7));
  EXPECT_EQ(priority, Priority(3));
  EXPECT_EQ(tc, TrafficClass(4));
  EXPECT_EQ(dscp, Dscp(26));
  EXPECT_EQ(named_dscp, Dscp(48));
  EXPECT_EQ(array_set, PrioritySet(0x18));
  EXPECT_EQ(text_set, PrioritySet());
  EXPECT_EQ(single_set, PrioritySet(0x20));
  EXPECT_EQ(colour, Colour::green);
  EXPECT_EQ(numbers, (std::vector{1, -2}));
  EXPECT_EQ(pair[1], Bytes(2));
  EXPECT_EQ(map, (std::map<std::string, std::string>{{"a", "b"}, {"c d", "e"}}));
  EXPECT_EQ(maybe, milliseconds(1));
  EXPECT_EQ(never, std::nullopt);
}

TEST(TomlReader, ReportsAllIssuesAtOnceInTheOrderOfTheFile) {
  std::string name;
  int count = 0;
  PrioritySet priorities;
  Metres cable;
  EXPECT_EQ(issues_of("nmae = \"x\"\n"
                      "count = 300\n"
                      "[pfc]\n"
                      "priorities = [3, 9]\n"
                      "cable = 7\n",
                      [&](TableReader& t) {
                        t.required("name", name);
                        t.required("count", count, between(0, 255));
                        t.table("pfc", [&](TableReader& pfc) {
                          pfc.required("priorities", priorities);
                          pfc.optional("cable", cable);
                        });
                      }),
            "f.toml:1:1: name: found nothing, allowed: a string (required)\n"
            "f.toml:1:1: nmae: found an unknown key, allowed: name, count, pfc; did you mean name?\n"
            "f.toml:2:9: count: found 300, allowed: 0 to 255\n"
            "f.toml:4:18: pfc.priorities[1]: found 9, allowed: a priority 0..7\n"
            "f.toml:5:9: pfc.cable: found 7, allowed: a number with a unit (m km), such as 30m (unit "
            "missing)");
}

TEST(TomlReader, AFailedReadLeavesTheValueAlone) {
  int count = 5;
  std::vector<int> numbers{1};
  EXPECT_NE(issues_of("count = 300\nnumbers = [1, \"x\"]",
                      [&](TableReader& t) {
                        EXPECT_FALSE(t.required("count", count, between(0, 255)));
                        EXPECT_FALSE(t.optional("numbers", numbers));
                      }),
            "");
  EXPECT_EQ(count, 5);
  EXPECT_EQ(numbers, std::vector{1});
}

TEST(TomlReader, NamesTheNearestEnumerator) {
  Colour colour{};
  const auto read = [&](TableReader& t) { t.required("colour", colour); };
  EXPECT_EQ(issues_of("colour = \"gren\"", read),
            "f.toml:1:10: colour: found \"gren\", allowed: red, green, blue; did you mean green?");
  EXPECT_EQ(issues_of("colour = 1", read), "f.toml:1:10: colour: found 1, allowed: red, green, blue");
}

TEST(TomlReader, ASubsetOfAnEnumIsAList) {
  Colour colour{};
  EXPECT_EQ(issues_of("colour = \"blue\"",
                      [&](TableReader& t) {
                        t.required("colour", colour, one_of<Colour>({Colour::red, Colour::green}));
                      }),
            "f.toml:1:10: colour: found \"blue\", allowed: red, green");
}

TEST(TomlReader, IntegersMustFitTheirType) {
  std::uint8_t small{};
  EXPECT_EQ(issues_of("small = 256", [&](TableReader& t) { t.required("small", small); }),
            "f.toml:1:9: small: found 256, allowed: 0 to 255");
  EXPECT_EQ(issues_of("small = -1", [&](TableReader& t) { t.required("small", small); }),
            "f.toml:1:9: small: found -1, allowed: 0 to 255");
  EXPECT_EQ(issues_of("small = 1.0", [&](TableReader& t) { t.required("small", small); }),
            "f.toml:1:9: small: found 1.0, allowed: an integer");
}

TEST(TomlReader, NumbersAreFinite) {
  double number{};
  const auto read = [&](TableReader& t) { t.required("number", number); };
  EXPECT_NE(issues_of("number = inf", read), "");
  EXPECT_NE(issues_of("number = nan", read), "");
  EXPECT_EQ(issues_of("number = 3", read), "");
  EXPECT_EQ(number, 3);
}

TEST(TomlReader, SaysEveryUnitThatIsPossible) {
  Duration wait;
  EXPECT_EQ(
      issues_of("wait = \"5 parsecs\"", [&](TableReader& t) { t.required("wait", wait); }),
      "f.toml:1:8: wait: found \"5 parsecs\", allowed: a number with a unit (ps ns us ms s min h), such "
      "as 55us (unknown unit)");
}

TEST(TomlReader, AMissingQuantityNamesItsUnits) {
  Metres cable;
  Ratio share;
  const auto read = [&](TableReader& t) {
    t.required("cable", cable);
    t.required("share", share);
  };
  EXPECT_EQ(issues_of("share = 50", read),
            "f.toml:1:1: cable: found nothing, allowed: a number with a unit (m km), such as 30m (required)\n"
            "f.toml:1:9: share: found 50, allowed: a share such as 12.5% or 0.125");
}

TEST(TomlReader, ChecksUseUnitsInTheirText) {
  BitRate rate;
  Duration wait;
  EXPECT_EQ(issues_of("rate = \"1Gbps\"\nwait = \"0s\"",
                      [&](TableReader& t) {
                        t.required("rate", rate, at_least(gigabits_per_second(10)));
                        t.required("wait", wait, more_than(microseconds(0)));
                      }),
            "f.toml:1:8: rate: found \"1Gbps\", allowed: 10Gbps or more\n"
            "f.toml:2:8: wait: found \"0s\", allowed: more than 0s");
}

TEST(TomlReader, ChecksApplyToElementsAndToOptionals) {
  std::vector<int> numbers;
  std::optional<int> maybe;
  EXPECT_EQ(issues_of("numbers = [1, 8]\nmaybe = 9",
                      [&](TableReader& t) {
                        t.required("numbers", numbers, each(between(0, 7)));
                        t.optional("maybe", maybe, between(0, 7));
                      }),
            "f.toml:1:11: numbers: found an array of 2, allowed: every element 0 to 7\n"
            "f.toml:2:9: maybe: found 9, allowed: 0 to 7");
}

TEST(TomlReader, ArraysOfTablesAreReadInOrderWithTheirIndexInNames) {
  std::vector<std::string> names;
  EXPECT_EQ(issues_of("[[change]]\nname = \"a\"\n[[change]]\nname = \"b\"\nx = 1\n[[change]]\n",
                      [&](TableReader& t) {
                        t.array_of_tables("change", [&](TableReader& change) {
                          std::string name;
                          if (change.required("name", name)) names.push_back(name);
                        });
                      }),
            "f.toml:5:1: change[1].x: found an unknown key, allowed: name\n"
            "f.toml:6:1: change[2].name: found nothing, allowed: a string (required)");
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

TEST(TomlReader, NamedTablesKeepTheOrderOfTheFile) {
  std::vector<std::string> names;
  EXPECT_EQ(issues_of("[vendor.mlx5]\na = 1\n[vendor.bnxt]\na = 2\n",
                      [&](TableReader& t) {
                        t.named_tables("vendor", [&](const std::string& name, TableReader& vendor) {
                          int a = 0;
                          vendor.required("a", a);
                          names.push_back(name + "=" + std::to_string(a));
                        });
                      }),
            "");
  EXPECT_EQ(names, (std::vector<std::string>{"mlx5=1", "bnxt=2"}));
}

TEST(TomlReader, OtherTablesAreThoseNobodyAskedFor) {
  std::vector<std::string> names;
  std::string title;
  EXPECT_EQ(issues_of("title = \"t\"\n[b]\n[a]\n",
                      [&](TableReader& t) {
                        t.required("title", title);
                        t.other_tables([&](const std::string& name, TableReader&) { names.push_back(name); });
                      }),
            "");
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a"}));
}

TEST(TomlReader, WrongShapesOfTablesAreIssues) {
  EXPECT_EQ(issues_of("a = 1\nb = 2\nc = [1]\nd = []\n",
                      [&](TableReader& t) {
                        t.table("a", [](TableReader&) { FAIL(); });
                        t.array_of_tables("b", [](TableReader&) { FAIL(); });
                        t.array_of_tables("c", [](TableReader&) { FAIL(); });
                        t.required_array_of_tables("d", [](TableReader&) { FAIL(); });
                        t.required_table("e", [](TableReader&) { FAIL(); });
                      }),
            "f.toml:1:1: e: found nothing, allowed: a table (required)\n"
            "f.toml:1:5: a: found 1, allowed: a table\n"
            "f.toml:2:5: b: found 2, allowed: an array of tables\n"
            "f.toml:3:6: c[0]: found 1, allowed: a table\n"
            "f.toml:4:5: d: found an array of 0, allowed: at least one table");
}

TEST(TomlReader, CallersRejectAtTheKeysPlace) {
  EXPECT_EQ(issues_of("[ecn]\nkmin = \"200KiB\"\nkmax = \"100KiB\"\n",
                      [&](TableReader& t) {
                        t.required_table("ecn", [&](TableReader& ecn) {
                          Bytes kmin, kmax;
                          if (ecn.required("kmin", kmin) && ecn.required("kmax", kmax) && kmin > kmax) {
                            ecn.reject("kmin", "at most kmax (" + to_text(kmax) + ")");
                          }
                        });
                      }),
            "f.toml:2:1: ecn.kmin: found \"200KiB\", allowed: at most kmax (100KiB)");
}

TEST(TomlReader, StringsMayHaveAParserOfTheirOwn) {
  int value = 0;
  const auto parse = [](std::string_view text) -> Parsed<int> {
    if (text == "seven") return 7;
    return tl::unexpected(UnitError{std::string(text), "seven"});
  };
  const auto read = [&](TableReader& t) { t.required_text("n", value, parse); };
  EXPECT_EQ(issues_of("n = \"seven\"", read), "");
  EXPECT_EQ(value, 7);
  EXPECT_EQ(issues_of("n = \"six\"", read), "f.toml:1:5: n: found \"six\", allowed: seven");
}

TEST(TomlReader, SyntaxErrorsHaveTheirPlace) {
  const std::string text = issues_of("a = 1\nb = = 2\n", [](TableReader&) { FAIL(); });
  EXPECT_TRUE(text.starts_with("f.toml:2:5: found text that is not TOML (")) << text;
  EXPECT_EQ(read_toml("a = ", "f", [](TableReader&) {}).error().kind(), ErrorKind::bad_input);
}

TEST(TomlReader, AMalformedHeaderIsASyntaxErrorNotACrash) {
  EXPECT_TRUE(issues_of("a = 1\n[=]", [](TableReader&) {
                FAIL();
              }).starts_with("f.toml:2:2: found text that is not TOML ("));
  EXPECT_NE(issues_of("[[ =", [](TableReader&) { FAIL(); }), "");
}

TEST(TomlReader, LettersBeyondAsciiAreNoBareKeys) {
  for (const char* letter : {"\xC3\xBC", "\xC2\xA0", "\xE3\x80\x81", "\xEF\xBB\xB7", "\xF0\x9F\x98\x80"}) {
    EXPECT_NE(issues_of(std::string(letter) + " = 1", [](TableReader&) {}), "") << letter;
    EXPECT_NE(issues_of("a" + std::string(letter) + " = 1", [](TableReader&) {}), "") << letter;
    int number = 0;
    EXPECT_EQ(
        issues_of("\"" + std::string(letter) + "\" = 1", [&](TableReader& t) { t.required(letter, number); }),
        "");
    EXPECT_EQ(number, 1);
  }
}

TEST(TomlReader, ADottedKeyCannotExhaustTheStack) {
  std::string deep = "a";
  for (int i = 0; i < 1'000'000; ++i) deep += ".a";
  EXPECT_EQ(issues_of("x = 1\n" + deep + " = 1", [](TableReader&) { FAIL(); }),
            "f.toml:2:1: found a key nested too deeply, allowed: at most 64 dots in a line");
  EXPECT_NE(issues_of("a = " + std::string(1'000'000, '['), [](TableReader&) { FAIL(); }), "");
}

TEST(TomlReader, DotsInProseAreNotNesting) {
  std::string text;
  ASSERT_EQ(issues_of("# " + std::string(1000, '.') + "\na = \"1.2.3.4\"\n",
                      [&](TableReader& t) { t.required("a", text); }),
            "");
  EXPECT_EQ(text, "1.2.3.4");
}

TEST(TomlReader, ShowsWhatWasFoundWithoutControlCharacters) {
  int number{};
  EXPECT_EQ(issues_of("\"\\u001b[2J\" = 1\nn = \"\\u001b[2J" + std::string(100, 'x') + "\"",
                      [&](TableReader& t) { t.required("n", number); }),
            "f.toml:1:1: \xEF\xBF\xBD[2J: found an unknown key, allowed: n\n"
            "f.toml:2:5: n: found \"\xEF\xBF\xBD[2J" +
                std::string(55, 'x') + "\xE2\x80\xA6\", allowed: an integer");
}

TEST(TomlReader, AFileThatIsTooLargeIsBadInput) {
  const auto result = read_toml_file("/dev/zero", [](TableReader&) { FAIL(); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(result.error().text(), "/dev/zero: found a larger file, allowed: at most 16MiB");
}

TEST(TomlReader, AMissingFileIsAbsentAndNamed) {
  const auto result = read_toml_file("/no/such/file.toml", [](TableReader&) { FAIL(); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::absent);
  EXPECT_EQ(result.error().text(), "cannot open /no/such/file.toml (No such file or directory)");
}

}  // namespace
}  // namespace rocetune
