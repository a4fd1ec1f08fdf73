#include "dataplane/base/toml_settings.h"

#include <gtest/gtest.h>

#include "dataplane/base/toml_reader.h"

namespace rocetune {
namespace {

struct Values {
  std::int64_t number = 0;
  std::string text;
  Bytes size;
  std::vector<int> list;
  std::vector<std::string> names;
};

constexpr const char* kText = R"(
[a]
number = 1
text = "old"
[[b]]
name = "first"
[[b]]
name = "second"
)";

Expected<Values> read(const std::vector<TomlSetting>& settings) {
  Values out;
  return read_toml(kText, "f.toml", settings,
                   [&](TableReader& top) {
                     top.table("a", [&](TableReader& a) {
                       a.optional("number", out.number);
                       a.optional("text", out.text);
                       a.optional("size", out.size);
                       a.optional("list", out.list);
                     });
                     top.array_of_tables(
                         "b", [&](TableReader& b) { b.required("name", out.names.emplace_back()); });
                   })
      .map([&] { return std::move(out); });
}

TEST(TomlSettings, ValuesAreTomlOrBareWords) {
  const Values v =
      read({{"a.number", "7"}, {"a.text", "new"}, {"a.size", "64KiB"}, {"a.list", "[1, 2]"}}).value();
  EXPECT_EQ(v.number, 7);
  EXPECT_EQ(v.text, "new");
  EXPECT_EQ(v.size, Bytes(65536));
  EXPECT_EQ(v.list, (std::vector<int>{1, 2}));
  EXPECT_EQ(read({{"a.text", "\"7\""}}).value().text, "7");
}

// What has a form of its own is read from its text, be that a number: --set dcqcn.rp_threshold=5.
TEST(TomlSettings, AnIntegerStandsForItsDigits) {
  std::string seen;
  const auto parse = [](std::string_view text) -> Parsed<std::string> { return std::string(text); };
  const auto done = read_toml("[d]\n", "f.toml", {{"d.x", "5"}}, [&](TableReader& top) {
    top.table("d", [&](TableReader& d) { d.optional_text("x", seen, parse); });
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(seen, "5");
  const auto flag = read_toml("[d]\nx = true\n", "f.toml", [&](TableReader& top) {
    top.table("d", [&](TableReader& d) { d.optional_text("x", seen, parse); });
  });
  EXPECT_TRUE(flag);
  EXPECT_EQ(seen, "true");
}

TEST(TomlSettings, ElementsAreNumbered) {
  EXPECT_EQ(read({{"b.1.name", "other"}}).value().names, (std::vector<std::string>{"first", "other"}));
}

TEST(TomlSettings, WhatCannotBeSetIsSaid) {
  const auto refusal = [](const TomlSetting& s) { return read({s}).error().text(); };
  EXPECT_NE(refusal({"b.2.name", "x"}).find("below 2"), std::string::npos);
  EXPECT_NE(refusal({"b.x.name", "x"}).find("number of an element"), std::string::npos);
  EXPECT_NE(refusal({"a.number.deep", "x"}).find("no keys of its own"), std::string::npos);
  // A key that nobody reads is unknown, as in a file, with the nearest that somebody does.
  EXPECT_NE(refusal({"a.nmber", "7"}).find("number"), std::string::npos);
  EXPECT_NE(refusal({"a.number", "seven"}).find("an integer"), std::string::npos);
}

TEST(TomlSettings, AValueIsOneValue) {
  // A line feed must not smuggle in another key.
  EXPECT_EQ(read({{"a.text", "x\nnumber = 9"}}).value().number, 1);
}

TEST(TomlSetting, IsKeyAndValue) {
  EXPECT_EQ(toml_setting("a.b=c=d", "--set").value(), (TomlSetting{"a.b", "c=d"}));
  for (const char* wrong : {"a.b", "=x", ".a=1", "a.=1", "a..b=1", ""})
    EXPECT_FALSE(toml_setting(wrong, "--set")) << wrong;
}

}  // namespace
}  // namespace rocetune
