#include "dataplane/fabric/scenario.h"

#include <algorithm>
#include <array>
#include <deque>

#include "congestion/dcqcn/parameter_table.h"
#include "dataplane/fabric/scenario_links.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

// Whose semantics a run has.
enum class Compatibility : std::uint8_t { none, hpcc };
enum class Link : std::uint8_t { ethernet, infiniband };
enum class Recovery : std::uint8_t { go_back_n, selective_repeat };

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Compatibility, P{E::none, "none"}, P{E::hpcc, "hpcc"});
ROCETUNE_ENUM(dcqcn::CongestionPointParameters::MarkAt, P{E::enqueue, "enqueue"}, P{E::dequeue, "dequeue"});
ROCETUNE_ENUM(dcqcn::NotificationPointParameters::Mode, P{E::event, "event"},
              P{E::fixed_window, "fixed_window"});
ROCETUNE_ENUM(fabric::FlowHash, P{E::own, "own"}, P{E::hpcc, "hpcc"});
ROCETUNE_ENUM(fabric::Framing, P{E::ethernet, "ethernet"}, P{E::infiniband, "infiniband"},
              P{E::hpcc, "hpcc"});
ROCETUNE_ENUM(fabric::Link, P{E::ethernet, "ethernet"}, P{E::infiniband, "infiniband"});
ROCETUNE_ENUM(fabric::Recovery, P{E::go_back_n, "go_back_n"}, P{E::selective_repeat, "selective_repeat"});
ROCETUNE_ENUM(fabric::Spreading, P{E::flow, "flow"}, P{E::flowlet, "flowlet"}, P{E::packet, "packet"},
              P{E::adaptive, "adaptive"});
ROCETUNE_ENUM(fabric::Forwarding, P{E::store_and_forward, "store_and_forward"},
              P{E::cut_through, "cut_through"});
