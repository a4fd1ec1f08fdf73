#include "tests/dataplane/engine/schedule.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace rocetune::engine {
namespace {

constexpr std::uint32_t kMaxSteps = 200'000;

}  // namespace

Schedule::Side::Side(const EndpointOptions& options)
    : memory(options.memory_regions), endpoint(options, memory), bytes(kEnd * kSlot), shadow(kEnd * kSlot) {
  const std::uint64_t location = HostMemory::location_of(bytes.data());
  const auto add = [&](std::uint8_t access) {
    return endpoint.add_region({kBase, bytes.size(), access, location}).value();
  };
  key = add(kLocalWrite | kRemoteRead | kRemoteWrite | kRemoteAtomic);
  read_only = add(kRemoteRead);
  qpn = endpoint.create({}).value();
}

Schedule::Schedule(std::uint64_t seed, Coverage& coverage, Listener listener)
    : seed_(seed), random_(seed), coverage_(coverage), listener_(std::move(listener)) {
  make_parameters();
  sides_.emplace_back(options_);
  sides_.emplace_back(options_);
  connect();
  for (int index : {0, 1}) plan(index);
}

void Schedule::make_parameters() {
  options_ = {.queue_pairs = 1,
              .send_requests = kOperations,
              .receive_requests = kOperations,
              .responder_resources = 8,
              .memory_regions = 2,
              .line_rate = gigabits_per_second(10)};
  options_.payload_is_copied = chance(30);
  if (chance(30)) {
    options_.acknowledgement_patience = microseconds(1 + static_cast<std::int64_t>(random_.below(8)));
  }
  using Kind = ControllerChoice::Kind;
  constexpr std::array kinds{Kind::off, Kind::off, Kind::dcqcn, Kind::swift, Kind::timely, Kind::fixed};
  options_.controller.kind = kinds[random_.below(kinds.size())];
  parameters_.mtu = PathMtu::b256;
  parameters_.ack_timeout = static_cast<std::uint8_t>(4 + random_.below(4));  // 65 to 524 us
  parameters_.retry_count = chance(80) ? 7 : static_cast<std::uint8_t>(random_.below(3));
  parameters_.rnr_retry = chance(80) ? 7 : static_cast<std::uint8_t>(random_.below(3));
  parameters_.rnr_timer = static_cast<std::uint8_t>(1 + random_.below(6));
  parameters_.initiator_depth = static_cast<std::uint8_t>(1 + random_.below(4));
  parameters_.responder_resources = parameters_.initiator_depth;
  parameters_.end_to_end_credits = chance(30);
  parameters_.selective_repeat = chance(30);
  for (wire::Psn& psn : psns_) {
    psn = wire::Psn(
        static_cast<std::uint32_t>(chance(40) ? 0xFFFFFF - random_.below(20) : random_.below(1 << 24)));
  }
  const auto level = [&] {
    constexpr std::array levels{0, 0, 1, 5, 20};
    return levels[random_.below(levels.size())];
  };
  loss_ = level();
  duplication_ = level();
  reordering_ = level();
  corruption_ = level() / 4;
  marking_ = level();
  faulty_frames_ = chance(3) ? 2000 : 10 + random_.below(60);
  if (chance(3)) loss_ = 100;
}

void Schedule::connect() {
  for (int index : {0, 1}) {
    ConnectParameters p = parameters_;
    Side& side = sides_[static_cast<std::size_t>(index)];
    const auto address = [&](int host) {
      const auto number = static_cast<std::uint32_t>(host + 1);
      return is_ipv6() ? *wire::parse_ip_address(fmt::format("2001:db8::{}", number))
                       : wire::IpAddress::v4(0x0A000000 + number);
    };
    p.path.source = address(index);
    p.path.destination = address(1 - index);
    p.peer = peer_of(index).qpn;
    p.psn = psns_[static_cast<std::size_t>(index)];
    p.peer_psn = psns_[static_cast<std::size_t>(1 - index)];
    ROCETUNE_ASSERT(side.endpoint.connect(side.qpn, p).has_value());
  }
}

