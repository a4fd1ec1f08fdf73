// What a host asks of its engine: the messages of its flows, and of its parts in jobs.
#include <algorithm>

#include "dataplane/fabric/host_node.h"

namespace rocetune::fabric {
namespace {

constexpr std::uint64_t kBase = 0x10000;  // what requests call the first byte of a region

// Regions begin with nothing: one without a byte cannot be registered.
std::uint64_t region_length(std::uint64_t bytes) { return std::max<std::uint64_t>(bytes, 1); }

}  // namespace

std::uint32_t HostNode::add_channel(const Channel& channel) {
  const auto index = static_cast<std::uint32_t>(channels_.size());
  channel_of_.emplace(channel.qpn.value(), index);
  channels_.push_back(channel);
  return index;
}

namespace {

struct End {
  HostNode& host;
  engine::Endpoint& endpoint;
  wire::Qpn qpn;
};

// `port`: of UDP, that both ends send from.
void connect_end(const End& here, const End& there, const HostParameters& parameters, std::uint16_t port) {
  const engine::ConnectParameters p{.path = {.source = HostNode::address_of(here.host.id()),
                                             .destination = HostNode::address_of(there.host.id()),
                                             .tos = TosByte(parameters.data_dscp, Ecn::ect0),
                                             .source_port = port},
                                    .peer = there.qpn,
                                    .mtu = parameters.mtu,
                                    .ack_timeout = parameters.ack_timeout,
                                    .initiator_depth = 0,
                                    .responder_resources = 0,
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
  connect_end(here, there, from.parameters_, port);
  connect_end(there, here, to.parameters_, port);
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
  const End here{a.host, a.host.endpoint_, a.host.endpoint_.create(depths).value()};
  const End there{b.host, b.host.endpoint_, b.host.endpoint_.create(depths).value()};
  connect_end(here, there, a.host.parameters_, port_of(number));
  connect_end(there, here, b.host.parameters_, port_of(number));
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
      ROCETUNE_ASSERT(from.host.endpoint_.post_receive(end.qpn, {}).has_value());
  };
  add(a, here, b, there);
  add(b, there, a, here);
}

bool HostNode::post(Channel& channel, std::uint64_t bytes, std::optional<std::uint32_t> immediate) {
  const std::uint64_t at = kBase + channel.posted_bytes;
  const auto length = static_cast<std::uint32_t>(bytes);
  const auto posted = endpoint_.post_send(channel.qpn, {.work_id = bytes,
                                                        .kind = engine::SendKind::write,
                                                        .has_immediate = immediate.has_value(),
                                                        .immediate = immediate.value_or(0),
                                                        .local = {at, length, channel.local},
                                                        .remote_address = at,
                                                        .remote_key = channel.remote});
  if (!posted) return false;  // its window is full
  channel.posted_bytes += bytes;
  return true;
}

void HostNode::post(Sending& sending) {
  Channel& channel = channels_[sending.channel];
  while (channel.posted_bytes < sending.flow.bytes) {
    const std::uint64_t rest = sending.flow.bytes - channel.posted_bytes;
    if (!post(channel, std::min<std::uint64_t>(rest, sending.flow.message), std::nullopt)) return;
  }
}

void HostNode::post_waiting(Channel& channel) {
  while (!channel.waiting.empty()) {
    const JobMessage& message = channel.waiting.front();
    if (!post(channel, message.bytes, message.immediate)) return;
    channel.waiting.pop_front();
  }
}

void HostNode::take_completions(Instant now) {
  engine::Completion completion;
  while (endpoint_.poll_completion(completion)) on_completion(now, completion);
}

void HostNode::on_completion(Instant now, const engine::Completion& completion) {
  Channel& channel = channels_[channel_of_.at(completion.qpn.value())];
  if (completion.status != engine::CompletionStatus::success) {
    ++failures_;
    return;
  }
  if (completion.kind == engine::CompletionKind::receive_immediate) {
    ROCETUNE_ASSERT(endpoint_.post_receive(completion.qpn, {}).has_value());
    parts_[channel.owner].progress.on_received(completion.immediate, released_);
    send_messages(channel.owner);
    return finish_steps(now, channel.owner);
  }
  completed_bytes_ += completion.work_id;
  if (channel.is_of_job) {
    parts_[channel.owner].progress.on_acknowledged();
    post_waiting(channel);
    return finish_steps(now, channel.owner);
  }
  Sending& sending = sendings_[channel.owner];
  sending.outcome.completed_bytes += completion.work_id;
  if (sending.outcome.completed_bytes == sending.flow.bytes) {
    sending.outcome.finished = now;
    note_finished();
  }
  post(sending);
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
  send_messages(part);
  finish_steps(now, part);
}

// Hands what the part has released to its channels.
void HostNode::send_messages(std::uint32_t part) {
  for (const JobMessage& message : released_) {
    Channel& channel = channels_[parts_[part].channel_of.at(message.to)];
    channel.waiting.push_back(message);
    post_waiting(channel);
  }
  released_.clear();
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

}  // namespace rocetune::fabric
