#include "dataplane/transport/pattern/shard.h"

#include <bit>

namespace rocetune::pattern {
namespace {

constexpr std::uint32_t kRegions = 16;
// A few round trips over memif, and far below the timeout of any plan.
constexpr Duration kAcknowledgementPatience = microseconds(4);
constexpr std::uint64_t kRegionAddress = std::uint64_t{1} << 32;

engine::EndpointOptions endpoint_options(const ShardOptions& options, std::uint32_t index,
                                         std::uint32_t queue_pairs, std::uint32_t requests) {
  engine::EndpointOptions out;
  out.queue_pairs = queue_pairs;
  out.send_requests = requests;
  out.receive_requests = requests;
  out.responder_resources = std::max(queue_pairs * 128, 1024U);
  out.memory_regions = kRegions;
  out.shard = index;
  out.shard_bits = static_cast<std::uint32_t>(std::bit_width(options.shards - 1));
  out.line_rate = options.line_rate;
  out.controller = options.controller;
  out.payload_is_copied = true;  // write_frame copies it
  // Round-trip times must not contain it, and both sides usually have the same control.
  using Kind = ControllerChoice::Kind;
  const bool takes_round_trips =
      options.controller.kind == Kind::swift || options.controller.kind == Kind::timely;
  if (!takes_round_trips) out.acknowledgement_patience = kAcknowledgementPatience;
  return out;
}

// Fields of a reflected struct of counters that are not 0.
template <class Counters>
std::map<std::string, std::uint64_t> nonzero(const Counters& counters,
                                             std::initializer_list<std::string_view> except) {
  std::map<std::string, std::uint64_t> out;
  for_each_field(counters, [&](std::string_view name, std::uint64_t value) {
    const bool is_left_out = std::find(except.begin(), except.end(), name) != except.end();
    if (value != 0 && !is_left_out) out.emplace(name, value);
  });
  return out;
}

using Counts = std::map<std::string, std::uint64_t>;
Counts difference_of(const Counts& before, const Counts& after) {
  Counts out;
  for (const auto& [name, count] : after) {
    const auto at = before.find(name);
    const std::uint64_t more = count - (at == before.end() ? 0 : at->second);
    if (more != 0) out.emplace(name, more);
  }
  return out;
}

}  // namespace

Shard::Shard(const ShardOptions& options, std::uint32_t index, std::uint32_t queue_pairs,
             std::uint32_t requests)
    : memory_(kRegions),
      endpoint_(std::make_unique<engine::Endpoint>(endpoint_options(options, index, queue_pairs, requests),
                                                   memory_)),
      neighbours_(options.mac, {options.address}) {}

Expected<> Shard::reserve_memory(Bytes size) {
  auto block = soft::MemoryBlock::allocate(size);
  if (!block) return tl::unexpected(block.error());
  block_ = std::move(*block);
  const auto access = engine::kLocalWrite | engine::kRemoteRead | engine::kRemoteWrite;
  const auto key =
      endpoint_->add_region({.address = kRegionAddress,
                             .length = static_cast<std::uint64_t>(size.count()),
                             .access = static_cast<std::uint8_t>(access),
                             .location = engine::HostMemory::location_of(block_.bytes().data())});
  if (!key) return tl::unexpected(key.error());
  registered_ = {block_.bytes().first(static_cast<std::size_t>(size.count())), kRegionAddress, *key};
  return {};
}

Expected<> Shard::create_pairs(std::uint32_t count, const Plan& plan) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto qpn =
        endpoint_->create({.send_depth = send_depth_for(plan), .receive_depth = 2 * plan.window});
    if (!qpn) return tl::unexpected(qpn.error());
    pairs_.push_back(*qpn);
  }
  return {};
}

SideResult Shard::counts() const {
  const engine::Statistics& statistics = endpoint_->statistics();
  const soft::WorkerCounters& worker = worker_counters();
  SideResult out{.tx_frames = statistics.tx_frames,
                 .rx_frames = statistics.rx_frames,
                 .retransmitted_frames = statistics.retransmitted_frames,
                 .ack_timeouts = statistics.ack_timeouts,
                 .sequence_naks_sent = statistics.sequence_naks_sent,
                 .rnr_naks_sent = statistics.rnr_naks_sent,
                 .ce_packets = statistics.rx_ce_packets,
                 .cnps_sent = statistics.cnps_sent,
                 .cnps_handled = statistics.cnps_handled};
  for (std::size_t i = 0; i < engine::kDropReasons; ++i) {
    const auto reason = static_cast<engine::DropReason>(i);
    if (statistics.dropped(reason) != 0) out.drops.emplace(enum_name(reason), statistics.dropped(reason));
  }
  out.port_drops = nonzero(port_counters(), {"received_frames", "received_bytes", "sent_frames", "sent_bytes",
                                             "no_transmit_buffer"});
  if (worker.hand_off_full != 0) out.port_drops.emplace("hand_off_full", worker.hand_off_full);
  out.faults = nonzero(fault_counters(), {"frames"});
  out.pauses = worker.pauses;
  out.paused_s = worker.paused.seconds();
  out.turns = worker.turns;
  out.busy_turns = worker.busy_turns;
  return out;
}

SideResult difference(const SideResult& before, const SideResult& after) {
  SideResult out = after;
  for_each_field(out, before, [](auto& member, const auto& from) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(member)>>) {
      member -= from;
    } else {
      member = difference_of(from, member);
    }
  });
  return out;
}

void add(SideResult& sum, const SideResult& more) {
  for_each_field(sum, more, [](auto& member, const auto& other) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(member)>>) {
      member += other;
    } else {
      for (const auto& [key, count] : other) member[key] += count;
    }
  });
}

}  // namespace rocetune::pattern
