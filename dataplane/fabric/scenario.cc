#include "dataplane/fabric/scenario.h"

#include <algorithm>
#include <array>

#include "congestion/dcqcn/parameter_table.h"
#include "dataplane/base/toml_reader.h"

namespace rocetune::fabric {
namespace {

enum class Shape : std::uint8_t { star, leaf_spine, fat_tree };
enum class Pattern : std::uint8_t { pair, incast, permutation, all_to_all };
// Whose semantics a run has.
enum class Compatibility : std::uint8_t { none, hpcc };

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Shape, P{E::star, "star"}, P{E::leaf_spine, "leaf_spine"}, P{E::fat_tree, "fat_tree"});
ROCETUNE_ENUM(fabric::Pattern, P{E::pair, "pair"}, P{E::incast, "incast"}, P{E::permutation, "permutation"},
              P{E::all_to_all, "all_to_all"});
ROCETUNE_ENUM(fabric::Compatibility, P{E::none, "none"}, P{E::hpcc, "hpcc"});
ROCETUNE_ENUM(dcqcn::CongestionPointParameters::MarkAt, P{E::enqueue, "enqueue"}, P{E::dequeue, "dequeue"});
ROCETUNE_ENUM(dcqcn::NotificationPointParameters::Mode, P{E::event, "event"},
              P{E::fixed_window, "fixed_window"});
ROCETUNE_ENUM(fabric::Framing, P{E::ethernet, "ethernet"}, P{E::hpcc, "hpcc"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

constexpr std::uint32_t kMostHosts = 1U << 16;
constexpr std::uint32_t kMostPorts = 1024;  // of a switch towards hosts, and towards other switches

// What links and buffers may be: far beyond what is built, far below what arithmetic holds.
auto a_rate() { return between(megabits_per_second(1), gigabits_per_second(10'000)); }
auto a_delay() { return between(nanoseconds(1), seconds(1)); }
auto an_amount(std::int64_t least) { return between(Bytes(least), Bytes(std::int64_t{1} << 32)); }

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
    if (!top.required_table("topology", [&](TableReader& t) { read_topology(t); })) return;
    top.table("hosts", [&](TableReader& t) { read_hosts(t); });
    top.table("switches", [&](TableReader& t) { read_switches(t); });
    top.table("dcqcn", [&](TableReader& t) { read_dcqcn(t); });
    top.required_array_of_tables("flows", [&](TableReader& t) { read_flows(t); });
    finish();
  }

 private:
  void read_topology(TableReader& t) {
    Shape shape = Shape::star;
    BitRate rate = gigabits_per_second(100);
    Duration delay = microseconds(1);
    t.required("shape", shape);
    t.optional("rate", rate, a_rate());
    t.optional("delay", delay, a_delay());
    switch (shape) {
      case Shape::star: {
        std::uint32_t hosts = 0;
        if (t.required("hosts", hosts, between(2U, kMostPorts))) out_.topology = star(hosts, rate, delay);
        break;
      }
      case Shape::fat_tree: {
        std::uint32_t k = 0;
        if (!t.required("k", k, between(2U, 64U))) break;
        if (k % 2 != 0) return t.reject("k", "an even number");
        out_.topology = fat_tree(k, rate, delay);
        break;
      }
      case Shape::leaf_spine: {
        std::uint32_t leaves = 0;
        std::uint32_t spines = 0;
        std::uint32_t hosts = 0;
        BitRate up = rate;
        t.required("leaves", leaves, between(1U, kMostPorts));
        t.required("spines", spines, between(1U, kMostPorts));
        t.required("hosts_per_leaf", hosts, between(1U, kMostPorts));
        t.optional("spine_rate", up, a_rate());
        if (std::uint64_t{leaves} * hosts > kMostHosts)
          return t.reject("hosts_per_leaf", fmt::format("at most {} hosts in all", kMostHosts));
        out_.topology = leaf_spine(leaves, spines, hosts, rate, up, delay);
        break;
      }
    }
  }

  void read_hosts(TableReader& t) {
    HostParameters& host = out_.options.host;
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
    t.optional("buffer", s.buffer, an_amount(64 * 1024));
    t.optional("lossless", s.lossless);
    t.optional("reserve", s.lossless_pool.reserve, an_amount(0));
    t.optional("headroom", s.lossless_pool.headroom, an_amount(1));
    t.optional("alpha_exponent", s.lossless_pool.alpha_exponent, between(-7, 3));
    t.optional("resume_offset", s.lossless_pool.resume_offset, an_amount(0));
    t.optional("lossy_alpha_exponent", s.lossy_pool.alpha_exponent, between(-7, 3));
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

  void read_flows(TableReader& t) {
    Pattern pattern = Pattern::pair;
    t.required("pattern", pattern);
    Flow flow;
    Bytes bytes{0};
    Bytes message{flow.message};
    Duration start;
    t.required("bytes", bytes, between(Bytes(1), Bytes(UINT32_MAX)));
    t.optional("message", message, between(Bytes(1), Bytes(engine::kLongestMessage)));
    t.optional("window", flow.window, between(1U, 65536U));
    t.optional("start", start, between(Duration(0), out_.limit));
    flow.bytes = static_cast<std::uint64_t>(bytes.count());
    flow.message = static_cast<std::uint32_t>(message.count());
    flow.start = Instant(start);
    const std::uint32_t hosts = out_.topology.hosts;
    if (hosts == 0) return;  // its own issue
    const auto host_number = between(0U, hosts - 1);
    switch (pattern) {
      case Pattern::pair:
        if (!t.required("from", flow.from, host_number) || !t.required("to", flow.to, host_number)) return;
        if (flow.from == flow.to) return t.reject("to", "another host than from");
        return add(flow);
      case Pattern::incast: {
        std::uint32_t senders = 0;
        flow.to = hosts - 1;
        t.optional("to", flow.to, host_number);
        std::uint32_t each = 1;
        t.optional("flows_per_sender", each, between(1U, 1024U));
        if (!t.required("senders", senders, between(1U, hosts - 1))) return;
        std::uint32_t left = senders;
        for (NodeId from = 0; left > 0 && from < hosts; ++from) {
          if (from == flow.to) continue;
          flow.from = from;
          for (std::uint32_t i = 0; i < each; ++i) add(flow);
          --left;
        }
        return;
      }
      case Pattern::permutation: {
        std::uint32_t shift = 0;
        if (!t.required("shift", shift, between(1U, hosts - 1))) return;
        for (flow.from = 0; flow.from < hosts; ++flow.from) {
          flow.to = (flow.from + shift) % hosts;
          add(flow);
        }
        return;
      }
      case Pattern::all_to_all:
        if (hosts > 1024) return t.reject("pattern", "at most 1024 hosts for all_to_all");
        for (flow.from = 0; flow.from < hosts; ++flow.from) {
          for (std::uint32_t i = 1; i < hosts; ++i) {
            flow.to = (flow.from + i) % hosts;
            add(flow);
          }
        }
        return;
    }
  }
  void add(const Flow& flow) { out_.flows.push_back(flow); }

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
    }
    const std::pair<Dscp, Priority> map[] = {{host.data_dscp, data_priority_},
                                             {host.notification.cnp_dscp, cnp_priority_}};
    switches.priority_of = dscp_map(map);
    host.priority_of = switches.priority_of;
    if (switches.marked.is_empty()) switches.marked = PrioritySet::of(data_priority_);
    options.seed = out_.seed;
  }

  Scenario& out_;
  Compatibility compatibility_ = Compatibility::none;
  dcqcn::Parameters parameters_ = dcqcn::Parameters::mlx5();
  bool has_parameters_ = false;
  Priority data_priority_{3};
  Priority cnp_priority_{6};
};

// What headroom and buffer have to be for the pools to fit.
std::optional<InputIssue> pools_issue(const Scenario& scenario, const std::string& file) {
  std::vector<std::size_t> ports(scenario.topology.hosts + scenario.topology.switches);
  for (const LinkSpec& link : scenario.topology.links) {
    ++ports[link.a];
    ++ports[link.b];
  }
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < scenario.topology.switches; ++i)
    most = std::max(most, ports[scenario.topology.switch_id(i)]);
  const SwitchParameters& s = scenario.options.switches;
  const auto lossless = static_cast<std::int64_t>(s.lossless.size());
  const Bytes port = (s.lossless_pool.reserve + s.lossless_pool.headroom) * lossless +
                     s.lossy_pool.reserve * (Priority::kCount - lossless);
  const Bytes all = port * static_cast<std::int64_t>(most);
  if (all < s.buffer) return std::nullopt;
  return InputIssue{.place = {.file = file},
                    .key = "switches.buffer",
                    .found = to_text(s.buffer),
                    .allowed = fmt::format("more than the {} that reserves and headrooms of {} ports take",
                                           to_text(all), most),
                    .nearest = {}};
}

}  // namespace

Expected<Scenario> scenario_from_toml(std::string_view text, const std::string& file) {
  Scenario out;
  out.options.switches.lossless_pool.headroom = Bytes(100'000);
  ScenarioReader reader(out);
  if (auto read = read_toml(text, file, [&](TableReader& top) { reader.read(top); }); !read)
    return tl::unexpected(read.error());
  if (const auto issue = pools_issue(out, file)) return tl::unexpected(bad_input({*issue}));
  return out;
}

}  // namespace rocetune::fabric
