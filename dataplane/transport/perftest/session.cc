#include "dataplane/transport/perftest/session.h"

#include "dataplane/transport/pattern/conversation.h"
#include "dataplane/transport/perftest/traffic.h"

namespace rocetune::perftest {
namespace {

constexpr Duration kConnectPatience = seconds(20);
// After the last word: acknowledgements may have been lost, and the peer may still ask for them.
constexpr Duration kLinger = seconds(1);
constexpr Duration kPollInterval = microseconds(100);
constexpr std::uint32_t kPage = 4096;  // what perftest assumes of a buffer and of a cache line
constexpr std::uint32_t kCacheLine = 64;
constexpr std::uint32_t kReads = 16;  // outstanding, either way: ConnectParameters' default

// Some turns between two looks at a socket, which cost more.
void turn_for_a_while(pattern::Shard& shard) {
  for (int i = 0; i < 64; ++i) (void)pattern::idle_turn(shard);
}

class Session {
 public:
  Session(const pattern::Party& party, const Options& options, std::unique_ptr<pattern::Shard> shard,
          soft::Channel channel)
      : party_(party), options_(options), shard_(std::move(shard)), channel_(std::move(channel)) {}
  Expected<Result> run();

 private:
  Expected<std::string> hear(std::size_t size);
  // Says a piece and hears the other side's of the same kind.
  Expected<std::string> swap(const std::string& mine);
  Expected<> agree();
  Expected<> swap_keys(int times);
  Expected<> connect();
  Expected<> run_traffic();
  Expected<> swap_reports();
  Expected<> say_farewell();
  void linger();

