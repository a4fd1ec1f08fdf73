// rocetune's side: its engine over a port of DPDK.
//
// usage: interop-engine EAL-ARGUMENTS IP...       IP: addresses that nobody else on the link has

#include <cstdio>
#include <ctime>
#include <memory>

#include "dataplane/base/tick_clock.h"
#include "dataplane/port/dpdk/part.h"
#include "dataplane/transport/soft/memory_block.h"
#include "dataplane/transport/soft/worker.h"
#include "tests/vm/interop/side.h"

namespace rocetune::interop {
namespace {

constexpr std::uint32_t kRegions = 128;  // one of them for the peer, the others for windows
constexpr std::uint64_t kMemoryAddress = std::uint64_t{7} << 40;
constexpr std::uint32_t kDepth = 4096;  // requests of a queue pair
constexpr std::uint32_t kIdleTurns = 100;
constexpr Duration kResolvePatience = seconds(20);
constexpr Duration kAskInterval = milliseconds(200);

engine::EndpointOptions endpoint_options() {
  engine::EndpointOptions options;
  options.queue_pairs = 16;
  options.memory_regions = kRegions;
  options.controller.kind = ControllerChoice::Kind::off;
  options.payload_is_copied = true;  // write_frame copies it
  return options;
}

class EngineSide final : public Side {
 public:
  EngineSide(dpdk::Port& port, std::vector<wire::IpAddress> own, soft::MemoryBlock block)
      : port_(port),
        access_(kRegions),
        endpoint_(endpoint_options(), access_),
        neighbours_(port.queue(0).capabilities().mac, std::move(own)),
        worker_(port.queue(0), endpoint_, access_, neighbours_, clock_),
        block_(std::move(block)) {
    const auto key = add_region();
    ROCETUNE_ASSERT(key.has_value());
    key_ = *key;
  }

  Expected<Address> open(const Command& command) override;
  Expected<> connect(const Command& command) override;
  Expected<std::uint32_t> open_window() override;
  Expected<> post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length) override;
  Expected<> post(const Request& request) override;
  Expected<> turn(std::vector<Done>& done) override;
  Expected<> close() override;
  std::span<std::byte> memory() override { return block_.bytes().first(kMemory); }
  std::map<std::string, std::uint64_t> counters() override;

 private:
  // One more region of the same memory.
  Expected<engine::MemoryKey> add_region() {
    return endpoint_.add_region(
        {.address = kMemoryAddress,
         .length = kMemory,
         .access = engine::kLocalWrite | engine::kRemoteRead | engine::kRemoteWrite | engine::kRemoteAtomic,
         .location = engine::HostMemory::location_of(block_.bytes().data())});
  }
  engine::Buffer buffer(std::uint64_t offset, std::uint32_t length) const {
    return {kMemoryAddress + offset, length, key_};
  }
  void rest();
  Expected<wire::MacAddress> resolve(const wire::IpAddress& address);

  TickClock clock_;
  dpdk::Port& port_;
  engine::HostMemory access_;
  engine::Endpoint endpoint_;
  port::Neighbours neighbours_;
  soft::Worker<dpdk::Queue> worker_;
  soft::MemoryBlock block_;
  engine::MemoryKey key_;
  std::vector<engine::MemoryKey> windows_;  // some of them invalidated
  wire::Qpn qpn_;
  wire::IpAddress own_;
  std::uint64_t busy_turns_ = 0;
  std::uint32_t idle_turns_ = 0;
  Address peer_;
};

Expected<Address> EngineSide::open(const Command& command) {
  const auto own = wire::parse_ip_address(command.gid);
  if (!own) return fail(ErrorKind::bad_input, "gid {}", command.gid);
  own_ = *own;
  const auto qpn = endpoint_.create({.send_depth = kDepth, .receive_depth = kDepth});
  if (!qpn) return tl::unexpected(qpn.error());
  qpn_ = *qpn;
  return Address{qpn_.value(), command.psn, command.gid, key_.value(), kMemoryAddress};
}

Expected<wire::MacAddress> EngineSide::resolve(const wire::IpAddress& address) {
  const Instant start = clock_.now();
  for (Instant next_ask = start;;) {
    const Instant now = worker_.receive();
    if (now >= next_ask) {
      (void)worker_.ask(address);  // no buffer: asked again
      next_ask = now + kAskInterval;
    }
    worker_.transmit(now);
    if (const auto mac = neighbours_.find(address)) return *mac;
    if (now - start > kResolvePatience) return fail(ErrorKind::io, "nobody answers for {}", to_text(address));
  }
}

Expected<> EngineSide::connect(const Command& command) {
  peer_ = command.peer;
  const auto gid = wire::parse_ip_address(peer_.gid);
  if (!gid) return fail(ErrorKind::bad_input, "peer's gid {}", peer_.gid);
  const auto mac = resolve(*gid);
  if (!mac) return tl::unexpected(mac.error());
  engine::ConnectParameters parameters;
  parameters.path = {.source_mac = port_.queue(0).capabilities().mac,
                     .destination_mac = *mac,
                     .source = own_,
                     .destination = *gid,
                     .tos = TosByte(Dscp(26), Ecn::ect0),
                     .source_port = wire::source_port_of_flow_label(qpn_.value())};
  parameters.peer = wire::Qpn(peer_.qpn);
  parameters.psn = wire::Psn(command.psn);
  parameters.peer_psn = wire::Psn(peer_.psn);
  parameters.mtu = static_cast<engine::PathMtu>(command.mtu);
  parameters.ack_timeout = static_cast<std::uint8_t>(command.ack_timeout);
  parameters.retry_count = static_cast<std::uint8_t>(command.retry_count);
  parameters.rnr_retry = static_cast<std::uint8_t>(command.rnr_retry);
  return endpoint_.connect(qpn_, parameters);
}

Expected<std::uint32_t> EngineSide::open_window() {
  const auto key = add_region();
  if (!key) return tl::unexpected(key.error());
  windows_.push_back(*key);
  return key->value();
}

Expected<> EngineSide::close() {
  auto destroyed = endpoint_.destroy(qpn_);
  for (const engine::MemoryKey& window : windows_)
    (void)endpoint_.remove_region(window);  // absent: invalidated
  windows_.clear();
  return destroyed;
}

Expected<> EngineSide::post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length) {
  const auto posted = endpoint_.post_receive(qpn_, {.work_id = id, .local = buffer(offset, length)});
  if (!posted) return fail(ErrorKind::conflict, "receive {}: {}", id, enum_name(posted.error()));
  return {};
}

