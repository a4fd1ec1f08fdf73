// What a host asks of its engine: the messages of its flows, and of its parts in jobs.
#include <algorithm>

#include "dataplane/fabric/host_node.h"

namespace rocetune::fabric {
namespace {

constexpr std::uint64_t kBase = 0x10000;  // what requests call the first byte of a region
// Messages of a flow that are posted before their turn: with one behind the one that is being sent the engine
// is never idle between two, and a request takes memory only while its data are on their way.
constexpr std::uint64_t kMessagesAhead = 2;

// What comes back with a completion: whose it is, and how long the message was.
constexpr int kLengthBits = 32;
static_assert(engine::kLongestMessage < std::uint64_t{1} << kLengthBits);
std::uint64_t work_id_of(std::uint32_t owner, std::uint64_t bytes) {
  return std::uint64_t{owner} << kLengthBits | bytes;
}
std::uint32_t owner_of(std::uint64_t work_id) { return static_cast<std::uint32_t>(work_id >> kLengthBits); }
std::uint32_t bytes_of(std::uint64_t work_id) { return static_cast<std::uint32_t>(work_id); }

// Regions begin with nothing: one without a byte cannot be registered.
std::uint64_t region_length(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, 1); }

}  // namespace

std::uint32_t HostNode::add_channel(Channel channel) {
  const auto index = static_cast<std::uint32_t>(channels_.size());
  const std::uint32_t row = channel.local.row();
  if (row >= channel_of_.size()) channel_of_.resize(row + 1);
  channel_of_[row] = index;
  channels_.push_back(std::move(channel));
  return index;
}

namespace {

struct End {
  HostNode& host;
  engine::Endpoint& endpoint;
  wire::Qpn qpn;
  const ControllerChoice* controller = nullptr;
};

// `mtu`: the smaller one of what both have, as connection managers agree on it. `port`: of UDP, that both
// ends send from.
void connect_end(const End& here, const End& there, const HostParameters& parameters, engine::PathMtu mtu,
                 std::uint16_t port) {
  const engine::ConnectParameters p{.path = {.source = HostNode::address_of(here.host.id()),
                                             .destination = HostNode::address_of(there.host.id()),
                                             .tos = TosByte(parameters.data_dscp, Ecn::ect0),
                                             .source_port = port},
                                    .peer = there.qpn,
                                    .mtu = mtu,
                                    .ack_timeout = parameters.ack_timeout,
                                    .initiator_depth = 0,
                                    .responder_resources = 0,
                                    .controller = here.controller,
                                    .selective_repeat = parameters.selective_repeat};
  ROCETUNE_ASSERT(here.endpoint.connect(here.qpn, p).has_value());
}

// As rdma-core makes it of a flow label: 14 bits that differ from one connection to the next.
std::uint16_t port_of(std::uint32_t number) {
  return static_cast<std::uint16_t>(0xC000 | (number * 0x9E37U >> 2 & 0x3FFF));
}

// A region of `from` whose bytes are expected, in order, in one of `to`.
struct Regions {
  engine::MemoryKey local;
  engine::MemoryKey remote;
};
struct Side {
  engine::Endpoint& endpoint;
  engine::SyntheticMemory& memory;
};
Regions add_regions(const Side& from, const Side& to, std::uint64_t bytes) {
  const auto region = [&](engine::Endpoint& endpoint, std::uint8_t access) {
    return endpoint.add_region({.address = kBase, .length = region_length(bytes), .access = access}).value();
  };
  const Regions out{region(from.endpoint, 0),
                    region(to.endpoint, engine::kLocalWrite | engine::kRemoteWrite)};
  const auto named = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  to.memory.expect(out.remote, 0, from.memory.content_of({out.local, named, 0}));
  return out;
}

}  // namespace

void HostNode::connect(HostNode& from, HostNode& to, const Flow& flow, std::uint32_t number) {
  const Regions regions = add_regions({from.endpoint_, from.memory_}, {to.endpoint_, to.memory_}, flow.bytes);
  const wire::Qpn ours = from.endpoint_.create({.send_depth = flow.window, .receive_depth = 1}).value();
  const wire::Qpn peer = to.endpoint_.create({.send_depth = 1, .receive_depth = 1}).value();
  const End here{from, from.endpoint_, ours};
  const End there{to, to.endpoint_, peer};
  const auto before = std::ranges::count(from.sendings_, flow.to, [](const Sending& s) { return s.flow.to; });
  const std::uint16_t port = from.parameters_.hash == FlowHash::hpcc
                                 ? static_cast<std::uint16_t>(kHpccFirstPort + before)
                                 : port_of(number);
  const engine::PathMtu mtu = std::min(from.parameters_.mtu, to.parameters_.mtu);
  connect_end(here, there, from.parameters_, mtu, port);
  connect_end(there, here, to.parameters_, mtu, port);
  to.echoes_.push_back({peer, ours, from.id()});
  const auto which = static_cast<std::uint32_t>(from.sendings_.size());
  const std::uint32_t channel = from.add_channel(
      {.qpn = ours, .number = number, .owner = which, .local = regions.local, .remote = regions.remote});
  from.sendings_.push_back({.flow = flow, .channel = channel});
  from.set_timer(flow.start, timer(kStart, which << 1));
}

