// The sniffer's queue over a device that is played by two functions.
#include "dataplane/verbs/sniffer.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <deque>

#include "dataplane/verbs/sniffer_queue.h"

namespace rocetune::verbs {
namespace {

constexpr std::uint32_t kSlotSize = 128;
constexpr std::uint32_t kSlots = 4;

// What the queue posted, and what it is to be told.
struct Device {
  std::deque<std::uint64_t> posted;
  std::deque<ibv_wc> done;
  std::size_t room = kSlots;
  bool is_broken = false;

  void arrive(std::uint32_t bytes, ibv_wc_status status = IBV_WC_SUCCESS) {
    ibv_wc wc{};
    wc.wr_id = posted.front();
    wc.byte_len = bytes;
    wc.status = status;
    posted.pop_front();
    done.push_back(wc);
  }
};

class SnifferQueueTest : public testing::Test {
 protected:
  SnifferQueueTest() {
    context_.ops.poll_cq = poll;
    context_.ops.post_recv = post;
    completions_.context = pair_.context = &context_;
    completions_.cq_context = pair_.qp_context = &device_;
  }
  static int poll(ibv_cq* completions, int most, ibv_wc* out) {
    auto& device = *static_cast<Device*>(completions->cq_context);
    if (device.is_broken) return -1;
    int count = 0;
    for (; count < most && !device.done.empty(); ++count) {
      out[count] = device.done.front();
      device.done.pop_front();
    }
    return count;
  }
  static int post(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr** refused) {
    auto& device = *static_cast<Device*>(pair->qp_context);
    if (device.posted.size() >= device.room) {
      *refused = request;
      return ENOMEM;
    }
    EXPECT_EQ(request->sg_list->length, kSlotSize);
    EXPECT_EQ(request->sg_list->lkey, 77u);
    device.posted.push_back(request->wr_id);
    return 0;
  }

  ibv_context context_{};
  ibv_cq completions_{};
  ibv_qp pair_{};
  Device device_;
  std::array<std::byte, std::size_t{kSlots} * kSlotSize> memory_{};
  SnifferQueue queue_{completions_, pair_, memory_, kSlotSize, 77};
  std::array<SniffedFrame, 8> frames_;
};

TEST_F(SnifferQueueTest, LendsWhatArrivedFromItsSlotAndPostsTheSlotAgain) {
  ASSERT_TRUE(queue_.post_all());
  EXPECT_EQ(device_.posted.size(), kSlots);
  device_.arrive(60);
  device_.arrive(100);
  ASSERT_EQ(queue_.receive(frames_), 2u);
  EXPECT_EQ(frames_[0].bytes.data(), memory_.data());
  EXPECT_EQ(frames_[0].bytes.size(), 60u);
  EXPECT_EQ(frames_[1].bytes.data(), memory_.data() + kSlotSize);
  EXPECT_EQ(frames_[1].bytes.size(), 100u);
  EXPECT_EQ(device_.posted.size(), kSlots - 2);
  queue_.release(std::span(frames_).first(2));
  EXPECT_EQ(device_.posted.size(), kSlots);
  EXPECT_EQ(queue_.counters().frames, 2u);
}

TEST_F(SnifferQueueTest, AFrameThatDidNotArriveIsCountedAndItsSlotPostedAgain) {
  ASSERT_TRUE(queue_.post_all());
  device_.arrive(60, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(queue_.receive(frames_), 0u);
  EXPECT_EQ(queue_.counters().errors, 1u);
  EXPECT_EQ(queue_.receive(frames_), 0u);
  EXPECT_EQ(device_.posted.size(), kSlots);
}

TEST_F(SnifferQueueTest, ASlotThatIsRefusedIsOfferedAgain) {
  ASSERT_TRUE(queue_.post_all());
  device_.arrive(60);
  ASSERT_EQ(queue_.receive(frames_), 1u);
  device_.room = kSlots - 1;
  queue_.release(std::span(frames_).first(1));
  EXPECT_EQ(device_.posted.size(), kSlots - 1);
  device_.room = kSlots;
  EXPECT_EQ(queue_.receive(frames_), 0u);
  EXPECT_EQ(device_.posted.size(), kSlots);
}

TEST_F(SnifferQueueTest, AQueueThatCannotBePolledIsCounted) {
  device_.is_broken = true;
  EXPECT_EQ(queue_.receive(frames_), 0u);
  EXPECT_EQ(queue_.counters().errors, 1u);
}

TEST_F(SnifferQueueTest, SlotsThatCannotBePostedAreAnError) {
  device_.room = 2;
  const auto posted = queue_.post_all();
  ASSERT_FALSE(posted);
  EXPECT_NE(posted.error().text().find("slot 2"), std::string::npos) << posted.error().text();
}

TEST(LinkRate, IsLanesTimesSpeed) {
  EXPECT_EQ(link_rate(2, 32), gigabits_per_second(100));   // EDR x4
  EXPECT_EQ(link_rate(2, 128), gigabits_per_second(400));  // NDR x4
  EXPECT_EQ(link_rate(1, 32), gigabits_per_second(25));
  EXPECT_EQ(link_rate(16, 64), gigabits_per_second(100));  // HDR x2
  EXPECT_FALSE(link_rate(3, 32));
  EXPECT_FALSE(link_rate(2, 0));
}

}  // namespace
}  // namespace rocetune::verbs
