// What the two sides of a benchmark tell each other over TCP: one JSON object a line.
#pragma once

#include <optional>

#include "dataplane/transport/pattern/plan.h"
#include "dataplane/transport/pattern/result.h"

namespace rocetune::pattern {

struct QueuePairOffer {
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;  // of its first request
  bool operator==(const QueuePairOffer&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("qpn", self.qpn...);
    visit("psn", self.psn...);
  }
};

struct ShardOffer {
  std::uint64_t region_address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t first_pair = 0;  // server: its number of the client's first queue pair
  std::vector<QueuePairOffer> pairs;
  bool operator==(const ShardOffer&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("region_address", self.region_address...);
    visit("rkey", self.rkey...);
    visit("first_pair", self.first_pair...);
    visit("pairs", self.pairs...);
  }
};

enum class MessageKind : std::uint8_t {
  hello,    // client: version, plan, gid, shards
  offer,    // server: gid, shards
  refusal,  // either: text; the connection ends
  ready,    // client: queue pairs are connected, and it will take part in the row of `size`
  go,       // server: every client is ready, the server's memory too
  ran,      // client: what was posted, on each shard's queue pairs; goodput
  verdict,  // server: whether the content is right, and what it counted
};
struct Message {
  static constexpr int kVersion = 1;
  MessageKind kind = MessageKind::refusal;
  int version = kVersion;
  std::string text;
  std::string gid;
  std::optional<Plan> plan;
  std::vector<ShardOffer> shards;
  Bytes size;
  std::vector<std::vector<MessageRange>> posted;
  double goodput_bits_per_s = 0;
  bool content_is_right = false;
  std::optional<SideResult> counts;
  bool operator==(const Message&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("kind", self.kind...);
    visit("version", self.version...);
    visit("text", self.text...);
    visit("gid", self.gid...);
    visit("plan", self.plan...);
    visit("shards", self.shards...);
    visit("size_bytes", self.size...);
    visit("posted", self.posted...);
    visit("goodput_bits_per_s", self.goodput_bits_per_s...);
    visit("content_is_right", self.content_is_right...);
    visit("counts", self.counts...);
  }
};

std::string to_line(const Message& message);
// Errors: bad_input (no message of this version), io with the peer's text if it is a refusal. `peer`: whom
// messages are about.
Expected<Message> parse_message(std::string_view line, const std::string& peer);

}  // namespace rocetune::pattern

namespace rocetune {
ROCETUNE_ENUM(pattern::MessageKind, P{E::hello, "hello"}, P{E::offer, "offer"}, P{E::refusal, "refusal"},
              P{E::ready, "ready"}, P{E::go, "go"}, P{E::ran, "ran"}, P{E::verdict, "verdict"});
}  // namespace rocetune
