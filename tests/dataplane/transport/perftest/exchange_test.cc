#include "dataplane/transport/perftest/exchange.h"

#include <gtest/gtest.h>

namespace rocetune::perftest {
namespace {

using namespace std::string_literals;

// The form of 6.06, of a device without LID.
const std::string kKeyText =
    "0000:0010:000011:a3c14d:00000237:00007f1ab8a10000:"
    "00:00:00:00:00:00:00:00:00:00:ff:ff:c6:12:00:01:00000000:\0"s;

Key key() {
  return {.reads = 16,
          .qpn = 0x11,
          .psn = 0xA3C14D,
          .rkey = 0x237,
          .address = 0x7F1AB8A10000,
          .gid = wire::IpAddress::v4(0xC6120001)};
}

TEST(Exchange, KeyIsWhatPerftestPrints) { EXPECT_EQ(key_piece(key()), kKeyText); }

TEST(Exchange, KeyIsUnderstood) {
  const auto parsed = parse_key(kKeyText, "peer");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(*parsed, key());
}

TEST(Exchange, KeyThatIsNoneIsRefused) {
  std::string without_end = kKeyText;
  without_end.back() = 'x';
  std::string not_hexadecimal = kKeyText;
  not_hexadecimal[3] = 'g';
  std::string shifted = kKeyText;  // one field too long, the next too short
  std::swap(shifted[4], shifted[5]);
  std::string missing = kKeyText;  // a field less
  missing[4] = '0';
  for (const std::string& text :
       {kKeyText.substr(0, 59), without_end, not_hexadecimal, shifted, missing, ""s}) {
    const auto parsed = parse_key(text, "198.18.0.1:18515");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::bad_input);
    EXPECT_TRUE(parsed.error().text().starts_with("198.18.0.1:18515: key: found ")) << parsed.error().text();
  }
}

TEST(Exchange, VersionsFromFiveSeventyOn) {
  EXPECT_EQ(version_piece(), "6.06" + std::string(12, '\0'));
  EXPECT_EQ(*parse_version(version_piece(), "peer"), 606U);
  EXPECT_EQ(*parse_version("6.23" + std::string(12, '\0'), "peer"), 623U);
  for (const std::string& text : {"5.33"s, "6"s, "6.1"s, ".06"s, "6,06"s, "six"s}) {
    std::string piece = text;
    piece.resize(kVersionSize, '\0');
    EXPECT_FALSE(parse_version(piece, "peer")) << text;
  }
  EXPECT_FALSE(parse_version("6.06", "peer"));
}

TEST(Exchange, PathMtuIsADigit) {
  for (std::uint32_t mtu = 256; mtu <= 4096; mtu *= 2) EXPECT_EQ(*parse_mtu(mtu_piece(mtu), "peer"), mtu);
  EXPECT_EQ(mtu_piece(1024), "3\0"s);
  for (const std::string& piece : {"0\0"s, "6\0"s, "33"s, "3"s}) EXPECT_FALSE(parse_mtu(piece, "peer"));
}

TEST(Exchange, NumbersAreBigEndian) {
  EXPECT_EQ(number_piece(4096), "\0\0\x10\0"s);
  EXPECT_EQ(*parse_number("\0\0\x10\0"s, "peer"), 4096U);
  EXPECT_FALSE(parse_number("\0\0\x10"s, "peer"));
}

TEST(Exchange, ReportsAreBigEndianDoubles) {
  const Report report{.size = 65536, .iterations = 5000, .peak = 2.0, .average = 1.5, .messages = 0.25};
  const ReportWords words = report_pieces(report);
  EXPECT_EQ(words[0], "\0\0\0\0\0\1\0\0"s);
  EXPECT_EQ(words[2], "\x40\0\0\0\0\0\0\0"s);
  EXPECT_EQ(*parse_report(words, "peer"), report);
}

}  // namespace
}  // namespace rocetune::perftest
