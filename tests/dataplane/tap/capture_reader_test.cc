#include "dataplane/tap/capture_reader.h"

#include <gtest/gtest.h>

#include "dataplane/tap/capture_analysis.h"
#include "tests/dataplane/wire/hex.h"

namespace rocetune::tap {
namespace {

using wire::from_hex;
using Bytes8 = std::vector<std::byte>;

// Little-endian pcap, microseconds, Ethernet; one frame of four bytes at 1.000002 s, 60 on the wire.
const std::string kHeader = "d4c3b2a1 0200 0400 00000000 00000000 00000400 01000000";
const std::string kRecord = "01000000 02000000 04000000 3c000000 aabbccdd";

std::string error_of(const std::string& hex) {
  const Bytes8 file = from_hex(hex);
  auto reader = CaptureReader::open(file, "f");
  if (!reader) return reader.error().text();
  for (;;) {
    const auto frame = reader->next();
    if (!frame) return frame.error().text();
    if (!*frame) return "no error";
  }
}

TEST(CaptureReader, ReadsAFrameOfPcap) {
  const Bytes8 file = from_hex(kHeader + kRecord);
  auto reader = CaptureReader::open(file, "f").value();
  EXPECT_EQ(reader.format(), "pcap, microseconds, little-endian");
  const auto frame = reader.next().value();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->time_ns, 1'000'002'000);
  EXPECT_EQ(frame->original_size, 60U);
  EXPECT_EQ(frame->bytes.size(), 4U);
  EXPECT_FALSE(reader.next().value());
  EXPECT_FALSE(reader.is_truncated());
}

TEST(CaptureReader, EveryCutInARecordIsATruncatedFile) {
  const Bytes8 file = from_hex(kHeader + kRecord + kRecord);
  for (std::size_t size = 24 + 20 + 1; size < file.size(); ++size) {
    auto reader = CaptureReader::open(wire::ConstBytes(file).first(size), "f").value();
    EXPECT_TRUE(reader.next().value());
    EXPECT_FALSE(reader.next().value());
    EXPECT_TRUE(reader.is_truncated()) << size;
    EXPECT_FALSE(reader.next().value());
  }
}

// A section in each byte order; an interface with nanoseconds, one with 2^-10 s.
TEST(CaptureReader, ReadsPcapngSectionsAndInterfaces) {
  const Bytes8 file = from_hex(
      "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"
      "01000000 20000000 0100 0000 00000400 0900 0100 09000000 0000 0000 20000000"
      "06000000 24000000 00000000 00000000 0a000000 02000000 3c000000 aabb0000 24000000"
      "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c"
      "00000001 00000020 0071 0000 00040000 0009 0001 8a000000 0000 0000 00000020"
      "0000000b 00000010 00000000 00000010"
      "00000006 00000024 00000000 00000000 00000800 00000004 00000004 aabbccdd 00000024");
  auto reader = CaptureReader::open(file, "f").value();
  const auto first = reader.next().value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->time_ns, 10);
  EXPECT_EQ(first->bytes.size(), 2U);
  const auto second = reader.next().value();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->link, LinkType::linux_cooked);
  EXPECT_EQ(second->time_ns, 2'000'000'000);  // 2048 / 2^10 s
  EXPECT_FALSE(reader.next().value());
  EXPECT_FALSE(reader.is_truncated());
}

TEST(CaptureReader, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
  EXPECT_NE(error_of("00").find("too few"), std::string::npos);
  EXPECT_NE(error_of("504b0304 00000000 00000000").find("not a capture file"), std::string::npos);
  EXPECT_NE(error_of("d4c3b2a1 0100 0400 00000000 00000000 00000400 01000000").find("version 1.4"),
            std::string::npos);
  EXPECT_NE(error_of("d4c3b2a1 0200 0400 00000000 00000000 00000400 69000000").find("link type 105"),
            std::string::npos);
  EXPECT_NE(error_of("34cdb2a1 0200 0400 00000000 00000000 00000400 01000000").find("a1b2cd34"),
            std::string::npos);
  EXPECT_NE(
      error_of(kHeader + "01000000 02000000 ffffff7f 3c000000 aabbccdd").find("f: byte 24: a record claims"),
      std::string::npos);
  EXPECT_NE(error_of("0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"
                     "06000000 20000000 00000000 00000000 0a000000 00000000 3c000000 20000000")
                .find("interface 0"),
            std::string::npos);
  EXPECT_NE(error_of("0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000"
                     "06000000 06000000 00000000")
                .find("claims 6 bytes"),
            std::string::npos);
}

TEST(CaptureAnalysis, ClaimedTimesMayBeAnything) {
  const Bytes8 file = from_hex(kHeader + "00000000 00000000 04000000 3c000000 aabbccdd" +
                               "ffffffff ffffffff 04000000 3c000000 aabbccdd");
  const auto facts = analyse_capture(file, "f", {});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->frames, 2);
}

// Found by the fuzzer: a later frame before and one after the first, further apart than a Duration holds.
TEST(CaptureAnalysis, TimesMayLieFarOnBothSidesOfTheFirst) {
  const Bytes8 file = from_hex(kHeader + "00000070 00000000 04000000 3c000000 aabbccdd" +
                               "00000000 00000000 04000000 3c000000 aabbccdd" +
                               "ffffffff 00000000 04000000 3c000000 aabbccdd");
  const auto facts = analyse_capture(file, "f", {});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->frames, 3);
  EXPECT_DOUBLE_EQ(facts->duration_s, 100.0 * 86'400);
}

TEST(MappedFile, NamesWhatIsNotThere) {
  EXPECT_EQ(MappedFile::open("does/not/exist").error().kind(), ErrorKind::absent);
  EXPECT_EQ(MappedFile::open("/dev/null").error().kind(), ErrorKind::bad_input);
}

}  // namespace
}  // namespace rocetune::tap
