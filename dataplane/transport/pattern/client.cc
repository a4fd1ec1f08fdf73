#include <algorithm>

#include "dataplane/base/statistics.h"
#include "dataplane/transport/pattern/conversation.h"

namespace rocetune::pattern {
namespace {

constexpr Duration kConnectPatience = seconds(10);

LatencyResult latency_of(const std::vector<std::unique_ptr<ClientRole>>& roles) {
  Histogram all;
  std::uint64_t not_timed = 0;
  for (const auto& role : roles) {
    all.merge(role->asker().latency_ns());
    not_timed += role->asker().not_timed();
  }
  return latency_result(all, not_timed);
}

// Messages per second of each part of the row, all shards together.
std::vector<double> part_rates(const std::vector<std::unique_ptr<ClientRole>>& roles) {
  std::vector<double> rates(ClientRole::kParts);
  for (const auto& role : roles) {
    const auto& marks = role->marks();
    for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
      const double seconds = (marks[i + 1].when - marks[i].when).seconds();
      rates[i] += static_cast<double>(marks[i + 1].completed - marks[i].completed) / seconds;
    }
  }
  return rates;
}

class Client {
 public:
  Client(const Party& party, const Plan& plan, soft::Channel channel)
      : party_(party), plan_(plan), channel_(std::move(channel)) {}

  Expected<> set_up();
  Expected<> run(const std::function<void(const Row&)>& on_row, Result& result);

 private:
  Expected<> make_shards();
  Expected<Row> run_row(Crew& crew, Bytes size);
  SideResult counts() const;
  Row row_of(Bytes size) const;
  Expected<> send(const Message& message) { return channel_.send(to_line(message)); }

  const Party& party_;
  const Plan& plan_;
  soft::Channel channel_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::unique_ptr<ClientRole>> roles_;
};

Expected<> Client::make_shards() {
  const std::uint32_t pairs = plan_.queue_pairs;
  for (std::uint32_t index = 0; index < plan_.shards; ++index) {
    shards_.push_back(party_.make_shard(index, pairs, requests_for(plan_, pairs)));
    if (auto reserved = shards_.back()->reserve_memory(Layout(plan_).size(pairs)); !reserved) return reserved;
    if (auto created = shards_.back()->create_pairs(pairs, plan_); !created) return created;
  }
  return {};
}

Expected<> Client::set_up() {
  if (auto made = make_shards(); !made) return made;
  Message hello{.kind = MessageKind::hello, .gid = to_text(party_.options.address), .plan = plan_};
  for (const auto& shard : shards_) hello.shards.push_back(offer_of(*shard, 0, plan_.queue_pairs));
  if (auto sent = send(hello); !sent) return sent;
  const auto turn = [&] { return idle_turn(shards_); };
  const auto offer = wait_for(channel_, MessageKind::offer, party_, kAnswerPatience, turn);
  if (!offer) return tl::unexpected(offer.error());
  if (offer->shards.size() != shards_.size()) {
    return fail(ErrorKind::bad_input, "{}: offers {} shards, allowed: {}", channel_.peer(),
                offer->shards.size(), shards_.size());
  }
  const auto gid = gid_of(*offer, channel_.peer());
  if (!gid) return tl::unexpected(gid.error());
  const auto mac = resolve(shards_, *gid, party_);
  if (!mac) return tl::unexpected(mac.error());
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const ShardOffer& peer = offer->shards[i];
    Shard& shard = *shards_[i];
    if (auto connected = connect_pairs(shard, 0, peer, *gid, *mac, party_, plan_); !connected)
      return connected;
    const RemoteRegion remote{peer.region_address, engine::MemoryKey(peer.rkey)};
    roles_.push_back(
        std::make_unique<ClientRole>(shard, *party_.clock,
                                     Asker(shard.endpoint(), *party_.clock, plan_, shard.registered(), remote,
                                           peer.first_pair, shard.pairs()),
                                     party_.stop));
  }
  return {};
}

