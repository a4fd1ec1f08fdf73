#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>

#include "dataplane/base/random.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune {
namespace {

struct Inner {
  Bytes size;
  Observed<Priority> priority = not_read();
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("size_bytes", self.size...);
    visit("priority", self.priority...);
  }
};
struct Outer {
  std::string name;
  std::optional<int> optional;
  std::vector<Inner> inners;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("optional", self.optional...);
    visit("inners", self.inners...);
  }
};

TEST(Json, WritesWhatIsUnknownWithItsReason) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, Outer{.name = "a\"b\n", .inners = {Inner{.size = Bytes(5), .priority = denied("lockdown")}}});
  EXPECT_EQ(
      out.take(),
      R"({"name":"a\"b\n","inners":[{"size_bytes":5,"priority":{"unavailable":"denied","why":"lockdown"}}]})");
}

TEST(Json, ReadsBackWhatItWrote) {
  const std::string text =
      R"({"name":"x","optional":7,"inners":[{"size_bytes":5,"priority":3},{"size_bytes":6,
    "priority":{"unavailable":"absent","why":"w"}}],"from_a_newer_version":[1]})";
  const auto json = parse_json(text, "t").value();
  const auto outer = from_json<Outer>(json, JsonPath("t")).value();
  EXPECT_EQ(outer.optional, 7);
  EXPECT_EQ(outer.inners[0].priority.value(), Priority(3));
  EXPECT_EQ(outer.inners[1].priority.error().kind, Unavailable::Kind::absent);
}

TEST(Json, NamesThePathOfAWrongValue) {
  const auto json = parse_json(R"({"inners":[{"priority":9}]})", "t").value();
  const auto outer = from_json<Outer>(json, JsonPath("t"));
  ASSERT_FALSE(outer);
  EXPECT_EQ(outer.error().text(), "t.inners[0].priority: found an integer, allowed: an integer 0..7");
}

TEST(Json, SyntaxErrorsHaveALineAndColumn) {
  const auto json = parse_json("{\n \"a\": ?}", "f.json");
  ASSERT_FALSE(json);
  EXPECT_NE(json.error().text().find("f.json:2:7"), std::string::npos) << json.error().text();
  EXPECT_FALSE(parse_json("{} x", "f"));
  EXPECT_FALSE(parse_json("", "f"));
  EXPECT_FALSE(parse_json(std::string(100, '['), "f"));
}

TEST(Json, InvalidUtf8BecomesReplacementCharacters) {
  JsonWriter out(JsonWriter::Style::compact);
  out.value(std::string_view("a\xff\xc3\xa9\xed\xa0\x80"));
  EXPECT_EQ(out.take(), "\"a\xEF\xBF\xBD\xc3\xa9\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Json, NumbersReadBackEqual) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const double number = std::bit_cast<double>(random.next());
    if (!std::isfinite(number)) continue;
    JsonWriter out(JsonWriter::Style::compact);
    const std::string text = out.value(number).take();
    EXPECT_EQ(from_json<double>(parse_json(text, "t").value(), JsonPath("t")).value(), number) << text;
  }
  for (const char* text : {"-0.1", "1E5", "2.5e-3", "123456789012345678901234567890"}) {
    EXPECT_EQ(from_json<double>(parse_json(text, "t").value(), JsonPath("t")).value(),
              std::strtod(text, nullptr));
  }
}

TEST(Json, NumbersBeyondADoubleAreRefusedAndTinyOnesAreZero) {
  EXPECT_FALSE(parse_json("1e999", "t"));
  EXPECT_FALSE(parse_json("[-1e999]", "t"));
  EXPECT_EQ(parse_json("1e-999", "t").value().get_double(), 0);
}

TEST(Json, OptionalsInsideContainersAreNull) {
  using Numbers = std::vector<std::optional<int>>;
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, Numbers{1, std::nullopt});
  const std::string text = out.take();
  EXPECT_EQ(text, "[1,null]");
  EXPECT_EQ(from_json<Numbers>(parse_json(text, "t").value(), JsonPath("t")).value(),
            (Numbers{1, std::nullopt}));
}

TEST(Json, ArraysOfEnumsNameTheElementThatIsWrong) {
  using Kinds = std::array<Unavailable::Kind, 2>;
  const auto kinds = from_json<Kinds>(parse_json(R"(["absent","denied"])", "t").value(), JsonPath("t"));
  ASSERT_TRUE(kinds);
  EXPECT_EQ((*kinds)[1], Unavailable::Kind::denied);
  const auto wrong = from_json<Kinds>(parse_json(R"(["absent","gone"])", "t").value(), JsonPath("t"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(), "t[1]: found a string, allowed: absent, denied, failed, not_read");
}

}  // namespace
}  // namespace rocetune
