#include "dataplane/tap/stream.h"

#include <bit>

namespace rocetune::tap {
namespace {
using wire::AckKind;
using wire::Operation;
using wire::Psn;

double seconds_between(Instant a, Instant b) { return (b - a).seconds(); }
}  // namespace

const char* nak_name(AckKind kind) {
  switch (kind) {
    case AckKind::ack:
      return "ack";
    case AckKind::rnr_nak:
      return "rnr";
    case AckKind::nak_sequence:
      return "sequence";
    case AckKind::nak_invalid_request:
      return "invalid_request";
    case AckKind::nak_remote_access:
      return "remote_access";
    case AckKind::nak_remote_operational:
      return "remote_operational";
    case AckKind::nak_invalid_rd_request:
      return "invalid_rd_request";
    case AckKind::reserved:
      break;
  }
  return "reserved";
}

bool Stream::on_packet(const wire::RocePacket& packet, std::int64_t frame_size, Instant now) {
  const wire::OpcodeInfo& info = *packet.opcode;
  const bool is_cnp = info.operation == Operation::congestion_notification;
  if (!any_) first_ = now;
  any_ = true;
  last_ = now;
  ++packets_;
  bytes_ += frame_size;
  count_opcode(packet.bth.opcode);
  if (is_cnp) {
    ++cnps_;
    return false;
  }
  // CNPs may come from another port, real ones from port 0.
  if (packet.source_port != port_ || ports_ == 0) {
    if (ports_ == 0) first_port_ = packet.source_port;
    port_ = packet.source_port;
    ++ports_;
  }
  if (packet.tos.ecn() == Ecn::ce) {
    ++ce_;
    if (!unanswered_ce_) unanswered_ce_ = now;
  }
  if (const auto aeth = packet.aeth()) {
    const AckKind kind = aeth->kind();
    if (kind != AckKind::ack) {
      ++naks_[static_cast<std::size_t>(kind)];
    } else if (info.operation == Operation::acknowledge) {
      ++acks_;
    }
  }
  const bool is_request = info.is_request();
  if (!is_request && !info.is_read_response()) return false;
  ++data_packets_;
  payload_ += packet.payload;
  learn_mtu(packet);
  // UD has no order and repeats nothing by itself; its PSNs mean nothing.
  if (info.service == wire::Service::ud) {
    on_message_part(packet, now);
    return false;
  }
  const bool again = is_request ? requests_.insert(packet.bth.psn) : responses_.insert(packet.bth.psn);
  if (again) {
    ++retransmitted_;
    retransmitted_bytes_ += packet.payload;
    sent_.clear();  // Karn: an answer could be to either copy
  } else if (is_request) {
    on_request(packet, now);
  }
  return again && (info.service == wire::Service::rc || info.service == wire::Service::uc);
}

void Stream::count_opcode(std::uint8_t opcode) {
  for (auto& [known, count] : opcodes_) {
    if (known == opcode) {
      ++count;
      return;
    }
  }
  opcodes_.emplace_back(opcode, 1);
}

void Stream::learn_mtu(const wire::RocePacket& packet) {
  // First and middle packets are full by specification.
  if (!packet.opcode->ends_message && packet.payload > mtu_) mtu_ = packet.payload;
}

void Stream::on_request(const wire::RocePacket& packet, Instant now) {
  if (!first_request_) first_request_ = packet.bth.psn;
  sent_.push_back({packet.bth.psn, now});
  if (sent_.size() > kMaxPending) sent_.pop_front();
  if (packet.opcode->operation == Operation::read_request) {
    has_reads_ = true;
    if (const auto reth = packet.reth()) {
      message_bytes_ = reth->length;
      message_start_ = now;
      close_message(packet.bth.psn, true);
    }
    return;
  }
  on_message_part(packet, now);
}

void Stream::on_message_part(const wire::RocePacket& packet, Instant now) {
  const wire::OpcodeInfo& info = *packet.opcode;
  if (info.starts_message) {
    message_open_ = true;
    message_start_ = now;
    message_bytes_ = 0;
    // A write says how long it is, which also holds where the capture has gaps.
    message_length_ =
        packet.reth().has_value() ? std::optional<std::int64_t>(packet.reth()->length) : std::nullopt;
  }
  if (!message_open_) return;  // its beginning is not in the capture
  message_bytes_ += packet.payload;
  if (!info.ends_message) return;
  message_open_ = false;
  message_bytes_ = message_length_.value_or(message_bytes_);
  close_message(packet.bth.psn, false);
}

void Stream::close_message(Psn last, bool is_read) {
  ++messages_;
  messages_bytes_ += message_bytes_;
  largest_ = std::max(largest_, message_bytes_);
  // By powers of two: 4096 belongs to "<=4096".
  const auto size = static_cast<std::uint64_t>(message_bytes_);
  ++sizes_[size <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(size - 1))];
  pending_.push_back({last, message_start_, is_read});
  if (pending_.size() > kMaxPending) pending_.pop_front();
}

