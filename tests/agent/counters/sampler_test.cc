#include "agent/counters/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/counters/deltas.h"
#include "agent/counters/live_readers.h"
#include "tests/agent/counters/fake_driver.h"
#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using testing::FakeDriver;
using ::testing::HasSubstr;
using testing::schema;

// A source that does what the test says and takes its time.
class ScriptedReader : public CounterReader {
 public:
  ScriptedReader(std::vector<std::string> names, ManualClock& clock)
      : names_(std::make_shared<const NameList>(NameList{std::move(names)})), clock_(clock) {}
  Expected<> read(Block& block) override {
    if (on_read) on_read();
    block.at = clock_.now();
    clock_.advance(takes);
    if (error) return tl::unexpected(*error);
    block.names = names_;
    block.values = values;
    block.resolution = resolution;
    return {};
  }
  void forget_names() override { ++forgotten; }
  std::uint64_t configuration() const override { return mask; }

  std::function<void()> on_read;
  std::vector<std::uint64_t> values;
  std::optional<Error> error;
  Duration takes;
  Duration resolution;
  std::uint64_t mask = 0;
  int forgotten = 0;

 private:
  std::shared_ptr<const NameList> names_;
  ManualClock& clock_;
};

class SamplerTest : public ::testing::Test {
 protected:
  SamplerTest() { ethtool_->values = {100}, rdma_->values = {5}, dcb_->values = {1}; }
  Sampler sampler() {
    PortReaders port{.port = "eth0", .nic = "mlx5"};
    port.readers[index_of(Source::ethtool)] = std::unique_ptr<CounterReader>(ethtool_);
    port.readers[index_of(Source::rdma)] = std::unique_ptr<CounterReader>(rdma_);
    port.readers[index_of(Source::dcb)] = std::unique_ptr<CounterReader>(dcb_);
    std::vector<PortReaders> ports;
    ports.push_back(std::move(port));
    return {schema(), std::move(ports), clock_};
  }

  ManualClock clock_{1'700'000'000'000'000'000};
  // Owned by the sampler once it is made.
  ScriptedReader* ethtool_ = new ScriptedReader({"tx_prio3_bytes"}, clock_);
  ScriptedReader* rdma_ = new ScriptedReader({"np_cnp_sent"}, clock_);
  ScriptedReader* dcb_ = new ScriptedReader({"pfc_requests_0"}, clock_);
};

TEST_F(SamplerTest, EachSourceHasItsOwnMoment) {
  ethtool_->takes = milliseconds(3);
  dcb_->takes = milliseconds(2);
  Sampler s = sampler();
  (void)s.read();
  clock_.advance(seconds(1));
  const Instant begin = clock_.now();
  const Reading reading = s.read();
  EXPECT_EQ(reading.at, begin);
  EXPECT_EQ(reading.ports[0].blocks[index_of(Source::ethtool)]->at, begin);
  EXPECT_EQ(reading.ports[0].blocks[index_of(Source::rdma)]->at, begin + milliseconds(5));
  EXPECT_EQ(reading.read_time, milliseconds(5));
}