SideResult Client::counts() const {
  SideResult sum;
  for (const auto& shard : shards_) add(sum, shard->counts());
  return sum;
}

Row Client::row_of(Bytes size) const {
  Row row{.size = size};
  for (const auto& role : roles_) {
    const auto& marks = role->marks();
    row.messages += marks.back().completed;
    row.seconds = std::max(row.seconds, (marks.back().when - marks.front().when).seconds());
  }
  std::vector<double> rates = part_rates(roles_);
  row.messages_per_s = static_cast<double>(row.messages) / row.seconds;
  row.best_messages_per_s = *std::max_element(rates.begin(), rates.end());
  row.worst_messages_per_s = *std::min_element(rates.begin(), rates.end());
  row.median_messages_per_s = median(std::move(rates));
  row.goodput_bits_per_s = row.messages_per_s * static_cast<double>(size.bits());
  row.busbw_bits_per_s = row.goodput_bits_per_s;
  if (plan_.pattern == Pattern::latency) row.latency = latency_of(roles_);
  row.content_is_right = true;
  for (const auto& role : roles_)
    row.content_is_right = row.content_is_right && role->asker().answers_are_right();
  return row;
}

Expected<Row> Client::run_row(Crew& crew, Bytes size) {
  const auto turn = [&] { return crew.turn(); };
  if (auto prepared = crew.all([&](Role& role) { return role.prepare(size); }); !prepared) {
    return tl::unexpected(prepared.error());
  }
  if (auto sent = send({.kind = MessageKind::ready, .size = size}); !sent)
    return tl::unexpected(sent.error());
  // Other clients may still be on their way.
  const auto go = wait_for(channel_, MessageKind::go, party_, kAnswerPatience, turn);
  if (!go) return tl::unexpected(go.error());
  const SideResult before = counts();
  if (auto ran = crew.all([&](Role& role) { return role.run(plan_.span); }); !ran) {
    return tl::unexpected(ran.error());
  }
  Row row = row_of(size);
  row.client = difference(before, counts());
  Message report{.kind = MessageKind::ran, .size = size, .goodput_bits_per_s = row.goodput_bits_per_s};
  for (const auto& role : roles_) report.posted.push_back(role->asker().posted());
  if (auto sent = send(report); !sent) return tl::unexpected(sent.error());
  const auto verdict = wait_for(channel_, MessageKind::verdict, party_, plan_.span + kAnswerPatience, turn);
  if (!verdict) return tl::unexpected(verdict.error());
  row.content_is_right = row.content_is_right && verdict->content_is_right;
  row.server = verdict->counts.value_or(SideResult());
  return row;
}

Expected<> Client::run(const std::function<void(const Row&)>& on_row, Result& result) {
  return run_crew(party_.run, roles_, [&](Crew& crew) -> Expected<> {
    for (const Bytes size : plan_.sizes) {
      auto row = run_row(crew, size);
      if (!row) return tl::unexpected(row.error());
      result.rows.push_back(*row);
      on_row(*row);
    }
    return {};
  });
}

}  // namespace

Expected<Result> run_client(const Party& party, const Plan& plan, const std::string& place,
                            const std::function<void(const Row&)>& on_row) {
  if (auto checked = check(plan, party.largest_mtu); !checked) return tl::unexpected(checked.error());
  auto channel = soft::Channel::connect(place, kConnectPatience);
  if (!channel) return tl::unexpected(channel.error());
  Client client(party, plan, std::move(*channel));
  Result result{
      .role = "client", .plan = plan, .local_address = to_text(party.options.address), .peer_address = place};
  if (auto ready = client.set_up(); !ready) return tl::unexpected(ready.error());
  if (auto ran = client.run(on_row, result); !ran) return tl::unexpected(ran.error());
  return result;
}

}  // namespace rocetune::pattern
