#include "agent/host/devlink_netlink.h"

#include <gtest/gtest.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "agent/host/ethtool_netlink.h"
#include "tests/agent/host/netlink_payload.h"

namespace rocetune::host {
namespace {

NetlinkRequest devlink_message() {
  NetlinkRequest message(30, 0);
  message.header(genlmsghdr{.cmd = 1, .version = 1, .reserved = 0});
  message.put_string(DEVLINK_ATTR_BUS_NAME, "pci").put_string(DEVLINK_ATTR_DEV_NAME, "0000:03:00.0");
  return message;
}

void put_version(NetlinkRequest& message, std::uint16_t kind, const char* name, const char* value) {
  message.begin_nest(kind);
  message.put_string(DEVLINK_ATTR_INFO_VERSION_NAME, name).put_string(DEVLINK_ATTR_INFO_VERSION_VALUE, value);
  message.end_nest();
}

TEST(Devlink, RunningVersionsWinOverFixedOnesAndStoredOnesAreLeftOut) {
  NetlinkRequest message = devlink_message();
  put_version(message, DEVLINK_ATTR_INFO_VERSION_FIXED, "fw.psid", "MT_0000000838");
  put_version(message, DEVLINK_ATTR_INFO_VERSION_RUNNING, "fw.version", "28.39.1002");
  put_version(message, DEVLINK_ATTR_INFO_VERSION_STORED, "fw.version", "28.40.1000");
  const auto info = parse_devlink_info(payload_of(message));
  ASSERT_TRUE(info);
  EXPECT_EQ(info->device, "0000:03:00.0");
  const std::map<std::string, std::string> expected{{"fw.psid", "MT_0000000838"},
                                                    {"fw.version", "28.39.1002"}};
  EXPECT_EQ(info->versions, expected);
}

void put_value(NetlinkRequest& message, std::uint8_t mode, std::optional<std::uint32_t> value) {
  message.begin_nest(DEVLINK_ATTR_PARAM_VALUE);
  message.put(DEVLINK_ATTR_PARAM_VALUE_CMODE, mode);
  if (value) message.put(DEVLINK_ATTR_PARAM_VALUE_DATA, *value);
  message.end_nest();
}

TEST(Devlink, ARunTimeValueWinsOverTheOneOfTheNextLoad) {
  NetlinkRequest message = devlink_message();
  message.begin_nest(DEVLINK_ATTR_PARAM).put_string(DEVLINK_ATTR_PARAM_NAME, "io_eq_size");
  message.put(DEVLINK_ATTR_PARAM_TYPE, std::uint8_t{3}).begin_nest(DEVLINK_ATTR_PARAM_VALUES_LIST);
  put_value(message, DEVLINK_PARAM_CMODE_DRIVERINIT, 64);
  put_value(message, DEVLINK_PARAM_CMODE_RUNTIME, 1024);
  message.end_nest().end_nest();
  const auto param = parse_devlink_param(payload_of(message));
  ASSERT_TRUE(param);
  EXPECT_EQ(param->name, "io_eq_size");
  EXPECT_EQ(param->value, "1024");
}

TEST(Devlink, AFlagIsTrueByBeingThere) {
  for (const bool set : {true, false}) {
    NetlinkRequest message = devlink_message();
    message.begin_nest(DEVLINK_ATTR_PARAM).put_string(DEVLINK_ATTR_PARAM_NAME, "enable_roce");
    message.put(DEVLINK_ATTR_PARAM_TYPE, std::uint8_t{6}).begin_nest(DEVLINK_ATTR_PARAM_VALUES_LIST);
    put_value(message, DEVLINK_PARAM_CMODE_DRIVERINIT, set ? std::optional(1u) : std::nullopt);
    message.end_nest().end_nest();
    EXPECT_EQ(parse_devlink_param(payload_of(message))->value, set ? "true" : "false");
  }
}

TEST(Devlink, ReadsTheEswitchMode) {
  NetlinkRequest message = devlink_message();
  message.put(DEVLINK_ATTR_ESWITCH_MODE, std::uint16_t{DEVLINK_ESWITCH_MODE_SWITCHDEV});
  EXPECT_EQ(parse_devlink_eswitch_mode(payload_of(message)), "switchdev");
}

TEST(EthtoolNetlink, LanesNobodyReportsAreAbsent) {
  NetlinkRequest message(21, 0);
  message.header(genlmsghdr{.cmd = 4, .version = 1, .reserved = 0});
  EXPECT_EQ(parse_lanes(payload_of(message)).error().kind(), ErrorKind::absent);
  message.put(ETHTOOL_A_LINKMODES_LANES, std::uint32_t{4});
  EXPECT_EQ(parse_lanes(payload_of(message)), 4u);
}

TEST(GenericNetlink, AnUnknownFamilyIsAbsent) {
  EXPECT_EQ(GenericNetlinkSocket::open("no-such-family", 1).error().kind(), ErrorKind::absent);
}

}  // namespace
}  // namespace rocetune::host
