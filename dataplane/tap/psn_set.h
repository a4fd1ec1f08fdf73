// Which sequence numbers of a direction were seen. Covers the half circle behind the newest: a number that
// comes again after a wrap is new, as it is for the protocol.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "dataplane/wire/psn.h"

namespace rocetune::tap {

class PsnSet {
 public:
  // True if it was there already.
  bool insert(wire::Psn psn) {
    Page& page = page_of(psn.value() / kPageSize);
    std::uint64_t& word = page[psn.value() % kPageSize / 64];
    const std::uint64_t bit = std::uint64_t{1} << psn.value() % 64;
    const bool was_there = (word & bit) != 0;
    word |= bit;
    return was_there;
  }
  bool contains(wire::Psn psn) const {
    const std::uint32_t number = psn.value() / kPageSize;
    const Page* page = nullptr;
    if (number == last_number_ && last_ != nullptr) {
      page = last_;
    } else if (const auto found = pages_.find(number); found != pages_.end()) {
      page = found->second.get();
    }
    return page != nullptr && ((*page)[psn.value() % kPageSize / 64] >> psn.value() % 64 & 1) != 0;
  }

 private:
  static constexpr std::uint32_t kPageSize = 4096;
  static constexpr std::uint32_t kPages = (wire::Psn::kMask + 1) / kPageSize;
  using Page = std::array<std::uint64_t, kPageSize / 64>;

  Page& page_of(std::uint32_t number) {
    if (last_ != nullptr && number == last_number_) return *last_;
    std::unique_ptr<Page>& page = pages_[number];
    if (!page) {
      page = std::make_unique<Page>();
      // Entering a new page for the first time: what lies half a circle ahead is from the lap before.
      pages_.erase((number + kPages / 2) % kPages);
    }
    last_ = pages_[number].get();
    last_number_ = number;
    return *last_;
  }

  std::unordered_map<std::uint32_t, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  std::uint32_t last_number_ = 0;
};

}  // namespace rocetune::tap
