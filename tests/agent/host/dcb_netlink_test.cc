#include "agent/host/dcb_netlink.h"

#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>

#include "tests/agent/host/netlink_payload.h"

namespace rocetune::host {
namespace {

NetlinkRequest reply_with(const std::function<void(NetlinkRequest&)>& fill_ieee) {
  NetlinkRequest reply(RTM_GETDCB, 0);
  reply.header(dcbmsg{.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET, .dcb_pad = 0});
  reply.put_string(DCB_ATTR_IFNAME, "eth0");
  reply.begin_nest(DCB_ATTR_IEEE, false);
  fill_ieee(reply);
  reply.end_nest();
  reply.put(DCB_ATTR_DCBX, std::uint8_t{DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE});
  return reply;
}

TEST(DcbNetlink, ReadsPfc) {
  const auto reply = reply_with([](NetlinkRequest& r) {
    ieee_pfc pfc{};
    pfc.pfc_cap = 8;
    pfc.pfc_en = 0x08;
    pfc.delay = 7;
    pfc.requests[3] = 11;
    pfc.indications[3] = 22;
    r.put(DCB_ATTR_IEEE_PFC, pfc);
  });
  const auto read = parse_ieee_reply(payload_of(reply));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->port, "eth0");
  ASSERT_TRUE(read->dcb.pfc);
  EXPECT_EQ(read->dcb.pfc->enabled, PrioritySet::of(Priority(3)));
  EXPECT_EQ(read->dcb.pfc->delay, 7);
  EXPECT_EQ(read->dcb.pfc->requests[3], 11u);
  EXPECT_EQ(read->dcb.pfc->indications[3], 22u);
  EXPECT_TRUE(read->dcb.dcbx->host);
  EXPECT_TRUE(read->dcb.dcbx->ieee);
}

TEST(DcbNetlink, WhatTheDriverDoesNotAnswerIsAbsentNotZero) {
  const auto read = parse_ieee_reply(payload_of(reply_with([](NetlinkRequest&) {})));
  ASSERT_TRUE(read);
  for (const Unavailable& why : {read->dcb.pfc.error(), read->dcb.ets.error(), read->dcb.buffers.error(),
                                 read->dcb.max_rate.error()}) {
    EXPECT_EQ(why.kind, Unavailable::Kind::absent);
  }
}

TEST(DcbNetlink, ReadsTrustInOrderOfPrecedence) {
  const auto reply = reply_with([](NetlinkRequest& r) {
    r.begin_nest(11);  // DCB_ATTR_DCB_APP_TRUST_TABLE
    r.put(1, std::uint8_t{5}).put(2, std::uint8_t{255});
    r.end_nest();
  });
  EXPECT_EQ(parse_ieee_reply(payload_of(reply))->dcb.trust, Trust::dscp);
}

TEST(DcbNetlink, ReadsPcpAppEntriesFromTheirOwnAttribute) {
  const auto reply = reply_with([](NetlinkRequest& r) {
    r.begin_nest(DCB_ATTR_IEEE_APP_TABLE, false);
    r.put(2, dcb_app{.selector = 255, .priority = 4, .protocol = 3});
    r.put(1, dcb_app{.selector = 5, .priority = 3, .protocol = 26});
    r.end_nest();
  });
  const auto read = parse_ieee_reply(payload_of(reply));
  const std::vector<AppEntry> expected{{AppSelector::dscp, 26, Priority(3)},
                                       {AppSelector::pcp, 3, Priority(4)}};
  EXPECT_EQ(read->dcb.app, expected);
}

TEST(DcbNetlink, APriorityOutOfRangeFailsItsTableOnly) {
  const auto reply = reply_with([](NetlinkRequest& r) {
    r.put(DCB_ATTR_IEEE_PFC, ieee_pfc{});
    r.begin_nest(DCB_ATTR_IEEE_APP_TABLE, false);
    r.put(1, dcb_app{.selector = 5, .priority = 9, .protocol = 26});
    r.end_nest();
  });
  const auto read = parse_ieee_reply(payload_of(reply));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->dcb.pfc);
  EXPECT_EQ(read->dcb.app.error().kind, Unavailable::Kind::failed);
}

