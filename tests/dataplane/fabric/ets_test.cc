// Traffic classes of switches and NICs.
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
