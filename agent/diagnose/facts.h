// What a judge may look at, and the small words it speaks with. Judges are pure: facts in, Outcome out.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "agent/diagnose/counted.h"
#include "agent/diagnose/finding.h"
#include "agent/diagnose/policy.h"
#include "agent/diagnose/roce_class.h"
#include "agent/diagnose/told_by.h"
#include "agent/evidence/dossier.h"
#include "agent/host/model.h"
#include "dataplane/tap/facts.h"

namespace rocetune::diagnose {

// What was captured on a wire.
struct Capture {
  std::string file;  // without its directory
  tap::TapFacts facts;
};

// A host that is judged.
struct JudgedHost {
  const host::Host* host;
  const counters::Interval* interval = nullptr;  // nothing: no counters were sampled
  bool is_told = false;                          // put together from texts: no reader looked at all of it
  ToldBy told_by = {};                           // then: the files that each source stands for
};

// Everything a diagnosis starts from.
struct Facts {
  std::span<const JudgedHost> hosts;  // none: there are only captures or texts
  Intent declared;
  const Policy& policy;
  std::vector<std::string> only_ports;  // empty: every RoCE port
  std::span<const Capture> captures;
  const evidence::Dossier* dossier = nullptr;  // nothing: no texts were handed over
  std::span<const CountedPort> counted = {};   // the counters in its texts
};

// One port of it.
struct PortFacts {
  const host::Host& host;
  const host::Port& port;
  const Policy& policy;
  const NicTraits* nic = nullptr;  // nothing: a kind of NIC without a row in the policy
  const Intent& declared;
  std::optional<RoceClass> roce_class;
  const counters::PortDelta* delta = nullptr;  // nothing: no counters of this port

  const host::RdmaPort* rdma() const { return port.rdma ? &*port.rdma : nullptr; }
};

// The whole host: the ports that are judged, in the host's order.
struct HostFacts {
  const host::Host& host;
  const Policy& policy;
  const Intent& declared;
  std::vector<PortFacts> ports;
};

// One capture.
struct CaptureFacts {
  const Capture& capture;
  const Policy& policy;
  const Intent& declared;
  std::optional<RoceClass> roce_class;  // of the host; nothing without one, or if its ports differ
};

// The texts that were handed over, with the hosts that were put together from them.
struct DossierFacts {
  const evidence::Dossier& dossier;
  std::span<const HostFacts> hosts;
  std::span<const Capture> captures;
  const Policy& policy;
  const Intent& declared;
  std::span<const CountedPort> counted;
};

// "node1" of "node1 (before)", one of several states of a host; nothing for a name without a state.
std::optional<std::string> host_without_state(const std::string& name);

// ---- evidence ----

namespace source {
inline constexpr const char* kPfc = "DCB PFC";
inline constexpr const char* kEts = "DCB ETS";
inline constexpr const char* kApp = "DCB application table";
inline constexpr const char* kTrust = "DCB trust";
inline constexpr const char* kBuffers = "DCB port buffers";
inline constexpr const char* kDcbx = "DCBX mode";
inline constexpr const char* kPause = "ethtool pause parameters";
inline constexpr const char* kWatchdog = "ethtool tunable pfc-prevention-tout";
inline constexpr const char* kParameters = "debugfs cc_params";
inline constexpr const char* kLink = "ethtool link settings";
inline constexpr const char* kNetdev = "netdev";
inline constexpr const char* kRdma = "RDMA device";
inline constexpr const char* kPcie = "PCIe configuration space";
}  // namespace source

template <class Value>
Evidence setting(std::string name, const Value& value, std::string unit, std::string where) {
  return {std::move(name), fmt::format("{}", value), std::move(unit), std::move(where)};
}

// "rx_pause_duration_us of priority 3", its increment, its source with the measured time.
Evidence counter(const counters::PortDelta& delta, std::string_view name,
                 std::optional<Priority> priority = {});
// A number or word as a document shows it; its source is the place, "nccl.log:12".
template <class Value>
Evidence shown(std::string name, const Value& value, std::string unit, const evidence::Document& document,
               int line = 0) {
  return {std::move(name), fmt::format("{}", value), std::move(unit), document.place(line)};
}
// The counters of the list that are known, in order.
std::vector<Evidence> counters_seen(const counters::PortDelta& delta,
                                    const std::vector<std::string_view>& names,
                                    std::optional<Priority> priority = {});

void append(std::vector<Evidence>& into, std::vector<Evidence> more);

// ---- facts that must be there ----

// Collects why facts are missing, so that a judge can say all of it at once.
class Needs {
 public:
  // The value, or nothing after its reason was noted.
  template <class T>
  const T* operator()(const Observed<T>& fact, std::string_view name) {
    if (fact) return &*fact;
    note(fmt::format("{}: {}", name, fact.error().why));
    return nullptr;
  }
  template <class T>
  const T* operator()(const std::optional<T>& fact, std::string_view name) {
    if (fact) return &*fact;
    note(fmt::format("{} is not known", name));
    return nullptr;
  }
  // The increment of a counter.
  std::optional<std::uint64_t> operator()(const counters::PortDelta& delta, std::string_view name,
                                          std::optional<Priority> priority = {});
  bool missing() const { return !reasons_.empty(); }
  Outcome not_checked() const { return Outcome::not_checked(reasons_); }

 private:
  void note(const std::string& reason) { reasons_ += (reasons_.empty() ? "" : "; ") + reason; }
  std::string reasons_;
};

// ---- fixes ----

// A knob and the value it is to get.
struct Wanted {
  host::Knob knob;
  host::KnobValue value;
};
// A fix that is a change of settings of one port; the shell lines are made from the changes. A knob whose
// present value is not known is left to the words of the text.
Fix change_settings(const PortFacts& facts, std::string text, std::vector<Wanted> wanted);
// A fix that no setting of this host can be.
inline Fix advise(std::string text, std::vector<std::string> commands = {}) {
  return {std::move(text), {}, std::move(commands)};
}

// The usual knobs, leaving everything else of the knob as it is. Nothing if its present value is not known.
std::vector<Wanted> set_pfc(const PortFacts& facts, PrioritySet enabled);
std::vector<Wanted> set_global_pause(const PortFacts& facts, bool on);
std::vector<Wanted> map_dscps(const PortFacts& facts, const std::vector<std::pair<Dscp, Priority>>& entries);
std::vector<Wanted> set_parameter(const PortFacts& facts, const std::string& name, std::int64_t value);
std::vector<Wanted> join(std::vector<Wanted> first, std::vector<Wanted> second);

}  // namespace rocetune::diagnose
