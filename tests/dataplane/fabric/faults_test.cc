// What goes wrong in life: frames lost, links down, receivers slow, switches that disagree; and credits, with
// which some of it cannot.
#include "dataplane/fabric/storm_watchdog.h"
#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

const std::string kFiveHosts = R"(
name = "star"
limit = "1s"
[topology]
shape = "star"
hosts = 5
[hosts]
controller = "off"
ack_timeout = 6
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "60kB"
[[flows]]
pattern = "permutation"
shift = 1
bytes = "2MB"
)";

TEST(LinkLoss, LosesItsShareAndEverythingArrives) {
  const RunResult r = result_of(kFiveHosts, {{"links.loss", "1%"}});
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.flows.finished, 5u);
  // Each frame crosses two links; those sent again count too.
  const double share = static_cast<double>(r.lost_frames) / static_cast<double>(r.packet_hops);
  EXPECT_GT(share, 0.007);
  EXPECT_LT(share, 0.013);
  EXPECT_GT(r.flows.retransmitted_frames, r.lost_frames / 2);
}

TEST(LinkLoss, SelectiveRepeatSendsLessAgain) {
  const auto again = [](const char* recovery) {
    return result_of(kFiveHosts, {{"links.loss", "0.5%"}, {"hosts.recovery", recovery}})
        .flows.retransmitted_frames;
  };
  EXPECT_LT(4 * again("selective_repeat"), again("go_back_n"));
}

TEST(LinkLoss, BitErrorsTakeLongFramesMoreOften) {
  // A frame of 4200 B has 33600 bits, one of 1148 B 9184: at 1e-6 a bit 3.3 % and 0.91 % of them are lost.
  const auto share = [](const char* mtu) {
    const RunResult r = result_of(kFiveHosts, {{"links.bit_error_rate", "1e-6"}, {"hosts.mtu", mtu}});
    EXPECT_EQ(violations(r), "");
    EXPECT_EQ(r.flows.finished, 5u);
    return static_cast<double>(r.lost_frames) / static_cast<double>(r.packet_hops);
  };
  const double small = share("1024");
  const double large = share("4096");
  EXPECT_GT(large, 2 * small);
  EXPECT_LT(large, 0.034);
}

// Ten kilometres of cable hold 1.25 MB of a port's 100 Gb/s both ways.
TEST(Headroom, DerivedFromTheCableIsEnough) {
  const std::string incast = kFiveHosts.substr(0, kFiveHosts.find("[[flows]]")) +
                             "[[flows]]\npattern = \"incast\"\nsenders = 4\nbytes = \"8MB\"\n";
  const auto drops = [&](const char* headroom) {
    return result_of(incast, {{"topology.length", "10000m"},
                              {"switches.buffer", "16MiB"},
                              {"switches.alpha_exponent", "-3"},
                              {"switches.headroom", headroom}})
        .drops;
  };
  EXPECT_EQ(drops("derived"), 0u);
  EXPECT_GT(drops("60kB"), 0u);
}

