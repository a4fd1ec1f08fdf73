#include "agent/tune/fabric_plant/presets.h"

#include "agent/tune/fabric_plant/limits.h"
#include "congestion/dcqcn/parameter_table.h"

namespace rocetune::fabric_plant {
namespace {

using search::Space;
using search::Suggestion;

// Collects the settings of one preset: what is not in the space, or is so already, is left out.
class Preset {
 public:
  Preset(const Space& space, std::string id, std::string reason) : space_(space) {
    out_.kind = Suggestion::Kind::preset;
    out_.id = std::move(id);
    out_.reason = std::move(reason);
  }
  Preset& set(std::string_view knob, double value) {
    const auto at = space_.find(knob);
    if (!at) return *this;
    const double safe = space_[*at].nearest_safe(value);
    if (safe != space_[*at].start) out_.settings.push_back({*at, safe});
    return *this;
  }
  Preset& choose(std::string_view knob, std::string_view choice) {
    const auto at = space_.find(knob);
    if (!at) return *this;
    const auto value = space_[*at].value_of(choice);
    return value ? set(knob, *value) : *this;
  }
  void add_to(std::vector<Suggestion>& out) {
    if (!out_.settings.empty()) out.push_back(std::move(out_));
  }

 private:
  const Space& space_;
  Suggestion out_;
};

Preset dcqcn_set(const Space& space, const dcqcn::NamedSet& set) {
  Preset out(space, "dcqcn-" + std::string(set.name), std::string(set.origin));
  const dcqcn::Parameters parameters = set.make();
  for (const dcqcn::Parameter& row : dcqcn::parameter_table())
    out.set(fmt::format("hosts.{}", row.name), static_cast<double>(row.read(parameters)));
  return out;
}

}  // namespace

std::vector<Suggestion> presets_of(const fabric::Scenario& scenario, const Space& space) {
  std::vector<Suggestion> out;
  const double rate = gbps_of(host_rate(scenario));
  const double half_xoff = static_cast<double>(lone_xoff(scenario).count()) / 2;
  Preset(space, "ecn-hpcc", "HPCC authors' ns-3 configuration: 400 KB, 1600 KB, 20 % at 100 Gb/s")
      .set("switches.kmin", 4000 * rate)
      .set("switches.kmax", 16000 * rate)
      .set("switches.pmax", 20)
      .add_to(out);
  Preset(space, "ecn-below-xoff", "Kmax at half of Xoff, Kmin at a quarter of that: ours")
      .set("switches.kmin", half_xoff / 4)
      .set("switches.kmax", half_xoff)
      .add_to(out);
  Preset(space, "ecn-dcqcn", "DCQCN, SIGCOMM 2015, section 5: 5 KB, 200 KB, 1 % at 40 Gb/s")
      .set("switches.kmin", 125 * rate)
      .set("switches.kmax", 5000 * rate)
      .set("switches.pmax", 1)
      .add_to(out);
  for (const dcqcn::NamedSet& set : dcqcn::named_sets()) {
    if (set.name != "hpcc") dcqcn_set(space, set).add_to(out);  // its semantics are another simulator's
  }
  Preset(space, "dcqcn-off", "DCQCN off is a legal outcome: Gangidi et al., SIGCOMM 2024")
      .choose("hosts.controller", "off")
      .add_to(out);
  Preset(space, "lossy",
         "no PFC, selective repeat: Mittal et al., Revisiting network support for RDMA, SIGCOMM 2018")
      .choose("classes.lossless", "{}")
      .choose("hosts.recovery", "selective_repeat")
      .add_to(out);
  Preset(space, "mtu-4096", "the largest path MTU of the InfiniBand specification")
      .choose("hosts.mtu", "4096")
      .add_to(out);
  Preset(space, "queue-pairs-4", "NCCL_IB_QPS_PER_CONNECTION=4: more paths for each flow")
      .set("workload.queue_pairs", 4)
      .add_to(out);
  return out;
}

}  // namespace rocetune::fabric_plant
