#include "dataplane/fabric/scenario.h"

#include <algorithm>
#include <array>

#include "congestion/dcqcn/parameter_table.h"
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
ROCETUNE_ENUM(fabric::WatchdogParameters::Action, P{E::drop, "drop"}, P{E::forward, "forward"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

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
    if (!top.required_table("topology", [&](TableReader& t) { read_topology(t, out_.topology); })) return;
    top.table("links", [&](TableReader& t) { read_links(t); });
    top.table("routing", [&](TableReader& t) { read_routing(t); });
    top.table("hosts", [&](TableReader& t) { read_hosts(t); });
    top.table("switches", [&](TableReader& t) { read_switches(t); });
    top.table("dcqcn", [&](TableReader& t) { read_dcqcn(t); });
    top.array_of_tables("flows", [&](TableReader& t) { read_flows(t, out_); });
    top.array_of_tables("jobs", [&](TableReader& t) { read_jobs(t, out_); });
    if (!top.has("flows") && !top.has("jobs")) top.reject("flows", "at least one [[flows]] or [[jobs]]");
    top.array_of_tables("events", [&](TableReader& t) { own_.read_event(t, out_); });
    finish();
  }

 private:
  void read_links(TableReader& t) {
    Ratio loss;
    if (!t.optional("loss", loss, between(Ratio(0), Ratio::one()))) return;
    for (LinkSpec& link : out_.topology.links) link.loss = loss;
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
    t.array_of_tables("own", [&](TableReader& own) { own_.read_hosts(own, out_.topology); });
    t.optional_text("controller", host.controller.kind, parse_controller_kind);
    t.optional("fixed_rate", host.controller.fixed_rate, a_rate());
    t.optional("dscp", host.data_dscp);
    std::uint32_t mtu = engine::bytes_of(host.mtu);
    if (t.optional("mtu", mtu, one_of(std::vector<std::uint32_t>{256, 512, 1024, 2048, 4096})))
      host.mtu = static_cast<engine::PathMtu>(mtu);
    t.optional("ack_timeout", host.ack_timeout, between(0, 31));
    t.optional("pause_reaction", host.pause_reaction, between(Duration(0), milliseconds(1)));
    t.optional("framing", host.framing);
    t.optional("ack_dscp", host.ack_dscp);
    t.optional("priority", data_priority_);
    t.optional("cnp_priority", cnp_priority_);
  }

  void read_switches(TableReader& t) {
    SwitchParameters& s = out_.options.switches;
    IngressParameters& in = s.ingress;
    t.optional("buffer", in.buffer, an_amount(64 * 1024));
    t.optional("lossless", in.lossless);
    t.optional("reserve", in.lossless_pool.reserve, an_amount(0));
    t.optional("headroom", in.lossless_pool.headroom, an_amount(1));
    BitRate scaled_from;
    if (t.optional("scaled_from", scaled_from, a_rate())) in.scaled_from = scaled_from;
    t.optional("alpha_exponent", in.lossless_pool.alpha_exponent, between(-7, 3));
    t.optional("resume_offset", in.lossless_pool.resume_offset, an_amount(0));
    t.optional("lossy_alpha_exponent", in.lossy_pool.alpha_exponent, between(-7, 3));
    // Less would not hold the largest packet four times: credits are told by quarters.
    t.optional("lane_buffer", in.lane_buffer, an_amount(32 * 1024));
    t.optional("ets", ets_, each(between(0, 100)));
    if (t.has("ets")) read_ets(t);
    t.table("watchdog", [&](TableReader& w) {
      WatchdogParameters& watchdog = s.watchdog.emplace();
      w.optional("detection", watchdog.detection, between(microseconds(1), seconds(60)));
      w.optional("restoration", watchdog.restoration, between(microseconds(1), seconds(60)));
      w.optional("action", watchdog.action);
    });
    t.array_of_tables("own", [&](TableReader& own) { own_.read_switches(own, out_.topology); });
    t.optional("pause_reaction", s.pause_reaction, between(Duration(0), milliseconds(1)));
    t.optional("marked", s.marked);
    dcqcn::CongestionPointParameters& cp = s.congestion_point;
    t.optional("kmin", cp.curve.minimum, an_amount(0));
    t.optional("kmax", cp.curve.maximum, an_amount(0));
    t.optional("pmax", cp.curve.probability, between(Ratio(0), Ratio::one()));
    if (cp.curve.maximum < cp.curve.minimum)
      t.reject("kmax", "kmin (" + to_text(cp.curve.minimum) + ") or more");
    t.optional("mark_at", cp.mark_at);
  }

  // By priority: its share of what strict priorities leave; 0: it is strict.
  void read_ets(TableReader& t) {
    int sum = 0;
    for (std::size_t p = 0; p < ets_.size(); ++p) {
      sum += ets_[p];
      out_.options.switches.ets.classes[p] = {.strict = ets_[p] == 0, .share_percent = ets_[p]};
    }
    if (sum != 0 && sum != 100) t.reject("ets", "shares that sum to 100");
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
    for (const std::string& key : t.keys()) {
      const dcqcn::Parameter* parameter = dcqcn::find_parameter(key);
      if (parameter == nullptr) continue;
      std::int64_t ignored = 0;
      t.optional_text(key, ignored, [&](std::string_view text) {
        return dcqcn::parse_value(*parameter, text, parameters_);
      });
    }
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
  std::array<int, Priority::kCount> ets_{};
  OwnParts own_;
};

// What headroom and buffer have to be for the pools to fit.
std::optional<InputIssue> pools_issue(const Scenario& scenario, const std::string& file) {
  const IngressParameters& s = scenario.options.switches.ingress;
  if (s.flow_control == FlowControl::credits) return std::nullopt;
  const auto lossless = static_cast<std::int64_t>(s.lossless.size());
  std::vector<Bytes> taken(scenario.topology.hosts + scenario.topology.switches);
  for (const LinkSpec& link : scenario.topology.links) {
    const Bytes headroom = IngressBuffer::scaled(s, s.lossless_pool.headroom, link.rate);
    const Bytes port = (s.lossless_pool.reserve + headroom) * lossless +
                       s.lossy_pool.reserve * (Priority::kCount - lossless);
    for (const NodeId end : {link.a, link.b}) taken[end] += port;
  }
  Bytes all;
  for (std::uint32_t i = 0; i < scenario.topology.switches; ++i)
    all = std::max(all, taken[scenario.topology.switch_id(i)]);
  if (all < s.buffer) return std::nullopt;
  return InputIssue{
      .place = {.file = file},
      .key = "switches.buffer",
      .found = to_text(s.buffer),
      .allowed =
          fmt::format("more than the {} that reserves and headrooms of a switch's ports take", to_text(all)),
      .nearest = {}};
}

}  // namespace

Expected<Scenario> scenario_from_toml(std::string_view text, const std::string& file,
                                      const std::vector<TomlSetting>& settings) {
  Scenario out;
  out.options.switches.ingress.lossless_pool.headroom = Bytes(100'000);
  ScenarioReader reader(out);
  if (auto read = read_toml(text, file, settings, [&](TableReader& top) { reader.read(top); }); !read)
    return tl::unexpected(read.error());
  if (const auto issue = pools_issue(out, file)) return tl::unexpected(bad_input({*issue}));
  return out;
}

}  // namespace rocetune::fabric
