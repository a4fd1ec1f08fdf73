// Capture files as frames: pcap (both byte orders, micro- and nanoseconds, also the modified Kuznetzov form's
// magic refused by name) and pcapng (several sections and interfaces). Works on bytes in memory, hands out
// views.
//
// Source: the IETF drafts draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng; link types of tcpdump.org.
// Why not libpcap: docs/decisions/0011-capture-files.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/wire/bytes.h"

namespace rocetune::tap {

// What a frame begins with. Values are the registry's.
enum class LinkType : std::uint32_t {
  ethernet = 1,
  raw_ip = 101,
  linux_cooked = 113,
  raw_ipv4 = 228,
  raw_ipv6 = 229,
  linux_cooked_v2 = 276,
};

struct CaptureFrame {
  LinkType link = LinkType::ethernet;
  std::int64_t time_ns = 0;         // since 1970, as the file says
  std::uint32_t original_size = 0;  // on the wire; bytes.size() is smaller if the snap length cut it
  wire::ConstBytes bytes;
};

class CaptureReader {
 public:
  // Whether it begins as a capture file does: a magic number that open() knows, or refuses by its name.
  static bool is_capture(wire::ConstBytes file);
  // `file` must outlive the reader; `name` is for messages. Errors, all bad_input: not a capture file, a
  // version or link type that nothing here reads.
  static Expected<CaptureReader> open(wire::ConstBytes file, std::string name);

  // The next whole frame; none at the end. A file that ends inside a record ends there, with is_truncated().
  // Error (bad_input): a record that cannot be right, with its place; what came before was fine.
  Expected<std::optional<CaptureFrame>> next();
  bool is_truncated() const { return truncated_; }
  // "pcap, microseconds", "pcapng", …
  const std::string& format() const { return format_; }

 private:
  enum class Container { pcap, pcapng };
  struct Interface {
    LinkType link = LinkType::ethernet;
    std::uint32_t snap_length = 0;
    // Ticks of a time stamp: 10^-exponent or 2^-exponent seconds.
    bool is_binary = false;
    std::uint8_t exponent = 6;
    std::int64_t offset_seconds = 0;
  };

  CaptureReader(wire::ConstBytes file, std::string name) : file_(file), name_(std::move(name)) {}
  Expected<> open_pcap();
  Expected<> read_section_header();
  Expected<> read_interface(wire::ConstBytes body);
  Expected<std::optional<CaptureFrame>> next_pcap();
  Expected<std::optional<CaptureFrame>> next_pcapng();
  Expected<std::optional<CaptureFrame>> enhanced_packet(wire::ConstBytes body);
  Expected<std::optional<CaptureFrame>> simple_packet(wire::ConstBytes body);
  Expected<LinkType> link_type(std::uint32_t value) const;
  std::uint32_t u32(std::size_t at) const;
  std::uint16_t u16(std::size_t at) const;
  std::uint32_t u32(wire::ConstBytes bytes, std::size_t at) const;
  std::uint16_t u16(wire::ConstBytes bytes, std::size_t at) const;
  template <class... Args>
  tl::unexpected<Error> bad(fmt::format_string<Args...> format, Args&&... args) const {
    return tl::unexpected(
        Error(ErrorKind::bad_input,
              fmt::format("{}: byte {}: {}", name_, at_, fmt::format(format, std::forward<Args>(args)...))));
  }

  wire::ConstBytes file_;
  std::string name_;
  std::string format_;
  std::size_t at_ = 0;
  Container container_ = Container::pcap;
  bool swapped_ = false;  // the file's byte order is big-endian
  bool nanoseconds_ = false;
  bool truncated_ = false;
  std::vector<Interface> interfaces_;
};

}  // namespace rocetune::tap