void Stream::on_answer(const wire::RocePacket& packet, Instant now) {
  const Psn psn = packet.bth.psn;
  const wire::OpcodeInfo& info = *packet.opcode;
  if (info.is_read_response()) {
    // Answers come in order: the oldest read is the one that ends.
    if (!info.ends_message) return;
    while (!pending_.empty()) {
      const Pending oldest = pending_.front();
      if (!oldest.is_read && Psn::distance(oldest.last, psn) < 0) break;
      pending_.pop_front();
      message_latency_.add(now - oldest.start);
      if (oldest.is_read) break;
    }
    return;
  }
  const auto aeth = packet.aeth();
  if (!aeth) return;
  // A NAK carries the PSN it asks for: everything before it has arrived.
  const bool positive = aeth->kind() == AckKind::ack;
  acknowledge_through(positive ? psn : psn - 1, positive, now);
}

void Stream::acknowledge_through(Psn psn, bool sample_rtt, Instant now) {
  count_unseen(psn);
  while (!sent_.empty() && Psn::distance(sent_.front().psn, psn) >= 0) {
    if (sample_rtt && sent_.front().psn == psn) rtt_.add(now - sent_.front().at);
    sent_.pop_front();
  }
  while (!pending_.empty() && !pending_.front().is_read && Psn::distance(pending_.front().last, psn) >= 0) {
    message_latency_.add(now - pending_.front().start);
    pending_.pop_front();
  }
}

// Acknowledged and never seen: the capture lost it, not the network. Reads take numbers that no request
// carries, so nothing can be said where there are reads.
void Stream::count_unseen(Psn acknowledged) {
  constexpr std::int32_t kMaxStep = 1 << 16;  // further is a new connection, or a nonsense number
  if (has_reads_ || !first_request_) return;
  const Psn from = acknowledged_ ? *acknowledged_ + 1 : *first_request_;
  const std::int32_t step = Psn::distance(from, acknowledged);
  if (step < 0) return;
  acknowledged_ = acknowledged;
  if (step > kMaxStep) return;
  for (std::int32_t i = 0; i <= step; ++i) {
    if (!requests_.contains(from + i)) ++unseen_;
  }
}

void Stream::on_cnp(Instant now) {
  if (!unanswered_ce_) return;
  cnp_reaction_.add(now - *unanswered_ce_);
  unanswered_ce_.reset();
}

QueuePairFacts Stream::facts(Instant start) const {
  QueuePairFacts f{.source = to_text(key_.source),
                   .destination = to_text(key_.destination),
                   .destination_qp = key_.destination_qp.value(),
                   .source_port = first_port_,
                   .source_ports = ports_,
                   .packets = packets_,
                   .bytes = bytes_,
                   .payload_bytes = payload_,
                   .first_s = seconds_between(start, first_),
                   .last_s = seconds_between(start, last_),
                   .ce_packets = ce_,
                   .cnps = cnps_,
                   .retransmitted_packets = retransmitted_,
                   .retransmitted_bytes = retransmitted_bytes_,
                   .acks = acks_,
                   .acknowledged_unseen = unseen_,
                   .rtt = rtt_.summary(),
                   .cnp_reaction = cnp_reaction_.summary()};
  if (peer) f.peer = *peer;
  for (const auto& [opcode, count] : opcodes_) {
    const wire::OpcodeInfo& info = wire::info_of(opcode);
    f.opcodes[info.is_valid() ? std::string(info.name) : fmt::format("opcode 0x{:02x}", opcode)] += count;
    // CNPs do not tell the service; anything else does.
    if (info.is_valid() && (f.service.empty() || f.service == "CNP")) f.service = to_text(info.service);
  }
  for (std::size_t i = 0; i < naks_.size(); ++i) {
    if (naks_[i] > 0) f.naks[nak_name(static_cast<AckKind>(i))] = naks_[i];
  }
  if (mtu_ > 0) f.path_mtu_bytes = mtu_;
  f.messages = MessageFacts{.count = messages_,
                            .bytes = messages_bytes_,
                            .largest_bytes = largest_,
                            .latency = message_latency_.summary()};
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i] > 0) f.messages.by_size[fmt::format("<={}", std::uint64_t{1} << i)] = sizes_[i];
  }
  return f;
}

}  // namespace rocetune::tap
