// What may be turned on a set of hosts, and what a candidate means for each of them. One knob turns the same
// thing on all of them: hosts of a job have to agree.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/diagnose/finding.h"
#include "agent/host/model.h"
#include "agent/tune/limits.h"
#include "agent/tune/profile.h"
#include "agent/tune/search/plan_step.h"
#include "agent/tune/search/plant.h"
#include "agent/tune/settings_plan.h"
#include "dataplane/base/config_files.h"

namespace rocetune::tune {

inline constexpr const char* kTunePlanName = "tune";  // stands where a profile's name would in its plans

// Of its dearest change.
search::ChangeCost cost_of(const Plan& plan);

// A host as it was found, what doctor says of it, and the ports that are tuned.
struct FoundHost {
  host::Host host;
  std::vector<std::string> ports;
  std::vector<diagnose::Finding> findings;
};

// Something that the workload's command reads from its environment: "NCCL_IB_QPS_PER_CONNECTION=1,2,4".
struct VariedVariable {
  std::string name;
  std::vector<std::string> values;  // the first is what it has now
};
// Error: a UnitError that says what is allowed.
Parsed<VariedVariable> parse_varied(std::string_view text);

// configs/tune/hosts.toml.
struct HostSpaceLimits {
  std::vector<Bytes> mtus;            // of netdevs, worth trying
  double safe_factor = 0;             // congestion parameters: at most so far from their default
  std::vector<std::string> profiles;  // class maps worth trying, of configs/profiles
};
Expected<HostSpaceLimits> load_host_space_limits(const ConfigFiles& files);

class HostSpace {
 public:
  // What a guardrail would refuse by `limits` and `allow` (consents, as apply takes them) is left out. Error:
  // bad_input if nothing can be turned (with what stands in the way), configs that cannot be read.
  static Expected<HostSpace> make(std::vector<FoundHost> hosts, const std::vector<VariedVariable>& varied,
                                  const HostSpaceLimits& limits, const ConfigFiles& files, Limits guardrails,
                                  const std::vector<std::string>& allow);

  const search::Space& space() const { return space_; }
  const std::vector<search::Constraint>& constraints() const { return constraints_; }
  // Fixes of doctor's; class maps.
  const std::vector<search::Suggestion>& suggestions() const { return suggestions_; }
  const std::vector<FoundHost>& hosts() const { return hosts_; }
  // "mtu": "ports differ (1500 B and 9000 B)".
  const std::vector<search::LeftOut>& left_out() const { return left_out_; }

  // What the host gets under this candidate; an empty plan: what it has. Errors: as settings_plan and
  // make_plan.
  Expected<Plan> plan(const search::Candidate& candidate, std::size_t host, std::int64_t now_unix_ns) const;
  // What it is to a person: one step for each change of a host, by the host's own commands, and for each
  // variable of the workload. Errors: as plan.
  Expected<std::vector<search::PlanStep>> steps(const search::Candidate& candidate) const;
  // Whether under this candidate no tuned port can pause or be paused: PFC and 802.3x are known to be off on
  // all of them. mlx5 shows no pause counters then (drivers/net/ethernet/mellanox/mlx5/core/en_stats.c,
  // mlx5e_query_pfc_combined): that is no loss of counters.
  bool is_pause_off(const search::Candidate& candidate) const;
  // NAME, value.
  std::vector<std::pair<std::string, std::string>> environment(const search::Candidate& candidate) const;

 private:
  // What a knob does.
  struct Fix {
    std::vector<std::pair<std::size_t, diagnose::Change>> changes;  // host, change
    std::string rule, why;
  };
  struct Turned {
    enum class What { fix, profile, mtu, parameter, variable } what = What::fix;
    Fix fix;
    std::string name;  // of the parameter or variable
  };

  HostSpace(std::vector<FoundHost> hosts, Limits guardrails, const std::vector<std::string>& allow)
      : hosts_(std::move(hosts)), guardrails_(std::move(guardrails)), allow_(allow.begin(), allow.end()) {}
  // Whether apply would take it; the reason goes to left_out under this name. Raises the cost to the plan's.
  bool is_possible(const std::string& knob, std::size_t host, const Expected<Plan>& plan,
                   search::ChangeCost& cost);
  const host::NicTable& nics() const { return guardrails_.nics; }
  void add(search::Knob knob, Turned turned);
  void add_profiles(const HostSpaceLimits& limits, const ConfigFiles& files);
  void add_fixes();
  void add_mtu(const HostSpaceLimits& limits);
  void add_parameters(const HostSpaceLimits& limits);
  void add_variables(const std::vector<VariedVariable>& varied);
  void add_constraints();
  void suggest();
  // All tuned ports, with their host.
  std::vector<std::pair<std::size_t, const host::Port*>> all_ports() const;

  std::vector<FoundHost> hosts_;
  Limits guardrails_;
  std::set<std::string> allow_;
  std::vector<Profile> profiles_;  // by choice of the knob, from 1
  std::vector<search::Knob> knobs_;
  std::vector<Turned> turned_;  // by knob
  search::Space space_;
  std::vector<search::Constraint> constraints_;
  std::vector<search::Suggestion> suggestions_;
  std::vector<search::LeftOut> left_out_;
};

}  // namespace rocetune::tune
