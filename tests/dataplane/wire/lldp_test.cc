#include "dataplane/wire/lldp.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/dataplane/wire/hex.h"

namespace rocetune::wire {
namespace {

Lldp sample() {
  Lldp lldp{.chassis_id = "leaf1", .port_id = "Ethernet0", .ttl_seconds = 120, .system_name = "leaf1.lab"};
  lldp.ets_configuration = EtsTlv{.willing = true,
                                  .maximum_tcs = 3,
                                  .tc_of_priority = {15, 4, 1, 1, 15, 4, 1, 4},
                                  .bandwidth_percent = {0, 50, 0, 0, 50, 0, 0, 0},
                                  .selection = {0, 2, 0, 0, 2, 0, 0, 255}};
  lldp.ets_recommendation = EtsTlv{.bandwidth_percent = {100, 0, 0, 0, 0, 0, 0, 0}};
  lldp.pfc = PfcTlv{.willing = true, .capability = 4, .enabled = PrioritySet(0x34)};
  lldp.applications = {{Priority(3), 5, 26}, {Priority(6), 5, 48}, {Priority(3), 3, 4791}};
  lldp.is_complete = true;
  return lldp;
}

TEST(Lldp, ReadsBackWhatItWrote) {
  std::array<std::byte, 512> out{};
  const std::size_t size = emit_lldp(sample(), out);
  ASSERT_GT(size, 0U);
  EXPECT_EQ(parse_lldp(ConstBytes(out).first(size)).value(), sample());
}

TEST(Lldp, DoesNotWriteMoreThanThereIsRoomFor) {
  std::array<std::byte, 512> whole{};
  const std::size_t size = emit_lldp(sample(), whole);
  for (std::size_t room = 0; room < size; ++room) {
    std::vector<std::byte> out(room);
    EXPECT_EQ(emit_lldp(sample(), out), 0U);
  }
}

// 802.1Qaz PFC TLV as on the wire: willing 0, MBC 0, capability 4, priorities 2, 4, 5.
TEST(Lldp, PfcTlvByTheStandard) {
  const auto lldp = parse_lldp(from_hex("0207 04 0001020304 05 fe06 0080c2 0b 04 34 0000"));
  ASSERT_TRUE(lldp);
  EXPECT_EQ(lldp->chassis_id, "00:01:02:03:04:05");
  EXPECT_EQ(lldp->pfc, (PfcTlv{.capability = 4, .enabled = PrioritySet(0x34)}));
  EXPECT_TRUE(lldp->is_complete);
}

TEST(Lldp, CeeIsRecognised) {
  const auto lldp = parse_lldp(from_hex("0202 0741 fe04 001b21 02 0000"));
  ASSERT_TRUE(lldp);
  EXPECT_TRUE(lldp->has_cee_dcbx);
  EXPECT_FALSE(lldp->has_cin_dcbx);
  EXPECT_EQ(lldp->pfc, std::nullopt);
}

TEST(Lldp, KeepsWhatCameBeforeACut) {
  std::array<std::byte, 512> out{};
  const std::size_t size = emit_lldp(sample(), out);
  for (std::size_t cut = 8; cut < size; ++cut) {
    const auto lldp = parse_lldp(ConstBytes(out).first(cut));
    ASSERT_TRUE(lldp) << cut;
    EXPECT_EQ(lldp->chassis_id, "leaf1");
    EXPECT_FALSE(lldp->is_complete);
  }
}

TEST(Lldp, ShortOrganisationTlvsAreSkipped) {
  const auto lldp =
      parse_lldp(from_hex("0202 0741 fe03 0080c2 fe05 0080c2 0b 04 fe08 0080c2 09 00000000 0000"));
  ASSERT_TRUE(lldp);
  EXPECT_EQ(lldp->pfc, std::nullopt);
  EXPECT_EQ(lldp->ets_configuration, std::nullopt);
  EXPECT_TRUE(lldp->is_complete);
}

TEST(Lldp, WithoutAChassisItIsNotLldp) {
  EXPECT_FALSE(parse_lldp({}));
  EXPECT_FALSE(parse_lldp(from_hex("0000")));
}

}  // namespace
}  // namespace rocetune::wire
