// An endpoint against a peer that sends anything, from every state. The input is a list of commands: what the
// user posts, what the port does, how time passes, and frames whose headers name the right queue pair and
// else whatever the input says. The ICRC is not asked, or nothing would get through.
//
// Held: no byte outside the region changes, every request completes at most once, every frame that is dropped
// is counted, and no timer stays due.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "dataplane/engine/endpoint.h"
#include "dataplane/engine/host_memory.h"

using namespace rocetune;
using namespace rocetune::engine;

namespace {

#define HOLDS(condition) \
  if (!(condition)) std::abort()

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  bool is_over() const { return left_ == 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::uint16_t word() { return static_cast<std::uint16_t>(byte() << 8 | byte()); }
  std::vector<std::byte> bytes(std::size_t count) {
    std::vector<std::byte> out(std::min(count, left_));
    for (std::byte& b : out) b = std::byte{byte()};
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

constexpr std::uint64_t kBase = 0x1000;
constexpr std::uint32_t kRegion = 4096;
constexpr std::uint32_t kGuard = 4096;
constexpr std::byte kUntouched{0xA5};
constexpr std::uint32_t kPosts = 64;

class Play {
 public:
  explicit Play(Input& input)
      : input_(&input),
        storage_(kRegion + 2 * kGuard, kUntouched),
        options_(options_from(input)),
        memory_(4),
        endpoint_(options_, memory_) {
    const std::uint64_t location = HostMemory::location_of(storage_.data() + kGuard);
    const std::uint8_t access = input.byte() | kLocalWrite;
    key_ = endpoint_.add_region({kBase, kRegion, static_cast<std::uint8_t>(access & 0xF), location}).value();
    create();
  }
  void run() {
    for (int steps = 0; !input_->is_over() && steps < 200; ++steps) {
      step();
      collect();
      check();
    }
    (void)endpoint_.fail(qpn_);
    endpoint_.on_transmitted(ticket_);
    collect();
    check();
  }

 private:
  static EndpointOptions options_from(Input& input) {
    EndpointOptions options{.queue_pairs = 2,
                            .send_requests = 8,
                            .receive_requests = 8,
                            .responder_resources = 8,
                            .memory_regions = 4,
                            .verify_icrc = false};
    options.controller.kind = static_cast<ControllerChoice::Kind>(input.byte() % 5);
    return options;
  }
  void create() {
    const std::uint8_t service = input_->byte();
    const bool is_ud = service % 8 == 6;
    qpn_ = endpoint_
               .create({.service = is_ud              ? wire::Service::ud
                                   : service % 8 == 7 ? wire::Service::uc
                                                      : wire::Service::rc})
               .value();
    const std::uint8_t flags = input_->byte();
    (void)endpoint_.connect(
        qpn_, {.path = {.source = wire::IpAddress::v4(1), .destination = wire::IpAddress::v4(2)},
               .peer = wire::Qpn(77),
               .psn = wire::Psn(0xFFFFFC),
               .peer_psn = wire::Psn(0xFFFFFC),
               .mtu = PathMtu::b256,
               .ack_timeout = 4,
               .retry_count = static_cast<std::uint8_t>(flags & 7),
               .rnr_retry = static_cast<std::uint8_t>(flags >> 3 & 7),
               .rnr_timer = 1,
               .initiator_depth = 2,
               .responder_resources = 2,
               .end_to_end_credits = (flags & 0x40) != 0,
               .selective_repeat = (flags & 0x80) != 0});
  }

  void step() {
    switch (input_->byte() % 10) {
      case 0:
        return post_send();
      case 1:
        return post_receive();
      case 2:
        return transmit();
      case 3:
        now_ = now_ + nanoseconds(std::int64_t{input_->word()} * 16);
        endpoint_.on_timeout(now_);
        HOLDS(endpoint_.next_timeout() > now_ - microseconds(1));
        return;
      case 4:
      case 5:
      case 6:
      case 7:
        return give_frame();
      case 8:
        return give(input_->bytes(input_->byte()));
      default:
        return upset();
    }
  }
  Buffer buffer() { return {kBase + input_->word() % 5000, input_->word() % 1600U, key_}; }
  void post_send() {
    if (posted_.size() == kPosts) return;
    const std::uint8_t kind = input_->byte();
    SendRequest request{.work_id = posted_.size(), .kind = static_cast<SendKind>(kind % 5)};
    request.fenced = (kind & 0x20) != 0;
    request.has_immediate = (kind & 0x40) != 0;
    request.local = buffer();
    if (request.kind >= SendKind::compare_swap) request.local.length = 8;
    posted_.push_back(endpoint_.post_send(qpn_, request) ? 1 : 0);
  }
  void post_receive() {
    if (posted_.size() == kPosts) return;
    posted_.push_back(endpoint_.post_receive(qpn_, {posted_.size(), buffer()}) ? 1 : 0);
  }
  void transmit() {
    std::array<TransmitFrame, 4> frames;
    const std::size_t count = endpoint_.poll_transmit(now_, std::span(frames).first(input_->byte() % 5));
    std::array<std::byte, 512> out;
    for (std::size_t i = 0; i < count; ++i) {
      HOLDS(frames[i].ticket == ticket_ + 1);
      ticket_ = frames[i].ticket;
      HOLDS(seal(frames[i], memory_, out) <= out.size());
    }
    if (input_->byte() % 2 == 0) endpoint_.on_transmitted(ticket_);
  }
  // Right up to the BTH.
  void give_frame() {
    const wire::PathHeaders headers(
        {.source = wire::IpAddress::v4(2), .destination = wire::IpAddress::v4(1)});
    const std::uint8_t shape = input_->byte();
    wire::Bth bth{.opcode = input_->byte(), .pad = static_cast<std::uint8_t>(shape & 3), .destination = qpn_};
    bth.ack_request = (shape & 4) != 0;
    bth.psn = wire::Psn(0xFFFFFC) + input_->byte() % 64 - 8;
    std::vector<std::byte> body = input_->bytes(wire::info_of(bth.opcode).extended_size);
    // Where an address and key would stand: mostly good ones.
    if (body.size() >= 12 && (shape & 8) == 0) {
      wire::store64(body, 0, kBase + input_->byte() * 8U);
      wire::store32(body, 8, key_.value());
      if (body.size() == 16) wire::store32(body, 12, input_->word() % 1600U);
    }
    // A whole packet, or any length.
    const std::size_t payload = (shape & 16) != 0 ? 256 : input_->byte();
    body.resize(body.size() + payload + bth.pad, std::byte{0x11});
    std::vector<std::byte> frame(headers.size() + wire::Bth::kSize + body.size() + wire::kIcrcSize);
    headers.emit(frame, wire::Bth::kSize + body.size());
    bth.emit(wire::fixed<wire::Bth::kSize>(wire::MutableBytes(frame), headers.size()));
    std::ranges::copy(body, frame.begin() + static_cast<std::ptrdiff_t>(headers.size() + wire::Bth::kSize));
    if ((shape & 32) != 0) frame[15] |= std::byte{3};
    give(frame);
  }
  void give(const std::vector<std::byte>& frame) {
    const ReceivedFrame received{frame};
    endpoint_.on_frames(now_, {&received, 1});
  }
  void upset() {
    switch (input_->byte() % 4) {
      case 0:
        (void)endpoint_.fail(qpn_);
        break;
      case 1:
        endpoint_.on_transmitted(ticket_);
        collect();
        HOLDS(endpoint_.destroy(qpn_));
        std::ranges::fill(posted_, std::uint8_t{0});
        create();
        break;
      case 2:
        (void)endpoint_.remove_region(key_);
        break;
      default:
        endpoint_.on_pause();
        break;
    }
  }

  void collect() {
    Completion completion;
    while (endpoint_.poll_completion(completion)) {
      HOLDS(completion.work_id < posted_.size() && posted_[completion.work_id] == 1);
      posted_[completion.work_id] = 0;
    }
  }
  void check() const {
    const auto is_untouched = [](std::byte b) { return b == kUntouched; };
    HOLDS(std::all_of(storage_.begin(), storage_.begin() + kGuard, is_untouched));
    HOLDS(std::all_of(storage_.end() - kGuard, storage_.end(), is_untouched));
    std::uint64_t drops = 0;
    for (const std::uint64_t count : endpoint_.statistics().drops) drops += count;
    // A READ whose region goes away while it is answered is one more.
    HOLDS(drops <= endpoint_.statistics().rx_frames + endpoint_.statistics().tx_frames + 1);
  }

  Input* input_;
  std::vector<std::byte> storage_;
  EndpointOptions options_;
  HostMemory memory_;
  Endpoint endpoint_;
  MemoryKey key_;
  wire::Qpn qpn_;
  Instant now_{microseconds(1)};
  std::uint64_t ticket_ = 0;
  std::vector<std::uint8_t> posted_;  // 1: not completed yet
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Play(input).run();
  return 0;
}