TEST(DcbNetlink, AStructCutShortIsFailed) {
  const auto reply = reply_with([](NetlinkRequest& r) { r.put(DCB_ATTR_IEEE_PFC, std::uint32_t{8}); });
  EXPECT_EQ(parse_ieee_reply(payload_of(reply))->dcb.pfc.error().kind, Unavailable::Kind::failed);
}

// The kernel's struct layout of a set equals that of a get, so a set read as a get must give the change back.
TEST(DcbNetlink, OneMessageCarriesEveryPartOfAChange) {
  IeeeChange change;
  change.ets.emplace();
  for (int i = 0; i < 8; ++i) change.ets->tc_of_priority[i] = TrafficClass(i);
  change.ets->tsa.fill(Tsa::ets);
  change.ets->tsa[6] = Tsa::strict;
  change.ets->tx_share_percent = {10, 10, 10, 50, 10, 5, 0, 5};
  change.recommendation.tx_share_percent[3] = 77;
  change.pfc = PfcSetting{PrioritySet::of(Priority(3)), 30};
  change.macsec_bypass = true;
  change.buffers.emplace();
  change.buffers->buffer_of_priority[3] = 1;
  change.buffers->size[1] = Bytes(200'000);
  change.app = {{AppSelector::dscp, 26, Priority(3)}, {AppSelector::pcp, 5, Priority(5)}};
  change.max_rate.emplace();
  change.max_rate->at(2) = gigabits_per_second(10);

  const NetlinkRequest request = ieee_set_request("eth0", change);
  EXPECT_EQ(request.type(), RTM_SETDCB);
  const auto read = parse_ieee_reply(payload_of(request));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->port, "eth0");
  EXPECT_EQ(read->dcb.ets->tc_of_priority, change.ets->tc_of_priority);
  EXPECT_EQ(read->dcb.ets->tsa, change.ets->tsa);
  EXPECT_EQ(read->dcb.ets->tx_share_percent, change.ets->tx_share_percent);
  EXPECT_EQ(read->recommendation, change.recommendation);
  EXPECT_EQ(read->dcb.pfc->enabled, change.pfc->enabled);
  EXPECT_EQ(read->dcb.pfc->delay, 30);
  EXPECT_TRUE(read->dcb.pfc->macsec_bypass);
  EXPECT_EQ(read->dcb.buffers->size[1], Bytes(200'000));
  EXPECT_EQ(read->dcb.app, change.app);
  EXPECT_EQ(read->dcb.max_rate->at(2), gigabits_per_second(10));
}

TEST(DcbNetlink, ResultCarriesANegatedErrnoInOneByte) {
  const auto result = [](std::uint8_t code) {
    NetlinkRequest reply(RTM_SETDCB, 0);
    reply.header(dcbmsg{.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_SET, .dcb_pad = 0});
    reply.put(DCB_ATTR_IEEE, code);
    return parse_ieee_result(payload_of(reply));
  };
  EXPECT_TRUE(result(0));
  EXPECT_EQ(result(static_cast<std::uint8_t>(-EINVAL)).error().os_error(), EINVAL);
  EXPECT_EQ(result(static_cast<std::uint8_t>(-EOPNOTSUPP)).error().kind(), ErrorKind::unsupported);
}

TEST(DcbNetlink, DcbxModesKeepTheirBits) {
  const DcbxMode mode{.host = true, .ieee = true};
  EXPECT_EQ(dcbx_bits(mode), 0x01 | 0x08);
  for (int bits = 0; bits < 32; ++bits)
    EXPECT_EQ(dcbx_bits(dcbx_mode(static_cast<std::uint8_t>(bits))), bits);
}

TEST(DcbNetlink, DcbxZeroHandsControlToFirmware) {
  const NetlinkRequest request = dcbx_set_request("eth0", DcbxMode{});
  EXPECT_EQ(parse_dcbx_reply(payload_of(request)), DcbxMode{});
}

}  // namespace
}  // namespace rocetune::host
