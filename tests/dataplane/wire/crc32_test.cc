#include "dataplane/wire/crc32.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rocetune::wire {
namespace {

ConstBytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

TEST(Crc32, GivesTheCheckValueOfThePolynomial) {
  for (const Crc32Method& method : crc32_methods()) {
    if (!method.usable) continue;
    EXPECT_EQ(~method.extend(kCrc32Start, bytes_of("123456789")), 0xCBF43926U) << method.name;
    EXPECT_EQ(method.extend(kCrc32Start, {}), kCrc32Start) << method.name;
  }
}

TEST(Crc32, IsTheRegisterBehindEightOnes) {
  const std::vector<std::byte> ones(8, std::byte{0xFF});
  EXPECT_EQ(crc32_extend(kCrc32Start, ones), 0xDEBB20E3U);
}

// Every length up to a wide block behind the widest loop and every alignment: where folding, reduction and
// tail meet.
TEST(Crc32, AllMethodsAgreeOnEveryLengthAndAlignment) {
  std::mt19937_64 random(1);
  std::vector<std::byte> data(2'000);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  Crc32Mask ones;
  for (std::byte& b : ones) b = static_cast<std::byte>(random() & random());
  // A bit-by-bit reference of its own.
  const auto reference = [](std::uint32_t r, ConstBytes bytes) {
    for (const std::byte b : bytes) {
      r ^= std::to_integer<std::uint32_t>(b);
      for (int i = 0; i < 8; ++i) r = r >> 1 ^ (r & 1 ? 0xEDB88320U : 0U);
    }
    return r;
  };
  for (std::size_t length = 0; length < 1'300; ++length) {
    const ConstBytes piece = ConstBytes(data).subspan(length % 17, length);
    const auto state = static_cast<std::uint32_t>(random());
    const std::uint32_t expected = reference(state, piece);
    std::vector<std::byte> set(piece.begin(), piece.end());
    for (std::size_t i = 0; i < std::min(length, kCrc32Mask); ++i) set[i] |= ones[i];
    const std::uint32_t expected_masked = reference(state, set);
    ASSERT_EQ(crc32_extend_masked(state, piece, ones), expected_masked) << length;
    for (const Crc32Method& method : crc32_methods()) {
      if (!method.usable) continue;
      ASSERT_EQ(method.extend(state, piece), expected) << method.name << " " << length;
      std::vector<std::byte> copied(piece.size() + 1, std::byte{0x77});
      ASSERT_EQ(method.copy(state, copied.data(), piece), expected) << method.name << " " << length;
      ASSERT_TRUE(std::equal(piece.begin(), piece.end(), copied.begin())) << method.name << " " << length;
      ASSERT_EQ(copied.back(), std::byte{0x77}) << method.name << " " << length;
      if (length >= kCrc32Mask) {
        ASSERT_EQ(method.masked(state, piece, ones), expected_masked) << method.name << " " << length;
      }
    }
  }
}

TEST(Crc32, GoesOnOverPieces) {
  std::mt19937_64 random(2);
  std::vector<std::byte> data(5'000);
  for (std::byte& b : data) b = static_cast<std::byte>(random());
  const std::uint32_t whole = crc32_extend(kCrc32Start, data);
  for (int i = 0; i < 200; ++i) {
    const std::size_t cut = random() % data.size();
    const std::uint32_t first = crc32_extend(kCrc32Start, ConstBytes(data).first(cut));
    ASSERT_EQ(crc32_extend(first, ConstBytes(data).subspan(cut)), whole);
  }
}

TEST(Crc32, AByteContributesWhateverStandsAroundIt) {
  std::vector<std::byte> data(40, std::byte{0x5A});
  const std::uint32_t before = crc32_extend(kCrc32Start, data);
  data[9] ^= std::byte{0xC3};
  EXPECT_EQ(crc32_extend(kCrc32Start, data) ^ before, crc32_byte_at(30)[0xC3]);
}

TEST(Crc32, TheChosenMethodIsUsable) { EXPECT_TRUE(crc32_method().usable); }

}  // namespace
}  // namespace rocetune::wire
