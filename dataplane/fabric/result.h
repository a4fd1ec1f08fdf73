// What a run showed, as plain values with a JSON form.
#pragma once

#include <algorithm>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "dataplane/base/reflect_json.h"
#include "dataplane/fabric/theory.h"

namespace rocetune::fabric {

struct FctSummary {
  double min = 0, mean = 0, p50 = 0, p99 = 0, p999 = 0, max = 0;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("min", self.min...);
    visit("mean", self.mean...);
    visit("p50", self.p50...);
    visit("p99", self.p99...);
    visit("p999", self.p999...);
    visit("max", self.max...);
  }
};

struct FlowResult {
  std::string name;  // "host 3 to host 0"
  std::uint64_t bytes = 0;
  double start_us = 0;
  std::optional<double> fct_us;  // none: it was not finished
  double goodput_gbps = 0;       // from its start to its end; unfinished: of what arrived by the run's end
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("bytes", self.bytes...);
    visit("start_us", self.start_us...);
    visit("fct_us", self.fct_us...);
    visit("goodput_gbps", self.goodput_gbps...);
  }
};

struct FlowsResult {
  std::uint64_t count = 0;
  std::uint64_t finished = 0;
  std::optional<FctSummary> fct_us;  // of the finished ones; from start to the last acknowledgement
  std::uint64_t bytes = 0;           // of payload, acknowledged
  double goodput_gbps = 0;           // these over the time of the run
  double fairness = 1;               // Jain's, of the flows' mean rates (FlowResult::goodput_gbps)
  std::uint64_t retransmitted_frames = 0;
  std::vector<FlowResult> slowest;  // those that took longest, unfinished ones first: at most 16
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("count", self.count...);
    visit("finished", self.finished...);
    visit("fct_us", self.fct_us...);
    visit("bytes", self.bytes...);
    visit("goodput_gbps", self.goodput_gbps...);
    visit("fairness", self.fairness...);
    visit("retransmitted_frames", self.retransmitted_frames...);
    visit("slowest", self.slowest...);
  }
};

struct QueueBytes {
  double mean = 0;
  std::int64_t p50 = 0, p95 = 0, p99 = 0, max = 0;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("mean", self.mean...);
    visit("p50", self.p50...);
    visit("p95", self.p95...);
    visit("p99", self.p99...);
    visit("max", self.max...);
  }
};

// One port of a switch.
struct PortResult {
  std::string name;  // "switch 0 port 3"
  std::string peer;  // "host 3", "switch 4"
  QueueBytes queue_bytes;
  std::uint64_t ce_marked = 0;
  std::uint64_t drops = 0;
  std::uint64_t pauses_sent = 0;      // Xoff frames to the peer
  std::uint64_t pauses_received = 0;  // from it
  double paused_ratio = 0;            // of the run's time that its peer held it, the most paused priority
  double peer_paused_ratio = 0;       // that it held its peer
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("peer", self.peer...);
    visit("queue_bytes", self.queue_bytes...);
    visit("ce_marked", self.ce_marked...);
    visit("drops", self.drops...);
    visit("pauses_sent", self.pauses_sent...);
    visit("pauses_received", self.pauses_received...);
    visit("paused_ratio", self.paused_ratio...);
    visit("peer_paused_ratio", self.peer_paused_ratio...);
  }
};

