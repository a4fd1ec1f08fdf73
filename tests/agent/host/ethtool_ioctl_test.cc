#include "agent/host/ethtool_ioctl.h"

#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <cerrno>
#include <cstring>

namespace rocetune::host {
namespace {

std::uint32_t command_of(const void* command) {
  std::uint32_t number = 0;
  std::memcpy(&number, command, sizeof number);
  return number;
}

// A driver with statistics whose set can change between two calls, written to as the kernel does: it copies
// all of its values and ignores how many the caller asked for.
struct StatisticsDriver {
  std::vector<std::string> names{"rx_prio3_packets", "tx_prio3_packets"};
  std::vector<std::uint64_t> values{10, 20};
  std::vector<std::uint32_t> commands;

  int control(void* command) {
    commands.push_back(command_of(command));
    switch (command_of(command)) {
      case ETHTOOL_GSSET_INFO: {
        const auto count = static_cast<std::uint32_t>(names.size());
        std::memcpy(static_cast<ethtool_sset_info*>(command)->data, &count, sizeof count);
        return 0;
      }
      case ETHTOOL_GSTRINGS: {
        auto* wire = static_cast<ethtool_gstrings*>(command);
        wire->len = static_cast<std::uint32_t>(names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
          std::strncpy(reinterpret_cast<char*>(wire->data) + i * ETH_GSTRING_LEN, names[i].c_str(),
                       ETH_GSTRING_LEN);
        }
        return 0;
      }
      case ETHTOOL_GSTATS: {
        auto* wire = static_cast<ethtool_stats*>(command);
        wire->n_stats = static_cast<std::uint32_t>(values.size());
        std::memcpy(wire->data, values.data(), values.size() * sizeof values[0]);
        return 0;
      }
      default:
        return EOPNOTSUPP;
    }
  }
  EthtoolSocket socket() {
    return EthtoolSocket([this](const std::string&, void* command) { return control(command); });
  }
};

TEST(EthtoolStatistics, ValuesFollowTheirNames) {
  StatisticsDriver driver;
  const EthtoolSocket socket = driver.socket();
  auto reader = StatisticsReader::open(socket, "eth0");
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ(reader->names(), driver.names);
  const auto values = reader->read();
  ASSERT_TRUE(values);
  EXPECT_EQ(std::vector<std::uint64_t>(values->begin(), values->end()), driver.values);
}

TEST(EthtoolStatistics, ASetThatGrewIsAConflictAndHarmsNoMemory) {
  StatisticsDriver driver;
  const EthtoolSocket socket = driver.socket();
  auto reader = StatisticsReader::open(socket, "eth0");
  ASSERT_TRUE(reader);
  driver.values.resize(2 + StatisticsReader::kSlack, 7);  // fits the slack to the last value
  EXPECT_EQ(reader->read().error().kind(), ErrorKind::conflict);
  driver.values = {10, 20};
  EXPECT_TRUE(reader->read());
}

TEST(EthtoolStatistics, ASetThatShrankIsAConflict) {
  StatisticsDriver driver;
  const EthtoolSocket socket = driver.socket();
  auto reader = StatisticsReader::open(socket, "eth0");
  driver.values = {10};
  EXPECT_EQ(reader->read().error().kind(), ErrorKind::conflict);
}

TEST(EthtoolStatistics, AFaultAtTheGuardPageIsAConflict) {
  StatisticsDriver driver;
  const EthtoolSocket socket([&](const std::string&, void* command) {
    return command_of(command) == ETHTOOL_GSTATS ? EFAULT : driver.control(command);
  });
  auto reader = StatisticsReader::open(socket, "eth0");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->read().error().kind(), ErrorKind::conflict);
}

TEST(EthtoolStatistics, NamesThatChangeWhileTheyAreReadAreAConflict) {
  StatisticsDriver driver;
  const EthtoolSocket socket([&](const std::string&, void* command) {
    const int result = driver.control(command);
    if (command_of(command) == ETHTOOL_GSSET_INFO) driver.names.emplace_back("rx_prio3_pause");
    return result;
  });
  EXPECT_EQ(StatisticsReader::open(socket, "eth0").error().kind(), ErrorKind::conflict);
}

TEST(GuardedBufferDeathTest, TheByteAfterTheEndIsGuarded) {
  const GuardedBuffer buffer(4096 + 16);
  auto* const bytes = static_cast<volatile char*>(buffer.data());
  bytes[buffer.size() - 1] = 1;
  EXPECT_DEATH(bytes[buffer.size()] = 1, "");
}

TEST(Ethtool, LinkSettingsNeedTwoRequests) {
  int requests = 0;
  const EthtoolSocket socket([&](const std::string&, void* command) {
    auto* wire = static_cast<ethtool_link_settings*>(command);
    ++requests;
    if (wire->link_mode_masks_nwords != 3) {
      wire->link_mode_masks_nwords = -3;
      return 0;
    }
    wire->speed = 400'000;
    wire->duplex = DUPLEX_FULL;
    wire->autoneg = AUTONEG_ENABLE;
    return 0;
  });
  const auto settings = socket.link_settings("eth0");
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(settings->speed, gigabits_per_second(400));
  EXPECT_EQ(settings->full_duplex, true);
  EXPECT_TRUE(settings->autonegotiation);
}

TEST(Ethtool, AnUnknownSpeedIsNotANumber) {
  const EthtoolSocket socket([&](const std::string&, void* command) {
    auto* wire = static_cast<ethtool_link_settings*>(command);
    wire->link_mode_masks_nwords = wire->link_mode_masks_nwords == 0 ? -3 : 3;
    wire->speed = static_cast<std::uint32_t>(SPEED_UNKNOWN);
    wire->duplex = DUPLEX_UNKNOWN;
    return 0;
  });
  const auto settings = socket.link_settings("eth0");
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->speed);
  EXPECT_FALSE(settings->full_duplex);
}

TEST(Ethtool, PfcPreventionIsA16BitTunable) {
  ethtool_tunable seen{};
  const EthtoolSocket socket([&](const std::string&, void* command) {
    std::memcpy(&seen, command, sizeof seen);
    const std::uint16_t automatic = 0xffff;
    std::memcpy(static_cast<char*>(command) + sizeof seen, &automatic, sizeof automatic);
    return 0;
  });
  EXPECT_EQ(socket.pfc_prevention("eth0"), 0xffff);
  EXPECT_EQ(seen.cmd, static_cast<std::uint32_t>(ETHTOOL_GTUNABLE));
  EXPECT_EQ(seen.id, static_cast<std::uint32_t>(ETHTOOL_PFC_PREVENTION_TOUT));
  EXPECT_EQ(seen.len, 2u);
}

TEST(Ethtool, ErrorsNamePortAndRequest) {
  const EthtoolSocket socket([](const std::string&, void*) { return EOPNOTSUPP; });
  const auto pause = socket.pause("eth0");
  ASSERT_FALSE(pause);
  EXPECT_EQ(pause.error().kind(), ErrorKind::unsupported);
  EXPECT_NE(pause.error().text().find("pause parameters of eth0"), std::string::npos);
}

TEST(Ethtool, TheRunningKernelAnswersForLoopback) {
  const auto socket = EthtoolSocket::open();
  ASSERT_TRUE(socket) << socket.error().text();
  EXPECT_EQ(socket->driver_info("no-such-port").error().kind(), ErrorKind::absent);
  EXPECT_TRUE(socket->link_detected("lo"));
}

}  // namespace
}  // namespace rocetune::host