ROCETUNE_ENUM(fabric::WatchdogParameters::Action, P{E::drop, "drop"}, P{E::forward, "forward"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

// headroom = "60kB", or "derived": from each port's rate and cable, the path MTU and the reaction to pauses.
struct Headroom {
  bool is_derived = false;
  Bytes bytes{100'000};
};
Parsed<Headroom> parse_headroom(std::string_view text) {
  if (text == "derived") return Headroom{.is_derived = true};
  const auto bytes = parse_bytes(text);
  const std::string range = an_amount(1)(bytes.value_or(Bytes(1)));
  if (bytes && range.empty()) return Headroom{.bytes = *bytes};
  const std::string allowed = bytes ? range : bytes.error().allowed;
  return tl::unexpected(UnitError{std::string(text), "\"derived\", or " + allowed});
}

class ScenarioReader {
 public:
  explicit ScenarioReader(Scenario& out) : out_(out) {}

  void read(TableReader& top) {
    top.required("name", out_.name, not_empty());
    top.optional("description", out_.description);
    top.optional("seed", out_.seed);
    top.optional("limit", out_.limit, between(nanoseconds(1), seconds(3600)));
    top.optional("warm_up", out_.warm_up, between(Duration(0), out_.limit));
    top.optional("compat", compatibility_);
    top.optional("link", link_);
    LinkSpec usual;
    top.table("links", [&](TableReader& t) { read_loss(t, usual); });
    if (!top.required_table("topology", [&](TableReader& t) { read_topology(t, usual, out_.topology); }))
      return;
    top.table("routing", [&](TableReader& t) { read_routing(t); });
    top.table("hosts", [&](TableReader& t) { read_hosts(t); });
    top.table("switches", [&](TableReader& t) { read_switches(t); });
    top.table("dcqcn", [&](TableReader& t) { read_dcqcn(t); });
    read_traffic(top, out_);
    read_workloads(top);
    top.ignore("tune");
    top.array_of_tables("lesson", [&](TableReader& t) { read_lesson(t, out_); });
    if (out_.workload != kOwnWorkload) out_.lesson.clear();  // they are about the file's own traffic
    top.array_of_tables("events", [&](TableReader& t) { own_.read_event(t, out_); });
    finish();
  }

 private:
  static void read_traffic(TableReader& t, Scenario& out) {
    t.array_of_tables("flows", [&](TableReader& flows) { read_flows(flows, out); });
    t.array_of_tables("jobs", [&](TableReader& jobs) { read_jobs(jobs, out); });
    if (!t.has("flows") && !t.has("jobs")) t.reject("flows", "at least one [[flows]] or [[jobs]]");
  }

  // Other traffic of the same fabric, one of which may be chosen.
  void read_workloads(TableReader& top) {
    std::vector<std::string> names{std::string(kOwnWorkload)};
    std::string choice(kOwnWorkload);
    top.array_of_tables("workloads", [&](TableReader& t) {
      Scenario& other = others_.emplace_back();
      other.seed = out_.seed;
      other.limit = out_.limit;
      other.topology = out_.topology;
      if (t.required("name", other.workload, not_empty())) {
        if (std::ranges::find(names, other.workload) != names.end()) t.reject("name", "a name of its own");
        names.push_back(other.workload);
      }
      read_traffic(t, other);
    });
    top.optional("workload", choice, one_of(names));
    out_.workloads.assign(names.begin() + 1, names.end());
    const auto other = std::ranges::find(others_, choice, &Scenario::workload);
    if (other == others_.end()) return;
    out_.workload = choice;
    out_.flows = std::move(other->flows);
    out_.traffic = std::move(other->traffic);
    out_.jobs = std::move(other->jobs);
  }

  void read_routing(TableReader& t) {
    SwitchParameters& s = out_.options.switches;
    t.optional("spreading", s.spreading);
    has_hash_ = t.optional("hash", s.hash);
    if (s.hash == FlowHash::hpcc && s.spreading != Spreading::flow)
      t.reject("hash", "own, where it is not the flow that decides (spreading)");
    t.optional("flowlet_gap", s.flowlet_gap, between(Duration(0), seconds(1)));
    Duration reroute_after;
    if (t.optional("reroute_after", reroute_after, between(Duration(0), seconds(3600))))
      out_.options.reroute_after = reroute_after;
  }

  void read_hosts(TableReader& t) {
    HostParameters& host = out_.options.host;
    t.optional("recovery", recovery_);
    read_server(t, out_.options.server);
    ReceiverParameters& receiver = host.receiver;
    receiver.buffer.buffer = Bytes(512 * 1024);
    receiver.buffer.lossless_pool = {.reserve = Bytes(0),
                                     .headroom = Bytes(100'000),
                                     .alpha_exponent = 3,
                                     .resume_offset = Bytes(16 * 1024)};
    t.optional("receive_rate", receiver.rate, a_rate());
    t.optional("receive_buffer", receiver.buffer.buffer, an_amount(32 * 1024));
    t.optional("receive_headroom", receiver.buffer.lossless_pool.headroom, an_amount(1));
    if (receiver.buffer.lossless_pool.headroom >= receiver.buffer.buffer)
      t.reject("receive_headroom", "less than receive_buffer (" + to_text(receiver.buffer.buffer) + ")");
    t.optional("storm_prevention", receiver.storm_prevention, between(nanoseconds(1), seconds(3600)));
    if (const auto ets = read_ets(t)) host.ets = *ets;
    if (const auto classes = read_traffic_classes(t)) host.class_of = *classes;
    t.array_of_tables("own", [&](TableReader& own) { own_.read_hosts(own, out_.topology); });
    t.optional_text("controller", host.controller.kind, parse_controller_kind);
    t.optional("fixed_rate", host.controller.fixed_rate, a_rate());
    t.optional("dscp", host.data_dscp);
    std::uint32_t mtu = engine::bytes_of(host.mtu);
    if (t.optional("mtu", mtu, one_of(kPathMtus))) host.mtu = static_cast<engine::PathMtu>(mtu);
    if (AckTimeout timeout; t.optional("ack_timeout", timeout)) host.ack_timeout = timeout.exponent;
    t.optional("pause_reaction", host.pause_reaction, between(Duration(0), milliseconds(1)));
    t.optional("framing", host.framing);
    t.optional("ack_dscp", host.ack_dscp);
    t.optional("priority", data_priority_);
    t.optional("cnp_priority", cnp_priority_);
  }

  // GPUs of one server: hosts that follow each other.
  void read_server(TableReader& t, ServerParameters& server) {
    const std::uint32_t hosts = out_.topology.hosts;
    t.optional("gpus_per_server", server.hosts, [&](std::uint32_t n) {
      return n >= 2 && n <= 64 && hosts % n == 0 ? std::string()
                                                 : fmt::format("2 to 64, a divisor of {} hosts", hosts);
    });
    if (!t.has("gpus_per_server")) return;  // then keys for NVLink are wrong
    t.required("nvlink_rate", server.nvlink_rate, a_rate());
    t.optional("nvlink_latency", server.latency, a_delay());
  }

  void read_switches(TableReader& t) {
    SwitchParameters& s = out_.options.switches;
    IngressParameters& in = s.ingress;
    t.optional("forwarding", s.forwarding);
    t.optional("buffer", in.buffer, an_amount(64 * 1024));
    t.optional("lossless", in.lossless);
    t.optional("reserve", in.lossless_pool.reserve, an_amount(0));
    t.optional_text("headroom", headroom_, parse_headroom);
    BitRate scaled_from;
    if (t.optional("scaled_from", scaled_from, a_rate())) in.scaled_from = scaled_from;
    t.optional("alpha_exponent", in.lossless_pool.alpha_exponent, between(-7, 3));
    t.optional("resume_offset", in.lossless_pool.resume_offset, an_amount(0));
    t.optional("lossy_alpha_exponent", in.lossy_pool.alpha_exponent, between(-7, 3));
    // Less would not hold the largest packet four times: credits are told by quarters.
    t.optional("lane_buffer", in.lane_buffer, an_amount(32 * 1024));
    if (const auto ets = read_ets(t)) s.ets = *ets;
    t.table("watchdog", [&](TableReader& w) {
      WatchdogParameters& watchdog = s.watchdog.emplace();
      w.optional("detection", watchdog.detection, between(microseconds(1), seconds(60)));
      w.optional("restoration", watchdog.restoration, between(microseconds(1), seconds(60)));
      w.optional("action", watchdog.action);
    });
    t.array_of_tables("own", [&](TableReader& own) { own_.read_switches(own, out_.topology); });
    t.optional("pause_reaction", s.pause_reaction, between(Duration(0), milliseconds(1)));
    t.optional("reduction_delay", reduction_delay_, a_delay());
    t.optional("marked", s.marked);
    dcqcn::CongestionPointParameters& cp = s.congestion_point;
    t.optional("kmin", cp.curve.minimum, an_amount(0));
    t.optional("kmax", cp.curve.maximum, an_amount(0));
    t.optional("pmax", cp.curve.probability, between(Ratio(0), Ratio::one()));
    if (cp.curve.maximum < cp.curve.minimum)
      t.reject("kmax", "kmin (" + to_text(cp.curve.minimum) + ") or more");
    t.optional("mark_at", cp.mark_at);
  }

  // A named set, and single parameters by the names of mlx5.
  void read_dcqcn(TableReader& t) {
    std::vector<std::string> names;
    for (const dcqcn::NamedSet& set : dcqcn::named_sets()) names.emplace_back(set.name);
    std::string chosen = "mlx5";
    t.optional("set", chosen, one_of(names));
    for (const dcqcn::NamedSet& set : dcqcn::named_sets()) {
      if (set.name == chosen) parameters_ = set.make();
    }
    t.optional("notification", parameters_.np.mode);
    for (const auto& [parameter, value] : read_dcqcn_values(t, {""})) parameter->write(parameters_, value);
    has_parameters_ = true;
  }

  // What follows from several tables together.
  void finish() {
    NetworkOptions& options = out_.options;
    HostParameters& host = options.host;
    SwitchParameters& switches = options.switches;
    if (!has_parameters_ && compatibility_ == Compatibility::hpcc) parameters_ = dcqcn::Parameters::hpcc();
    host.controller.dcqcn = parameters_.rp;
    host.notification = parameters_.np;
    if (compatibility_ == Compatibility::hpcc) {
      host.framing = Framing::hpcc;
      host.echoes_ce = true;
      host.ack_dscp = host.notification.cnp_dscp;
      host.ack_timeout = 0;
      if (!has_hash_ && switches.spreading == Spreading::flow) switches.hash = FlowHash::hpcc;
      switches.ingress.lossy_pool.reserve = Bytes(0);  // it has none for other classes
      switches.ingress.scales_alpha = true;
    }
    host.hash = switches.hash;
    if (link_ == Link::infiniband) {
      switches.ingress.flow_control = FlowControl::credits;
      host.framing = Framing::infiniband;
    }
    host.selective_repeat = recovery_ == Recovery::selective_repeat;
    IngressParameters& receive = host.receiver.buffer;
    if (headroom_.is_derived) {
      switches.ingress.derived_headroom = {
          .frame = Bytes(engine::bytes_of(host.mtu)) + kAroundPayload,
          .reaction = std::max(host.pause_reaction, switches.pause_reaction)};
    } else {
      switches.ingress.lossless_pool.headroom = headroom_.bytes;
    }
    receive.flow_control = switches.ingress.flow_control;
    receive.lane_buffer = switches.ingress.lane_buffer;
    receive.lossless = switches.ingress.lossless;
    const auto map = [&](Priority of_cnps) {
      const std::pair<Dscp, Priority> entries[] = {{host.data_dscp, data_priority_},
                                                   {host.notification.cnp_dscp, of_cnps}};
      return dscp_map(entries);
    };
    // HPCC: acknowledgements have the highest class in hosts, and nobody tells the switches to do likewise.
    host.priority_of = map(cnp_priority_);
    switches.priority_of = map(compatibility_ == Compatibility::hpcc ? data_priority_ : cnp_priority_);
    if (switches.marked.is_empty()) switches.marked = PrioritySet::of(data_priority_);
    options.seed = out_.seed;
    own_.apply(options);
    place_reducers(out_, reduction_delay_);
  }

  Scenario& out_;
  Compatibility compatibility_ = Compatibility::none;
  dcqcn::Parameters parameters_ = dcqcn::Parameters::mlx5();
  bool has_parameters_ = false;
  bool has_hash_ = false;
  Priority data_priority_{3};
  Priority cnp_priority_{6};
  Link link_ = Link::ethernet;
  Recovery recovery_ = Recovery::go_back_n;
  Headroom headroom_;
  Duration reduction_delay_ = nanoseconds(250);  // ours: between a switch and what reduces in it
  OwnParts own_;
  std::deque<Scenario> others_;  // of [[workloads]]
};

// The same for the NICs of hosts.
std::optional<InputIssue> receive_pools_issue(const HostParameters& host, const std::string& file) {
  const IngressParameters& in = host.receiver.buffer;
  const Bytes taken = in.lossless_pool.headroom * in.lossless.size();
  if (in.flow_control == FlowControl::credits || taken < in.buffer) return std::nullopt;
  return InputIssue{.place = {.file = file},
                    .key = "hosts.receive_buffer",
                    .found = to_text(in.buffer),
                    .allowed = fmt::format("more than the {} that the headrooms of its lossless classes take",
                                           to_text(taken)),
                    .nearest = {}};
}

}  // namespace

std::vector<Bytes> reserved_of_switches(const Scenario& scenario) {
  const Topology& topology = scenario.topology;
  std::vector<Bytes> taken(topology.switches);
  const auto add = [&](NodeId end, const LinkSpec& link) {
    if (topology.is_host(end)) return;
    const std::uint32_t index = end - topology.switch_id(0);
    const auto own = scenario.options.own_switch.find(index);
    const IngressParameters& s =
        (own == scenario.options.own_switch.end() ? scenario.options.switches : own->second).ingress;
    const auto lossless = static_cast<std::int64_t>(s.lossless.size());
    taken[index] += (s.lossless_pool.reserve + s.headroom_at(link.rate, link.delay)) * lossless +
                    s.lossy_pool.reserve * (Priority::kCount - lossless);
  };
  for (const LinkSpec& link : topology.links) {
    if (topology.is_reducer(link.a)) continue;  // part of the switch
    add(link.a, link);
    add(link.b, link);
  }
  return taken;
}

std::optional<InputIssue> buffers_issue(const Scenario& scenario, const std::string& file) {
  const IngressParameters& s = scenario.options.switches.ingress;
  if (s.flow_control == FlowControl::credits) return std::nullopt;
  if (auto issue = receive_pools_issue(scenario.options.host, file)) return issue;
  for (const auto& [id, host] : scenario.options.own_host) {
    if (auto issue = receive_pools_issue(host, file)) return issue;
  }
  const std::vector<Bytes> taken = reserved_of_switches(scenario);
  const Bytes all = taken.empty() ? Bytes(0) : *std::ranges::max_element(taken);
  if (all < s.buffer) return std::nullopt;
  return InputIssue{
      .place = {.file = file},
      .key = "switches.buffer",
      .found = to_text(s.buffer),
      .allowed =
          fmt::format("more than the {} that reserves and headrooms of a switch's ports take", to_text(all)),
      .nearest = {}};
}

Expected<Scenario> scenario_from_toml(std::string_view text, const std::string& file,
                                      const std::vector<TomlSetting>& settings) {
  Scenario out;
  ScenarioReader reader(out);
  if (auto read = read_toml(text, file, settings, [&](TableReader& top) { reader.read(top); }); !read)
    return tl::unexpected(read.error());
  if (const auto issue = buffers_issue(out, file)) return tl::unexpected(bad_input({*issue}));
  return out;
}

}  // namespace rocetune::fabric

namespace rocetune::toml_detail {

std::string TomlForm<fabric::AckTimeout>::allowed() { return "0 to 31, the n of 4.096us x 2^n (0: never)"; }

bool TomlForm<fabric::AckTimeout>::read(const Cursor& at, fabric::AckTimeout& out) {
  constexpr std::int64_t kMost = 31;
  if (at.is(Node::Kind::integer) && at.node->integer >= 0 && at.node->integer <= kMost) {
    out.exponent = static_cast<std::uint8_t>(at.node->integer);
    return true;
  }
  if (!at.is(Node::Kind::string)) return at.wrong(allowed());
  const auto wanted = parse_duration(at.node->text);
  if (!wanted) return at.wrong(allowed());
  // Whoever says a time hears which numbers come next to it.
  const auto time_of = [](std::int64_t n) { return nanoseconds(4096) * (std::int64_t{1} << n); };
  std::int64_t longer = 1;
  while (longer < kMost && time_of(longer) < *wanted) ++longer;
  const auto named = [&](std::int64_t n) {
    const double seconds = time_of(n).seconds();
    return seconds < 1e-3  ? fmt::format("{} is {:g}us", n, seconds * 1e6)
           : seconds < 1.0 ? fmt::format("{} is {:g}ms", n, seconds * 1e3)
                           : fmt::format("{} is {:g}s", n, seconds);
  };
  const bool is_between = longer > 1 && time_of(longer) > *wanted;
  return at.wrong(fmt::format("{}: {}{}", allowed(), is_between ? named(longer - 1) + ", " : std::string(),
                              named(longer)));
}

}  // namespace rocetune::toml_detail