TEST(Headroom, IsWhatArrivesUntilThePeerIsSilent) {
  // 2 us of cable and 1 us of reaction at 100 Gb/s: 37500 B; three frames; a pause of 84 B.
  const DerivedHeadroom derived{.frame = Bytes(1000), .reaction = microseconds(1)};
  EXPECT_EQ(derived.of(gigabits_per_second(100), microseconds(1)), Bytes(37'500 + 3 * 1000 + 84));
  EXPECT_EQ(derived.of(gigabits_per_second(100), Duration(1)), Bytes(12'501 + 3 * 1000 + 84));
}

TEST(BitErrorRate, SpoilsAFrameAsOftenAsTheSumOfItsBits) {
  const BitErrorRate rate = BitErrorRate::parse("1e-5").value();
  // 1 - (1 - 1e-5)^8000 = 0.0768840...
  const auto threshold = static_cast<std::uint64_t>(0.0768840 * 0x1p64);
  EXPECT_TRUE(rate.spoils(1000, UINT64_MAX));
  EXPECT_TRUE(rate.spoils(1000, UINT64_MAX - (threshold - (threshold >> 16))));
  EXPECT_FALSE(rate.spoils(1000, UINT64_MAX - (threshold + (threshold >> 16))));
  EXPECT_FALSE(BitErrorRate().spoils(1000, UINT64_MAX));
}

TEST(BitErrorRate, IsWrittenAsItsMakersDo) {
  EXPECT_EQ(BitErrorRate::parse("1e-12").value(), BitErrorRate(1'000'000));
  EXPECT_EQ(BitErrorRate::parse("2.5e-13").value(), BitErrorRate(250'000));
  EXPECT_EQ(BitErrorRate::parse("0").value(), BitErrorRate());
  EXPECT_EQ(BitErrorRate::parse("1e-3").value(), BitErrorRate(BitErrorRate::kMost));
  // What a TOML number becomes.
  EXPECT_EQ(BitErrorRate::parse("1e-06").value(), BitErrorRate(1'000'000'000'000));
  EXPECT_EQ(BitErrorRate::parse("0.0001").value(), BitErrorRate(100'000'000'000'000));
  for (const char* text : {"", "1", "e-12", "1e12", "1e-", "-1e-12", "1e--12", "2e-3", "1e-19", "1.5e-18",
                           "1.e-12", "99999e-12", "1e-99999999999999999999", "1e-12 "})
    EXPECT_FALSE(BitErrorRate::parse(text)) << text;
}

const std::string kLeaves = R"(
name = "leaves"
limit = "1s"
[topology]
shape = "leaf_spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
[hosts]
controller = "off"
ack_timeout = 6
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "60kB"
[[flows]]
pattern = "permutation"
shift = 2
bytes = "5MB"
[[events]]
at = "100us"
what = "link_down"
link = ["switch 0", "switch 2"]
)";

TEST(LinkFailure, ItsOwnSwitchAvoidsItAndOthersOnceRoutesKnow) {
  const RunResult without = result_of(kLeaves);
  const RunResult with = result_of(kLeaves, {{"routing.reroute_after", "1ms"}});
  EXPECT_EQ(with.flows.finished, 4u);
  EXPECT_EQ(with.failed_requests, 0u);
  EXPECT_GT(with.lost_frames + with.link_drops, 0u);
  // Without new routes, the other leaf goes on sending into the hole; what hashes there never arrives.
  EXPECT_GT(without.link_drops, with.link_drops);
}

TEST(LinkFailure, TheLinkComesBack) {
  const std::string text = kLeaves + R"(
[[events]]
at = "2ms"
what = "link_up"
link = ["switch 2", "switch 0"]
)";
  const RunResult r = result_of(text);
  EXPECT_EQ(r.flows.finished, 4u);
}

TEST(LinkFailure, ASlowerLinkTakesLonger) {
  const std::string text = kFiveHosts + R"(
[[events]]
at = "1us"
what = "link_rate"
link = ["host 0", "switch 0"]
rate = "10Gbps"
)";
  EXPECT_GT(result_of(text).flows.fct_us->max, 5 * result_of(kFiveHosts).flows.fct_us->max);
}

const std::string kSlow = R"(
name = "slow"
limit = "200ms"
[topology]
shape = "star"
hosts = 4
[hosts]
controller = "off"
[[hosts.own]]
hosts = [0]
receive_rate = "10Gbps"
[switches]
buffer = "2MiB"
lossless = [3]
headroom = "60kB"
[[flows]]
pattern = "pair"
from = 1
to = 0
bytes = "5MB"
[[flows]]
pattern = "pair"
from = 1
to = 2
bytes = "5MB"
)";

TEST(SlowReceiver, PausesItsSwitchWhichPausesTheSender) {
  const RunResult r = result_of(kSlow);
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.receive_drops, 0u);
  // 5 MB at 10 Gb/s, headers included.
  EXPECT_NEAR(r.flows.fct_us->max, 5e6 * 8 / 10e3 * (1024 + 82) / 1024, 100);
  // The other flow of the same sender waits with it.
  EXPECT_GT(r.flows.fct_us->min, 3000);
  ASSERT_GE(r.pause_tree.size(), 2u);
  EXPECT_EQ(r.pause_tree[0].depth, 0);
  EXPECT_EQ(r.pause_tree[0].pauser, "host 0");
  EXPECT_EQ(r.pause_tree[0].because, "receives slowly");
  EXPECT_EQ(r.pause_tree[1].depth, 1);
  EXPECT_EQ(r.pause_tree[1].pauser, "switch 0");
  EXPECT_EQ(r.pause_tree[1].held, "host 1");
  EXPECT_EQ(r.pause_tree[1].because, "port 0 to host 0 is held");
}

TEST(SlowReceiver, ANicThatHeldForTooLongDropsInstead) {
  const std::vector<TomlSetting> dead{{"hosts.own.0.receive_rate", "1Mbps"}, {"limit", "20ms"}};
  const RunResult holds = result_of(kSlow, dead);
  EXPECT_EQ(holds.receive_drops, 0u);
  EXPECT_EQ(holds.flows.finished, 0u);  // the other flow stands behind it

  std::vector<TomlSetting> prevented = dead;
  prevented.push_back({"hosts.own.0.storm_prevention", "200us"});
  const RunResult r = result_of(kSlow, prevented);
  EXPECT_GT(r.storms_prevented, 0u);
  EXPECT_GT(r.receive_drops, 0u);
  EXPECT_EQ(r.flows.finished, 1u);
}

TEST(SlowReceiver, IsCuredAtAMoment) {
  const std::string text = kSlow + "[[events]]\nat = \"1ms\"\nwhat = \"receive_rate\"\nhost = 0\n";
  EXPECT_LT(result_of(text).flows.fct_us->max, 2200);
}

TEST(StormWatchdog, SeesWhatLastsAndEndsWhenPausesHaveGone) {
  const WatchdogParameters parameters{.detection = microseconds(100), .restoration = microseconds(50)};
  const auto at = [](std::int64_t us) { return Instant(microseconds(us)); };
  using Change = StormWatchdog::Change;
  StormWatchdog watchdog;
  const Priority p(3);
  EXPECT_EQ(watchdog.on_look(at(0), p, true, true, parameters), Change::none);
  EXPECT_EQ(watchdog.on_look(at(60), p, false, true, parameters), Change::none);  // something moved
  EXPECT_EQ(watchdog.on_look(at(80), p, true, true, parameters), Change::none);
  EXPECT_EQ(watchdog.on_look(at(160), p, true, true, parameters), Change::none);
  EXPECT_EQ(watchdog.on_look(at(180), p, true, true, parameters), Change::began);
  EXPECT_TRUE(watchdog.in_storm(p));
  EXPECT_EQ(watchdog.on_look(at(200), p, false, false, parameters), Change::none);
  EXPECT_EQ(watchdog.on_look(at(220), p, false, true, parameters), Change::none);  // it goes on
  EXPECT_EQ(watchdog.on_look(at(240), p, false, false, parameters), Change::none);
  EXPECT_EQ(watchdog.on_look(at(290), p, false, false, parameters), Change::ended);
  EXPECT_FALSE(watchdog.in_storm(p));
  EXPECT_EQ(watchdog.storms(), 1u);
}

TEST(Watchdog, DropsWhatADeadReceiverHoldsUp) {
  const RunResult r = result_of(kSlow, {{"hosts.own.0.receive_rate", "1Mbps"},
                                        {"switches.watchdog.detection", "500us"},
                                        {"switches.watchdog.restoration", "500us"},
                                        {"limit", "20ms"}});
  EXPECT_GT(r.storms, 0u);
  EXPECT_GT(r.watchdog_drops, 0u);
  EXPECT_EQ(r.flows.finished, 1u);  // the one that has nothing to do with it
}

TEST(Classes, ASwitchWithAnotherMapDropsWhereOthersPause) {
  const std::string text = R"(
name = "map"
limit = "1s"
[topology]
shape = "leaf_spine"
leaves = 2
spines = 1
hosts_per_leaf = 4
[hosts]
controller = "off"
ack_timeout = 6
[switches]
buffer = "2MiB"
lossless = [3]
headroom = "60kB"
lossy_alpha_exponent = -3
[[switches.own]]
switches = [1]
priority_of_dscp = { 26 = 0 }
[[flows]]
pattern = "incast"
to = 7
senders = 6
bytes = "1MB"
)";
  EXPECT_GT(result_of(text).drops, 0u);
  EXPECT_EQ(result_of(text, {{"switches.own.0.priority_of_dscp", "{26 = 3}"}}).drops, 0u);
  // Only for what arrives by the uplink (port 4): the same drops; by a port where nothing comes in: none.
  EXPECT_GT(result_of(text, {{"switches.own.0.ports", "[4]"}}).drops, 0u);
  EXPECT_EQ(result_of(text, {{"switches.own.0.ports", "[3]"}}).drops, 0u);
}

