// Who has which address on this link: answers for our own addresses and asks for others', by ARP and IPv6
// neighbour discovery. Frames in, frames out; it has no port and no clock.
#pragma once

#include <optional>
#include <vector>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip.h"

namespace rocetune::port {

class Neighbours {
 public:
  // The largest frame it makes.
  static constexpr std::size_t kLargestFrame = 86;

  Neighbours(const wire::MacAddress& mac, std::vector<wire::IpAddress> own)
      : mac_(mac), own_(std::move(own)) {}

  // Whether a frame may be for it: ARP, or ICMPv6. Untagged frames only.
  static bool concerns(wire::ConstBytes frame);
  // Takes a frame that concerns it. If the frame asks for an address of ours, writes the answer to `reply`
  // (of at least kLargestFrame bytes) and returns its size, else 0.
  std::size_t on_frame(wire::ConstBytes frame, wire::MutableBytes reply);

  // Writes the frame that asks who has `address`; the answer is remembered from now on. Returns its size.
  std::size_t ask(const wire::IpAddress& address, wire::MutableBytes out);
  // What the answer said; none yet, or nobody asked.
  std::optional<wire::MacAddress> find(const wire::IpAddress& address) const;

 private:
  struct Asked {
    wire::IpAddress address;
    std::optional<wire::MacAddress> mac;
  };
  bool is_own(const wire::IpAddress& address) const;
  // Of the same family as `other`; none if we have none.
  std::optional<wire::IpAddress> own_like(const wire::IpAddress& other) const;
  // Only what was asked for is learnt: strangers cannot fill the table.
  void learn(const wire::IpAddress& address, const wire::MacAddress& mac);
  std::size_t on_arp(wire::ConstBytes packet, wire::MutableBytes reply);
  std::size_t on_discovery(wire::ConstBytes packet, wire::MutableBytes reply);

  wire::MacAddress mac_;
  std::vector<wire::IpAddress> own_;
  std::vector<Asked> asked_;
};

}  // namespace rocetune::port
