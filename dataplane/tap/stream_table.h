// Streams by their key. Looked up for every packet: open addressing, and the last two hits first, as packets
// come in runs of data and answers.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "dataplane/tap/stream.h"

namespace rocetune::tap {

class StreamTable {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;

  // Makes the stream if it is new; `is_new` tells. kNone once kMaxStreams exist.
  Index find_or_add(const StreamKey& key, bool& is_new);
  Stream& operator[](Index i) { return streams_[i]; }
  const Stream& operator[](Index i) const { return streams_[i]; }
  Index size() const { return static_cast<Index>(streams_.size()); }
  // All streams from one address to another, oldest first.
  const std::vector<Index>& between(const wire::IpAddress& source, const wire::IpAddress& destination) const;

  // About 1.5 kB each: a capture made to fill memory stops here.
  static constexpr Index kMaxStreams = 200'000;

 private:
  static std::uint64_t hash(const StreamKey& key);
  static std::uint64_t hash(const wire::IpAddress& source, const wire::IpAddress& destination);
  void grow();

  std::deque<Stream> streams_;  // references stay good
  std::vector<Index> slots_;    // a power of two, at most half full; kNone: empty
  std::array<Index, 2> recent_{kNone, kNone};
  std::unordered_map<std::uint64_t, std::vector<Index>> by_addresses_;  // by hash; members are compared
};

}  // namespace rocetune::tap
