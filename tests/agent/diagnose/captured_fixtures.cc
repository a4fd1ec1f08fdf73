#include "tests/agent/diagnose/rule_fixtures.h"

namespace rocetune::diagnose {
namespace {

// A second of RoCE both ways between two hosts, marked and answered by CNPs, with one short pause.
Capture healthy_capture() {
  Capture out{.file = "lab.pcap", .facts = {}};
  tap::TapFacts& f = out.facts;
  f.frames = 31'050;
  f.duration_s = 1;
  f.roce_packets = 31'000;
  f.ack_packets = 10'000;
  f.ce_packets = 400;
  f.cnp_packets = 1000;
  f.data_flows = 1;
  f.dscps = {{.dscp = Dscp(26), .packets = 30'000, .ce_packets = 400}};
  f.pfc_frames = f.pfc_xoff_frames = 4;
  f.link_speed = gigabits_per_second(100);
  f.link_speed_is_assumed = false;
  tap::QueuePairFacts data{.source = "10.0.0.1", .destination = "10.0.0.2", .destination_qp = 0x11};
  data.peer = 1;
  data.packets = 20'000;
  data.payload_bytes = 20'000LL * 4096;
  data.ce_packets = 400;
  data.path_mtu_bytes = 4096;
  tap::QueuePairFacts answers{.source = "10.0.0.2", .destination = "10.0.0.1", .destination_qp = 0x12};
  answers.peer = 0;
  answers.packets = 11'000;
  answers.acks = 10'000;
  answers.cnps = 1000;
  f.queue_pairs = {data, answers};
  f.pauses = {{.priority = Priority(3), .paused_s = 0.001, .ratio = 0.001, .longest_us = 336}};
  f.pauses[0].sources = {"02:00:00:00:00:01"};
  f.neighbours = {{.source = "02:00:00:00:00:01", .frames = 2, .dcbx = "ieee"}};
  f.neighbours[0].pfc_enabled = PrioritySet(0x08);
  return out;
}

// The capture after `change`, beside the healthy host.
std::function<void(Scenario&)> captured(std::function<void(tap::TapFacts&)> change) {
  return [change = std::move(change)](Scenario& s) {
    s.captures = {healthy_capture()};
    change(s.captures[0].facts);
  };
}

void as_it_is(tap::TapFacts&) {}

Fixture capture(const char* rule, Kind kind, std::function<void(tap::TapFacts&)> change,
                const char* says = "") {
  return {rule, "lab.pcap", kind, captured(std::move(change)), says};
}

std::vector<Fixture> captured_loss_fixtures() {
  using tap::TapFacts;
  return {
      capture("LOSS-1", Kind::passed, as_it_is),
      capture(
          "LOSS-1", Kind::found,
          [](TapFacts& f) {
            f.retransmitted_packets = 300;
            f.queue_pairs[0].retransmitted_packets = 300;
            f.nak_packets["sequence"] = 12;
          },
          "behind each gap"),
      capture(
          "LOSS-1", Kind::found, [](TapFacts& f) { f.retransmitted_packets = 1; },
          "no receiver reports a gap"),
      capture(
          "LOSS-1", Kind::not_checked,
          [](TapFacts& f) {
            f.roce_packets = 500;
            f.ack_packets = 100;
            f.cnp_packets = 0;
          },
          "400 data packets"),
      capture(
          "LOSS-1", Kind::not_checked,
          [](TapFacts& f) { f.roce_packets = f.ack_packets = f.cnp_packets = 0; }, "no RoCE data"),
      capture("LOSS-2", Kind::passed, as_it_is),
      capture(
          "LOSS-2", Kind::found,
          [](TapFacts& f) {
            f.nak_packets["rnr"] = 3;
            f.queue_pairs[1].naks["rnr"] = 3;
          },
          "RNR NAK"),
      capture(
          "LOSS-2", Kind::not_checked, [](TapFacts& f) { f.ack_packets = 0; }, "no answers"),
  };
}

std::vector<Fixture> captured_congestion_fixtures() {
  using tap::TapFacts;
  return {
      capture("ECN-3", Kind::passed, as_it_is),
      capture(
          "ECN-3", Kind::found, [](TapFacts& f) { f.cnp_packets = f.queue_pairs[1].cnps = 0; },
          "sends no CNP"),
      capture(
          "ECN-3", Kind::not_checked, [](TapFacts& f) { f.ce_packets = f.cnp_packets = 0; }, "no packet"),
      // The other direction is not in the capture.
      capture(
          "ECN-3", Kind::not_checked,
          [](TapFacts& f) {
            f.queue_pairs[0].peer.reset();
            f.cnp_packets = 0;
          },
          "both directions"),
      capture("PFC-5", Kind::passed, as_it_is),
      capture(
          "PFC-5", Kind::found,
          [](TapFacts& f) {
            f.pauses[0].storms = {{0.2, 0.9, "02:00:00:00:00:09"}};
          },
          "02:00:00:00:00:09"),
      capture(
          "PFC-5", Kind::not_checked, [](TapFacts& f) { f.pauses.clear(); }, "no pause frame"),
      capture(
          "PFC-5", Kind::not_checked, [](TapFacts& f) { f.duration_s = 0.1; }, "100 ms"),
      capture("PFC-1", Kind::passed, as_it_is),
      capture(
          "PFC-1", Kind::found,
          [](TapFacts& f) {
            f.global_pause_frames = 2;
            f.pauses.push_back({.priority = {}, .sources = {"02:00:00:00:00:07"}});
          },
          "every priority"),
      capture(
          "PFC-1", Kind::not_checked,
          [](TapFacts& f) {
            f.pfc_frames = f.pfc_xoff_frames = 0;
            f.pauses[0].priority.reset();
          },
          "only global pause"),
  };
}

std::vector<Fixture> captured_marking_fixtures() {
  using tap::TapFacts;
  return {
      capture("MAP-4", Kind::passed, as_it_is),
      capture(
          "MAP-4", Kind::found, [](TapFacts& f) { f.dscps[0].dscp = Dscp(6); }, "ToS byte 26"),
      capture(
          "MAP-4", Kind::found, [](TapFacts& f) { f.dscps[0].not_ect_packets = 29'000; }, "cannot be marked"),
      capture(
          "MAP-4", Kind::not_checked, [](TapFacts& f) { f.dscps.clear(); }, "no RoCE v2"),
      capture("MTU-1", Kind::passed, as_it_is),
      capture(
          "MTU-1", Kind::found, [](TapFacts& f) { f.queue_pairs[0].path_mtu_bytes = 1024; }, "1024 bytes"),
      capture(
          "MTU-1", Kind::not_checked, [](TapFacts& f) { f.queue_pairs[0].path_mtu_bytes.reset(); },
          "longer than one packet"),
      capture("GID-1", Kind::passed, as_it_is),
      capture(
          "GID-1", Kind::found, [](TapFacts& f) { f.rocev1_packets = 5; }, "not routed"),
      capture(
          "GID-1", Kind::found, [](TapFacts& f) { f.queue_pairs[0].source = "fe80::1"; }, "first router"),
      capture(
          "GID-1", Kind::not_checked, [](TapFacts& f) { f.roce_packets = f.ack_packets = f.cnp_packets = 0; },
          "no RoCE packets"),
      capture("SW-4", Kind::passed, as_it_is),
      capture(
          "SW-4", Kind::found, [](TapFacts& f) { f.neighbours[0].pfc_enabled = PrioritySet(0x34); },
          "leaves out the RoCE priority 3"),
      capture(
          "SW-4", Kind::found, [](TapFacts& f) { f.neighbours[0].dcbx_changes = 16; }, "changes"),
      capture(
          "SW-4", Kind::not_checked, [](TapFacts& f) { f.neighbours.clear(); }, "no DCBX"),
  };
}

}  // namespace

std::vector<Fixture> captured_fixtures() {
  std::vector<Fixture> out;
  for (const auto& family :
       {captured_loss_fixtures(), captured_congestion_fixtures(), captured_marking_fixtures()}) {
    out.insert(out.end(), family.begin(), family.end());
  }
  return out;
}

}  // namespace rocetune::diagnose
