#include "dataplane/tap/stream_table.h"

#include <cstring>

namespace rocetune::tap {
namespace {

// Finaliser of SplitMix64: every input bit moves every output bit.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}
std::uint64_t half(const wire::IpAddress& address, std::size_t at) {
  std::uint64_t v{};
  std::memcpy(&v, address.octets.data() + at, 8);
  return v;
}

}  // namespace

std::uint64_t StreamTable::hash(const wire::IpAddress& source, const wire::IpAddress& destination) {
  const std::uint64_t s = mixed(half(source, 0) + mixed(half(source, 8)));
  return mixed(s + half(destination, 0) + mixed(half(destination, 8)));
}
std::uint64_t StreamTable::hash(const StreamKey& key) {
  return mixed(hash(key.source, key.destination) + key.destination_qp.value());
}

void StreamTable::grow() {
  slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, kNone);
  const std::size_t mask = slots_.size() - 1;
  for (Index i = 0; i < size(); ++i) {
    std::size_t at = hash(streams_[i].key()) & mask;
    while (slots_[at] != kNone) at = (at + 1) & mask;
    slots_[at] = i;
  }
}

StreamTable::Index StreamTable::find_or_add(const StreamKey& key, bool& is_new) {
  is_new = false;
  for (const Index recent : recent_) {
    if (recent != kNone && streams_[recent].key() == key) return recent;
  }
  if (streams_.size() * 2 >= slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash(key) & mask;
  while (slots_[at] != kNone && !(streams_[slots_[at]].key() == key)) at = (at + 1) & mask;
  if (slots_[at] == kNone) {
    if (size() >= kMaxStreams) return kNone;
    slots_[at] = size();
    by_addresses_[hash(key.source, key.destination)].push_back(size());
    streams_.emplace_back(key);
    is_new = true;
  }
  recent_ = {slots_[at], recent_[0]};
  return slots_[at];
}

const std::vector<StreamTable::Index>& StreamTable::between(const wire::IpAddress& source,
                                                            const wire::IpAddress& destination) const {
  static const std::vector<Index> kEmpty;
  const auto found = by_addresses_.find(hash(source, destination));
  return found == by_addresses_.end() ? kEmpty : found->second;
}

}  // namespace rocetune::tap
