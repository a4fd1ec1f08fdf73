// SHA-256 (FIPS 180-4, section 6.2): what binds a plan to the state it was made for, and names a simulation's
// event log.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rocetune {

class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  Sha256& add(std::string_view bytes);
  // The number's eight bytes, most significant first.
  Sha256& add(std::uint64_t number);
  // Ends the message; nothing may be added afterwards.
  Digest finish();

 private:
  void add_block(const std::uint8_t* block);
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::size_t used_ = 0;      // bytes waiting in block_
  std::uint64_t length_ = 0;  // bytes so far
  bool is_finished_ = false;
};

// 64 lower-case hex digits.
std::string to_text(const Sha256::Digest& digest);
std::string sha256_text(std::string_view bytes);

}  // namespace rocetune
