// Slots, lists, windows, numbers: what the engine's state is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/engine/completion.h"
#include "dataplane/engine/host_memory.h"
#include "dataplane/engine/memory_region.h"
#include "dataplane/engine/queue_pair_list.h"
#include "dataplane/engine/queue_pair_table.h"
#include "dataplane/engine/sequence.h"
#include "dataplane/engine/sequence_window.h"
#include "dataplane/engine/slot_pool.h"

namespace rocetune::engine {
namespace {

using ::testing::ElementsAre;

std::vector<int> content(const SlotPool<int>& pool, const SlotQueue& queue) {
  std::vector<int> all;
  for (std::uint32_t i = queue.head; i != kNoSlot; i = pool.next(i)) all.push_back(pool[i]);
  EXPECT_EQ(all.size(), queue.size);
  return all;
}

TEST(SlotPool, QueuesShareSlotsFirstInFirstOut) {
  SlotPool<int> pool(4);
  SlotQueue a;
  SlotQueue b;
  pool[pool.push(a)] = 1;
  pool[pool.push(b)] = 10;
  pool[pool.push(a)] = 2;
  pool[pool.push(a)] = 3;
  EXPECT_TRUE(pool.is_exhausted());
  EXPECT_THAT(content(pool, a), ElementsAre(1, 2, 3));
  pool.pop(a);
  EXPECT_FALSE(pool.is_exhausted());
  EXPECT_THAT(content(pool, a), ElementsAre(2, 3));
  EXPECT_THAT(content(pool, b), ElementsAre(10));
}

TEST(SlotPool, TakesOutOfTheMiddle) {
  SlotPool<int> pool(4);
  SlotQueue a;
  SlotQueue b;
  for (int i = 0; i < 4; ++i) pool[pool.push(a)] = i;
  pool.move(a, pool.next(a.head), b);  // the one behind the second
  EXPECT_THAT(content(pool, a), ElementsAre(0, 1, 3));
  EXPECT_THAT(content(pool, b), ElementsAre(2));
  pool.pop(a, pool.next(a.head));  // the last
  pool[pool.push(a)] = 7;
  EXPECT_THAT(content(pool, a), ElementsAre(0, 1, 7));
}

TEST(SlotPool, TakesAValueWithALinkOfItsOwn) {
  struct Request {
    int number = 0;
    std::uint32_t next = kNoSlot;
  };
  SlotPool<Request> pool(3);
  SlotQueue a;
  for (int i = 0; i < 3; ++i) pool[pool.push(a)].number = i;
  pool.pop(a);
  pool[pool.push(a)].number = 3;
  std::vector<int> all;
  for (std::uint32_t i = a.head; i != kNoSlot; i = pool.next(i)) all.push_back(pool[i].number);
  EXPECT_THAT(all, ElementsAre(1, 2, 3));
}

TEST(CompletionQueue, KeepsTheOrderHoweverFullItIs) {
  CompletionQueue queue(5);
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  Completion completion;
  for (int round = 0; round < 20; ++round) {
    // Sometimes emptied, sometimes not: the ring begins anew, or goes round.
    while (queue.reserve()) queue.push({.work_id = pushed++});
    EXPECT_EQ(queue.size(), 5u);
    for (int i = 0; i < (round % 3 == 0 ? 5 : 2); ++i) {
      ASSERT_TRUE(queue.pop(completion));
      EXPECT_EQ(completion.work_id, popped++);
    }
  }
  while (queue.pop(completion)) EXPECT_EQ(completion.work_id, popped++);
  EXPECT_EQ(popped, pushed);
}

TEST(QueuePairList, ServesInOrderAndListsOnce) {
  QueuePairList list(5);
  for (const std::uint32_t row : {3U, 1U, 3U, 4U}) list.push(row);
  EXPECT_EQ(list.size(), 3);
  EXPECT_EQ(list.pop(), 3);
  list.push(3);
  EXPECT_EQ(list.pop(), 1);
  EXPECT_EQ(list.pop(), 4);
  EXPECT_EQ(list.pop(), 3);
  EXPECT_TRUE(list.is_empty());
}

TEST(Sequence, UnwrapsNearItself) {
  const Sequence last = Sequence::starting_at(wire::Psn(0xFFFFFF));
  EXPECT_EQ(last.near(wire::Psn(2)) - last, 3);
  EXPECT_EQ((last + 3).near(wire::Psn(0xFFFFFE)) - last, -1);
  EXPECT_EQ((last + 1).psn(), wire::Psn(0));
  EXPECT_LT(last, last + 1);
}

TEST(SequenceWindow, AgreesWithAnArray) {
  for (const int by : {0, 1, 5, 63, 64, 65, 127, 128, 500}) {
    SequenceWindow window;
    std::array<bool, 128> model{};
    for (const int place : {0, 3, 62, 63, 64, 100, 126, 127}) {
      window.add(place);
      model[static_cast<std::size_t>(place)] = true;
    }
    window.remove(100);
    model[100] = false;
    window.advance(by);
    for (int place = 0; place < 128; ++place) {
      const bool expected = place + by < 128 && model[static_cast<std::size_t>(place + by)];
      EXPECT_EQ(window.contains(place), expected) << by << " " << place;
    }
    std::array<std::byte, SequenceWindow::kWireSize> wire{};
    window.emit(wire);
    EXPECT_EQ(SequenceWindow::parse(wire), window);
  }
}

TEST(SequenceWindow, FirstAndLast) {
  SequenceWindow window;
  EXPECT_EQ(window.last(), -1);
  EXPECT_EQ(window.first(), 128);
  window.add(70);
  window.add(9);
  EXPECT_EQ(window.first(), 9);
  EXPECT_EQ(window.last(), 70);
  window.remove(9);
  EXPECT_EQ(window.first(), 70);
}

TEST(RegionTable, ResolvesWithinBoundsAndAccess) {
  HostMemory memory(4);
  RegionTable table(4, memory);
  const MemoryKey key = table.add({.address = 1000, .length = 100, .access = kRemoteRead}).value();
  EXPECT_EQ(table.resolve(key, 1000, 100, kRemoteRead), (PayloadReference{key, 100, 0}));
  EXPECT_EQ(table.resolve(key, 1050, 50, 0), (PayloadReference{key, 50, 50}));
  EXPECT_FALSE(table.resolve(key, 1050, 51, 0));
  EXPECT_FALSE(table.resolve(key, 999, 1, 0));
  EXPECT_FALSE(table.resolve(key, 1100, 1, 0));
  EXPECT_FALSE(table.resolve(key, 0xFFFFFFFFFFFFFFF0, 0x20, 0));
  EXPECT_FALSE(table.resolve(key, 1000, 1, kRemoteWrite));
  EXPECT_FALSE(table.resolve(MemoryKey(key.value() + 1), 1000, 1, 0));
  EXPECT_FALSE(table.resolve(MemoryKey(0), 1000, 1, 0));
  EXPECT_FALSE(table.resolve(MemoryKey(0xFFFFFFFF), 1000, 1, 0));
}

TEST(RegionTable, AStaleKeyIsRefusedAfterItsRowIsUsedAgain) {
  HostMemory memory(1);
  RegionTable table(1, memory);
  const MemoryKey first = table.add({.address = 0, .length = 8}).value();
  EXPECT_FALSE(table.add({.address = 0, .length = 8}));
  ASSERT_TRUE(table.remove(first));
  EXPECT_FALSE(table.remove(first));
  const MemoryKey second = table.add({.address = 0, .length = 8}).value();
  EXPECT_NE(first, second);
  EXPECT_FALSE(table.resolve(first, 0, 8, 0));
  EXPECT_TRUE(table.resolve(second, 0, 8, 0));
}

TEST(RegionTable, RefusesNonsense) {
  HostMemory memory(4);
  RegionTable table(4, memory);
  EXPECT_FALSE(table.add({.address = 0, .length = 0}));
  EXPECT_FALSE(table.add({.address = UINT64_MAX, .length = 2}));
  EXPECT_FALSE(table.add({.address = 0, .length = 8, .access = kRemoteWrite}));
  EXPECT_FALSE(table.add({.address = 0, .length = 8, .access = 0x80}));
  EXPECT_TRUE(table.add({.address = UINT64_MAX, .length = 1}));
}

TEST(QueuePairTable, NumbersCarryShardAndGeneration) {
  QueuePairTable table(6, 2, 2);
  const std::uint32_t row = table.take();
  const wire::Qpn first = table[row].qpn;
  EXPECT_EQ(first.value() >> 22, 2);
  EXPECT_GE(first.value() & 7, 2);  // never 0 or 1
  EXPECT_EQ(table.row_of(first), row);
  table.release(row);
  EXPECT_EQ(table.row_of(first), kNoSlot);
  std::vector<std::uint32_t> rows;
  while (!table.is_full()) rows.push_back(table.take());
  EXPECT_EQ(rows.size(), 6);
  EXPECT_EQ(table.row_of(first), kNoSlot);
  EXPECT_NE(table[row].qpn, first);
}

TEST(QueuePairTable, AHundredThousandIdleOnesTakeLessThanAHundredMegabytes) {
  constexpr std::size_t kLists = 2 * sizeof(std::uint32_t);  // active, waiting for the port
  constexpr std::size_t kTimer = 24;
  constexpr std::size_t kFree = sizeof(std::uint32_t);
  EXPECT_LT(100'000 * (sizeof(QueuePair) + sizeof(QueuePairPath) + kLists + kTimer + kFree), 100'000'000);
}

}  // namespace
}  // namespace rocetune::engine