void Schedule::plan(int index) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  for (std::uint32_t slot = 0; slot < kEnd; ++slot) paint(side, slot, color_of(index) + slot);
  for (std::size_t word : {0, 1}) side.model[word] = pigment(color_of(1 - index) + kWords, word);
  const std::uint32_t count = static_cast<std::uint32_t>(random_.below(kOperations + 1));
  Instant at = now_;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (chance(40)) at = at + nanoseconds(static_cast<std::int64_t>(random_.below(20'000)));
    side.operations.push_back({.request = plan_request(index, i), .at = at});
  }
  if (count > 0 && chance(8)) spoil(side, side.operations[random_.below(count)]);
  if (chance(3)) {
    side.fails_at = now_ + nanoseconds(static_cast<std::int64_t>(random_.below(50'000)));
    may_fail_ = true;
  }
  // Receive requests of the other side for what this one sends.
  Side& peer = peer_of(index);
  Instant ready = now_;
  for (const Operation& operation : side.operations) {
    if (!takes_receive(operation.request)) continue;
    if (chance(20)) ready = ready + microseconds(static_cast<std::int64_t>(random_.below(300)));
    // With endless RNR retries such a schedule would never end.
    const bool never_comes = chance(2) && parameters_.rnr_retry != 7;
    const bool is_short = chance(2) && operation.request.kind == SendKind::send;
    may_fail_ = may_fail_ || never_comes || (is_short && operation.request.local.length > 0);
    if (never_comes) break;
    const std::uint32_t length = operation.request.local.length;
    peer.receives.push_back({.at = ready, .length = is_short ? length / 2 : length});
  }
}

SendRequest Schedule::plan_request(int index, std::uint32_t i) {
  constexpr std::array kinds{SendKind::send, SendKind::send,         SendKind::write,    SendKind::write,
                             SendKind::read, SendKind::compare_swap, SendKind::fetch_add};
  constexpr std::array<std::uint32_t, 8> lengths{0, 1, 31, 255, 256, 257, 700, 1500};
  Side& side = sides_[static_cast<std::size_t>(index)];
  SendRequest request{.work_id = i, .kind = kinds[random_.below(kinds.size())]};
  const bool is_atomic = request.kind == SendKind::compare_swap || request.kind == SendKind::fetch_add;
  request.signaled = true;
  request.fenced = chance(10);
  request.local = {kBase + std::uint64_t{kSource + i} * kSlot, is_atomic ? 8 : lengths[random_.below(8)],
                   side.key};
  request.remote_key = peer_of(index).key;
  std::uint32_t slot = kWritten + i;
  if (request.kind == SendKind::read) slot = kReadable;
  if (is_atomic) slot = kWords;
  request.remote_address = kBase + std::uint64_t{slot} * kSlot + (is_atomic ? 8 * random_.below(2) : 0);
  request.has_immediate = !is_atomic && request.kind != SendKind::read && chance(40);
  request.immediate = i;
  request.solicited = chance(20);
  request.swap_or_add = random_.next();
  // Half of the comparisons hold: the word is then what it was painted, or zero.
  request.compare =
      chance(50) ? pigment(color_of(1 - index) + kWords, (request.remote_address - kBase) / 8 % 2) : 0;
  return request;
}

// Makes a request that the peer must refuse.
void Schedule::spoil(Side& side, Operation& operation) {
  SendRequest& request = operation.request;
  if (request.kind == SendKind::send || request.local.length == 0) return;
  operation.is_bad = true;
  may_fail_ = true;
  switch (random_.below(3)) {
    case 0:
      request.remote_key = MemoryKey(0xABCDEF00);
      break;
    case 1:
      request.remote_address = kBase + std::uint64_t{kEnd} * kSlot;
      break;
    case 2:
      if (request.kind == SendKind::read) {
        request.remote_address = kBase - 1;
      } else {
        request.remote_key = (&side == &sides_[0] ? sides_[1] : sides_[0]).read_only;
      }
      break;
  }
}

std::string Schedule::run() {
  for (std::uint32_t steps = 0; broken_.empty(); ++steps) {
    const Instant next = next_event();
    if (next == Instant::never()) break;
    if (steps == kMaxSteps) {
      broken("does not come to rest");
      break;
    }
    now_ = std::max(now_, next);
    step();
  }
  if (broken_.empty()) check_rest();
  if (broken_.empty()) flush_and_check_all();
  for (int index : {0, 1}) {
    if (broken_.empty()) check_memory(index);
    const Statistics& s = sides_[static_cast<std::size_t>(index)].endpoint.statistics();
    for (std::size_t i = 0; i < s.drops.size(); ++i) coverage_.totals.drops[i] += s.drops[i];
    coverage_.totals.retransmitted_frames += s.retransmitted_frames;
    coverage_.totals.rnr_naks_sent += s.rnr_naks_sent;
    coverage_.totals.sequence_naks_sent += s.sequence_naks_sent;
    coverage_.totals.fatal_naks_sent += s.fatal_naks_sent;
    coverage_.totals.implied_naks += s.implied_naks;
    coverage_.totals.ack_timeouts += s.ack_timeouts;
    coverage_.totals.cnps_handled += s.cnps_handled;
  }
  coverage_.faults += faults_;
  return broken_;
}

Instant Schedule::next_event() const {
  Instant next = Instant::never();
  for (const Side& side : sides_) {
    next = std::min({next, side.endpoint.next_timeout(), side.fails_at});
    if (side.endpoint.has_frames()) next = std::min(next, now_ + nanoseconds(200));
    if (!side.ring.empty()) next = std::min(next, side.ring.front().first);
    for (const Operation& o : side.operations) {
      if (!o.is_posted) next = std::min(next, o.at);
    }
    for (const Receive& r : side.receives) {
      if (!r.is_posted) next = std::min(next, r.at);
    }
  }
  for (const Flying& f : flying_) next = std::min(next, f.arrives);
  return next;
}

void Schedule::step() {
  for (int index : {0, 1}) {
    deliver(index);
    sides_[static_cast<std::size_t>(index)].endpoint.on_timeout(now_);
    act(index);
    collect(index);
    pump(index);
    drain_ring(index);
    collect(index);
  }
}

// What the users do: post when it is time.
void Schedule::act(int index) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  for (std::size_t i = 0; i < side.receives.size(); ++i) {
    Receive& receive = side.receives[i];
    if (receive.is_posted || receive.at > now_) continue;
    const ReceiveRequest request{i, {kBase + (kReceived + i) * kSlot, receive.length, side.key}};
    receive.is_posted = true;
    if (!side.endpoint.post_receive(side.qpn, request)) receive.is_done = true;
  }
  for (Operation& operation : side.operations) {
    if (operation.is_posted || operation.at > now_) continue;
    operation.is_posted = true;
    if (!side.endpoint.post_send(side.qpn, operation.request)) operation.is_done = true;
  }
  if (side.fails_at <= now_) {
    side.fails_at = Instant::never();
    ROCETUNE_ASSERT(side.endpoint.fail(side.qpn).has_value());
  }
}

void Schedule::pump(int index) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  std::array<TransmitFrame, 8> frames;
  const std::size_t room = 1 + random_.below(frames.size());
  const std::size_t count = side.endpoint.poll_transmit(now_, std::span(frames).first(room));
  Instant leaves = side.ring.empty() ? now_ : side.ring.back().first;
  for (std::size_t i = 0; i < count; ++i) {
    // With copied payload the frame must be sealed before the next call.
    if (!options_.payload_is_copied && chance(30)) {
      leaves = leaves + nanoseconds(static_cast<std::int64_t>(random_.below(3000)));
    }
    side.ring.emplace_back(leaves, frames[i]);
  }
  if (options_.payload_is_copied) drain_ring(index);
}

void Schedule::drain_ring(int index) {
  Side& side = sides_[static_cast<std::size_t>(index)];
  while (!side.ring.empty() && (side.ring.front().first <= now_ || options_.payload_is_copied)) {
    const TransmitFrame& frame = side.ring.front().second;
    std::vector<std::byte> bytes(frame.size());
    seal(frame, side.memory, bytes);
    const std::uint64_t ticket = frame.ticket;
    side.ring.pop_front();
    if (!options_.payload_is_copied) side.endpoint.on_transmitted(ticket);
    launch(1 - index, std::move(bytes));
  }
}

void Schedule::launch(int to, std::vector<std::byte> bytes) {
  if (listener_) listener_(now_, bytes);
  const bool is_faulty = frames_++ < faulty_frames_;
  Instant arrives = now_ + microseconds(1);
  if (!is_faulty) {
    flying_.push_back({arrives, std::move(bytes), to});
    return;
  }
  // CE in the ToS byte, or in the middle of the traffic class's second half.
  if (chance(marking_)) bytes[15] |= is_ipv6() ? std::byte{0x30} : std::byte{3};
  if (chance(duplication_)) {
    ++faults_;
    const auto later = nanoseconds(static_cast<std::int64_t>(random_.below(chance(50) ? 3000 : 300'000)));
    flying_.push_back({arrives + later, bytes, to});
  }
  if (chance(loss_)) {
    ++faults_;
    return;
  }
  if (chance(corruption_)) {
    ++faults_;
    bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(1U << random_.below(8));
    if (chance(10)) bytes.resize(random_.below(bytes.size()));
  }
  if (chance(reordering_)) {
    ++faults_;
    arrives = arrives + nanoseconds(static_cast<std::int64_t>(random_.below(chance(80) ? 5000 : 500'000)));
  }
  flying_.push_back({arrives, std::move(bytes), to});
}

void Schedule::deliver(int index) {
  const auto due = [&](const Flying& f) { return f.to == index && f.arrives <= now_; };
  std::vector<ReceivedFrame> batch;
  for (const Flying& f : flying_) {
    if (due(f)) batch.push_back({f.bytes});
  }
  if (batch.empty()) return;
  sides_[static_cast<std::size_t>(index)].endpoint.on_frames(now_, batch);
  std::erase_if(flying_, due);
}

}  // namespace rocetune::engine
