#include "agent/tune/twin/twin.h"

#include "agent/counters/deltas.h"
#include "agent/counters/sampler.h"
#include "agent/virtual_host/counter_readers.h"
#include "tests/agent/tune/twin/hidden_hosts.h"

namespace rocetune::twin {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

std::vector<std::string> known(const Twin& twin) {
  std::vector<std::string> out;
  for (const TwinKnob& knob : twin.knobs()) out.push_back(twin.hosts().space()[knob.knob].name);
  return out;
}

TEST(Twin, HasTheHostsSettingsAndKnobsByMeaning) {
  const auto hosts = space_of(two_machines(), {{"NCCL_IB_QPS_PER_CONNECTION", {"1", "4", "many"}},
                                               {"NCCL_ALGO", {"Ring", "Tree"}},
                                               {"NCCL_BUFFSIZE", {"4194304", "2097152"}}});
  const Twin twin = twin_of(hosts, Star().text());
  ASSERT_EQ(twin.ports().size(), 4U);
  EXPECT_EQ(twin.ports()[2].host_name + " " + twin.ports()[2].port, "h2 ens1f0np0");
  EXPECT_EQ(twin.ports()[2].id, 2U);
  EXPECT_THAT(known(twin), Contains("mtu"));
  EXPECT_THAT(known(twin), Contains("class.profile"));
  EXPECT_THAT(known(twin), Contains("cc.rp_ai_rate"));
  EXPECT_THAT(known(twin), Contains("workload.NCCL_IB_QPS_PER_CONNECTION"));
  EXPECT_THAT(known(twin), testing::Not(Contains("workload.NCCL_ALGO")));
  EXPECT_THAT(twin.not_predicted(), Contains(Field(&Note::what, "workload.NCCL_ALGO")));
  EXPECT_THAT(twin.not_predicted(),
              Contains(Field(&Note::what, "workload.NCCL_IB_QPS_PER_CONNECTION = many")));

  const auto as_found = twin.scenario_of({hosts.space().start(), 0, 0, {}});
  EXPECT_EQ(as_found.options.own_host.at(3).controller.dcqcn.time_reset, microseconds(1500));
  EXPECT_EQ(as_found.flows.size(), 3U);
  const auto four = hosts.space().setting("workload.NCCL_IB_QPS_PER_CONNECTION", "4");
  const auto cut = twin.scenario_of({hosts.space().with(hosts.space().start(), {*four}), 0, 0, {}});
  EXPECT_EQ(cut.flows.size(), 12U);
  EXPECT_EQ(as_found.flows[0].message, 1U << 20) << "a quarter of the buffer";
  const auto half = hosts.space().setting("workload.NCCL_BUFFSIZE", "2097152");
  EXPECT_EQ(twin.scenario_of({hosts.space().with(hosts.space().start(), {*half}), 0, 0, {}}).flows[0].message,
            1U << 19);
}

TEST(Twin, OnlyTunedHostsChangeAndTheOthersAreAsTheyWere) {
  auto machines = two_machines();
  machines.pop_back();
  const auto hosts = space_of(std::move(machines));
  const Twin twin = twin_of(hosts, Star().text());
  const auto setting = hosts.space().setting("cc.rp_ai_rate", "50");
  ASSERT_TRUE(setting);
  const auto changed = twin.scenario_of({hosts.space().with(hosts.space().start(), {*setting}), 0, 0, {}});
  EXPECT_EQ(changed.options.own_host.at(1).controller.dcqcn.additive_increase, megabits_per_second(50));
  EXPECT_EQ(changed.options.own_host.at(2).controller.dcqcn.additive_increase, megabits_per_second(5));
  EXPECT_EQ(changed.options.own_host.at(3).controller.dcqcn.time_reset, microseconds(1500));
}

TEST(Twin, ShowsWhatHostsCount) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star().text());
  const auto seen = twin.run({hosts.space().start(), 0, 1, {}});
  EXPECT_FALSE(seen.failure);
  EXPECT_GT(*seen.objectives[search::Objective::goodput], 10);
  const Readings readings = readings_of(seen);
  for (const Quantity q : {Quantity::goodput, Quantity::ce_ratio, Quantity::cnp_ratio,
                           Quantity::pause_received, Quantity::pause_sent})
    EXPECT_TRUE(readings[q]) << kind_of(q).name;
  EXPECT_GT(*readings[Quantity::ce_ratio], 0.001);
  EXPECT_LT(*readings[Quantity::ce_ratio], 1);
  EXPECT_EQ(readings[Quantity::pause_sent], 0) << "these hosts receive as fast as it comes";
  // 4.5 MB in frames of 4096 bytes of payload, and acknowledgements.
  EXPECT_GT(seen.counter_deltas.at("rdma_rx_packets"), 1100);
}

// One flow of a hundred packets, and nobody beside it.
constexpr const char* kHundredPackets =
    "[[flows]]\npattern = \"pair\"\nfrom = 1\nto = 0\nbytes = \"409600B\"\n";

TEST(Twin, BytesAreThoseThatANicCounts) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star{.traffic = kHundredPackets}.text());
  const auto seen = twin.run({hosts.space().start(), 0, 0, {}}).counter_deltas;
  EXPECT_EQ(seen.at("rx_ce_packets"), 0);
  const std::int64_t acknowledgements = seen.at("rdma_tx_packets") - 100;
  EXPECT_GT(acknowledgements, 0);
  // Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 around each, RETH 16 on the first; acknowledgements
  // are 66 B; neither preamble nor gap.
  EXPECT_EQ(seen.at("rdma_tx_bytes"), 409'600 + 100 * 62 + 16 + acknowledgements * 66);
  EXPECT_EQ(seen.at("rdma_rx_bytes"), seen.at("rdma_tx_bytes"));
}

