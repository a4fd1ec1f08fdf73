#include <algorithm>

#include "dataplane/base/clock.h"
#include "dataplane/transport/pattern/conversation.h"

namespace rocetune::pattern {
namespace {

constexpr Duration kListenInterval = milliseconds(1);
constexpr Duration kFarewellPatience = seconds(5);

class Server {
 public:
  explicit Server(const Party& party) : party_(party) {}

  // Takes clients until all that the plan speaks of are there.
  Expected<> gather(soft::Listener& listener, Pattern pattern);
  Expected<> set_up();
  Expected<> serve(Result& result);
  // Until every client has gone. Nobody polls the port meanwhile: a device whose other end goes away under a
  // poll may take the process with it (memif unmaps the rings).
  void see_off();
  const Plan& plan() const { return plan_; }

 private:
  struct Client {
    soft::Channel channel;
    Message hello;
  };
  Expected<> welcome(soft::Channel channel, Pattern pattern);
  bool is_taken(const std::string& gid) const;
  Expected<> connect(std::uint32_t number);
  Expected<> serve_row(Crew& crew, Bytes size, Result& result);
  Expected<std::vector<Message>> from_all(MessageKind kind, Duration patience,
                                          const std::function<Expected<>()>& turn);
  Expected<> judge(const std::vector<Message>& reports, const SideResult& before, Bytes size, Result& result);
  SideResult counts() const;
  std::uint32_t first_pair(std::uint32_t client) const { return client * plan_.queue_pairs; }

