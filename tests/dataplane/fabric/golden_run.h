// One run that has to be the same on every machine, by every compiler and with every optimization: it draws
// random numbers, loses frames, pauses, marks, spreads packets and runs a collective. Whoever changes what a
// run does on purpose changes the digest here.
#pragma once

#include <string_view>

#include "dataplane/fabric/result.h"

namespace rocetune::fabric {

constexpr std::string_view kGoldenScenario = R"(
name = "golden"
seed = 11
limit = "50ms"
[topology]
shape = "fat_tree"
k = 4
[links]
loss = "0.01%"
[routing]
spreading = "packet"
[hosts]
recovery = "selective_repeat"
ack_timeout = 6
[[hosts.own]]
hosts = [2]
receive_rate = "40Gbps"
[switches]
buffer = "2MiB"
lossless = [3]
headroom = "60kB"
kmin = "20kB"
kmax = "100kB"
pmax = "20%"
[[flows]]
pattern = "incast"
to = 2
senders = 5
bytes = "200kB"
[[jobs]]
[[jobs.steps]]
compute = "10us"
collective = "all_reduce"
algorithm = "halving_doubling"
bytes = "256KiB"
)";
constexpr std::string_view kGoldenSha256 = "74d4945f27a4c747431da167620235ad3576bb3a948fcf166b6c951a98b3d999";

inline RunResult golden_run() {
  const auto scenario = scenario_from_toml(kGoldenScenario, "golden.toml");
  ROCETUNE_ASSERT(scenario.has_value());
  return run(*scenario);
}

}  // namespace rocetune::fabric