// Over equal steps of virtual time, the first beginning at 0.
struct PortSeries {
  std::string name;  // "switch 0 port 3"
  std::string peer;
  std::vector<std::int64_t> queue_bytes;  // at the end of each step
  std::vector<double> paused_ratio;       // of each step that the peer held it, the most paused priority
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("peer", self.peer...);
    visit("queue_bytes", self.queue_bytes...);
    visit("paused_ratio", self.paused_ratio...);
  }
};
// The payload of one flow as it arrives.
struct FlowSeries {
  std::string name;  // as FlowResult
  std::vector<double> goodput_gbps;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("goodput_gbps", self.goodput_gbps...);
  }
};
// One direction of a link, framing included.
struct LinkSeries {
  std::string name;  // "host 3", "switch 0 port 3": where it begins
  std::string peer;
  double rate_gbps = 0;  // what it can carry; its first rate, if events change it
  std::vector<double> throughput_gbps;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("peer", self.peer...);
    visit("rate_gbps", self.rate_gbps...);
    visit("throughput_gbps", self.throughput_gbps...);
  }
};
struct TimeSeries {
  double step_us = 0;
  std::vector<double> goodput_gbps;  // payload that arrived in the step, all hosts together
  // 99th percentiles of what arrived in the step; none: nothing did. Of data packets one-way, of messages
  // from being posted (one ahead of the one that is sent) to the acknowledgement.
  std::vector<std::optional<double>> packet_p99_us;
  std::vector<std::optional<double>> message_p99_us;
  std::vector<std::int64_t> queued_bytes;  // in all switches at the end of the step
  std::vector<std::uint64_t> ce_marked;    // in the step, as the following ones
  std::vector<std::uint64_t> cnps_handled;
  std::vector<std::uint64_t> pause_frames;
  std::vector<std::uint64_t> drops;
  std::vector<std::uint64_t> retransmitted_frames;
  // At most 16 each, and how many more there are of which the same could be said.
  std::vector<PortSeries> ports;  // those with the longest queues or pauses, the busiest first
  std::uint64_t ports_left_out = 0;
  std::vector<FlowSeries> flows;  // the largest, among equals the slowest, by the order of their starts
  std::uint64_t flows_left_out = 0;
  std::vector<LinkSeries> links;  // those that carried most of what they can, the busiest first
  std::uint64_t links_left_out = 0;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("step_us", self.step_us...);
    visit("goodput_gbps", self.goodput_gbps...);
    visit("packet_p99_us", self.packet_p99_us...);
    visit("message_p99_us", self.message_p99_us...);
    visit("queued_bytes", self.queued_bytes...);
    visit("ce_marked", self.ce_marked...);
    visit("cnps_handled", self.cnps_handled...);
    visit("pause_frames", self.pause_frames...);
    visit("drops", self.drops...);
    visit("retransmitted_frames", self.retransmitted_frames...);
    visit("ports", self.ports...);
    visit("ports_left_out", self.ports_left_out...);
    visit("flows", self.flows...);
    visit("flows_left_out", self.flows_left_out...);
    visit("links", self.links...);
    visit("links_left_out", self.links_left_out...);
  }
};

// Who held whom and why. What was held holds others in turn: those follow it, one deeper.
struct PauseCause {
  int depth = 0;        // 0: a root, the cause of what follows it
  std::string pauser;   // who sent Xoff: "switch 3", "host 7"
  std::string held;     // to whom: "switch 1 port 5", "host 4"
  std::string because;  // "port 4 to host 0 is congested", "port 2 to switch 9 is held", "receives slowly"
  int priority = 0;
  std::uint64_t xoffs = 0;  // frames, refreshes not counted
  double held_ratio = 0;    // of the run's time
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("depth", self.depth...);
    visit("pauser", self.pauser...);
    visit("held", self.held...);
    visit("because", self.because...);
    visit("priority", self.priority...);
    visit("xoffs", self.xoffs...);
    visit("held_ratio", self.held_ratio...);
  }
};

// Ports that hold each other in a circle: nothing in it can ever move again.
struct Deadlock {
  double found_us = 0;             // when it was seen, at the latest a step after it closed
  std::vector<std::string> cycle;  // "switch 0 port 2", each held by the next, the last by the first
  int priority = 0;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("found_us", self.found_us...);
    visit("cycle", self.cycle...);
    visit("priority", self.priority...);
  }
};

struct TimeSpan {
  double start_us = 0, end_us = 0;  // since the beginning of the run
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("start_us", self.start_us...);
    visit("end_us", self.end_us...);
  }
};