TEST(Twin, CountsWhatTheSameHostsOfAFabricShow) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star{.kmin = "3MB", .kmax = "3900kB"}.text());
  const Twin::Run asked{hosts.space().start(), 0, 3, {}};
  const auto seen = twin.run(asked);

  const auto schema = counters::Schema::load(ConfigFiles());
  ASSERT_TRUE(schema);
  std::map<std::string, std::int64_t> sums;
  for (const TwinPort& port : twin.ports()) {
    virtual_host::FabricRun run(twin.scenario_of(asked));
    const virtual_host::VirtualClock clock(run);
    counters::Sampler sampler(*schema, virtual_host::counter_readers(run, port.id), clock);
    const counters::Reading before = sampler.read();
    run.finish();
    const auto interval = counters::interval_between(*schema, before, sampler.read());
    for (const auto& [id, increment] : interval.ports.at(0).increments) {
      if (increment) sums[id.name] += static_cast<std::int64_t>(*increment);
    }
  }
  EXPECT_EQ(seen.counter_deltas, sums);
  EXPECT_GT(sums.at("rx_pause_duration_us"), 0) << "and these are paused";
  EXPECT_GT(*seen.objectives[search::Objective::pause_ratio], 0);
  EXPECT_FALSE(sums.contains("rx_global_pause_frames")) << "what a fabric does not have is absent";
}

TEST(Twin, WithoutPfcNobodyCountsPausesAndNobodyIsHeld) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star{.kmin = "3MB", .kmax = "3900kB"}.text());
  const auto lossy = hosts.space().setting("class.profile", "lossy");
  ASSERT_TRUE(lossy);
  const auto seen = twin.run({hosts.space().with(hosts.space().start(), {*lossy}), 0, 0, {}});
  EXPECT_FALSE(seen.failure);
  EXPECT_FALSE(readings_of(seen)[Quantity::pause_received]);
  EXPECT_EQ(seen.objectives[search::Objective::pause_ratio], 0);
}

TEST(Twin, RefusesWhatIsNoFabricOfHosts) {
  const auto hosts = space_of(two_machines());
  const auto bad =
      Twin::open(Star{.kmin = "100 bananas"}.text(), "star.toml", hosts, {"workload"}, ConfigFiles());
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind(), ErrorKind::bad_input);
  EXPECT_THAT(bad.error().text(), HasSubstr("star.toml:16:8: "));
  EXPECT_THAT(bad.error().text(), HasSubstr("switches.kmin"));
  const auto credits =
      Twin::open("link = \"infiniband\"\n" + Star().text(), "star.toml", hosts, {"workload"}, ConfigFiles());
  ASSERT_FALSE(credits);
}

TEST(Twin, SaysWhatDoesNotFitTheHosts) {
  const auto hosts = space_of(two_machines());
  const Twin twin = twin_of(hosts, Star{.rate = "25Gbps"}.text());
  EXPECT_THAT(twin.not_taken_over(), Contains(Field(&Note::why, HasSubstr("25Gbps"))));
  auto more = Twin::open(Star().text(), "star.toml", hosts, {"workload", "workload 2"}, ConfigFiles());
  ASSERT_TRUE(more);
  EXPECT_THAT(more->not_predicted(), Contains(Field(&Note::what, "workload 2")));
}

TEST(Twin, ItsWorkloadsStandForThoseOfTheHosts) {
  const auto hosts = space_of(two_machines());
  const std::string second =
      "[[workloads]]\nname = \"reply\"\n[[workloads.flows]]\npattern = \"pair\"\nfrom = 0\nto = 3\n"
      "bytes = \"64kB\"\n[[workloads]]\nname = \"quiet\"\n[[workloads.flows]]\npattern = \"pair\"\nfrom = 0\n"
      "to = 3\nbytes = \"64kB\"\n[tune]\nheld_out = [\"quiet\"]\n";
  const auto twin =
      Twin::open(Star().text() + second, "star.toml", hosts, {"workload 1", "workload 2"}, ConfigFiles());
  ASSERT_TRUE(twin) << twin.error().text();
  ASSERT_EQ(twin->workloads().size(), 2U);
  EXPECT_EQ(twin->workloads()[1].of_hosts, "workload 2");
  EXPECT_EQ(twin->workloads()[1].of_twin, "reply");
  EXPECT_EQ(twin->scenario_of({hosts.space().start(), 0, 0, {}}).flows.size(), 3U);
  EXPECT_EQ(twin->scenario_of({hosts.space().start(), 1, 0, {}}).flows.size(), 1U);
  EXPECT_EQ(
      twin->scenario_of({hosts.space().start(), 1, 0, {}}).options.own_host.at(0).controller.dcqcn.time_reset,
      microseconds(1500))
      << "in each of them the hosts are as found";
}

TEST(Twin, AbsentIsNotZero) {
  search::Observation nothing;
  nothing.counter_deltas["rx_ce_packets"] = 0;
  for (const QuantityKind& kind : quantity_kinds()) EXPECT_FALSE(readings_of(nothing)[kind.quantity]);
  nothing.counter_deltas["rdma_rx_packets"] = 100;
  EXPECT_EQ(readings_of(nothing)[Quantity::ce_ratio], 0);
  EXPECT_FALSE(readings_of(nothing)[Quantity::cnp_ratio]);
}

}  // namespace
}  // namespace rocetune::twin