  const pattern::Party& party_;
  const Options& options_;
  std::unique_ptr<pattern::Shard> shard_;
  soft::Channel channel_;
  Result result_;
  Key mine_;
  Key peer_;
  pattern::SideResult before_;
};

Expected<std::string> Session::hear(std::size_t size) {
  for (Instant next_poll = party_.clock->now();;) {
    (void)pattern::idle_turn(*shard_);
    const Instant now = party_.clock->now();
    if (now < next_poll) continue;
    next_poll = now + kPollInterval;
    if (party_.stop()) return fail(ErrorKind::io, "interrupted");
    auto piece = channel_.poll_bytes(size);
    if (!piece) return tl::unexpected(piece.error());
    if (*piece) return std::move(**piece);
  }
}

Expected<std::string> Session::swap(const std::string& mine) {
  if (!options_.is_server()) {
    if (auto said = channel_.send_bytes(mine); !said) return tl::unexpected(said.error());
    return hear(mine.size());
  }
  auto theirs = hear(mine.size());
  if (!theirs) return theirs;
  if (auto said = channel_.send_bytes(mine); !said) return tl::unexpected(said.error());
  return theirs;
}

// Version, sizes of the machine (ours are the usual ones; the peer takes the larger), path MTU.
Expected<> Session::agree() {
  const auto version = swap(version_piece()).and_then([&](const std::string& piece) {
    return parse_version(piece, channel_.peer());
  });
  if (!version) return tl::unexpected(version.error());
  result_.peer_version = fmt::format("{}.{:02}", *version / 100, *version % 100);
  for (const std::uint32_t number : {kPage, kCacheLine}) {
    const auto theirs = swap(number_piece(number)).and_then([&](const std::string& piece) {
      return parse_number(piece, channel_.peer());
    });
    if (!theirs) return tl::unexpected(theirs.error());
    if (number == kPage && *theirs > kPage) {
      return fail(ErrorKind::unsupported, "{}: lets messages wander through {} bytes, allowed: {}",
                  channel_.peer(), *theirs, kPage);
    }
  }
  const auto mtu = swap(mtu_piece(options_.mtu)).and_then([&](const std::string& piece) {
    return parse_mtu(piece, channel_.peer());
  });
  if (!mtu) return tl::unexpected(mtu.error());
  result_.mtu = std::min(*mtu, options_.mtu);
  return {};
}

// The same keys are said again and again, as a sign that a side has come that far.
Expected<> Session::swap_keys(int times) {
  for (int i = 0; i < times; ++i) {
    auto key = swap(key_piece(mine_)).and_then([&](const std::string& piece) {
      return parse_key(piece, channel_.peer());
    });
    if (!key) return tl::unexpected(key.error());
    peer_ = *key;
  }
  return {};
}

Expected<> Session::connect() {
  pattern::Plan plan{.mtu = result_.mtu, .window = options_.window};
  const pattern::Registered& memory = shard_->registered();
  const wire::Qpn qpn = shard_->pairs().front();
  mine_ = {.reads = kReads,
           .qpn = qpn.value(),
           .psn = pattern::first_psn(qpn).value(),
           .rkey = memory.key.value(),
           .address = memory.address + static_cast<std::uint64_t>(half_of(options_.size).count()),
           .gid = party_.options.address};
  const bool is_told_twice = options_.test == Test::write_lat || options_.test == Test::read_lat;
  if (auto swapped = swap_keys(is_told_twice ? 2 : 1); !swapped) return swapped;
  if (peer_.gid.is_v4() != mine_.gid.is_v4()) {
    return fail(ErrorKind::bad_input, "{}: its GID is {} and ours {}: both must be IPv4 or both IPv6 (-x)",
                channel_.peer(), to_text(peer_.gid), to_text(mine_.gid));
  }
  const auto mac = pattern::resolve({&shard_, 1}, peer_.gid, party_);
  if (!mac) return tl::unexpected(mac.error());
  const pattern::ShardOffer offer{.pairs = {{peer_.qpn, peer_.psn}}};
  if (auto connected = pattern::connect_pairs(*shard_, 0, offer, peer_.gid, *mac, party_, plan); !connected)
    return connected;
  return swap_keys(2);
}

Expected<> Session::run_traffic() {
  const std::uint32_t most = is_read(options_.test) ? std::min<std::uint32_t>(kReads, peer_.reads) : 4096;
  const std::uint32_t window = is_latency(options_.test) ? 1 : std::min(options_.window, std::max(most, 1U));
  Traffic traffic(*shard_, *party_.clock, options_, window, {peer_.address, engine::MemoryKey(peer_.rkey)});
  if (auto prepared = traffic.prepare(); !prepared) return prepared;
  if (is_send(options_.test)) {
    if (auto swapped = swap_keys(1); !swapped) return swapped;
  }
  if (auto ran = traffic.run(party_.stop); !ran) return ran;
  if (!options_.asks() && !options_.receives()) return {};
  result_.messages = traffic.messages();
  result_.seconds = traffic.span().seconds();
  result_.messages_per_s = static_cast<double>(result_.messages) / result_.seconds;
  result_.goodput_bits_per_s = result_.messages_per_s * static_cast<double>(options_.size.bits());
  if (is_latency(options_.test))
    result_.latency = pattern::latency_result(traffic.latency_ns(), traffic.not_timed());
  return {};
}

// Only who asked has something to report.
Expected<> Session::swap_reports() {
  constexpr double kMegabyte = 1 << 20;
  const double rate = result_.goodput_bits_per_s / 8 / kMegabyte;
  Report report{.size = static_cast<std::uint64_t>(options_.size.count()), .iterations = options_.iterations};
  if (options_.asks()) {
    report.peak = report.average = rate;
    report.messages = result_.messages_per_s / 1e6;
  }
  ReportWords words = report_pieces(report);
  for (std::string& word : words) {
    auto theirs = swap(word);
    if (!theirs) return tl::unexpected(theirs.error());
    word = std::move(*theirs);
  }
  const auto theirs = parse_report(words, channel_.peer());
  if (!theirs) return tl::unexpected(theirs.error());
  if (options_.is_server()) {
    result_.peer_report = PeerReport{theirs->size, theirs->iterations, theirs->average, theirs->messages};
  }
  return {};
}

Expected<> Session::say_farewell() {
  if (options_.test == Test::write_lat) return {};  // ends without a word
  if (!is_latency(options_.test) && !is_send(options_.test)) {
    if (auto swapped = swap_keys(1); !swapped) return swapped;
    if (auto swapped = swap_reports(); !swapped) return swapped;
  }
  if (auto swapped = swap_keys(1); !swapped) return swapped;
  (void)channel_.send_bytes(kFarewell);  // whoever has closed already does not miss it
  return {};
}

void Session::linger() {
  const Instant end = party_.clock->now() + kLinger;
  while (party_.clock->now() < end && !party_.stop()) {
    turn_for_a_while(*shard_);
    const auto word = channel_.poll_bytes(kFarewell.size());
    if (!word || *word) return;  // closed, or about to
  }
}

Expected<Result> Session::run() {
  result_.role = options_.is_server() ? "server" : "client";
  result_.test = options_.test;
  result_.size = options_.size;
  result_.local_address = to_text(party_.options.address);
  before_ = shard_->counts();
  for (const auto step :
       {&Session::agree, &Session::connect, &Session::run_traffic, &Session::say_farewell}) {
    if (auto done = (this->*step)(); !done) return tl::unexpected(done.error());
  }
  linger();
  result_.peer_address = to_text(peer_.gid);
  result_.counts = pattern::difference(before_, shard_->counts());
  return result_;
}

std::string place_of(const Options& options) {
  const bool is_v6 = options.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", options.host, is_v6 ? "]" : "", options.port);
}

Expected<soft::Channel> wait_for_client(const pattern::Party& party, pattern::Shard& shard,
                                        const Options& options, const std::function<void()>& started) {
  auto listener = soft::Listener::open(fmt::format(":{}", options.port));
  if (!listener) return tl::unexpected(listener.error());
  started();
  for (;;) {
    turn_for_a_while(shard);
    auto channel = listener->poll();
    if (!channel) return tl::unexpected(channel.error());
    if (*channel) return std::move(**channel);
    if (party.stop()) return fail(ErrorKind::io, "interrupted");
  }
}

}  // namespace

Expected<Result> run(const pattern::Party& party, const Options& options,
                     const std::function<void()>& started) {
  if (auto checked = check(options); !checked) return tl::unexpected(checked.error());
  const pattern::Plan plan{.mtu = options.mtu, .window = options.window};
  auto shard = party.make_shard(0, 1, pattern::requests_for(plan, 1));
  if (auto reserved = shard->reserve_memory(half_of(options.size) + half_of(options.size)); !reserved)
    return tl::unexpected(reserved.error());
  if (auto created = shard->create_pairs(1, plan); !created) return tl::unexpected(created.error());
  auto channel = options.is_server() ? wait_for_client(party, *shard, options, started)
                                     : soft::Channel::connect(place_of(options), kConnectPatience);
  if (!channel) return tl::unexpected(channel.error());
  return Session(party, options, std::move(shard), std::move(*channel)).run();
}

}  // namespace rocetune::perftest
