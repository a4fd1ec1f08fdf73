// The tables of a scenario, each read by a function of its own. Issues are recorded with the reader.
#pragma once

#include "congestion/dcqcn/parameter_table.h"
#include "dataplane/base/toml_reader.h"
#include "dataplane/fabric/host_set.h"
#include "dataplane/fabric/scenario.h"

namespace rocetune::fabric {

constexpr std::uint32_t kMostHosts = 1U << 16;
inline const std::vector<std::uint32_t> kPathMtus{256, 512, 1024, 2048, 4096};

// What links and buffers may be: far beyond what is built, far below what arithmetic holds.
inline auto a_rate() { return between(megabits_per_second(1), gigabits_per_second(10'000)); }
inline auto a_delay() { return between(nanoseconds(1), seconds(1)); }
inline auto an_amount(std::int64_t least) { return between(Bytes(least), Bytes(std::int64_t{1} << 32)); }

// How long a queue pair waits for an acknowledgement: 4.096 us x 2^exponent; 0: for ever.
struct AckTimeout {
  std::uint8_t exponent = 0;
};

// [topology], whose links lose what `usual` says unless they say otherwise. What cannot be built is left
// empty.
void read_topology(TableReader& t, const LinkSpec& usual, Topology& out);
// One [[flows]]: adds to out.flows. Needs out.topology and out.limit.
void read_flows(TableReader& t, Scenario& out);
// One [[jobs]]: adds to out.jobs. Needs the same.
void read_jobs(TableReader& t, Scenario& out);
// One [[lesson]]: adds to out.lesson.
void read_lesson(TableReader& t, Scenario& out);

// When all is read: engines on the switches that reduce for jobs, `delay` away from them.
void place_reducers(Scenario& out, Duration delay);

// What one switch does otherwise than the others.
struct OwnClasses {
  std::vector<std::pair<Dscp, Priority>> priority_of;  // these entries of its map
  std::vector<std::uint16_t> ports;                    // for what arrives there only; empty: everywhere
  std::optional<PrioritySet> lossless;
  std::optional<PrioritySet> marked;
  void apply(SwitchParameters& parameters) const;
};
OwnClasses read_own_classes(TableReader& t);

// Entries of a map of DSCPs to priorities, { 26 = 3, cs6 = 6 }.
std::vector<std::pair<Dscp, Priority>> read_map_entries(TableReader& t, std::string_view key);

// ets = [0, 0, 0, 90, 10, 0, 0, 0]: of each traffic class its share of what strict ones leave; 0: it is
// strict.
std::optional<EtsConfig> read_ets(TableReader& t);
// traffic_classes = [0, 0, 0, 3, 0, 0, 6, 0]: of each priority.
std::optional<ClassOfPriority> read_traffic_classes(TableReader& t);

// Parameters of DCQCN that a table sets one by one, by the names of mlx5; those that begin with `prefixes`.
using DcqcnValues = std::vector<std::pair<const dcqcn::Parameter*, std::int64_t>>;
DcqcnValues read_dcqcn_values(TableReader& t, const std::vector<std::string_view>& prefixes);

// [[switches.own]], [[hosts.own]], [[events]]: single switches and hosts, and what happens when. Kept until
// the whole scenario is known, as they change what holds for all.
class OwnParts {
 public:
  void read_switches(TableReader& t, const Topology& topology);
  void read_hosts(TableReader& t, const Topology& topology);
  void read_event(TableReader& t, const Scenario& scenario);
  void apply(NetworkOptions& options) const;

 private:
  struct OwnSwitch {
    std::vector<std::uint32_t> switches;
    OwnClasses classes;
  };
  struct OwnHost {
    HostSet hosts;
    std::optional<BitRate> receive_rate;
    std::optional<Duration> storm_prevention;
    std::optional<ControllerChoice::Kind> controller;
    std::optional<engine::PathMtu> mtu;
    std::optional<Dscp> dscp;
    std::optional<PrioritySet> lossless;                 // what its NIC has PFC for
    std::vector<std::pair<Dscp, Priority>> priority_of;  // these entries of its NIC's map
    std::optional<EtsConfig> ets;
    std::optional<ClassOfPriority> class_of;
    DcqcnValues dcqcn;
    void apply(HostParameters& host) const;
  };
  struct Event {
    Fault fault;
    std::optional<OwnClasses> classes;
  };
  std::vector<OwnSwitch> switches_;
  std::vector<OwnHost> hosts_;
  std::vector<Event> events_;
};

}  // namespace rocetune::fabric

namespace rocetune::toml_detail {

// ack_timeout = 14
template <>
struct TomlForm<fabric::AckTimeout> {
  static std::string allowed();
  static bool read(const Cursor& at, fabric::AckTimeout& out);
};

}  // namespace rocetune::toml_detail
