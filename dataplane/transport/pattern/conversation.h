// What client and server do alike: wait for messages while their cores work, find the peer's MAC, connect
// queue pairs.
#pragma once

#include <memory>
#include <span>

#include "dataplane/transport/pattern/message.h"
#include "dataplane/transport/pattern/session.h"
#include "dataplane/transport/soft/channel.h"

namespace rocetune::pattern {

// Answers to a message take at most so long: setting up gigabytes of memory on a busy host.
constexpr Duration kAnswerPatience = seconds(60);
// Until somebody answers for an address, or the link is up.
constexpr Duration kResolvePatience = seconds(10);

// Calls `turn` until a message of that kind is there. Errors: io (the peer is gone, it refuses, patience is
// over, stop), bad_input (another message), what `turn` says.
Expected<Message> wait_for(soft::Channel& channel, MessageKind kind, const Party& party, Duration patience,
                           const std::function<Expected<>()>& turn);

// All shards of a process, before their cores run.
using Shards = std::span<const std::unique_ptr<Shard>>;

// One turn of a shard that has nothing to do yet; of each of them.
Expected<> idle_turn(Shard& shard);
Expected<> idle_turn(Shards shards);

// The MAC of who has the address, or of the gateway. A NIC may put the answer into any queue: all are read.
// Error: io, nobody answers within kResolvePatience, or stop.
Expected<wire::MacAddress> resolve(Shards shards, const wire::IpAddress& address, const Party& party);

// The offer of `count` queue pairs from `first` on.
ShardOffer offer_of(const Shard& shard, std::uint32_t first, std::uint32_t count);
wire::Psn first_psn(wire::Qpn qpn);

// Connects our queue pairs from `first` on with what the peer offers.
Expected<> connect_pairs(Shard& shard, std::uint32_t first, const ShardOffer& peer,
                         const wire::IpAddress& gid, const wire::MacAddress& mac, const Party& party,
                         const Plan& plan);

Expected<wire::IpAddress> gid_of(const Message& message, const std::string& peer);

// How large an endpoint must be for so many queue pairs.
std::uint32_t requests_for(const Plan& plan, std::uint32_t queue_pairs);

}  // namespace rocetune::pattern
