#include "dataplane/tap/observer.h"

#include <algorithm>

#include "dataplane/wire/mac_control.h"

namespace rocetune::tap {
namespace {

using namespace wire;  // NOLINT(google-build-using-namespace): all it speaks of is of the wire

constexpr BitRate kAssumedSpeed = gigabits_per_second(100);
constexpr std::array<std::string_view, 5> kWrappings{"vxlan", "gre", "erspan1", "erspan2", "erspan3"};

// An IP packet that is meant to be RoCE although it could not be read: UDP to port 4791.
bool claims_roce(std::uint16_t type, ConstBytes packet) {
  if (type == ether_type::kRoceV1) return true;
  std::size_t udp = 0;
  if (type == ether_type::kIpv4 && packet.size() >= Ipv4Header::kSize && load8(packet, 0) >> 4 == 4) {
    if (load8(packet, 9) != ip_protocol::kUdp || (load16(packet, 6) & 0x1FFF) != 0) return false;
    udp = std::size_t{load8(packet, 0) & 0xFU} * 4;
  } else if (type == ether_type::kIpv6 && packet.size() >= Ipv6Header::kSize) {
    if (load8(packet, 6) != ip_protocol::kUdp) return false;
    udp = Ipv6Header::kSize;
  } else {
    return false;
  }
  return packet.size() >= udp + 4 && load16(packet, udp + 2) == UdpHeader::kRoce;
}

bool is_answer(const OpcodeInfo& info) {
  return info.operation == Operation::acknowledge || info.operation == Operation::atomic_acknowledge ||
         info.operation == Operation::read_response;
}

}  // namespace

Observer::Observer(const ObserverOptions& options)
    : options_(options), link_speed_(options.link_speed.value_or(kAssumedSpeed)), pauses_(link_speed_) {
  ROCETUNE_ASSERT(link_speed_ > BitRate(0));
}

void Observer::observe(LinkType link, ConstBytes frame, std::uint32_t original_size, Instant now) {
  ++frames_;
  last_ = first_ ? std::max(last_, now) : now;
  first_ = first_ ? std::min(*first_, now) : now;
  InnerFrame inner;
  if (!decapsulate(link, frame, inner)) return;
  for (std::size_t i = 0; inner.wrapping >> i != 0; ++i) wrapped_[i] += inner.wrapping >> i & 1;
  switch (inner.type) {
    case ether_type::kIpv4:
    case ether_type::kIpv6:
    case ether_type::kRoceV1:
      on_roce(inner, original_size, now);
      break;
    case ether_type::kMacControl:
      on_mac_control(inner, now);
      break;
    case ether_type::kLldp:
      ++lldp_;
      if (const auto lldp = parse_lldp(inner.payload); lldp && inner.ethernet) {
        neighbours_.on_lldp(inner.ethernet->source, *lldp);
      }
      break;
    default:
      break;
  }
}

void Observer::on_mac_control(const InnerFrame& frame, Instant now) {
  const auto control = parse_mac_control(frame.payload);
  if (!control) return;
  const MacAddress source = frame.ethernet ? frame.ethernet->source : MacAddress{};
  if (const auto* pfc = std::get_if<PfcMessage>(&*control)) {
    bool is_xoff = false;
    for (const Priority p : pfc->enabled.members()) {
      is_xoff = is_xoff || pfc->quanta[static_cast<std::size_t>(p.value())] > PauseQuanta(0);
    }
    ++pfc_;
    ++(is_xoff ? xoff_ : xon_);
    pauses_.on_pfc(now, source, *pfc);
  } else if (const auto* global = std::get_if<GlobalPause>(&*control)) {
    ++global_;
    pauses_.on_global_pause(now, source, global->quanta);
  }
}

void Observer::count_icrc(const RocePacket& packet) {
  const IcrcState state = options_.check_icrc ? packet.icrc_state() : IcrcState::unknown;
  ++(state == IcrcState::ok ? icrc_ok_ : state == IcrcState::bad ? icrc_bad_ : icrc_unknown_);
}

void Observer::count_answer(const RocePacket& packet, Instant now) {
  const auto aeth = packet.aeth();
  if (!aeth) return;
  const AckKind kind = aeth->kind();
  if (kind != AckKind::ack) {
    ++naks_[static_cast<std::size_t>(kind)];
    events_.add(now, Event::nak);
  } else if (packet.opcode->operation == Operation::acknowledge) {
    ++acks_;
  }
}

void Observer::on_roce(const InnerFrame& frame, std::int64_t frame_size, Instant now) {
  const auto packet = RocePacket::parse(frame.type, frame.payload);
  if (!packet) {
    if (packet.error() == Malformed::not_roce || !claims_roce(frame.type, frame.payload)) return;
    ++roce_;
    if (frame.type == ether_type::kRoceV1) ++roce_v1_;
    ++icrc_unknown_;
    ++malformed_[static_cast<std::size_t>(packet.error())];
    return;
  }
  ++roce_;
  if (packet->network == NetworkHeader::grh) ++roce_v1_;
  if (frame.ethernet && frame.ethernet->tag_count > 0) {
    ++pcps_[static_cast<std::size_t>(frame.ethernet->tags[0].pcp.value())];
  }
  count_icrc(*packet);
  const OpcodeInfo& info = *packet->opcode;
  const Ecn ecn = packet->tos.ecn();
  events_.add(now, Event::bytes, frame_size);
  if (ecn == Ecn::ce) {
    ++ce_;
    events_.add(now, Event::ce);
  }
  if (info.operation == Operation::congestion_notification) {
    ++cnps_;
    events_.add(now, Event::cnp);
  } else {
    DscpCount& dscp = dscps_[static_cast<std::size_t>(packet->tos.dscp().value())];
    ++dscp.packets;
    dscp.ce += ecn == Ecn::ce ? 1 : 0;
    dscp.not_ect += ecn == Ecn::not_ect ? 1 : 0;
  }
  if (!info.is_valid()) ++unknown_opcodes_;
  count_answer(*packet, now);

  bool is_new = false;
  const StreamTable::Index index =
      streams_.find_or_add({packet->source, packet->destination, packet->bth.destination}, is_new);
  if (index == StreamTable::kNone) {
    ++too_many_streams_;
    return;
  }
  if (streams_[index].on_packet(*packet, frame_size, now)) {
    ++retransmitted_;
    events_.add(now, Event::retransmission);
  }
  if (info.is_request() || info.is_read_response()) {
    if (streams_[index].is_new_flow(packet->source_port)) flows_.insert({index, packet->source_port});
  }
  if (is_answer(info) || info.operation == Operation::congestion_notification) answer(index, *packet, now);
}

void Observer::answer(StreamTable::Index index, const RocePacket& packet, Instant now) {
  const bool is_cnp = packet.opcode->operation == Operation::congestion_notification;
  // A CNP has no sequence number: it can only use a pair that acknowledgements have made.
  const auto peer = is_cnp ? streams_[index].peer : peer_of(index, packet);
  if (!peer) return;
  if (is_cnp) {
    streams_[*peer].on_cnp(now);
  } else {
    streams_[*peer].on_answer(packet, now);
  }
}

// RoCE packets name only their destination, so which request direction an answer belongs to is found by its
// PSN: the one direction between the two hosts in which that number was sent. Two answers must agree before
// it counts, unless there is no choice; sequence numbers start at random, so chance agreement is rare.
std::optional<StreamTable::Index> Observer::peer_of(StreamTable::Index index, const RocePacket& packet) {
  constexpr int kNeeded = 2;
  // Beyond these the search would cost more than the pair is worth: directions between two hosts, and answers
  // of one direction after which only every 64th is tried.
  constexpr std::size_t kMaxCandidates = 4096;
  constexpr std::uint32_t kMaxAttempts = 64;
  Stream& answering = streams_[index];
  if (answering.peer) return answering.peer;
  const std::uint32_t attempt = answering.pairing_attempts++;
  if (attempt >= kMaxAttempts && attempt % kMaxAttempts != 0) return std::nullopt;
  // Of a NAK the last packet before the one it asks for was sent for sure.
  const auto aeth = packet.aeth();
  const bool is_nak = aeth && aeth->kind() != AckKind::ack;
  const Psn psn = is_nak ? packet.bth.psn - 1 : packet.bth.psn;
  std::optional<StreamTable::Index> found;
  const auto& candidates = streams_.between(packet.destination, packet.source);
  if (candidates.size() > kMaxCandidates) return std::nullopt;
  std::size_t with_data = 0;
  for (const StreamTable::Index i : candidates) {
    const Stream& stream = streams_[i];
    if (stream.key().source != packet.destination || stream.key().destination != packet.source) continue;
    if (!stream.has_data()) continue;
    ++with_data;
    if (stream.peer || !stream.has_request(psn)) continue;
    if (found) return std::nullopt;  // not decided by this one
    found = i;
  }
  if (!found) return std::nullopt;
  answering.confirmations = answering.candidate == found ? answering.confirmations + 1 : 1;
  answering.candidate = found;
  if (answering.confirmations < kNeeded && with_data > 1) return std::nullopt;
  answering.peer = found;
  streams_[*found].peer = index;
  return found;
}

TapFacts Observer::facts() const {
  const Instant first = first_.value_or(Instant());
  TapFacts f{.frames = frames_,
             .truncated = truncated_,
             .duration_s = frames_ > 0 ? (last_ - first).seconds() : 0,
             .roce_packets = roce_,
             .rocev1_packets = roce_v1_,
             .ack_packets = acks_,
             .ce_packets = ce_,
             .cnp_packets = cnps_,
             .retransmitted_packets = retransmitted_,
             .data_flows = static_cast<std::int64_t>(flows_.size()),
             .icrc_ok = icrc_ok_,
             .icrc_bad = icrc_bad_,
             .icrc_unknown = icrc_unknown_,
             .unknown_opcodes = unknown_opcodes_,
             .pfc_frames = pfc_,
             .pfc_xoff_frames = xoff_,
             .pfc_xon_frames = xon_,
             .global_pause_frames = global_,
             .lldp_frames = lldp_,
             .link_speed = link_speed_,
             .link_speed_is_assumed = !options_.link_speed.has_value(),
             .lldp_pfc_enabled = neighbours_.agreed_pfc(),
             .pauses = pauses_.facts(first, last_, options_.storm),
             .neighbours = neighbours_.facts()};
  for (std::size_t i = 0; i < naks_.size(); ++i) {
    if (naks_[i] > 0) f.nak_packets[nak_name(static_cast<AckKind>(i))] = naks_[i];
  }
  for (const auto& [reason, name] : EnumNames<Malformed>::names) {
    const std::int64_t count = malformed_[static_cast<std::size_t>(reason)];
    if (count > 0) f.malformed[std::string(name)] = count;
  }
  for (std::size_t i = 0; i < kWrappings.size(); ++i) {
    if (wrapped_[i] > 0) f.wrapped[std::string(kWrappings[i])] = wrapped_[i];
  }
  for (int dscp = 0; dscp < Dscp::kCount; ++dscp) {
    const DscpCount& count = dscps_[static_cast<std::size_t>(dscp)];
    if (count.packets > 0) f.dscps.push_back({Dscp(dscp), count.packets, count.ce, count.not_ect});
  }
  std::ranges::stable_sort(f.dscps, std::ranges::greater(), &DscpFacts::packets);
  if (std::ranges::any_of(pcps_, [](std::int64_t n) { return n > 0; })) {
    f.packets_by_pcp.assign(pcps_.begin(), pcps_.end());
  }
  for (StreamTable::Index i = 0; i < streams_.size(); ++i) f.queue_pairs.push_back(streams_[i].facts(first));
  f.timeline = events_.facts();
  f.notes = notes(f);
  return f;
}

std::vector<std::string> Observer::notes(const TapFacts& f) const {
  std::vector<std::string> notes;
  if (f.truncated) notes.push_back("the file ends inside a frame; the whole frames before it are counted");
  if (f.icrc_unknown > 0) {
    notes.push_back(fmt::format(
        "the ICRC of {} packets cannot be checked: their last bytes were not captured", f.icrc_unknown));
  }
  std::int64_t unseen = 0;
  for (const QueuePairFacts& pair : f.queue_pairs) unseen += pair.acknowledged_unseen;
  if (unseen > 0) {
    notes.push_back(
        fmt::format("incomplete capture: {} packets were acknowledged but are not in it; losses counted "
                    "from gaps in it are too high",
                    unseen));
  }
  if (f.link_speed_is_assumed && !f.pauses.empty()) {
    notes.push_back(
        fmt::format("pause times assume a link of {}; --link-speed sets it", to_text(f.link_speed)));
  }
  if (too_many_streams_ > 0) {
    notes.push_back(fmt::format("more than {} directions: {} packets are in no row", StreamTable::kMaxStreams,
                                too_many_streams_));
  }
  return notes;
}

}  // namespace rocetune::tap
