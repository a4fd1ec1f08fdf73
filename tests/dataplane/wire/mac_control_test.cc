#include "dataplane/wire/mac_control.h"

#include <gtest/gtest.h>

#include "tests/dataplane/wire/hex.h"

namespace rocetune::wire {
namespace {

constexpr MacAddress kSource{{2, 0, 0, 0, 0, 0x10}};

TEST(MacControl, PfcFrameIsTheStandards) {
  PfcMessage message{.enabled = PrioritySet(0x08)};
  message.quanta[3] = PauseQuanta(0xFFFF);
  std::array<std::byte, kMinimumFrame> out{};
  ASSERT_EQ(emit_pfc(message, kSource, out), kMinimumFrame);
  auto expected =
      from_hex("0180c2000001 020000000010 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000");
  expected.resize(kMinimumFrame);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin()));
  EXPECT_EQ(std::get<PfcMessage>(*parse_mac_control(ConstBytes(out).subspan(14))), message);
}

TEST(MacControl, GlobalPauseIsAnotherThing) {
  std::array<std::byte, kMinimumFrame> out{};
  emit_global_pause({PauseQuanta(256)}, kSource, out);
  const auto parsed = parse_mac_control(ConstBytes(out).subspan(14));
  EXPECT_EQ(std::get<GlobalPause>(*parsed).quanta, PauseQuanta(256));
}

TEST(MacControl, OthersAreNamed) {
  EXPECT_EQ(std::get<OtherMacControl>(*parse_mac_control(from_hex("00020000"))).opcode, 2);
}

TEST(MacControl, APfcFrameNeedsAllItsTimers) {
  const auto payload = from_hex("0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000");
  for (std::size_t size = 0; size < payload.size(); ++size) {
    EXPECT_EQ(parse_mac_control(ConstBytes(payload).first(size)).error(), Malformed::truncated);
  }
}

}  // namespace
}  // namespace rocetune::wire
