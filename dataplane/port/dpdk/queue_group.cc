#include "dataplane/port/dpdk/queue_group.h"

#include <algorithm>
#include <cstring>

namespace rocetune::dpdk {
namespace {

std::uint64_t mac_at(const std::byte* bytes) {
  std::uint64_t mac = 0;
  std::memcpy(&mac, bytes, 6);
  return mac;
}
constexpr std::size_t kSource = 6;  // offset of the source address
// The group bit is the lowest of the first octet.
bool is_group(std::uint64_t mac) { return (mac & 1) != 0; }

}  // namespace

QueueGroup::QueueGroup(std::vector<GroupMember*> members)
    : members_(std::move(members)),
      capabilities_(members_.front()->capabilities()),
      batches_(members_.size()) {
  for (std::size_t i = 1; i < members_.size(); ++i) {
    const port::Capabilities& other = members_[i]->capabilities();
    capabilities_.name += "+" + other.name;
    capabilities_.largest_frame = std::min(capabilities_.largest_frame, other.largest_frame);
  }
  stations_.reserve(kStations);
  for (auto& batch : batches_) batch.reserve(2 * port::kMaxBurst);
}

void QueueGroup::learn(std::uint64_t source, std::size_t member) {
  for (Station& station : stations_) {
    if (station.mac != source) continue;
    station.member = member;
    return;
  }
  if (stations_.size() < kStations && !is_group(source)) stations_.push_back({source, member});
}

const QueueGroup::Station* QueueGroup::find(std::uint64_t mac) const {
  for (const Station& station : stations_) {
    if (station.mac == mac) return &station;
  }
  return nullptr;
}

std::size_t QueueGroup::receive(std::span<port::ReceivedFrame> in) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < members_.size() && count < in.size(); ++i) {
    const std::size_t member = (next_ + i) % members_.size();
    const std::size_t from = count;
    count += members_[member]->receive(in.subspan(count));
    std::uint64_t last = 0;
    for (const port::ReceivedFrame& frame : in.subspan(from, count - from)) {
      if (frame.bytes.size() < wire::EthernetHeader::kSize) continue;
      const std::uint64_t source = mac_at(frame.bytes.data() + kSource);
      if (source != last) learn(source, member);
      last = source;
    }
  }
  next_ = (next_ + 1) % members_.size();
  return count;
}

std::size_t QueueGroup::reserve(std::span<port::TransmitBuffer> out) {
  std::size_t room = out.size();
  for (const GroupMember* member : members_) room = std::min(room, member->room());
  return members_.front()->reserve(out.first(room));
}

void QueueGroup::flood(const port::TransmitBuffer& buffer) {
  for (std::size_t i = 1; i < members_.size(); ++i) {
    port::TransmitBuffer copy;
    if (members_.front()->reserve({&copy, 1}) == 0) continue;
    copy.size = buffer.size;
    std::memcpy(copy.data, buffer.data, buffer.size);
    batches_[i].push_back(copy);
  }
  batches_.front().push_back(buffer);
}

std::size_t QueueGroup::transmit(Instant now, std::span<const port::TransmitBuffer> filled) {
  for (const port::TransmitBuffer& buffer : filled) {
    const Station* station = find(mac_at(buffer.data));
    if (station == nullptr) {
      flood(buffer);
    } else {
      batches_[station->member].push_back(buffer);
    }
  }
  // Every member's turn, with frames or without: those that wait may leave.
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i]->transmit(now, batches_[i]);
    batches_[i].clear();
  }
  return filled.size();
}

port::PortCounters QueueGroup::counters() {
  port::PortCounters sum;
  for (GroupMember* member : members_) {
    for_each_field(sum, member->counters(),
                   [](std::uint64_t& total, std::uint64_t count) { total += count; });
  }
  return sum;
}

}  // namespace rocetune::dpdk
