#include "dataplane/port/dpdk/queue_group.h"

#include <gtest/gtest.h>

#include <cstring>

#include "dataplane/port/memory_port.h"

namespace rocetune::dpdk {
namespace {

constexpr std::array<std::uint8_t, 6> kOurs{2, 0, 0, 0, 0, 9};
constexpr std::array<std::uint8_t, 6> kBroadcast{255, 255, 255, 255, 255, 255};
std::array<std::uint8_t, 6> station(std::uint8_t number) { return {2, 0, 0, 0, 1, number}; }

// A wire per member, and our end of each as a member. Buffers of all members come from one pool here, as
// DPDK's do.
class Wire final : public GroupMember {
 public:
  struct Buffer {
    std::array<std::byte, 128> bytes;
  };
  std::size_t receive(std::span<port::ReceivedFrame> in) override {
    const std::size_t count = std::min(in.size(), arriving.size());
    for (std::size_t i = 0; i < count; ++i) in[i] = {arriving[i], 0};
    kept = arriving;
    arriving.erase(arriving.begin(), arriving.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) in[i].bytes = kept[i];
    return count;
  }
  void release(std::span<const port::ReceivedFrame>) override {}
  std::size_t reserve(std::span<port::TransmitBuffer> out) override {
    for (port::TransmitBuffer& buffer : out) {
      auto* memory = new Buffer;
      buffer = {memory->bytes.data(), 128, 0, reinterpret_cast<std::uintptr_t>(memory)};
    }
    return out.size();
  }
  std::size_t transmit(Instant, std::span<const port::TransmitBuffer> filled) override {
    for (const port::TransmitBuffer& buffer : filled)
      sent.emplace_back(buffer.data, buffer.data + buffer.size);
    discard(filled);
    return filled.size();
  }
  void discard(std::span<const port::TransmitBuffer> filled) override {
    for (const port::TransmitBuffer& buffer : filled) delete reinterpret_cast<Buffer*>(buffer.buffer);
  }
  const port::Capabilities& capabilities() const override { return capabilities_; }
  port::PortCounters counters() override { return {.sent_frames = sent.size()}; }
  std::size_t room() const override { return room_left; }

  std::vector<std::vector<std::byte>> arriving, kept, sent;
  std::size_t room_left = 64;
  port::Capabilities capabilities_{.name = "wire", .largest_frame = Bytes(128)};
};

class Group : public ::testing::Test {
 protected:
  void arrive(Wire& wire, const std::array<std::uint8_t, 6>& from) {
    std::vector<std::byte> frame(60);
    std::memcpy(frame.data(), kOurs.data(), 6);
    std::memcpy(frame.data() + 6, from.data(), 6);
    wire.arriving.push_back(frame);
    std::array<port::ReceivedFrame, 4> in;
    EXPECT_EQ(group_.receive(in), 1U);
  }
  void send(const std::array<std::uint8_t, 6>& to) {
    port::TransmitBuffer buffer;
    ASSERT_EQ(group_.reserve({&buffer, 1}), 1U);
    buffer.size = 60;
    std::memset(buffer.data, 0, 60);
    std::memcpy(buffer.data, to.data(), 6);
    group_.transmit(Instant(), {&buffer, 1});
  }
  Wire a_, b_;
  QueueGroup group_{{&a_, &b_}};
};

TEST_F(Group, FramesGoWhereTheDestinationWasHeard) {
  arrive(a_, station(1));
  arrive(b_, station(2));
  send(station(2));
  EXPECT_EQ(a_.sent.size(), 0U);
  EXPECT_EQ(b_.sent.size(), 1U);
}

TEST_F(Group, AStationThatMovedIsFollowed) {
  arrive(a_, station(1));
  arrive(b_, station(1));
  send(station(1));
  EXPECT_EQ(b_.sent.size(), 1U);
}

TEST_F(Group, UnknownAndGroupAddressesGoToAll) {
  send(station(7));
  send(kBroadcast);
  ASSERT_EQ(a_.sent.size(), 2U);
  EXPECT_EQ(a_.sent, b_.sent);
}

TEST_F(Group, AFullMemberHoldsEverybodyBack) {
  b_.room_left = 1;
  std::array<port::TransmitBuffer, 8> out;
  EXPECT_EQ(group_.reserve(out), 1U);
  group_.discard(std::span(out).first(1));
}

TEST_F(Group, CountsAreSums) {
  send(kBroadcast);
  EXPECT_EQ(group_.counters().sent_frames, 2U);
  EXPECT_EQ(group_.capabilities().name, "wire+wire");
}

}  // namespace
}  // namespace rocetune::dpdk
