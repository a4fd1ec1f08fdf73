#include "dataplane/transport/perftest/exchange.h"

#include <bit>
#include <charconv>

namespace rocetune::perftest {
namespace {

constexpr std::string_view kNothing("\0", 1);

// What a person can read of a piece that is not understood.
std::string shown(std::string_view piece) {
  std::string out;
  for (const char c : piece.substr(0, piece.find('\0'))) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

tl::unexpected<Error> not_understood(const std::string& peer, std::string_view what, std::string_view piece,
                                     std::string_view allowed) {
  return fail(ErrorKind::bad_input, "{}: {}: found {}, allowed: {}", peer, what, shown(piece), allowed);
}

std::string big_endian(std::uint64_t value, std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[size - 1 - i] = static_cast<char>(value >> 8 * i & 0xFF);
  return out;
}

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// Hexadecimal fields, each with a colon behind it.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}
  // The next field, of at most `digits` digits; 0 from the first one on that is wrong.
  std::uint64_t next(std::size_t digits) {
    const std::size_t colon = rest_.find(':');
    std::uint64_t value = 0;
    if (colon == std::string_view::npos || colon == 0 || colon > digits) return fail_all();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + colon, value, 16);
    if (error != std::errc() || end != rest_.data() + colon) return fail_all();
    rest_.remove_prefix(colon + 1);
    return value;
  }
  bool is_right() const { return is_right_ && rest_.empty(); }

 private:
  std::uint64_t fail_all() {
    is_right_ = false;
    rest_ = {};
    return 0;
  }
  std::string_view rest_;
  bool is_right_ = true;
};

}  // namespace

std::string version_piece() {
  std::string out = fmt::format("{}.{:02}", kVersion / 100, kVersion % 100);
  out.resize(kVersionSize, '\0');
  return out;
}

std::string number_piece(std::uint32_t number) { return big_endian(number, kNumberSize); }

std::string mtu_piece(std::uint32_t mtu) {
  const std::string out = std::to_string(std::countr_zero(mtu) - 7);
  ROCETUNE_ASSERT(std::has_single_bit(mtu) && mtu >= 256 && mtu <= 4096);
  return out + std::string(kNothing);
}

std::string key_piece(const Key& key) {
  std::string out = fmt::format("{:04x}:{:04x}:{:06x}:{:06x}:{:08x}:{:016x}:", key.lid, key.reads, key.qpn,
                                key.psn, key.rkey, key.address);
  for (const std::uint8_t octet : key.gid.octets) out += fmt::format("{:02x}:", octet);
  out += fmt::format("{:08x}:", key.srqn);
  out += kNothing;
  ROCETUNE_ASSERT(out.size() == kKeySize);
  return out;
}

ReportWords report_pieces(const Report& report) {
  return {big_endian(report.size, kWordSize), big_endian(report.iterations, kWordSize),
          big_endian(std::bit_cast<std::uint64_t>(report.peak), kWordSize),
          big_endian(std::bit_cast<std::uint64_t>(report.average), kWordSize),
          big_endian(std::bit_cast<std::uint64_t>(report.messages), kWordSize)};
}

Expected<unsigned> parse_version(std::string_view piece, const std::string& peer) {
  const std::string text(piece.substr(0, piece.find('\0')));
  const std::size_t dot = text.find('.');
  const std::string_view digits = "0123456789";
  const bool is_number = piece.size() == kVersionSize && dot != std::string::npos && dot >= 1 && dot <= 3 &&
                         text.size() == dot + 3 && text.find_first_not_of(digits) == dot &&
                         text.find_first_not_of(digits, dot + 1) == std::string::npos;
  if (!is_number) return not_understood(peer, "version of perftest", piece, "5.70 or later");
  unsigned whole = 0;
  unsigned hundredths = 0;
  std::from_chars(text.data(), text.data() + dot, whole);
  std::from_chars(text.data() + dot + 1, text.data() + text.size(), hundredths);
  const unsigned version = whole * 100 + hundredths;
  if (version < kOldestVersion) return not_understood(peer, "version of perftest", piece, "5.70 or later");
  return version;
}

Expected<std::uint32_t> parse_number(std::string_view piece, const std::string& peer) {
  if (piece.size() != kNumberSize) return not_understood(peer, "number", piece, "four bytes");
  return static_cast<std::uint32_t>(from_big_endian(piece));
}

Expected<std::uint32_t> parse_mtu(std::string_view piece, const std::string& peer) {
  if (piece.size() != kMtuSize || piece[0] < '1' || piece[0] > '5' || piece[1] != '\0') {
    return not_understood(peer, "path MTU", piece, "1 (256 bytes) to 5 (4096 bytes)");
  }
  return 128U << (piece[0] - '0');
}

Expected<Key> parse_key(std::string_view piece, const std::string& peer) {
  constexpr std::string_view kAllowed =
      "LID:READS:QPN:PSN:RKEY:ADDRESS:GID (16 octets):SRQN: in hexadecimal; perftest without a GID (-x) says "
      "less";
  if (piece.size() != kKeySize || !piece.ends_with(kNothing))
    return not_understood(peer, "key", piece, kAllowed);
  Fields fields(piece.substr(0, kKeySize - 1));
  Key key;
  key.lid = static_cast<std::uint16_t>(fields.next(4));
  key.reads = static_cast<std::uint16_t>(fields.next(4));
  key.qpn = static_cast<std::uint32_t>(fields.next(6));
  key.psn = static_cast<std::uint32_t>(fields.next(6));
  key.rkey = static_cast<std::uint32_t>(fields.next(8));
  key.address = fields.next(16);
  for (std::uint8_t& octet : key.gid.octets) octet = static_cast<std::uint8_t>(fields.next(2));
  key.srqn = static_cast<std::uint32_t>(fields.next(8));
  if (!fields.is_right()) return not_understood(peer, "key", piece, kAllowed);
  return key;
}

Expected<Report> parse_report(const ReportWords& words, const std::string& peer) {
  for (const std::string& word : words) {
    if (word.size() != kWordSize) return not_understood(peer, "report", word, "words of eight bytes");
  }
  return Report{.size = from_big_endian(words[0]),
                .iterations = from_big_endian(words[1]),
                .peak = std::bit_cast<double>(from_big_endian(words[2])),
                .average = std::bit_cast<double>(from_big_endian(words[3])),
                .messages = std::bit_cast<double>(from_big_endian(words[4]))};
}

}  // namespace rocetune::perftest