TEST(Credits, NothingIsEverDroppedWhateverTheLoad) {
  const RunResult r = result_of(kFiveHosts, {{"link", "infiniband"}, {"switches.lane_buffer", "64KiB"}});
  EXPECT_EQ(violations(r), "");
  EXPECT_EQ(r.drops, 0u);
  EXPECT_EQ(r.ce_marked, 0u);
  EXPECT_EQ(r.pause_frames, 0u);
}

TEST(Credits, ALaneBufferBelowTheRoundTripSlowsDown) {
  const std::string text = R"(
name = "long"
limit = "1s"
link = "infiniband"
[topology]
shape = "star"
hosts = 2
delay = "5us"
[hosts]
mtu = 2048
controller = "off"
[switches]
lane_buffer = "512KiB"
[[flows]]
pattern = "pair"
from = 0
to = 1
bytes = "10MB"
)";
  const double enough = result_of(text).flows.fct_us->max;
  const double little = result_of(text, {{"switches.lane_buffer", "32KiB"}}).flows.fct_us->max;
  EXPECT_LT(enough, 10e6 * 8 / 100e3 * 1.05 + 30);
  EXPECT_GT(little, 2 * enough);
}

TEST(Spreading, EachWayOfChoosingDelivers) {
  const std::string text = R"(
name = "spread"
limit = "1s"
[topology]
shape = "leaf_spine"
leaves = 2
spines = 4
hosts_per_leaf = 4
[hosts]
recovery = "selective_repeat"
controller = "off"
[switches]
buffer = "8MiB"
lossless = [3]
headroom = "60kB"
[[flows]]
pattern = "permutation"
shift = 4
bytes = "4MB"
)";
  const double by_flow = result_of(text).flows.fct_us->max;
  for (const char* how : {"flowlet", "packet", "adaptive"}) {
    const RunResult r = result_of(text, {{"routing.spreading", how}});
    EXPECT_EQ(violations(r), "") << how;
    EXPECT_EQ(r.flows.finished, 8u) << how;
    // Eight flows over four spines collide by hash; packet by packet they cannot.
    if (how != std::string("flowlet")) {
      EXPECT_LT(r.flows.fct_us->max, by_flow) << how;
    }
  }
}

}  // namespace
}  // namespace rocetune::fabric
