// The fabric against figures of others: HPCC's ns-3 model under its own semantics, and the fixed point of
// DCQCN's fluid equations.
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/base/config_files.h"
#include "dataplane/fabric/result.h"

namespace rocetune::fabric {
namespace {

constexpr Priority kData{3};

struct Fct {
  double min_ms, mean_ms, max_ms;
};

Fct fct_of(const Network& network) {
  Fct out{1e9, 0, 0};
  int flows = 0;
  for (NodeId id = 0; id < network.hosts(); ++id) {
    for (const auto& sending : network.host(id).sendings()) {
      const double ms = (sending.outcome.finished - sending.flow.start).seconds() * 1e3;
      out.min_ms = std::min(out.min_ms, ms);
      out.max_ms = std::max(out.max_ms, ms);
      out.mean_ms += ms;
      ++flows;
    }
  }
  out.mean_ms /= flows;
  return out;
}

// HPCC's parameter set "mlx" at 100 Gb/s: 1000 B segments of 1048 B on the wire, an ACK each in a class of
// its own, CE echoed in ACKs, no byte counter, Kmin/Kmax/Pmax 400 KB/1600 KB/0.2, dynamic thresholds with
// shift 3.
NetworkOptions hpcc_options() {
  NetworkOptions out;
  const std::pair<Dscp, Priority> map[] = {{Dscp(26), kData}, {Dscp(48), Priority(7)}};
  out.switches.priority_of = dscp_map(map);
  out.host.priority_of = out.switches.priority_of;
  const auto parameters = dcqcn::Parameters::hpcc();
  out.host.controller.kind = ControllerChoice::Kind::dcqcn;
  out.host.controller.dcqcn = parameters.rp;
  out.host.notification = parameters.np;
  out.host.ack_dscp = Dscp(48);
  out.host.framing = Framing::hpcc;
  out.host.echoes_ce = true;
  out.host.ack_timeout = 0;
  out.switches.ingress.buffer = Bytes(32 << 20);
  out.switches.ingress.lossless = PrioritySet::of(kData);
  out.host.receiver.buffer.lossless = out.switches.ingress.lossless;
  out.switches.ingress.lossless_pool = {Bytes(4096), Bytes(37'500), -3, Bytes(3072)};
  out.switches.marked = PrioritySet::of(kData);
  out.switches.congestion_point.curve = {Bytes(400'000), Bytes(1'600'000), Ratio::from_percent(20)};
  return out;
}

Fct hpcc_incast(std::uint32_t senders) {
  std::vector<Flow> flows;
  for (NodeId i = 0; i < senders; ++i) {
    flows.push_back(
        {.from = i, .to = senders, .bytes = 10'000'000, .start = {}, .message = 1000, .window = 2048});
  }
  Network network(star(senders + 1, gigabits_per_second(100), microseconds(1)), hpcc_options(), flows);
  network.run(Instant(seconds(1)));
  EXPECT_TRUE(network.is_finished());
  EXPECT_EQ(network.totals().lossless_drops, 0u);
  EXPECT_EQ(network.totals().wrong_bytes, 0u);
  return fct_of(network);
}

// FCT min / mean / max in ms of HPCC's simulator: 2.121 / 2.150 / 2.180 and 6.808 / 7.490 / 8.555. Which flow
// is marked first is chance, so the extremes are wider than the mean.
TEST(Hpcc, TwoSendersToOneTakeAsLong) {
  const Fct fct = hpcc_incast(2);
  EXPECT_NEAR(fct.mean_ms, 2.150, 0.05 * 2.150);
  EXPECT_NEAR(fct.min_ms, 2.121, 0.05 * 2.121);
  EXPECT_NEAR(fct.max_ms, 2.180, 0.05 * 2.180);
}

TEST(Hpcc, EightSendersToOneTakeAsLong) {
  const Fct fct = hpcc_incast(8);
  EXPECT_NEAR(fct.mean_ms, 7.490, 0.05 * 7.490);
  EXPECT_NEAR(fct.min_ms, 6.808, 0.10 * 6.808);
  EXPECT_NEAR(fct.max_ms, 8.555, 0.10 * 8.555);
  EXPECT_GT(fct.max_ms, 8 * 10e6 / 1000 * 1048 * 8 / 100e9 * 1e3);  // the wire's own limit
}

// 40 Gb/s, N long flows, the paper's parameters with HAI = AI; the mean queue in KB.
double mean_queue_kb(std::uint32_t flows_count, dcqcn::NotificationPointParameters::Mode mode) {
  NetworkOptions options = hpcc_options();
  const auto paper = dcqcn::Parameters::paper();
  options.host.controller.dcqcn = paper.rp;
  options.host.controller.dcqcn.hyper_increase = paper.rp.additive_increase;
  options.host.notification = paper.np;
  options.host.notification.mode = mode;
  options.host.echoes_ce = false;
  options.switches.ingress.buffer = Bytes(32 << 20);
  options.switches.congestion_point = paper.cp;
  options.switches.congestion_point.mark_at = dcqcn::CongestionPointParameters::MarkAt::dequeue;
  std::vector<Flow> flows;
  for (NodeId i = 0; i < flows_count; ++i) {
    flows.push_back(
        {.from = i, .to = flows_count, .bytes = 4'000'000'000, .start = {}, .message = 1000, .window = 2048});
  }
  Network network(star(flows_count + 1, gigabits_per_second(40), microseconds(1)), options, flows);
  QueueWatch watch;
  network.switch_at(0).watch(static_cast<std::uint16_t>(flows_count), watch);
  const Instant begin{milliseconds(60)};
  const Instant end{milliseconds(200)};
  network.run(begin);
  watch.restart(begin);
  network.run(end);
  EXPECT_EQ(network.totals().lossless_drops, 0u);
  return watch.mean_bytes(end) / 1e3;
}

using Mode = dcqcn::NotificationPointParameters::Mode;

// The fluid fixed point: 20.2 and 41.8 KB. Its equations assume that CNPs come at the end of fixed windows.
TEST(FixedPoint, WindowedNotificationIsWhatTheEquationsSay) {
  EXPECT_NEAR(mean_queue_kb(2, Mode::fixed_window), 20.2, 0.10 * 20.2);
  EXPECT_NEAR(mean_queue_kb(4, Mode::fixed_window), 41.8, 0.10 * 41.8);
}

// A notification point that answers a mark at once: 25 and 55 KB by an independent packet simulation.
TEST(FixedPoint, NotificationAtOnceHoldsMoreInTheQueue) {
  EXPECT_NEAR(mean_queue_kb(2, Mode::event), 25, 0.15 * 25);
  EXPECT_NEAR(mean_queue_kb(4, Mode::event), 55, 0.15 * 55);
}

// 320 hosts of HPCC's fat tree: every flow crosses six links and no queue stays long, so that what is
// compared is the network itself.
void expect_completion(const char* name, Fct theirs, double tolerance) {
  const auto file = ConfigFiles().read(std::string("scenarios/reference/") + name + ".toml").value();
  const RunResult r = run(scenario_from_toml(file.text, file.name).value());
  ASSERT_TRUE(r.flows.fct_us);
  EXPECT_EQ(r.flows.finished, r.flows.count);
  EXPECT_EQ(r.drops, 0u);
  EXPECT_NEAR(r.flows.fct_us->min / 1e3, theirs.min_ms, tolerance * theirs.min_ms);
  EXPECT_NEAR(r.flows.fct_us->mean / 1e3, theirs.mean_ms, tolerance * theirs.mean_ms);
  EXPECT_NEAR(r.flows.fct_us->max / 1e3, theirs.max_ms, tolerance * theirs.max_ms);
}
TEST(Hpcc, PermutationOf320Hosts) { expect_completion("perm320", {0.097, 0.160, 0.498}, 0.05); }
TEST(Hpcc, IncastWithinAPermutationOf320Hosts) {
  expect_completion("fatincast", {0.097, 0.526, 2.661}, 0.05);
}

}  // namespace
}  // namespace rocetune::fabric
