// What two perftests tell each other over TCP around their traffic: pieces of fixed size, text or big-endian
// numbers, without frames. Whoever connected says each piece first, and the other answers with his own.
//
//   version · cycle buffer · cache line · path MTU · keys (each several times) · traffic · keys ·
//   five words of a report (bandwidth of WRITE and READ) · keys · farewell
//
// Source: linux-rdma/perftest, tag v4.5-0.17 (which calls itself 6.06, as Debian 12 ships it),
// src/perftest_communication.c, the exchange over Ethernet without RDMA CM.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "dataplane/base/error.h"
#include "dataplane/wire/ip.h"

namespace rocetune::perftest {

constexpr std::size_t kVersionSize = 16;  // text, filled up with zeros
constexpr std::size_t kNumberSize = 4;
constexpr std::size_t kMtuSize = 2;    // a digit and a zero
constexpr std::size_t kKeySize = 108;  // text and a zero
constexpr std::size_t kWordSize = 8;
inline constexpr std::string_view kFarewell("done\0", 5);

// A version as perftest compares it: 606 is 6.06.
constexpr unsigned kVersion = 606;
// Before, the pieces had other sizes; later ones still have these.
constexpr unsigned kOldestVersion = 570;

// What a queue pair's peer must know.
struct Key {
  std::uint16_t lid = 0;
  std::uint16_t reads = 0;  // READs and atomics that may be outstanding towards this side
  std::uint32_t qpn = 0;    // 24 bits
  std::uint32_t psn = 0;    // 24 bits
  std::uint32_t rkey = 0;
  std::uint64_t address = 0;
  wire::IpAddress gid;
  std::uint32_t srqn = 0;
  bool operator==(const Key&) const = default;
};

// What a side measured. Rates in MB/s of 2^20 bytes, or in Gb/s if it was told so; messages in millions.
struct Report {
  std::uint64_t size = 0;
  std::uint64_t iterations = 0;
  double peak = 0;
  double average = 0;
  double messages = 0;
  bool operator==(const Report&) const = default;
};
using ReportWords = std::array<std::string, 5>;

std::string version_piece();
std::string number_piece(std::uint32_t number);
// 256, 512, 1024, 2048 or 4096.
std::string mtu_piece(std::uint32_t mtu);
std::string key_piece(const Key& key);
ReportWords report_pieces(const Report& report);

// Errors of all: bad_input. `piece` has the size of its kind, or is wrong; `peer`: whom complaints are about.
Expected<unsigned> parse_version(std::string_view piece, const std::string& peer);
Expected<std::uint32_t> parse_number(std::string_view piece, const std::string& peer);
Expected<std::uint32_t> parse_mtu(std::string_view piece, const std::string& peer);
Expected<Key> parse_key(std::string_view piece, const std::string& peer);
Expected<Report> parse_report(const ReportWords& words, const std::string& peer);

}  // namespace rocetune::perftest