std::uint32_t HostNode::add_rank(const Job& job, Rank rank) {
  parts_.emplace_back(job, rank);
  const auto part = static_cast<std::uint32_t>(parts_.size() - 1);
  set_timer(job.start, timer(kStart, part << 1 | 1));
  return part;
}

void HostNode::join(const Member& a, const Member& b, std::uint32_t number) {
  const std::uint32_t window = a.host.parts_[a.part].progress.job().window;
  const engine::QueuePairOptions depths{.send_depth = window, .receive_depth = window};
  const End here{a.host, a.host.endpoint_, a.host.endpoint_.create(depths).value(), a.controller};
  const End there{b.host, b.host.endpoint_, b.host.endpoint_.create(depths).value(), b.controller};
  const engine::PathMtu mtu = std::min(a.host.parameters_.mtu, b.host.parameters_.mtu);
  connect_end(here, there, a.host.parameters_, mtu, port_of(number));
  connect_end(there, here, b.host.parameters_, mtu, port_of(number));
  const auto add = [&](const Member& from, const End& end, const Member& to, const End& other) {
    const Regions regions = add_regions({from.host.endpoint_, from.host.memory_},
                                        {to.host.endpoint_, to.host.memory_}, from.bytes);
    const std::uint32_t channel = from.host.add_channel({.qpn = end.qpn,
                                                         .number = number,
                                                         .is_of_job = true,
                                                         .owner = from.part,
                                                         .local = regions.local,
                                                         .remote = regions.remote});
    Part& part = from.host.parts_[from.part];
    part.channel_of.emplace(to.host.parts_[to.part].progress.rank(), channel);
    to.host.echoes_.push_back({other.qpn, end.qpn, from.host.id()});
    // As many as the peer may send before it hears of one: none ever finds no receive request.
    for (std::uint32_t i = 0; i < window; ++i)
      ROCETUNE_ASSERT(
          from.host.endpoint_.post_receive(end.qpn, {.work_id = work_id_of(from.part, 0)}).has_value());
  };
  add(a, here, b, there);
  add(b, there, a, here);
}

bool HostNode::post(Instant now, std::uint32_t which, std::uint64_t bytes,
                    std::optional<std::uint32_t> immediate) {
  Channel& channel = channels_[which];
  const std::uint64_t at = kBase + channel.posted_bytes;
  const auto length = static_cast<std::uint32_t>(bytes);
  const auto posted = endpoint_.post_send(channel.qpn, {.work_id = work_id_of(which, bytes),
                                                        .kind = engine::SendKind::write,
                                                        .has_immediate = immediate.has_value(),
                                                        .immediate = immediate.value_or(0),
                                                        .local = {at, length, channel.local},
                                                        .remote_address = at,
                                                        .remote_key = channel.remote});
  if (!posted) return false;  // its window is full
  channel.posted_bytes += bytes;
  if (are_latencies_wanted()) channel.posted.push(now);
  return true;
}

void HostNode::post(Instant now, const Sending& sending) {
  const Channel& channel = channels_[sending.channel];
  const Flow& flow = sending.flow;
  const std::uint64_t until =
      std::min(flow.bytes, channel.fetched_bytes + kMessagesAhead * std::uint64_t{flow.message});
  while (channel.posted_bytes < until) {
    const std::uint64_t rest = flow.bytes - channel.posted_bytes;
    if (!post(now, sending.channel, std::min<std::uint64_t>(rest, flow.message), std::nullopt)) return;
  }
}

void HostNode::on_fetched(Instant now, const engine::PayloadReference& payload) {
  Channel& channel = channels_[channel_of_[payload.region.row()]];
  channel.fetched_bytes = std::max(channel.fetched_bytes, payload.offset + payload.length);
  if (!channel.is_of_job) post(now, sendings_[channel.owner]);
}