  const Party& party_;
  Plan plan_;
  std::vector<Client> clients_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::vector<std::unique_ptr<ServerRole>> roles_;
};

// Why this plan cannot be served here, or nothing.
std::string objection(const Plan& plan, Pattern pattern, const Party& party) {
  if (auto checked = check(plan, party.largest_mtu); !checked) return checked.error().text();
  if (plan.pattern != pattern) {
    return fmt::format("the server runs {}, the client {}", enum_name(pattern), enum_name(plan.pattern));
  }
  if (plan.shards != party.options.shards)
    return fmt::format("the server has {} shards, the client {}", party.options.shards, plan.shards);
  return "";
}

// Several devices of DPDK come with a MAC that is the same in every process (net_pcap), and so with the same
// address.
bool Server::is_taken(const std::string& gid) const {
  return gid == to_text(party_.options.address) ||
         std::any_of(clients_.begin(), clients_.end(),
                     [&](const Client& other) { return other.hello.gid == gid; });
}

Expected<> Server::welcome(soft::Channel channel, Pattern pattern) {
  auto hello = wait_for(channel, MessageKind::hello, party_, kAnswerPatience, [] { return Expected<>(); });
  std::string why;
  if (!hello) {
    why = hello.error().text();
  } else if (!hello->plan || hello->shards.size() != hello->plan->shards) {
    why = "no plan, or not as many offers as shards";
  } else {
    why = objection(*hello->plan, pattern, party_);
    if (why.empty() && is_taken(hello->gid))
      why = fmt::format("{} is the address of two sides; give each its own (--address)", hello->gid);
    if (why.empty() && !clients_.empty() && *hello->plan != plan_)
      why = "another client came with another plan";
  }
  if (why.empty()) {
    plan_ = *hello->plan;
    clients_.push_back({std::move(channel), std::move(*hello)});
    return {};
  }
  const std::string peer = channel.peer();
  (void)channel.send(to_line({.kind = MessageKind::refusal, .text = why}));
  return fail(ErrorKind::bad_input, "{}: {}", peer, why);
}

Expected<> Server::gather(soft::Listener& listener, Pattern pattern) {
  SystemClock clock;
  while (clients_.empty() || clients_.size() < plan_.clients) {
    auto channel = listener.poll();
    if (!channel) return tl::unexpected(channel.error());
    if (*channel) {
      if (auto welcomed = welcome(std::move(**channel), pattern); !welcomed) return welcomed;
      continue;
    }
    if (party_.stop()) return fail(ErrorKind::io, "interrupted");
    clock.sleep_for(kListenInterval);
  }
  return {};
}

Expected<> Server::connect(std::uint32_t number) {
  const Message& hello = clients_[number].hello;
  const std::string peer = clients_[number].channel.peer();
  const auto gid = gid_of(hello, peer);
  if (!gid) return tl::unexpected(gid.error());
  const auto mac = resolve(shards_, *gid, party_);
  if (!mac) return tl::unexpected(mac.error());
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (hello.shards[i].pairs.size() != plan_.queue_pairs) {
      return fail(ErrorKind::bad_input, "{}: offers {} queue pairs, allowed: {}", peer,
                  hello.shards[i].pairs.size(), plan_.queue_pairs);
    }
    auto connected =
        connect_pairs(*shards_[i], first_pair(number), hello.shards[i], *gid, *mac, party_, plan_);
    if (!connected) return connected;
  }
  return {};
}

Expected<> Server::set_up() {
  const std::uint32_t pairs = plan_.queue_pairs * static_cast<std::uint32_t>(clients_.size());
  for (std::uint32_t index = 0; index < plan_.shards; ++index) {
    shards_.push_back(party_.make_shard(index, pairs, requests_for(plan_, pairs)));
    Shard& shard = *shards_.back();
    if (auto reserved = shard.reserve_memory(Layout(plan_).size(pairs)); !reserved) return reserved;
    if (auto created = shard.create_pairs(pairs, plan_); !created) return created;
    roles_.push_back(std::make_unique<ServerRole>(
        shard, Answerer(shard.endpoint(), plan_, shard.registered(), shard.pairs())));
  }
  for (std::uint32_t number = 0; number < clients_.size(); ++number) {
    Message offer{.kind = MessageKind::offer, .gid = to_text(party_.options.address)};
    for (const auto& shard : shards_)
      offer.shards.push_back(offer_of(*shard, first_pair(number), plan_.queue_pairs));
    if (auto sent = clients_[number].channel.send(to_line(offer)); !sent) return sent;
  }
  for (std::uint32_t number = 0; number < clients_.size(); ++number) {
    if (auto connected = connect(number); !connected) return connected;
  }
  return {};
}

Expected<std::vector<Message>> Server::from_all(MessageKind kind, Duration patience,
                                                const std::function<Expected<>()>& turn) {
  std::vector<Message> messages;
  for (Client& client : clients_) {
    auto message = wait_for(client.channel, kind, party_, patience, turn);
    if (!message) return tl::unexpected(message.error());
    messages.push_back(std::move(*message));
  }
  return messages;
}

SideResult Server::counts() const {
  SideResult sum;
  for (const auto& shard : shards_) add(sum, shard->counts());
  return sum;
}

Expected<> Server::judge(const std::vector<Message>& reports, const SideResult& before, Bytes size,
                         Result& result) {
  const SideResult counted = difference(before, counts());
  for (std::uint32_t number = 0; number < reports.size(); ++number) {
    const Message& report = reports[number];
    Message verdict{.kind = MessageKind::verdict, .size = size, .counts = counted};
    verdict.content_is_right = report.posted.size() == roles_.size();
    for (std::size_t i = 0; i < roles_.size() && verdict.content_is_right; ++i) {
      verdict.content_is_right = roles_[i]->answerer().content_is_right(first_pair(number), report.posted[i]);
    }
    Client& client = clients_[number];
    result.shares.push_back({number, client.channel.peer(), size, report.goodput_bits_per_s});
    if (auto sent = client.channel.send(to_line(verdict)); !sent) return sent;
  }
  return {};
}

Expected<> Server::serve_row(Crew& crew, Bytes size, Result& result) {
  const auto turn = [&] { return crew.turn(); };
  const auto ready = from_all(MessageKind::ready, kAnswerPatience, turn);
  if (!ready) return tl::unexpected(ready.error());
  if (auto prepared = crew.all([&](Role& role) { return role.prepare(size); }); !prepared) return prepared;
  const SideResult before = counts();
  for (Client& client : clients_) {
    if (auto sent = client.channel.send(to_line({.kind = MessageKind::go, .size = size})); !sent) return sent;
  }
  const auto reports = from_all(MessageKind::ran, plan_.span + kAnswerPatience, turn);
  if (!reports) return tl::unexpected(reports.error());
  return judge(*reports, before, size, result);
}

Expected<> Server::serve(Result& result) {
  return run_crew(party_.run, roles_, [&](Crew& crew) -> Expected<> {
    for (const Bytes size : plan_.sizes) {
      if (auto served = serve_row(crew, size, result); !served) return served;
    }
    return {};
  });
}

void Server::see_off() {
  SystemClock clock;
  const Instant end = clock.now() + kFarewellPatience;
  for (Client& client : clients_) {
    while (client.channel.poll() && clock.now() < end) clock.sleep_for(kListenInterval);
  }
}

}  // namespace

Expected<Result> run_server(const Party& party, Pattern pattern, const std::string& place,
                            const std::function<void()>& started) {
  auto listener = soft::Listener::open(place);
  if (!listener) return tl::unexpected(listener.error());
  started();
  Server server(party);
  if (auto gathered = server.gather(*listener, pattern); !gathered) return tl::unexpected(gathered.error());
  if (auto ready = server.set_up(); !ready) return tl::unexpected(ready.error());
  Result result{.role = "server", .plan = server.plan(), .local_address = to_text(party.options.address)};
  if (auto served = server.serve(result); !served) return tl::unexpected(served.error());
  server.see_off();
  return result;
}

}  // namespace rocetune::pattern