// One step of a job over all its repetitions and groups.
struct StepResult {
  std::string name;
  std::string what;  // "all_reduce ring", "compute"
  std::uint64_t ranks = 0;
  std::uint64_t groups = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;  // that were finished, by all groups together
  // From the first rank that was ready to the last that was done.
  std::optional<FctSummary> time_us;
  std::optional<double> busbw_gbps;  // by the mean time, as nccl-tests has it
  // Of the first 100 repetitions that were finished: from the first rank that began, computing included, to
  // the last that was done.
  std::vector<TimeSpan> when;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("what", self.what...);
    visit("ranks", self.ranks...);
    visit("groups", self.groups...);
    visit("bytes", self.bytes...);
    visit("count", self.count...);
    visit("time_us", self.time_us...);
    visit("busbw_gbps", self.busbw_gbps...);
    visit("when", self.when...);
  }
};
struct JobResult {
  std::string name;
  std::uint64_t ranks = 0;
  std::uint64_t finished = 0;              // ranks
  std::optional<FctSummary> iteration_us;  // all steps once, from the first rank to the last
  std::vector<StepResult> steps;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("ranks", self.ranks...);
    visit("finished", self.finished...);
    visit("iteration_us", self.iteration_us...);
    visit("steps", self.steps...);
  }
};

// What must hold in every run.
struct CheckerResult {
  std::string name;
  bool holds = true;
  std::string found;  // if not
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("holds", self.holds...);
    visit("found", self.found...);
  }
};

struct RunResult {
  std::string scenario;
  std::string description;
  std::uint64_t seed = 0;
  double virtual_s = 0;
  bool reached_limit = false;  // before all flows were finished
  std::uint64_t hosts = 0, switches = 0;
  std::uint64_t packet_hops = 0;
  std::uint64_t events = 0;
  std::string event_log_sha256;
  FlowsResult flows;
  std::vector<JobResult> jobs;
  double goodput_gbps = 0;  // payload that was acknowledged over the time of the run, flows and jobs
  std::uint64_t failed_requests = 0;
  std::uint64_t lost_frames = 0;       // on links
  std::uint64_t receive_drops = 0;     // in NICs whose host is slow
  std::uint64_t watchdog_drops = 0;    // in storms that a switch's watchdog saw
  std::uint64_t storms = 0;            // that watchdogs saw
  std::uint64_t storms_prevented = 0;  // by NICs that stopped to hold their switch
  std::uint64_t drops = 0;             // in switches for lack of room
  std::uint64_t lossless_drops = 0;    // of them, in classes that are lossless there
  std::uint64_t link_drops = 0;        // in switches, before a link that was down
  std::uint64_t pause_frames = 0;      // Xoff frames of switches and hosts, refreshes included
  std::uint64_t ce_marked = 0;
  std::uint64_t cnps_sent = 0;
  std::uint64_t cnps_handled = 0;
  std::vector<PortResult> ports;  // of switches, in order
  std::vector<PauseCause> pause_tree;
  std::optional<Deadlock> deadlock;
  std::optional<TimeSeries> series;  // if asked for
  std::optional<Theory> theory;      // where a model says what to expect
  std::vector<CheckerResult> checkers;
  std::vector<LessonPoint> lesson;
  // Packets that did not come to where they were going, wherever they ended.
  std::uint64_t lost_packets() const {
    return drops + watchdog_drops + link_drops + lost_frames + receive_drops;
  }
  bool is_right() const {
    return std::ranges::all_of(checkers, [](const CheckerResult& c) { return c.holds; });
  }
};

class Network;

struct RunOptions {
  std::size_t threads = 1;  // for this run; they change nothing but its time
  std::size_t samples = 0;  // of TimeSeries; 0: none is taken
  // Told now and then which share of the payload has been acknowledged, 0 to 1.
  std::function<void(double)> on_progress;
  // Ends it within a moment, wherever it is: what came of it then is of a part of the run.
  std::stop_token stop = {};
  // Shown the network before anything happens, at time zero, and as it stands at the end, and when that is:
  // for what its nodes count beside the result. It is the same one.
  std::function<void(const Network&)> on_begin;
  std::function<void(const Network&, Instant)> on_end;
};

// Runs it from beginning to end: until all traffic is finished, the limit, or a deadlock that nothing
// resolves.
RunResult run(const Scenario& scenario, const RunOptions& options = {});

struct Resources {
  double cpu_seconds = 0;  // user and system of the whole process, set-up included
  std::int64_t peak_rss_bytes = 0;
};
std::string json_of(const RunResult& result, const Resources& resources);

}  // namespace rocetune::fabric
