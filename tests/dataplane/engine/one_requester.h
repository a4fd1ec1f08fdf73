// A requester and a peer whose answers a test makes by hand.
#pragma once

#include <gtest/gtest.h>

#include "dataplane/wire/opcode.h"
#include "tests/dataplane/engine/two_hosts.h"

namespace rocetune::engine {

class RequesterTest : public ::testing::Test {
 protected:
  void connect(const std::function<void(ConnectParameters&)>& change = {}) {
    hosts.connect([&](ConnectParameters& p) {
      p.mtu = PathMtu::b256;
      p.ack_timeout = 10;  // 4.2 ms
      if (change) change(p);
    });
  }
  void post(SendKind kind, std::uint32_t length, std::uint64_t id = 0, bool signaled = true) {
    ASSERT_TRUE(a.endpoint.post_send(a.qpn, {.work_id = id,
                                             .kind = kind,
                                             .signaled = signaled,
                                             .local = a.buffer(0, length),
                                             .remote_address = Host::kBase + 4096,
                                             .remote_key = b.key}));
  }
  static std::vector<std::uint8_t> opcodes(const std::vector<Frame>& frames) {
    std::vector<std::uint8_t> all;
    for (const Frame& frame : frames) all.push_back(packet_of(frame).bth.opcode);
    return all;
  }
  // Places of those that ask for an acknowledgement.
  static std::vector<std::size_t> asking(const std::vector<Frame>& frames) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (packet_of(frames[i]).bth.ack_request) all.push_back(i);
    }
    return all;
  }
  static std::vector<std::uint32_t> psns(const std::vector<Frame>& frames) {
    std::vector<std::uint32_t> all;
    for (const Frame& frame : frames) all.push_back(packet_of(frame).bth.psn.value());
    return all;
  }
  std::vector<CompletionStatus> statuses() {
    std::vector<CompletionStatus> all;
    for (const Completion& completion : a.completions()) all.push_back(completion.status);
    return all;
  }
  // An answer from b to a, made by hand.
  Frame answer(std::uint8_t opcode, std::uint32_t psn, std::uint8_t syndrome, std::uint32_t payload = 0) {
    const wire::PathHeaders headers({.source = b.ip, .destination = a.ip});
    const bool has_aeth = opcode != wire::opcode::kRcReadResponseMiddle;
    const std::size_t size = wire::Bth::kSize + (has_aeth ? wire::Aeth::kSize : 0) + payload;
    Frame frame(headers.size() + size + wire::kIcrcSize);
    headers.emit(frame, size);
    wire::Bth{.opcode = opcode, .destination = a.qpn, .psn = wire::Psn(psn)}.emit(
        wire::fixed<wire::Bth::kSize>(wire::MutableBytes(frame), headers.size()));
    if (has_aeth) {
      wire::Aeth{syndrome, 1}.emit(
          wire::fixed<wire::Aeth::kSize>(wire::MutableBytes(frame), headers.size() + wire::Bth::kSize));
    }
    reseal(frame);
    return frame;
  }
  Frame ack(std::uint32_t psn, std::uint8_t syndrome = 0x1F) {
    return answer(wire::opcode::kRcAcknowledge, psn, syndrome);
  }
  std::uint64_t dropped(DropReason reason) { return a.endpoint.statistics().dropped(reason); }
  void wait(Duration span) {
    hosts.now = hosts.now + span;
    a.endpoint.on_timeout(hosts.now);
  }

  TwoHosts hosts;
  Host& a = hosts.a;
  Host& b = hosts.b;
};

}  // namespace rocetune::engine
