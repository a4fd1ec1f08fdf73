#include "agent/host/netlink.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace rocetune::host {
namespace {

std::vector<std::byte> message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
                               const std::vector<std::byte>& body) {
  const nlmsghdr header{.nlmsg_len = static_cast<std::uint32_t>(sizeof(nlmsghdr) + body.size()),
                        .nlmsg_type = type,
                        .nlmsg_flags = flags,
                        .nlmsg_seq = sequence,
                        .nlmsg_pid = 0};
  std::vector<std::byte> out(sizeof header);
  std::memcpy(out.data(), &header, sizeof header);
  out.insert(out.end(), body.begin(), body.end());
  out.resize((out.size() + 3) & ~3ul);
  return out;
}
template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
template <class... Parts>
std::vector<std::byte> joined(const Parts&... parts) {
  std::vector<std::byte> out;
  (out.insert(out.end(), parts.begin(), parts.end()), ...);
  return out;
}

TEST(NetlinkRequest, NestsAndPadsAttributes) {
  NetlinkRequest request(20, NLM_F_DUMP);
  request.header(std::uint32_t{7}).put_string(1, "ab").begin_nest(2).put(3, std::uint8_t{9}).end_nest();
  const ByteSpan bytes = request.bytes();
  const auto header = *read_struct<nlmsghdr>(bytes);
  EXPECT_EQ(header.nlmsg_len, bytes.size());
  EXPECT_EQ(header.nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
  const ByteSpan attributes = bytes.subspan(sizeof(nlmsghdr) + 4);
  EXPECT_EQ(find_attribute(attributes, 1)->as_string(), "ab");
  const auto nest = find_attribute(attributes, 2);
  ASSERT_TRUE(nest);
  EXPECT_EQ(find_attribute(nest->payload, 3)->as<std::uint8_t>(), 9);
  EXPECT_FALSE(find_attribute(nest->payload, 3)->as<std::uint16_t>());
}

TEST(NetlinkAttributes, StopAtWhatDoesNotFit) {
  NetlinkRequest request(20, 0);
  request.put(1, std::uint32_t{5}).put(2, std::uint32_t{6});
  ByteSpan attributes = request.bytes().subspan(sizeof(nlmsghdr));
  int seen = 0;
  EXPECT_TRUE(for_each_attribute(attributes, [&](const NetlinkAttribute&) { ++seen; }));
  EXPECT_EQ(seen, 2);
  seen = 0;
  EXPECT_FALSE(for_each_attribute(attributes.first(13), [&](const NetlinkAttribute&) { ++seen; }));
  EXPECT_EQ(seen, 1);
}

TEST(NetlinkDatagram, CollectsRepliesUntilDone) {
  std::vector<NetlinkReply> replies;
  bool complete = false;
  const auto datagram =
      joined(message(16, NLM_F_MULTI, 4, bytes_of(1)), message(16, NLM_F_MULTI, 3, bytes_of(9)),
             message(16, NLM_F_MULTI, 4, bytes_of(2)), message(NLMSG_DONE, 0, 4, bytes_of(0)));
  ASSERT_TRUE(parse_datagram(datagram, 4, replies, complete));
  EXPECT_TRUE(complete);
  ASSERT_EQ(replies.size(), 2u);  // the message of another exchange is not ours
  EXPECT_EQ(read_struct<int>(replies[1].payload), 2);
}

TEST(NetlinkDatagram, GivesTheKernelsOwnWordsForAnError) {
  NetlinkRequest tlv(0, 0);
  tlv.put_string(NLMSGERR_ATTR_MSG, "too high");
  const ByteSpan text = tlv.bytes().subspan(sizeof(nlmsghdr));
  const auto body = joined(bytes_of(nlmsgerr{.error = -EINVAL, .msg = {}}), text);
  std::vector<NetlinkReply> replies;
  bool complete = false;
  const auto status =
      parse_datagram(message(NLMSG_ERROR, NLM_F_ACK_TLVS | NLM_F_CAPPED, 1, body), 1, replies, complete);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "too high");
  EXPECT_EQ(status.error().os_error(), EINVAL);
}

// Errors are -4095 to 0 (include/linux/err.h); what no kernel says is not negated and looked up.
TEST(NetlinkDatagram, AnErrorThatNoKernelHasIsNone) {
  for (const int error : {INT_MIN, -4096, 22}) {
    const auto datagram =
        message(NLMSG_ERROR, NLM_F_CAPPED, 1, bytes_of(nlmsgerr{.error = error, .msg = {}}));
    std::vector<NetlinkReply> replies;
    bool complete = false;
    const auto status = parse_datagram(datagram, 1, replies, complete);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().kind(), ErrorKind::io);
    EXPECT_EQ(status.error().os_error(), 0);
  }
  std::vector<NetlinkReply> replies;
  bool complete = false;
  EXPECT_FALSE(parse_datagram(message(NLMSG_DONE, 0, 1, bytes_of(INT_MIN)), 1, replies, complete));
}

TEST(NetlinkDatagram, AnInterruptedDumpIsAConflict) {
  std::vector<NetlinkReply> replies;
  bool complete = false;
  const auto status =
      parse_datagram(message(16, NLM_F_MULTI | NLM_F_DUMP_INTR, 1, bytes_of(1)), 1, replies, complete);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::conflict);
}

TEST(NetlinkDatagram, RefusesATruncatedMessage) {
  std::vector<NetlinkReply> replies;
  bool complete = false;
  auto datagram = message(16, 0, 1, bytes_of(1));
  datagram.resize(datagram.size() - 1);
  EXPECT_FALSE(parse_datagram(datagram, 1, replies, complete));
}

}  // namespace
}  // namespace rocetune::host
