#include "dataplane/fabric/scenario.h"

#include <algorithm>
#include <array>

#include "congestion/dcqcn/parameter_table.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune::fabric {
namespace {

// Whose semantics a run has.
enum class Compatibility : std::uint8_t { none, hpcc };

}  // namespace
}  // namespace rocetune::fabric

namespace rocetune {
ROCETUNE_ENUM(fabric::Compatibility, P{E::none, "none"}, P{E::hpcc, "hpcc"});
ROCETUNE_ENUM(dcqcn::CongestionPointParameters::MarkAt, P{E::enqueue, "enqueue"}, P{E::dequeue, "dequeue"});
ROCETUNE_ENUM(dcqcn::NotificationPointParameters::Mode, P{E::event, "event"},
              P{E::fixed_window, "fixed_window"});
ROCETUNE_ENUM(fabric::Framing, P{E::ethernet, "ethernet"}, P{E::hpcc, "hpcc"});
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
    if (!top.required_table("topology", [&](TableReader& t) { read_topology(t, out_.topology); })) return;
    top.table("hosts", [&](TableReader& t) { read_hosts(t); });
    top.table("switches", [&](TableReader& t) { read_switches(t); });
    top.table("dcqcn", [&](TableReader& t) { read_dcqcn(t); });
    top.required_array_of_tables("flows", [&](TableReader& t) { read_flows(t, out_); });
    finish();
  }

 private:
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
