// What cut-through saves, to the picosecond: a frame's bytes behind its head, at every switch that may start
// before they are in.
#include <gtest/gtest.h>

#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

// A WRITE of one packet of 1000 B: Ethernet 14, IP 20, UDP 8, BTH 12, RETH 16, ICRC 4, and 24 around the
// frame; its acknowledgement has an AETH of 4 instead of RETH and payload. Both beyond the head of 72.
constexpr std::int64_t kDataBehind = 14 + 20 + 8 + 12 + 16 + 1000 + 4 + 24 - 72;
constexpr std::int64_t kAckBehind = 14 + 20 + 8 + 12 + 4 + 4 + 24 - 72;
constexpr std::int64_t kPicosecondsAByte = 80;  // at 100 Gb/s

std::string one_message(const std::string& topology) {
  return "name = \"x\"\nlimit = \"1ms\"\n[topology]\n" + topology +
         "\n[hosts]\ncontroller = \"off\"\n[switches]\nlossless = [3]\nheadroom = \"100kB\"\n"
         "[[flows]]\npattern = \"pair\"\nfrom = 0\nto = 1\nbytes = \"1000B\"\n";
}

Duration completion(const std::string& text, const char* forwarding) {
  const Scenario scenario = scenario_of(text, {{"switches.forwarding", forwarding}});
  Network network(scenario.topology, scenario.options, scenario.flows);
  network.run(Instant(scenario.limit));
  return network.host(0).sendings().front().outcome.finished - Instant();
}

std::int64_t saved_picoseconds(const std::string& topology) {
  const std::string text = one_message(topology);
  return (completion(text, "store_and_forward") - completion(text, "cut_through")).count();
}

TEST(CutThrough, SavesTheRestOfAFrameAtEverySwitch) {
  const std::int64_t once = (kDataBehind + kAckBehind) * kPicosecondsAByte;
  EXPECT_EQ(saved_picoseconds("shape = \"star\"\nhosts = 2"), once);
  EXPECT_EQ(saved_picoseconds("shape = \"leaf_spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 1"),
            3 * once);
}

TEST(CutThrough, NeedsAnEgressThatIsNotFaster) {
  // Towards the bottleneck a switch may start at once; behind it the frame comes in too slowly.
  EXPECT_EQ(saved_picoseconds(
                "shape = \"dumbbell\"\nhosts_left = 1\nhosts_right = 1\nbottleneck_rate = \"40Gbps\""),
            (kDataBehind + kAckBehind) * kPicosecondsAByte);
}

TEST(CutThrough, AnEgressThatIsBusyTakesWholeFrames) {
  const std::string text = R"(
name = "x"
limit = "100ms"
[topology]
shape = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
[switches]
forwarding = "cut_through"
buffer = "4MiB"
lossless = [3]
headroom = "60kB"
kmin = "50kB"
kmax = "200kB"
pmax = "20%"
[[flows]]
pattern = "incast"
senders = 7
bytes = "500kB"
[[flows]]
pattern = "random_permutation"
bytes = "300kB"
)";
  const RunResult cut = result_of(text);
  EXPECT_EQ(violations(cut), "");
  EXPECT_EQ(cut.flows.finished, cut.flows.count);
  const RunResult stored = result_of(text, {{"switches.forwarding", "store_and_forward"}});
  // The incast is as long: its port is never idle.
  EXPECT_NEAR(cut.flows.fct_us->max / stored.flows.fct_us->max, 1, 0.1);
  const std::vector<TomlSetting> small{{"flows.0.bytes", "30kB"}, {"flows.1.bytes", "20kB"}};
  EXPECT_EQ(result_of(text, small, {.threads = 2}).event_log_sha256, result_of(text, small).event_log_sha256);
}

TEST(CutThrough, ServesInfiniBandToo) {
  const std::string text = one_message("shape = \"star\"\nhosts = 2");
  const auto time = [&](const char* forwarding) {
    return result_of(text, {{"link", "infiniband"}, {"switches.forwarding", forwarding}}).flows.fct_us->max;
  };
  EXPECT_LT(time("cut_through") + 0.05, time("store_and_forward"));
}

TEST(CutThrough, FramesOfALinkThatFailsMidwayAreLost) {
  const std::string text =
      one_message("shape = \"star\"\nhosts = 3") +
      "[[flows]]\npattern = \"pair\"\nfrom = 2\nto = 1\nbytes = \"2MB\"\n"
      "[[events]]\nat = \"30us\"\nwhat = \"link_down\"\nlink = [\"host 2\", \"switch 0\"]\n"
      "[[events]]\nat = \"50us\"\nwhat = \"link_up\"\nlink = [\"host 2\", \"switch 0\"]\n";
  const RunResult r = result_of(text, {{"limit", "100ms"},
                                       {"flows.0.bytes", "2MB"},
                                       {"hosts.ack_timeout", "6"},
                                       {"switches.forwarding", "cut_through"}});
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.flows.finished, 2u);
  EXPECT_GT(r.lost_frames + r.link_drops, 0u);
}

}  // namespace
}  // namespace rocetune::fabric
