#include "agent/virtual_host/counter_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/virtual_host/virtual_scenes.h"

namespace rocetune::virtual_host {
namespace {

using ::testing::HasSubstr;

std::uint64_t value(const counters::PortSample& sample, const std::string& name,
                    std::optional<Priority> priority = {}) {
  const auto found = sample.values.find({name, priority});
  EXPECT_NE(found, sample.values.end()) << name;
  EXPECT_TRUE(found->second) << name << ": " << found->second.error().why;
  return found->second.value_or(0);
}

std::string why_absent(const counters::PortSample& sample, const std::string& name,
                       std::optional<Priority> priority = {}) {
  const auto& found = sample.values.at({name, priority});
  return found ? "is there" : found.error().why;
}

std::uint64_t sum_over_hosts(FabricRun& run, const std::string& name, std::optional<Priority> priority = {}) {
  std::uint64_t sum = 0;
  for (fabric::NodeId host = 0; host < run.network().hosts(); ++host)
    sum += value(sample_of(run, host), name, priority);
  return sum;
}

TEST(CounterReaders, WhatHostsSendHostsReceive) {
  for (const std::string_view text : {kHealthy, kPaused}) {
    FabricRun run(scenario_of(text));
    run.finish();
    for (int p = 0; p < Priority::kCount; ++p) {
      if (Priority(p) == Priority(6)) continue;  // CNPs may be on their way when the last flow ends
      EXPECT_EQ(sum_over_hosts(run, "tx_packets", Priority(p)),
                sum_over_hosts(run, "rx_packets", Priority(p)));
      EXPECT_EQ(sum_over_hosts(run, "tx_bytes", Priority(p)), sum_over_hosts(run, "rx_bytes", Priority(p)));
    }
    EXPECT_EQ(sum_over_hosts(run, "out_of_sequence"), 0u);
  }
}

TEST(CounterReaders, CountFramesAsTheNicDoes) {
  FabricRun run(scenario_of(kHealthy));
  run.finish();
  const counters::PortSample sample = sample_of(run, 1);
  // 8 MB in messages of 1 MiB: 1953.125 packets of 4096 B payload, the last one of each message shorter.
  const std::uint64_t data = 1954;
  const std::uint64_t sent = value(sample, "tx_packets", Priority(3));
  EXPECT_GE(sent, data);
  EXPECT_LT(sent, 2 * data);  // acknowledgements of what it receives
  const std::uint64_t bytes = value(sample, "tx_bytes", Priority(3));
  // Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4 around each; RETH 16 on the first of each message.
  // Acknowledgements are 66 B.
  EXPECT_EQ(bytes, 8'000'000 + data * 62 + 8 * 16 + (sent - data) * 66);
  EXPECT_EQ(value(sample, "tx_packets", Priority(0)), 0u);
  EXPECT_EQ(value(sample, "rdma_tx_packets"), sent + value(sample, "tx_packets", Priority(6)));
  EXPECT_EQ(value(sample, "tx_packets_phy"), value(sample, "rdma_tx_packets"));
  EXPECT_EQ(value(sample, "rx_discards_phy"), 0u);
}

TEST(CounterReaders, SaysWhyItDoesNotCountWhatTheFabricDoesNotHave) {
  FabricRun run(scenario_of(kHealthy));
  const counters::PortSample sample = sample_of(run, 0);
  EXPECT_THAT(why_absent(sample, "rx_symbol_errors"), HasSubstr("lose whole frames"));
  EXPECT_THAT(why_absent(sample, "rx_global_pause_frames"), HasSubstr("no 802.3x pause"));
  EXPECT_THAT(why_absent(sample, "rx_pause_frames", Priority(4)), HasSubstr("only if PFC is on"));
  EXPECT_EQ(value(sample, "rx_pause_frames", Priority(3)), 0u);
  EXPECT_EQ(value(sample, "rx_crc_errors"), 0u);
}

TEST(CounterReaders, EveryNameOfTheTableIsCounted) {
  FabricRun run(scenario_of(kHealthy));
  const counters::PortSample sample = sample_of(run, 0);
  for (const auto& [name, row] : schema().vendor(kNic)->rows) {
    if (!row.absent.empty()) continue;
    const bool per_priority = schema().find(name)->per_priority;
    value(sample, name, per_priority ? std::optional(Priority(3)) : std::nullopt);
  }
}

TEST(CounterReaders, PausesReceivedAreThoseTheSwitchSent) {
  FabricRun run(scenario_of(kPaused));
  run.finish();
  const counters::PortSample sample = sample_of(run, 1);
  const Priority p(3);
  const std::uint64_t us = value(sample, "rx_pause_duration_us", p);
  EXPECT_EQ(us, static_cast<std::uint64_t>(run.network().host(1).held_time(run.now(), p) / microseconds(1)));
  // Three share one link: each is held most of the time that the buffer is full.
  EXPECT_GT(us, 200u);
  EXPECT_GT(value(sample, "rx_pause_transitions", p), 0u);
  EXPECT_GE(value(sample, "rx_pause_frames", p), 2 * value(sample, "rx_pause_transitions", p) - 1);
  EXPECT_EQ(value(sample, "rx_pause_ctrl_frames"), value(sample, "rx_pause_frames", p));
  EXPECT_EQ(value(sample, "rx_packets_phy"),
            value(sample, "rdma_rx_packets") + value(sample, "rx_pause_ctrl_frames"));
  EXPECT_EQ(value(sample, "tx_pause_frames", p), 0u);
}

TEST(CounterReaders, ASlowReceiverPausesItsSwitchAndStalls) {
  FabricRun run(scenario_of(kHealthy, own("receive_rate = \"40Gbps\"")));
  run.finish();
  const counters::PortSample sample = sample_of(run, 2);
  const Priority p(3);
  const auto held = run.network().switch_at(0).held_time(run.now(), 2, p);
  const auto asked = static_cast<double>(value(sample, "tx_pause_duration_us", p));
  EXPECT_GT(asked, 300.0);
  EXPECT_NEAR(asked, held.microseconds(), 0.05 * asked);
  EXPECT_GT(value(sample, "tx_pause_transitions", p), 0u);
  EXPECT_GT(value(sample, "tx_pause_frames", p), value(sample, "tx_pause_transitions", p));
  EXPECT_GT(value(sample, "pci_stalled_write_percent"), 60u);
  EXPECT_EQ(value(sample, "rx_discards", p), 0u);
  EXPECT_EQ(value(sample_of(run, 1), "pci_stalled_write_percent"), 0u);
}

TEST(CounterReaders, AReadingOfTheStallIsOfTheTimeSinceTheOneBefore) {
  FabricRun run(scenario_of(kHealthy, own("receive_rate = \"40Gbps\"")));
  const VirtualClock clock(run);
  counters::Sampler sampler(schema(), counter_readers(run, 2), clock);
  run.finish();
  sampler.read();
  run.advance_to(run.now() + milliseconds(10));
  const counters::Sample idle = counters::to_sample(schema(), sampler.read());
  EXPECT_EQ(value(idle.ports.at(0), "pci_stalled_write_percent"), 0u);
}

TEST(CounterReaders, WithoutPfcASlowReceiverDiscards) {
  FabricRun run(scenario_of(kHealthy, own("receive_rate = \"40Gbps\"\nlossless = []")));
  run.finish();
  const counters::PortSample sample = sample_of(run, 2);
  const std::uint64_t discards = value(sample, "rx_discards", Priority(3));
  EXPECT_GT(discards, 0u);
  EXPECT_EQ(value(sample, "rx_discards_phy"), discards);
  EXPECT_EQ(value(sample, "pci_buffer_overflow"), discards);
  EXPECT_EQ(value(sample, "rdma_rx_packets"), value(sample, "rx_packets_phy") - discards);
  EXPECT_GT(value(sample, "out_of_sequence"), 0u);
  EXPECT_GT(value(sample_of(run, 1), "sequence_naks_received"), 0u);
}

TEST(CounterReaders, ANicWithoutPfcDoesNotListenToPauses) {
  FabricRun run(scenario_of(kPaused, own("lossless = []")));
  run.finish();
  EXPECT_EQ(run.network().host(2).held_time(run.now(), Priority(3)), Duration(0));
  EXPECT_GT(run.network().host(1).held_time(run.now(), Priority(3)), Duration(0));
  const counters::PortSample sample = sample_of(run, 2);
  EXPECT_GT(value(sample, "rx_pause_ctrl_frames"), 0u);
  EXPECT_THAT(why_absent(sample, "rx_pause_duration_us", Priority(3)), HasSubstr("only if PFC is on"));
}

TEST(CounterReaders, FramesThatTheLinkLosesAreBadFrames) {
  FabricRun run(scenario_of(kHealthy, "[links]\nloss = \"0.5%\"\n"));
  run.finish();
  EXPECT_GT(sum_over_hosts(run, "rx_crc_errors"), 0u);
  EXPECT_EQ(sum_over_hosts(run, "link_downs"), 0u);
}

TEST(CounterReaders, AFailedLinkIsCountedOnce) {
  FabricRun run(scenario_of(kHealthy, R"(
[[events]]
at = "100us"
what = "link_down"
link = ["host 1", "switch 0"]
[[events]]
at = "150us"
what = "link_up"
link = ["host 1", "switch 0"]
)"));
  run.advance_to(Instant(microseconds(120)));
  EXPECT_EQ(value(sample_of(run, 1), "link_downs"), 1u);
  EXPECT_FALSE(host_facts(run, 1).ports.at(0).link->carrier);
  run.advance_to(Instant(microseconds(200)));
  EXPECT_EQ(value(sample_of(run, 1), "link_downs"), 1u);
  EXPECT_EQ(value(sample_of(run, 0), "link_downs"), 0u);
  EXPECT_EQ(value(sample_of(run, 1), "rx_crc_errors"), 0u);  // lost, not damaged
  const host::Link link = *host_facts(run, 1).ports.at(0).link;
  EXPECT_TRUE(link.carrier);
  EXPECT_EQ(link.carrier_changes, 3u);
}

TEST(CounterReaders, CnpsOfAHostWithoutDcqcnAreIgnoredOnes) {
  constexpr const char* kMarks = R"(
name = "marks"
limit = "100ms"
[topology]
shape = "star"
hosts = 4
[[hosts.own]]
hosts = [2]
controller = "off"
[switches]
lossless = [3]
headroom = "100kB"
kmin = "20kB"
kmax = "100kB"
pmax = "20%"
[[flows]]
pattern = "incast"
to = 0
senders = 3
bytes = "4MB"
)";
  FabricRun run(scenario_of(kMarks));
  run.finish();
  const counters::PortSample receiver = sample_of(run, 0);
  EXPECT_GT(value(receiver, "rx_ce_packets"), 0u);
  EXPECT_GT(value(receiver, "cnp_sent"), 0u);
  EXPECT_GE(value(receiver, "cnp_sent"),
            value(sample_of(run, 1), "cnp_handled") + value(sample_of(run, 2), "cnp_ignored"));
  EXPECT_GT(value(sample_of(run, 1), "cnp_handled"), 0u);
  EXPECT_EQ(value(sample_of(run, 1), "cnp_ignored"), 0u);
  EXPECT_EQ(value(sample_of(run, 2), "cnp_handled"), 0u);
  EXPECT_GT(value(sample_of(run, 2), "cnp_ignored"), 0u);
}

TEST(CounterReaders, IntervalsAreOfVirtualTime) {
  FabricRun run(scenario_of(kHealthy));
  run.advance_to(Instant(microseconds(100)));
  const counters::PortDelta delta = delta_to_end(run, 0);
  EXPECT_EQ(delta.elapsed, run.now() - Instant(microseconds(100)));
  EXPECT_EQ(delta.rdma_elapsed, delta.elapsed);
  const auto rate = delta.rate("tx_bytes", Priority(3));
  ASSERT_TRUE(rate);
  EXPECT_GT(*rate, gigabits_per_second(90));
  EXPECT_LT(*rate, gigabits_per_second(100));
}

}  // namespace
}  // namespace rocetune::virtual_host