void HostNode::post_waiting(Instant now, std::uint32_t which) {
  Fifo<JobMessage>& waiting = channels_[which].waiting;
  while (!waiting.is_empty()) {
    const JobMessage& message = waiting.front();
    if (!post(now, which, message.bytes, message.immediate)) return;
    waiting.pop();
  }
}

void HostNode::take_completions(Instant now) {
  engine::Completion completion;
  while (endpoint_.poll_completion(completion)) on_completion(now, completion);
}

void HostNode::on_completion(Instant now, const engine::Completion& completion) {
  if (completion.status != engine::CompletionStatus::success) {
    ++failures_;
    return;
  }
  const std::uint32_t owner = owner_of(completion.work_id);
  if (completion.kind == engine::CompletionKind::receive_immediate) {
    ROCETUNE_ASSERT(endpoint_.post_receive(completion.qpn, {.work_id = completion.work_id}).has_value());
    parts_[owner].progress.on_received(completion.immediate, released_);
    send_messages(now, owner);
    return finish_steps(now, owner);
  }
  const std::uint32_t bytes = bytes_of(completion.work_id);
  Channel& channel = channels_[owner];
  completed_bytes_ += bytes;
  if (!channel.posted.is_empty()) {
    note_message(now - channel.posted.front());
    channel.posted.pop();
  }
  if (channel.is_of_job) {
    parts_[channel.owner].progress.on_acknowledged();
    post_waiting(now, owner);
    return finish_steps(now, channel.owner);
  }
  Sending& sending = sendings_[channel.owner];
  sending.outcome.completed_bytes += bytes;
  if (sending.outcome.completed_bytes == sending.flow.bytes) {
    sending.outcome.finished = now;
    note_finished();
  }
  post(now, sending);
}

void HostNode::begin_step(Instant now, std::uint32_t part) {
  JobRank& progress = parts_[part].progress;
  progress.begin(now);
  if (progress.compute() > Duration(0)) {
    set_timer(now + progress.compute(), timer(kCompute, part));
  } else {
    start_step(now, part);
  }
}

void HostNode::start_step(Instant now, std::uint32_t part) {
  parts_[part].progress.start(released_);
  send_messages(now, part);
  finish_steps(now, part);
}

// Hands what the part has released to its channels, and to NVLink.
void HostNode::send_messages(Instant now, std::uint32_t part) {
  Part& sender = parts_[part];
  for (const JobMessage& message : released_) {
    if (const auto neighbour = sender.neighbour_of.find(message.to); neighbour != sender.neighbour_of.end()) {
      neighbours_.push({.port = neighbour->second.port,
                        .bytes = static_cast<std::uint32_t>(message.bytes),
                        .from_part = part,
                        .to_part = neighbour->second.part,
                        .immediate = message.immediate});
      continue;
    }
    const std::uint32_t channel = sender.channel_of.at(message.to);
    channels_[channel].waiting.push(message);
    post_waiting(now, channel);
  }
  released_.clear();
  send_to_neighbours(now);
}

void HostNode::finish_steps(Instant now, std::uint32_t part) {
  JobRank& progress = parts_[part].progress;
  if (progress.is_finished() || !progress.is_step_finished()) return;
  if (progress.finish_step(now)) {
    begin_step(now, part);
  } else {
    note_finished();
  }
}

void HostNode::join_neighbours(const Member& a, const Member& b, std::uint16_t port_there,
                               std::uint16_t port_back) {
  Part& here = a.host.parts_[a.part];
  Part& there = b.host.parts_[b.part];
  here.neighbour_of.emplace(there.progress.rank(), Part::Neighbour{port_there, b.part});
  there.neighbour_of.emplace(here.progress.rank(), Part::Neighbour{port_back, a.part});
}

void HostNode::send_to_neighbours(Instant now) {
  if (!neighbours_.may_send()) return;
  const NeighbourMessage& message = neighbours_.begin();
  Packet& packet = packets().take();
  packet.kind = PacketKind::neighbour;
  packet.wire_bytes = message.bytes;
  packets().body(packet).set_link({.part = message.to_part, .immediate = message.immediate});
  set_timer(send(now, message.port, packet), timer(kNeighbourSent));
}

void HostNode::on_sent_to_neighbour(Instant now) {
  const std::uint32_t part = neighbours_.on_sent().from_part;
  parts_[part].progress.on_acknowledged();
  send_to_neighbours(now);
  finish_steps(now, part);
}

void HostNode::on_from_neighbour(Instant now) {
  const LinkMessage message = neighbours_.take_arrived();
  parts_[message.part].progress.on_received(message.immediate, released_);
  send_messages(now, message.part);
  finish_steps(now, message.part);
}

}  // namespace rocetune::fabric
