#include "agent/tune/profile.h"

#include <gtest/gtest.h>

#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

constexpr std::string_view kGood = R"(
name = "x"
description = "d"
trust = "dscp"
default_tc = 0
default_share_percent = 50
[[class]]
name = "roce"
dscp = [26]
priority = 3
lossless = true
tc = 3
share_percent = 50
)";

std::string error_of(const std::string& text) {
  const auto parsed = profile_from_toml(text, "p.toml", nics());
  return parsed ? "" : parsed.error().text();
}

TEST(Profile, EveryBuiltInProfileLoads) {
  const auto names = ConfigFiles().names({.folder = "profiles", .extension = ".toml"}).value();
  EXPECT_EQ(names,
            (std::vector<std::string>{"lossy", "pcp-tagged-l2", "roce-dscp26-prio3", "sonic-dscp3-4"}));
  for (const std::string& name : names) {
    const auto loaded = load_profile(name, ConfigFiles(), nics());
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->name, name);
  }
}

TEST(Profile, MinimalIsGood) { EXPECT_EQ(error_of(std::string(kGood)), ""); }

TEST(Profile, AllIssuesAtOnceWithLineAndNearestName) {
  const std::string text = error_of(R"(name = "x"
description = "d"
trust = "dcsp"
default_tc = 9
default_share_percent = 50
mtu = 9000
clas = 1
)");
  for (const char* part : {"p.toml:3", "trust", "dscp", "p.toml:4", "p.toml:6", "clas", "class"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(Profile, RefusesMapsThatCannotWork) {
  const std::string good(kGood);
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return error_of(text);
  };
  EXPECT_NE(replaced("share_percent = 50\n[[", "share_percent = 40\n[[").find("total 100"),
            std::string::npos);
  EXPECT_NE(replaced("dscp = [26]", "dscp = [26, 26]").find("DSCP 26 in two classes"), std::string::npos);
  EXPECT_NE(replaced("dscp = [26]", "").find("at least one DSCP"), std::string::npos);
  EXPECT_NE(replaced("trust = \"dscp\"", "trust = \"pcp\"").find("no DSCP"), std::string::npos);
  EXPECT_NE(replaced("name = \"roce\"", "name = \"cnp\"").find("lossless = false for cnp"),
            std::string::npos);
  EXPECT_NE(replaced("trust =", "global_pause = true\ntrust =").find("PFC-1"), std::string::npos);
  EXPECT_NE(replaced("trust =", "mtu = \"100B\"\ntrust =").find("mtu"), std::string::npos);
  EXPECT_NE(replaced("trust =", "cable = \"2km\"\ntrust =").find("cable"), std::string::npos);
  EXPECT_NE(error_of(good + good.substr(good.find("[[class]]"))).find("two classes on priority 3"),
            std::string::npos);
}

TEST(Profile, CongestionControlIsCheckedAgainstTheNicsRow) {
  const std::string good(kGood);
  EXPECT_EQ(error_of(good + "[cc.mlx5]\nrp_gd = 11\n"), "");
  EXPECT_NE(error_of(good + "[cc.mlx5]\nrp_gdd = 11\n").find("rp_gd"), std::string::npos);
  EXPECT_NE(error_of(good + "[cc.mlx5]\nrp_dce_tcp_g = 2000\n").find("1 to 1023"), std::string::npos);
  EXPECT_NE(error_of(good + "[cc.mlx6]\nrp_gd = 11\n").find("mlx5"), std::string::npos);
}

TEST(Profile, AnUnknownNameShowsTheKnownOnes) {
  const auto loaded = load_profile("sonic-dscp34", ConfigFiles(), nics());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind(), ErrorKind::bad_input);
  EXPECT_NE(loaded.error().text().find("did you mean sonic-dscp3-4?"), std::string::npos)
      << loaded.error().text();
}

}  // namespace
}  // namespace rocetune::tune
