#include "dataplane/tap/capture_reader.h"

#include <algorithm>
#include <array>
#include <bit>

#include "congestion/fixed_point.h"

namespace rocetune::tap {
namespace {

using wire::ConstBytes;

constexpr std::uint32_t kPcapMicro = 0xA1B2C3D4;
constexpr std::uint32_t kPcapNano = 0xA1B23C4D;
constexpr std::uint32_t kPcapKuznetzov = 0xA1B2CD34;
constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A;  // reads the same in both byte orders
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr std::uint32_t kInterface = 1, kSimplePacket = 3, kEnhancedPacket = 6;
// Larger than any frame of any link; a length beyond it is a broken file, not a frame.
constexpr std::uint32_t kMaxFrame = 256 * 1024;
constexpr std::size_t kPcapHeader = 24;
constexpr std::size_t kPcapRecord = 16;

// a · 10^9 · b^-exponent, saturating: the file decides the numbers.
std::int64_t to_nanoseconds(std::uint64_t ticks, bool is_binary, std::uint8_t exponent) {
  UnsignedWide ns = UnsignedWide(ticks) * 1'000'000'000;
  if (is_binary) {
    ns = exponent < 127 ? ns >> exponent : 0;
  } else {
    for (std::uint8_t i = 0; i < exponent && ns != 0; ++i) ns /= 10;
  }
  return static_cast<std::int64_t>(std::min<UnsignedWide>(ns, INT64_MAX));
}

}  // namespace

std::uint32_t CaptureReader::u32(ConstBytes b, std::size_t at) const {
  const std::uint32_t big = wire::load32(b, at);
  return swapped_ ? big : __builtin_bswap32(big);
}
std::uint16_t CaptureReader::u16(ConstBytes b, std::size_t at) const {
  const std::uint16_t big = wire::load16(b, at);
  return swapped_ ? big : __builtin_bswap16(big);
}
std::uint32_t CaptureReader::u32(std::size_t at) const { return u32(file_, at); }
std::uint16_t CaptureReader::u16(std::size_t at) const { return u16(file_, at); }

Expected<LinkType> CaptureReader::link_type(std::uint32_t value) const {
  const auto type = static_cast<LinkType>(value & 0xFFFF);  // the upper half is about the FCS
  constexpr std::array kKnown{LinkType::ethernet, LinkType::raw_ip,   LinkType::linux_cooked,
                              LinkType::raw_ipv4, LinkType::raw_ipv6, LinkType::linux_cooked_v2};
  if (std::ranges::find(kKnown, type) == kKnown.end()) {
    return bad("link type {}; this reads 1 (Ethernet), 101, 228 and 229 (IP), 113 and 276 (Linux cooked)",
               value & 0xFFFF);
  }
  return type;
}

bool CaptureReader::is_capture(ConstBytes file) {
  if (file.size() < 4) return false;
  const std::uint32_t big = wire::load32(file, 0);
  if (big == kSectionHeader) return true;
  for (const std::uint32_t magic : {big, __builtin_bswap32(big)}) {
    if (magic == kPcapMicro || magic == kPcapNano || magic == kPcapKuznetzov) return true;
  }
  return false;
}

Expected<CaptureReader> CaptureReader::open(ConstBytes file, std::string name) {
  CaptureReader reader(file, std::move(name));
  if (file.empty()) return reader.bad("the file is empty; allowed: pcap or pcapng");
  if (file.size() < 12) return reader.bad("{} bytes are too few for a capture file", file.size());
  const std::uint32_t big = wire::load32(file, 0);
  if (big == kSectionHeader) {
    reader.container_ = Container::pcapng;
    reader.format_ = "pcapng";
    if (auto ok = reader.read_section_header(); !ok) return tl::unexpected(ok.error());
    return reader;
  }
  for (const bool swapped : {true, false}) {
    const std::uint32_t magic = swapped ? big : __builtin_bswap32(big);
    if (magic != kPcapMicro && magic != kPcapNano && magic != kPcapKuznetzov) continue;
    if (magic == kPcapKuznetzov)
      return reader.bad("a patched pcap variant (magic a1b2cd34); convert it to pcapng");
    reader.swapped_ = swapped;
    reader.nanoseconds_ = magic == kPcapNano;
    if (auto ok = reader.open_pcap(); !ok) return tl::unexpected(ok.error());
    return reader;
  }
  return reader.bad("not a capture file (begins with {:08x}); allowed: pcap or pcapng", big);
}

Expected<> CaptureReader::open_pcap() {
  if (file_.size() < kPcapHeader) return bad("the pcap header is cut off");
  const std::uint16_t major = u16(4);
  if (major != 2) return bad("pcap version {}.{}; this reads version 2", major, u16(6));
  const auto link = link_type(u32(20));
  if (!link) return tl::unexpected(link.error());
  interfaces_.push_back(Interface{.link = *link, .snap_length = u32(16)});
  format_ = fmt::format("pcap, {}, {}-endian", nanoseconds_ ? "nanoseconds" : "microseconds",
                        swapped_ ? "big" : "little");
  at_ = kPcapHeader;
  return {};
}

Expected<std::optional<CaptureFrame>> CaptureReader::next() {
  return container_ == Container::pcap ? next_pcap() : next_pcapng();
}

Expected<std::optional<CaptureFrame>> CaptureReader::next_pcap() {
  const std::size_t left = file_.size() - at_;
  if (left == 0) return std::nullopt;
  if (left < kPcapRecord) {
    truncated_ = true;
    at_ = file_.size();
    return std::nullopt;
  }
  const std::uint32_t captured = u32(at_ + 8);
  if (captured > kMaxFrame) return bad("a record claims {} bytes", captured);
  if (left - kPcapRecord < captured) {
    truncated_ = true;
    at_ = file_.size();
    return std::nullopt;
  }
  CaptureFrame frame{.link = interfaces_[0].link,
                     .time_ns = std::int64_t{u32(at_)} * 1'000'000'000 +
                                std::int64_t{u32(at_ + 4)} * (nanoseconds_ ? 1 : 1'000),
                     .original_size = u32(at_ + 12),
                     .bytes = file_.subspan(at_ + kPcapRecord, captured)};
  at_ += kPcapRecord + captured;
  return frame;
}

// Type, length, then the magic that tells the section's byte order.
Expected<> CaptureReader::read_section_header() {
  if (file_.size() - at_ < 28) {
    truncated_ = true;
    at_ = file_.size();
    return {};
  }
  const std::uint32_t big = wire::load32(file_, at_ + 8);
  if (big != kByteOrderMagic && __builtin_bswap32(big) != kByteOrderMagic) {
    return bad("a pcapng section without its byte-order mark (found {:08x})", big);
  }
  swapped_ = big == kByteOrderMagic;
  if (u16(at_ + 12) != 1)
    return bad("pcapng version {}.{}; this reads version 1", u16(at_ + 12), u16(at_ + 14));
  interfaces_.clear();
  return {};
}

Expected<> CaptureReader::read_interface(ConstBytes body) {
  if (body.size() < 8) return bad("an interface block of {} bytes", body.size());
  const auto link = link_type(u16(body, 0));
  if (!link) return tl::unexpected(link.error());
  Interface interface {
    .link = *link, .snap_length = u32(body, 4)
  };
  constexpr std::uint16_t kResolution = 9, kOffset = 14;
  for (std::size_t at = 8; at + 4 <= body.size();) {
    const std::uint16_t code = u16(body, at);
    const std::size_t size = u16(body, at + 2);
    if (code == 0 || at + 4 + size > body.size()) break;
    if (code == kResolution && size >= 1) {
      const std::uint8_t value = wire::load8(body, at + 4);
      interface.is_binary = (value & 0x80) != 0;
      interface.exponent = value & 0x7F;
    }
    if (code == kOffset && size >= 8) {
      const std::uint64_t low = u32(body, at + 4 + (swapped_ ? 4 : 0));
      const std::uint64_t high = u32(body, at + 4 + (swapped_ ? 0 : 4));
      interface.offset_seconds = static_cast<std::int64_t>(high << 32 | low);
    }
    at += 4 + (size + 3) / 4 * 4;
  }
  interfaces_.push_back(interface);
  return {};
}

Expected<std::optional<CaptureFrame>> CaptureReader::next_pcapng() {
  while (at_ < file_.size()) {
    const std::size_t left = file_.size() - at_;
    if (left >= 12 && wire::load32(file_, at_) == kSectionHeader) {
      if (auto ok = read_section_header(); !ok) return tl::unexpected(ok.error());
      if (truncated_) return std::nullopt;
    }
    const std::uint32_t size = left >= 12 ? u32(at_ + 4) : 0;
    if (left < 12 || (size >= 12 && size > left)) {
      truncated_ = true;
      at_ = file_.size();
      return std::nullopt;
    }
    if (size < 12 || size % 4 != 0) return bad("a pcapng block claims {} bytes", size);
    const std::uint32_t type = u32(at_);
    const ConstBytes body = file_.subspan(at_ + 8, size - 12);
    if (type == kInterface) {
      if (auto ok = read_interface(body); !ok) return tl::unexpected(ok.error());
    } else if (type == kEnhancedPacket || type == kSimplePacket) {
      auto frame = type == kEnhancedPacket ? enhanced_packet(body) : simple_packet(body);
      if (frame) at_ += size;
      return frame;
    }
    at_ += size;
  }
  return std::nullopt;
}

Expected<std::optional<CaptureFrame>> CaptureReader::enhanced_packet(ConstBytes body) {
  if (body.size() < 20) return bad("a packet block of {} bytes", body.size());
  const std::uint32_t id = u32(body, 0);
  if (id >= interfaces_.size()) return bad("a packet of interface {}, of which nothing was said", id);
  const Interface& interface = interfaces_[id];
  const std::uint32_t captured = u32(body, 12);
  if (captured > body.size() - 20)
    return bad("a packet claims {} bytes in a block of {}", captured, body.size());
  const std::uint64_t ticks = std::uint64_t{u32(body, 4)} << 32 | u32(body, 8);
  std::int64_t time = to_nanoseconds(ticks, interface.is_binary, interface.exponent);
  std::int64_t offset{};
  if (!__builtin_mul_overflow(interface.offset_seconds, std::int64_t{1'000'000'000}, &offset) &&
      !__builtin_add_overflow(time, offset, &offset)) {
    time = offset;
  }
  return CaptureFrame{.link = interface.link,
                      .time_ns = time,
                      .original_size = u32(body, 16),
                      .bytes = body.subspan(20, captured)};
}

// No time and no captured length: the snap length decides.
Expected<std::optional<CaptureFrame>> CaptureReader::simple_packet(ConstBytes body) {
  if (interfaces_.empty()) return bad("a packet before any interface");
  if (body.size() < 4) return bad("a packet block of {} bytes", body.size());
  const std::uint32_t original = u32(body, 0);
  std::size_t captured = std::min<std::size_t>(original, body.size() - 4);
  if (interfaces_[0].snap_length != 0) captured = std::min<std::size_t>(captured, interfaces_[0].snap_length);
  return CaptureFrame{
      .link = interfaces_[0].link, .original_size = original, .bytes = body.subspan(4, captured)};
}

}  // namespace rocetune::tap
