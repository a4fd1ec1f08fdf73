// Which of many texts a line holds, found in one pass over it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace rocetune::evidence {

// Every text is looked for at its first two bytes, by table (128 KiB).
class TextIndex {
 public:
  // `text`: 2 bytes or more, and outlives the index. Several texts may have the same id.
  void add(std::string_view text, std::size_t id) {
    std::uint16_t& slot = slots_[key_of(text.data())];
    if (slot == 0) {
      chains_.emplace_back();
      slot = static_cast<std::uint16_t>(chains_.size());
    }
    chains_[slot - 1].push_back({text, id});
  }

  // Sets the bit of every id that has a text in the line (exact case); the other bits stay as they are.
  // `Bits`: a std::bitset or std::vector<bool> that has all ids.
  template <class Bits>
  void find(std::string_view line, Bits& bits) const {
    for (std::size_t at = 0; at + 1 < line.size(); ++at) {
      const std::uint16_t slot = slots_[key_of(line.data() + at)];
      if (slot == 0) continue;
      for (const Entry& entry : chains_[slot - 1]) {
        if (!bits[entry.id] && line.substr(at).starts_with(entry.text)) bits[entry.id] = true;
      }
    }
  }

 private:
  struct Entry {
    std::string_view text;
    std::size_t id;
  };
  static std::uint16_t key_of(const char* at) {
    std::uint16_t key;
    std::memcpy(&key, at, sizeof key);
    return key;
  }

  std::array<std::uint16_t, 65536> slots_{};  // 0: none; else one more than its place in chains_
  std::vector<std::vector<Entry>> chains_;
};

}  // namespace rocetune::evidence
