#include "agent/counters/live_readers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/agent/counters/fake_driver.h"
#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using ::testing::ElementsAre;
using testing::FakeDriver;
using ::testing::HasSubstr;
using testing::schema;

class EthtoolCountersTest : public ::testing::Test {
 protected:
  FakeDriver driver_{.names = {"tx_prio3_bytes", "rx_prio3_pause"}, .values = {10, 20}};
  host::EthtoolSocket socket_ = driver_.socket();
  ManualClock clock_;
  EthtoolCounters reader_{socket_, "eth0", clock_};
  Block block_;
};

TEST_F(EthtoolCountersTest, ReadsValuesUnderTheirNames) {
  ASSERT_TRUE(reader_.read(block_));
  EXPECT_THAT(block_.names->names, ElementsAre("tx_prio3_bytes", "rx_prio3_pause"));
  EXPECT_THAT(block_.values, ElementsAre(10, 20));
}

TEST_F(EthtoolCountersTest, NamesAreReadOnceASecond) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(reader_.read(block_));
    clock_.advance(milliseconds(100));
  }
  EXPECT_EQ(driver_.value_reads, 20);
  EXPECT_EQ(driver_.name_reads, 2);
}

TEST_F(EthtoolCountersTest, AnotherNumberOfStatisticsMakesItReadTheNamesAgain) {
  ASSERT_TRUE(reader_.read(block_));
  const auto names = block_.names;
  driver_.names = {"tx_prio3_bytes"};
  driver_.values = {11};
  ASSERT_TRUE(reader_.read(block_));
  EXPECT_NE(block_.names, names);
  EXPECT_THAT(block_.names->names, ElementsAre("tx_prio3_bytes"));
  EXPECT_THAT(block_.values, ElementsAre(11));
}

TEST_F(EthtoolCountersTest, EqualNamesAreTheSameObject) {
  ASSERT_TRUE(reader_.read(block_));
  const auto names = block_.names;
  reader_.forget_names();
  ASSERT_TRUE(reader_.read(block_));
  EXPECT_EQ(block_.names, names);
}

TEST_F(EthtoolCountersTest, ASetThatChangesAtEveryReadIsAConflict) {
  driver_.before_values = [&] { driver_.values.push_back(0); };
  const auto status = reader_.read(block_);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::conflict);
}

TEST_F(EthtoolCountersTest, APortThatIsGoneIsAbsent) {
  driver_.error = ENODEV;
  EXPECT_EQ(reader_.read(block_).error().kind(), ErrorKind::absent);
  driver_.error = 0;
  EXPECT_TRUE(reader_.read(block_));
}

// ---- a host's readers

namespace fs = std::filesystem;

TEST(LiveReaders, ATreeOfFilesHasItsRdmaCounters) {
  const fs::path root = fs::path(::testing::TempDir()) / "live_readers_test";
  fs::remove_all(root);
  const fs::path folder = root / "sys/class/infiniband/mlx5_0/ports/1/hw_counters";
  fs::create_directories(folder);
  std::ofstream(folder / "np_cnp_sent") << "5\n";

  host::Host host;
  host.ports.resize(2);
  host.ports[0].name = "eth0";
  host.ports[0].nic = "mlx5";
  host.ports[0].rdma = host::RdmaPort{.device = "mlx5_0", .port = 1};
  host.ports[0].link = host::Link{.speed = gigabits_per_second(100)};
  host.ports[1].name = "eth1";
  host.ports[1].nic = "unknown";
  host.ports[1].rdma = absent("no RDMA device");

  LiveSockets sockets;
  ManualClock clock;
  Sampler sampler(schema(), live_readers(host, host::HostFiles(root.string()), sockets, clock), clock);
  const Sample sample = to_sample(schema(), sampler.read());
  ASSERT_EQ(sample.ports.size(), 2u);
  EXPECT_EQ(sample.ports[0].speed, gigabits_per_second(100));
  EXPECT_EQ(sample.ports[0].rdma.at("np_cnp_sent"), 5u);
  EXPECT_EQ(sample.ports[0].values.at({"cnp_sent", std::nullopt}), 5u);
  EXPECT_THAT(sample.ports[0].values.at({"tx_bytes", Priority(0)}).error().why, HasSubstr("tree of files"));
  EXPECT_EQ(sample.ports[1].unread.at(Source::rdma).why, "no RDMA device");
  fs::remove_all(root);
}

TEST(LiveReaders, ANamespaceThatIsGoneIsTheReason) {
  host::Host host;
  host.ports.resize(1);
  host.ports[0].name = "eth0";
  host.ports[0].nic = "mlx5";
  host.ports[0].network_namespace = "pod-that-ended";
  LiveSockets sockets;
  ManualClock clock;
  const auto readers = live_readers(host, host::HostFiles(), sockets, clock);
  EXPECT_EQ(readers.at(0).readers[0], nullptr);
  EXPECT_THAT(readers.at(0).missing[0].why, HasSubstr("pod-that-ended is gone"));
}

}  // namespace
}  // namespace rocetune::counters
