#include "dataplane/base/json_number.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

const Json& document() {
  static const Json json = parse_json(R"({"a": {"b": 2.5, "yes": true, "word": "x", "list": [1, 7, 3]},
    "ports": [{"name": "switch 0 port 3", "drops": 4}, {"name": "other", "drops": 9}], "none": []})",
                                      "test")
                               .value();
  return json;
}

TEST(JsonNumber, IsFoundByItsPath) {
  EXPECT_EQ(number_at(document(), "a.b"), 2.5);
  EXPECT_EQ(number_at(document(), "a.yes"), 1);
  EXPECT_EQ(number_at(document(), "a.list.2"), 3);
  EXPECT_EQ(number_at(document(), "ports.1.drops"), 9);
  EXPECT_EQ(number_at(document(), "ports.switch 0 port 3.drops"), 4);
}

TEST(JsonNumber, AStarIsTheLargest) {
  EXPECT_EQ(number_at(document(), "ports.*.drops"), 9);
  EXPECT_EQ(number_at(document(), "a.list.*"), 7);
  EXPECT_EQ(number_at(document(), "none.*"), std::nullopt);
}

TEST(JsonNumber, WhatIsNotThereIsNone) {
  for (const char* path :
       {"", "a", "a.c", "a.b.c", "a.word", "a.list.3", "a.list.-1", "ports.third.drops", "."})
    EXPECT_EQ(number_at(document(), path), std::nullopt) << path;
}

TEST(PathProblem, SaysWhatIsAllowedThere) {
  EXPECT_FALSE(path_problem(document(), "a.b"));
  EXPECT_FALSE(path_problem(document(), "ports.12.drops"));
  EXPECT_FALSE(path_problem(document(), "ports.any name.drops"));
  EXPECT_FALSE(path_problem(document(), "a.list.*"));
  EXPECT_EQ(path_problem(document(), "a.c")->allowed, "a with b, yes, word, list");
  EXPECT_EQ(path_problem(document(), "ports.1.drop")->nearest, "ports.*.drops");
  EXPECT_EQ(path_problem(document(), "drops")->nearest, "ports.*.drops");
  EXPECT_EQ(path_problem(document(), "a")->allowed, "a number, such as a.b");
  EXPECT_EQ(path_problem(document(), "a.word")->allowed, "a number; a.word is a string");
  EXPECT_EQ(path_problem(document(), "a.list.first")->allowed,
            "a.list with the number of an element, or * for the largest of all");
  for (const char* path : {"", ".", "a.", "a..b", "none.0", "a.b.c"})
    EXPECT_TRUE(path_problem(document(), path)) << path;
}

}  // namespace
}  // namespace rocetune
