#include "dataplane/fabric/host_set.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/base/toml_reader.h"

namespace rocetune::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<NodeId> members(const HostSet& set) {
  std::vector<NodeId> out;
  for (std::uint32_t i = 0; i < set.size(); ++i) out.push_back(set[i]);
  return out;
}
std::vector<NodeId> members_of(std::string_view text) { return members(HostSet::parse(text).value()); }

TEST(HostSet, RangesStandInTheirOrder) {
  EXPECT_THAT(members_of("5"), ElementsAre(5));
  EXPECT_THAT(members_of("0-3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(members_of("1-8/3"), ElementsAre(1, 4, 7));
  EXPECT_THAT(members_of("6-7, 0, 2 - 4 / 2"), ElementsAre(6, 7, 0, 2, 4));
  EXPECT_EQ(HostSet::parse("1-8/3")->largest(), 7u);
  EXPECT_EQ(HostSet::parse("6-7, 0")->largest(), 7u);
  EXPECT_EQ(HostSet::parse("0-65535")->size(), 65536u);
  EXPECT_THAT(members(HostSet::all(3)), ElementsAre(0, 1, 2));
  EXPECT_EQ(HostSet::all(0).size(), 0u);
}

TEST(HostSet, WhatIsNoSetIsRefused) {
  for (const char* text :
       {"",      " ",      ",",      "1,",  "3-1", "1-",    "-1",      "1-2-3",        "1/2",
        "1-4/0", "1-4/",   "x",      "0x1", "1 2", "65536", "0-65536", "0-4294967295", "4294967296",
        "1,1",   "0-5, 3", "2-8/2,4"})
    EXPECT_FALSE(HostSet::parse(text)) << text;
}

TEST(HostSet, IsATextOrNumbersInAFile) {
  const auto read = [](const std::string& value) {
    HostSet set;
    const auto fine =
        read_toml("hosts = " + value, "x.toml", [&](TableReader& t) { t.required("hosts", set); });
    return fine ? fmt::format("{}", fmt::join(members(set), " ")) : fine.error().text();
  };
  EXPECT_EQ(read("\"0-2\""), "0 1 2");
  EXPECT_EQ(read("[4, 0]"), "4 0");
  EXPECT_THAT(read("[4, 4]"), HasSubstr("x.toml:1:9: hosts: found an array of 2, allowed: hosts such as"));
  EXPECT_THAT(read("[]"), HasSubstr("hosts such as"));
  EXPECT_THAT(read("[65536]"), HasSubstr("hosts[0]: found 65536, allowed: 0 to 65535"));
  EXPECT_EQ(read("3"), "3");
  EXPECT_THAT(read("65536"), HasSubstr("hosts: found 65536, allowed: 0 to 65535"));
  EXPECT_THAT(read("true"), HasSubstr("found true, allowed: hosts such as"));
  EXPECT_THAT(read("\"0..3\""), HasSubstr("found \"0..3\", allowed: hosts such as"));
}

}  // namespace
}  // namespace rocetune::fabric
