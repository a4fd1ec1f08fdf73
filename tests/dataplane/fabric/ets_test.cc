// Traffic classes of switches and NICs.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

TEST(Ets, SharesALinkByWeight) {
  const std::string text = R"(
name = "ets"
limit = "600us"
[topology]
shape = "star"
hosts = 3
[hosts]
controller = "off"
[switches]
buffer = "16MiB"
lossless = [3]
ets = [0, 0, 0, 100, 0, 0, 0, 0]
[[flows]]
pattern = "incast"
senders = 2
bytes = "1MB"
)";
  EXPECT_EQ(violations(result_of(text)), "");
  for (const char* key : {"switches.ets", "hosts.ets"}) {
    const auto refused = scenario_from_toml(text, "x.toml", {{key, "[0, 0, 0, 60, 0, 0, 0, 0]"}});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text().find("sum to 100"), std::string::npos);
  }
}

// Two hosts with their data in different classes, and a third in one above them, to one.
constexpr const char* kClasses = R"(
name = "classes"
limit = "600us"
[topology]
shape = "star"
hosts = 4
[hosts]
controller = "off"
mtu = 4096
[[hosts.own]]
hosts = 2
dscp = 34
priority_of_dscp = { 34 = 4 }
lossless = [3, 4]
[[hosts.own]]
hosts = 3
dscp = 40
priority_of_dscp = { 40 = 5 }
[[hosts.own]]
hosts = 0
lossless = [3, 4]
[switches]
buffer = "16MiB"
lossless = [3]
[[switches.own]]
switches = [0]
priority_of_dscp = { 34 = 4, 40 = 5 }
lossless = [3, 4]
)";
std::string from(int host, const char* bytes) {
  return fmt::format("[[flows]]\npattern = \"pair\"\nfrom = {}\nto = 0\nbytes = \"{}\"\n", host, bytes);
}
double rate_from(const RunResult& r, int host) {
  for (const FlowResult& flow : r.flows.slowest) {
    if (flow.name == fmt::format("host {} to host 0", host)) return flow.goodput_gbps;
  }
  ADD_FAILURE() << host;
  return 0;
}

TEST(Ets, SharesOfASaturatedLinkAreThoseThatAreSet) {
  const std::string text = kClasses + from(1, "20MB") + from(2, "20MB");
  for (const int share : {10, 25, 50, 75, 90}) {
    const RunResult r =
        result_of(text, {{"switches.ets", fmt::format("[0, 0, 0, {}, {}, 0, 0, 0]", share, 100 - share)}});
    const double low = rate_from(r, 1), high = rate_from(r, 2);
    EXPECT_NEAR(low / (low + high), share / 100.0, 0.03) << share;
    EXPECT_GT(low + high, 90) << share;
  }
  // Strictly the class with the higher number takes it all: that is the default.
  const RunResult strict = result_of(text);
  EXPECT_LT(rate_from(strict, 1), 8);
  EXPECT_EQ(strict.event_log_sha256,
            result_of(text, {{"switches.ets", "[0, 0, 0, 0, 0, 0, 0, 0]"}}).event_log_sha256);
}

TEST(Ets, AShareThatNobodyUsesIsNotLost) {
  const std::string text = kClasses + from(1, "20MB");
  const double alone = rate_from(result_of(text), 1);
  EXPECT_NEAR(rate_from(result_of(text, {{"switches.ets", "[0, 0, 0, 10, 90, 0, 0, 0]"}}), 1), alone,
              alone * 0.01);
}

TEST(Ets, AStrictClassPassesThoseThatShare) {
  const std::string text = kClasses + from(1, "20MB") + from(2, "20MB") + from(3, "4MB");
  const RunResult r = result_of(text, {{"switches.ets", "[0, 0, 0, 50, 50, 0, 0, 0]"}});
  const double alone = rate_from(result_of(kClasses + from(3, "4MB")), 3);
  EXPECT_NEAR(rate_from(r, 3), alone, alone * 0.03);
  EXPECT_NEAR(rate_from(r, 1), rate_from(r, 2), 2);
}

// A host that always has data to send and owes its peers CNPs: whether these pass is its NIC's business.
TEST(Ets, OfANicDecidesWhetherCnpsPassItsData) {
  const std::string text = R"(
name = "both ways"
limit = "25us"
[topology]
shape = "star"
hosts = 9
[hosts]
controller = "dcqcn"
[[hosts.own]]
hosts = 0
controller = "off"
[switches]
buffer = "16MiB"
lossless = [3]
kmin = "5kB"
kmax = "5kB"
pmax = "100%"
[[flows]]
pattern = "incast"
to = 0
senders = 8
bytes = "4MB"
[[flows]]
pattern = "pair"
from = 0
to = 1
bytes = "16MB"
)";
  const auto cnps_until = [&](const std::vector<TomlSetting>& settings) {
    const RunResult r = result_of(text, settings);
    EXPECT_EQ(violations(r), "");
    return r.cnps_handled;
  };
  // Strictly by priority, or with a strict class of their own: they pass.
  const std::uint64_t strict = cnps_until({});
  EXPECT_GT(strict, 10u);
  EXPECT_GE(cnps_until({{"hosts.ets", "[0, 0, 0, 100, 0, 0, 0, 0]"}}) + 2, strict);
  // Data strict, in a class above them: until as many wait as a NIC has ready, none leaves.
  EXPECT_LE(cnps_until({{"hosts.traffic_classes", "[0, 0, 0, 7, 0, 0, 0, 0]"}}) + 5, strict);
}

}  // namespace
}  // namespace rocetune::fabric
