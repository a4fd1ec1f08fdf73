#include "dataplane/transport/pattern/conversation.h"

namespace rocetune::pattern {
namespace {

constexpr int kTurnsPerLook = 64;  // at the clock
constexpr Duration kPollInterval = milliseconds(1);
constexpr Duration kAskInterval = milliseconds(100);

// Queue pairs take different paths: all 24 bits of the number count.
std::uint32_t flow_label_of(wire::Qpn qpn) { return (qpn.value() ^ qpn.value() >> 17) & 0xFFFFF; }

}  // namespace

Expected<Message> wait_for(soft::Channel& channel, MessageKind kind, const Party& party, Duration patience,
                           const std::function<Expected<>()>& turn) {
  const Instant start = party.clock->now();
  Instant next_poll = start;
  for (;;) {
    for (int i = 0; i < kTurnsPerLook; ++i) {
      if (auto status = turn(); !status) return tl::unexpected(status.error());
    }
    const Instant now = party.clock->now();
    if (now < next_poll) continue;
    next_poll = now + kPollInterval;
    if (party.stop()) return fail(ErrorKind::io, "interrupted");
    const auto line = channel.poll();
    if (!line) return tl::unexpected(line.error());
    if (*line) {
      auto message = parse_message(**line, channel.peer());
      if (!message || message->kind == kind) return message;
      return fail(ErrorKind::bad_input, "{}: found message {}, allowed: {}", channel.peer(),
                  enum_name(message->kind), enum_name(kind));
    }
    if (now - start > patience) {
      return fail(ErrorKind::io, "{}: no message {} within {}", channel.peer(), enum_name(kind),
                  to_text(patience));
    }
  }
}

Expected<> idle_turn(Shard& shard) {
  const Instant now = shard.driver().receive();
  shard.driver().transmit(now);
  return {};
}

Expected<> idle_turn(Shards shards) {
  for (const auto& shard : shards) (void)idle_turn(*shard);
  return {};
}

Expected<wire::MacAddress> resolve(Shards shards, const wire::IpAddress& address, const Party& party) {
  const wire::IpAddress hop = party.gateway.value_or(address);
  const Instant start = party.clock->now();
  Instant next_ask = start;
  for (;;) {
    const Instant now = party.clock->now();
    if (now >= next_ask) {
      // A link that is not up yet takes nothing: ask again. Each asks, as each believes only what it asked
      // for.
      for (const auto& shard : shards) (void)shard->driver().ask(hop);
      next_ask = now + kAskInterval;
    }
    (void)idle_turn(shards);
    for (const auto& shard : shards) {
      if (const auto mac = shard->neighbours().find(hop)) return *mac;
    }
    if (party.stop()) return fail(ErrorKind::io, "interrupted");
    if (now - start > kResolvePatience) {
      std::uint64_t came = 0;
      for (const auto& shard : shards) came += shard->driver().counters().neighbour_frames;
      return fail(
          ErrorKind::io,
          "{}: nobody answers for it within {} ({} frames of ARP and ND came in); is the link up on both "
          "sides?",
          to_text(hop), to_text(kResolvePatience), came);
    }
  }
}

wire::Psn first_psn(wire::Qpn qpn) { return wire::Psn((qpn.value() * 0x9E3779B1U) & wire::Psn::kMask); }

ShardOffer offer_of(const Shard& shard, std::uint32_t first, std::uint32_t count) {
  ShardOffer offer{.region_address = shard.registered().address,
                   .rkey = shard.registered().key.value(),
                   .first_pair = first};
  for (std::uint32_t i = 0; i < count; ++i) {
    const wire::Qpn qpn = shard.pairs()[first + i];
    offer.pairs.push_back({qpn.value(), first_psn(qpn).value()});
  }
  return offer;
}

Expected<> connect_pairs(Shard& shard, std::uint32_t first, const ShardOffer& peer,
                         const wire::IpAddress& gid, const wire::MacAddress& mac, const Party& party,
                         const Plan& plan) {
  for (std::uint32_t i = 0; i < peer.pairs.size(); ++i) {
    const QueuePairOffer& offer = peer.pairs[i];
    if (offer.qpn > 0xFFFFFF || offer.psn > wire::Psn::kMask || first + i >= shard.pairs().size()) {
      return fail(ErrorKind::bad_input, "{}: offers queue pair {} with PSN {}", to_text(gid), offer.qpn,
                  offer.psn);
    }
    const wire::Qpn qpn = shard.pairs()[first + i];
    engine::ConnectParameters parameters;
    parameters.path = {.source_mac = party.options.mac,
                       .destination_mac = mac,
                       .source = party.options.address,
                       .destination = gid,
                       .tos = TosByte(party.dscp, Ecn::ect0),
                       .source_port = wire::source_port_of_flow_label(flow_label_of(qpn))};
    parameters.peer = wire::Qpn(offer.qpn);
    parameters.psn = first_psn(qpn);
    parameters.peer_psn = wire::Psn(offer.psn);
    parameters.ack_timeout = party.ack_timeout;
    parameters.mtu = static_cast<engine::PathMtu>(plan.mtu);
    parameters.selective_repeat = plan.selective_repeat;
    if (auto connected = shard.endpoint().connect(qpn, parameters); !connected) return connected;
  }
  return {};
}

Expected<wire::IpAddress> gid_of(const Message& message, const std::string& peer) {
  const auto gid = wire::parse_ip_address(message.gid);
  if (!gid) return fail(ErrorKind::bad_input, "{}: found GID {}, allowed: an IP address", peer, message.gid);
  return *gid;
}

std::uint32_t requests_for(const Plan& plan, std::uint32_t queue_pairs) {
  return send_depth_for(plan) * queue_pairs;
}

}  // namespace rocetune::pattern
