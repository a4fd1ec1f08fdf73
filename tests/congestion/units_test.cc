#include "congestion/units.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

TEST(Units, TextFormsReadBack) {
  for (const std::int64_t n : {0LL, 1LL, 999LL, 1'024LL, 65'536LL, 1'500LL, 123'456'789LL}) {
    EXPECT_EQ(parse_bytes(to_text(Bytes(n))).value(), Bytes(n));
    EXPECT_EQ(parse_duration(to_text(Duration(n))).value(), Duration(n));
    EXPECT_EQ(parse_bit_rate(to_text(BitRate(n))).value(), BitRate(n));
    EXPECT_EQ(parse_ratio(to_text(Ratio(n))).value(), Ratio(n));
  }
}

TEST(Units, PicksTheLargestExactUnit) {
  EXPECT_EQ(to_text(Bytes(65'536)), "64KiB");
  EXPECT_EQ(to_text(Bytes(1'500)), "1500B");
  EXPECT_EQ(to_text(microseconds(1'500)), "1500us");
  EXPECT_EQ(to_text(gigabits_per_second(100)), "100Gbps");
  EXPECT_EQ(to_text(Ratio(125'000'000)), "12.5%");
}

TEST(Units, ABareNumberSaysWhatWasExpected) {
  const auto parsed = parse_bit_rate("100");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().found, "100");
  EXPECT_NE(parsed.error().allowed.find("unit missing"), std::string::npos);
  EXPECT_NE(parsed.error().allowed.find("100Gbps"), std::string::npos);
}

TEST(Units, RejectsWhatCannotBeHeldExactly) {
  EXPECT_TRUE(parse_bytes("1.5KiB"));
  EXPECT_EQ(parse_bytes("1.5KiB").value(), Bytes(1536));
  EXPECT_FALSE(parse_bytes("0.3B"));
  EXPECT_FALSE(parse_bytes("99999999999GiB"));
  EXPECT_FALSE(parse_bytes("-1B"));
  EXPECT_FALSE(parse_duration("5 parsecs"));
}

TEST(Units, DscpHasNames) {
  EXPECT_EQ(parse_dscp("af31").value(), Dscp(26));
  EXPECT_EQ(parse_dscp("cs6").value(), Dscp(48));
  EXPECT_FALSE(parse_dscp("64"));
  EXPECT_FALSE(parse_dscp("104"));
}

TEST(Units, TosByteIsDscpAndEcn) {
  EXPECT_EQ(TosByte(Dscp(26), Ecn::ect0).wire(), 106);
  EXPECT_EQ(TosByte::from_wire(104).dscp(), Dscp(26));
  EXPECT_EQ(TosByte::from_wire(104).ecn(), Ecn::not_ect);
}

TEST(Units, QuantaLastLongerOnSlowerLinks) {
  EXPECT_EQ(PauseQuanta(1).at(gigabits_per_second(100)), picoseconds(5'120));
  EXPECT_EQ(PauseQuanta(0xFFFF).at(gigabits_per_second(10)), picoseconds(65535LL * 51'200));
}

TEST(Units, TransmissionTimeRoundsUpAndBytesWithinRoundsDown) {
  EXPECT_EQ(transmission_time(Bytes(1), gigabits_per_second(800)), picoseconds(10));
  EXPECT_EQ(transmission_time(Bytes(1), bits_per_second(3)), Duration(2'666'666'666'667));
  EXPECT_EQ(bytes_within(microseconds(1), gigabits_per_second(100)), Bytes(12'500));
}

TEST(Units, PrioritySetsReadAsPeopleWriteThem) {
  EXPECT_EQ(parse_priority_set("3,4").value().mask(), 0x18);
  EXPECT_EQ(parse_priority_set("none").value(), PrioritySet());
  EXPECT_FALSE(parse_priority_set("3,8"));
  EXPECT_FALSE(parse_priority_set(""));
  EXPECT_EQ(to_text(PrioritySet(0x18)), "{3,4}");
}

TEST(UnitsDeathTest, OverflowIsAProgrammersMistake) {
  EXPECT_DEATH((void)(Bytes(INT64_MAX) + Bytes(1)), "assertion");
  EXPECT_DEATH((void)Priority(8), "assertion");
}

// A number may have any number of decimals, of which as many count as the unit can hold.
TEST(Units, DecimalsBeyondTheUnitAreZerosOrAnError) {
  EXPECT_EQ(parse_duration("1.5" + std::string(60, '0') + "ms"), microseconds(1500));
  const auto fine = parse_duration("0." + std::string(28, '0') + "3s");
  ASSERT_FALSE(fine);
  EXPECT_NE(fine.error().allowed.find("finer than can be held"), std::string::npos) << fine.error().allowed;
}

}  // namespace
}  // namespace rocetune
