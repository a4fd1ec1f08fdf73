#include "dataplane/port/memory_port.h"

#include <gtest/gtest.h>

#include <cstring>

namespace rocetune::port {
namespace {

void send(MemoryPort& port, std::string_view text) {
  TransmitBuffer buffer;
  ASSERT_EQ(port.reserve({&buffer, 1}), 1U);
  std::memcpy(buffer.data, text.data(), text.size());
  buffer.size = static_cast<std::uint32_t>(text.size());
  EXPECT_EQ(port.transmit(Instant(), {&buffer, 1}), 1U);
}

std::string text_of(const ReceivedFrame& frame) {
  return {reinterpret_cast<const char*>(frame.bytes.data()), frame.bytes.size()};
}

TEST(MemoryPort, WhatOneSendsTheOtherReceivesInOrder) {
  MemoryLink link({.buffers = 4});
  send(link.left(), "first");
  send(link.left(), "second");
  std::array<ReceivedFrame, 8> in;
  ASSERT_EQ(link.right().receive(in), 2U);
  EXPECT_EQ(text_of(in[0]), "first");
  EXPECT_EQ(text_of(in[1]), "second");
  EXPECT_EQ(link.left().receive(in), 0U);
}

TEST(MemoryPort, BothDirectionsAreApart) {
  MemoryLink link({.buffers = 4});
  send(link.left(), "to the right");
  send(link.right(), "to the left");
  std::array<ReceivedFrame, 8> in;
  ASSERT_EQ(link.left().receive(in), 1U);
  EXPECT_EQ(text_of(in[0]), "to the left");
}

TEST(MemoryPort, ABufferComesBackOnlyWhenReleased) {
  MemoryLink link({.buffers = 2});
  send(link.left(), "1");
  send(link.left(), "2");
  TransmitBuffer buffer;
  EXPECT_EQ(link.left().reserve({&buffer, 1}), 0U);
  std::array<ReceivedFrame, 1> in;
  ASSERT_EQ(link.right().receive(in), 1U);
  EXPECT_EQ(link.left().reserve({&buffer, 1}), 0U);
  link.right().release(in);
  EXPECT_EQ(link.left().reserve({&buffer, 1}), 1U);
  EXPECT_EQ(link.left().counters().no_transmit_buffer, 2U);
}

TEST(MemoryPort, ADiscardedBufferCanBeReservedAgain) {
  MemoryLink link({.buffers = 1});
  TransmitBuffer buffer;
  ASSERT_EQ(link.left().reserve({&buffer, 1}), 1U);
  link.left().discard({&buffer, 1});
  EXPECT_EQ(link.left().reserve({&buffer, 1}), 1U);
}

TEST(MemoryPort, CountsFramesAndBytes) {
  MemoryLink link({.buffers = 4});
  send(link.left(), "12345");
  std::array<ReceivedFrame, 8> in;
  ASSERT_EQ(link.right().receive(in), 1U);
  EXPECT_EQ(link.left().counters().sent_frames, 1U);
  EXPECT_EQ(link.left().counters().sent_bytes, 5U);
  EXPECT_EQ(link.right().counters().received_frames, 1U);
  EXPECT_EQ(link.right().counters().received_bytes, 5U);
}

}  // namespace
}  // namespace rocetune::port