Expected<> EngineSide::post(const Request& request) {
  static const std::map<Operation, engine::SendKind> kinds{
      {Operation::send, engine::SendKind::send},
      {Operation::send_immediate, engine::SendKind::send},
      {Operation::send_invalidate, engine::SendKind::send},
      {Operation::write, engine::SendKind::write},
      {Operation::write_immediate, engine::SendKind::write},
      {Operation::read, engine::SendKind::read},
      {Operation::compare_swap, engine::SendKind::compare_swap},
      {Operation::fetch_add, engine::SendKind::fetch_add}};
  engine::SendRequest send{.work_id = request.id, .kind = kinds.at(request.operation)};
  send.has_immediate =
      request.operation == Operation::send_immediate || request.operation == Operation::write_immediate;
  send.immediate = request.immediate;
  send.has_invalidate = request.operation == Operation::send_invalidate;
  send.invalidate = engine::MemoryKey(request.key);
  send.local = buffer(request.local, request.length);
  send.remote_address = peer_.memory + request.remote;
  send.remote_key = engine::MemoryKey(request.key);
  send.swap_or_add = request.swap_or_add;
  send.compare = request.compare;
  const auto posted = endpoint_.post_send(qpn_, send);
  if (!posted) return fail(ErrorKind::conflict, "request {}: {}", request.id, enum_name(posted.error()));
  return {};
}

Expected<> EngineSide::turn(std::vector<Done>& done) {
  const Instant now = worker_.receive();
  engine::Completion completion;
  while (endpoint_.poll_completion(completion)) {
    Done& one = done.emplace_back();
    one.id = completion.work_id;
    one.is_receive = completion.kind >= engine::CompletionKind::receive;
    one.status = enum_name(completion.status);
    one.length = completion.length;
    if (completion.has_immediate) one.immediate = completion.immediate;
    if (completion.has_invalidated) one.invalidated = completion.invalidated.value();
  }
  worker_.transmit(now);
  rest();
  return {};
}

// The emulated machine has two CPUs, and the kernel's side needs them as well.
void EngineSide::rest() {
  const std::uint64_t busy = worker_.counters().busy_turns;
  idle_turns_ = busy == busy_turns_ ? idle_turns_ + 1 : 0;
  busy_turns_ = busy;
  if (idle_turns_ < kIdleTurns) return;
  const timespec moment{.tv_nsec = 50'000};
  nanosleep(&moment, nullptr);
}

std::map<std::string, std::uint64_t> EngineSide::counters() {
  std::map<std::string, std::uint64_t> out;
  const auto take = [&](std::string_view name, std::uint64_t value) { out.emplace(name, value); };
  const engine::Statistics& statistics = endpoint_.statistics();
  for_each_field(statistics, take);
  for (std::size_t i = 0; i < engine::kDropReasons; ++i) {
    const auto reason = static_cast<engine::DropReason>(i);
    out.emplace(fmt::format("drop_{}", enum_name(reason)), statistics.dropped(reason));
  }
  const port::PortCounters port = port_.queue(0).counters();
  for_each_field(port, [&](std::string_view name, std::uint64_t value) {
    out.emplace(fmt::format("port_{}", name), value);
  });
  out.emplace("neighbour_frames", worker_.counters().neighbour_frames);
  return out;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: interop-engine EAL-ARGUMENTS IP...\n", stderr);
    return 2;
  }
  std::vector<wire::IpAddress> own;
  for (int i = 2; i < argc; ++i) own.push_back(wire::parse_ip_address(argv[i]).value());
  const auto part = open_part<dpdk::DpdkPart>();
  auto block = soft::MemoryBlock::allocate(Bytes(kMemory));
  if (!part || !block) {
    std::fprintf(stderr, "%s\n", (part ? block.error() : part.error()).text().c_str());
    return 1;
  }
  const auto port =
      (*part)->open({.eal_arguments = argv[1],
                     .largest_frame = Bytes(4096 + engine::TransmitFrame::kHeaderRoom + wire::kIcrcSize)});
  if (!port) {
    std::fprintf(stderr, "%s\n", port.error().text().c_str());
    return 1;
  }
  EngineSide side(**port, std::move(own), std::move(*block));
  const int code = serve(side);
  (*port)->close();
  return code;
}

}  // namespace
}  // namespace rocetune::interop

int main(int argc, char** argv) { return rocetune::interop::run(argc, argv); }