TEST_F(SamplerTest, RatesUseMeasuredTimeNotTheIntervalAskedFor) {
  Sampler s = sampler();
  const Reading before = s.read();
  clock_.advance(milliseconds(250));  // asked for 100 ms, slept 250
  ethtool_->values = {3'125'000'100};
  const Interval interval = interval_between(schema(), before, s.read());
  EXPECT_EQ(interval.ports[0].rate("tx_bytes", Priority(3)), gigabits_per_second(100));
}

TEST_F(SamplerTest, ASourceThatFailsLeavesTheOthers) {
  rdma_->error = Error(ErrorKind::denied, "no permission");
  Sampler s = sampler();
  const PortSample sample = to_sample(schema(), s.read()).ports[0];
  EXPECT_EQ(sample.values.at({"cnp_sent", std::nullopt}).error().kind, Unavailable::Kind::denied);
  EXPECT_EQ(sample.values.at({"tx_bytes", Priority(3)}), 100u);
}

TEST_F(SamplerTest, ASourceThatComesBackIsRead) {
  rdma_->error = Error(ErrorKind::absent, "gone");
  Sampler s = sampler();
  EXPECT_FALSE(s.read().ports[0].blocks[index_of(Source::rdma)]);
  rdma_->error.reset();
  EXPECT_TRUE(s.read().ports[0].blocks[index_of(Source::rdma)]);
}

TEST_F(SamplerTest, NamesAreReadAgainWhenThePfcMaskMoved) {
  Sampler s = sampler();
  (void)s.read();
  const int at_start = ethtool_->forgotten;
  (void)s.read();
  EXPECT_EQ(ethtool_->forgotten, at_start);
  dcb_->mask = 8;
  (void)s.read();
  EXPECT_EQ(ethtool_->forgotten, at_start + 1);
  (void)s.read();
  EXPECT_EQ(ethtool_->forgotten, at_start + 1);
}

TEST_F(SamplerTest, AMaskThatNeverHoldsStillCostsTheSampleNotTheRun) {
  dcb_->on_read = [this] { ++dcb_->mask; };
  Sampler s = sampler();
  const Reading reading = s.read();
  const auto& ethtool = reading.ports[0].blocks[index_of(Source::ethtool)];
  ASSERT_FALSE(ethtool);
  EXPECT_THAT(ethtool.error().why, HasSubstr("kept changing"));
  EXPECT_TRUE(reading.ports[0].blocks[index_of(Source::rdma)]);
  dcb_->on_read = nullptr;
  EXPECT_TRUE(s.read().ports[0].blocks[index_of(Source::ethtool)]);
}

// The rows of priority 3 go and those of priority 4 come, at the same number: what the kernel's count check
// cannot see.
TEST_F(SamplerTest, PauseRowsThatMoveToAnotherPriorityAreNeverTakenForEachOther) {
  FakeDriver driver{.names = {"rx_prio3_pause", "rx_prio3_pause_duration"}, .values = {1000, 5000}};
  const host::EthtoolSocket socket = driver.socket();
  PortReaders port{.port = "eth0", .nic = "mlx5"};
  port.readers[index_of(Source::ethtool)] = std::make_unique<EthtoolCounters>(socket, "eth0", clock_);
  port.readers[index_of(Source::dcb)] = std::unique_ptr<CounterReader>(dcb_);
  port.missing[index_of(Source::rdma)] = absent("none").value();
  std::vector<PortReaders> ports;
  ports.push_back(std::move(port));
  dcb_->mask = 1 << 3;
  Sampler s(schema(), std::move(ports), clock_);
  const Reading before = s.read();
  clock_.advance(milliseconds(10));

  driver.names = {"rx_prio4_pause", "rx_prio4_pause_duration"};
  driver.values = {9000, 80'000};
  dcb_->mask = 1 << 4;
  const Reading after = s.read();
  const PortSample sample = to_sample(schema(), after.ports[0]);
  EXPECT_EQ(sample.values.at({"rx_pause_frames", Priority(4)}), 9000u);
  EXPECT_FALSE(sample.values.at({"rx_pause_frames", Priority(3)}));
  const PortDelta delta = interval_between(schema(), before, after).ports[0];
  EXPECT_THAT(delta.why_absent("rx_pause_duration_us", Priority(3))->why, HasSubstr("vanished"));
  EXPECT_THAT(delta.why_absent("rx_pause_duration_us", Priority(4))->why, HasSubstr("appeared"));
  delete ethtool_;
  delete rdma_;
}

TEST_F(SamplerTest, OneSlowReadDoesNotStretchTheIntervalManyDo) {
  Sampler s = sampler();
  const auto interval_after = [&](Duration takes) {
    ethtool_->takes = takes;
    return Sampler::effective_interval(milliseconds(100), s.read());
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(interval_after(milliseconds(1)), milliseconds(100));
  EXPECT_EQ(interval_after(seconds(4)), milliseconds(100));
  EXPECT_EQ(interval_after(milliseconds(9)), milliseconds(100));
  EXPECT_EQ(interval_after(milliseconds(9)), milliseconds(180));
}

TEST(EffectiveInterval, IsTwentyTimesTheReadTimeOrMore) {
  Reading reading;
  reading.typical_read_time = milliseconds(2);
  EXPECT_EQ(Sampler::effective_interval(milliseconds(100), reading), milliseconds(100));
  reading.typical_read_time = milliseconds(7);
  EXPECT_EQ(Sampler::effective_interval(milliseconds(100), reading), milliseconds(140));
}

TEST(EffectiveInterval, IsNeverShorterThanTheKernelsCache) {
  Reading reading;
  reading.ports.resize(1);
  reading.ports[0].blocks[index_of(Source::rdma)] = Block{.resolution = milliseconds(10)};
  EXPECT_EQ(Sampler::effective_interval(milliseconds(1), reading), milliseconds(10));
}

}  // namespace
}  // namespace rocetune::counters
