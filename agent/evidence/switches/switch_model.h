// What a switch does with RoCE traffic, as plain values: one model for every maker. Filled by readers of
// configurations and of `show` outputs, judged by agent/diagnose, written by the emitters (switch_text.h).
//
// The makers' words for it:
//   priority  what PFC frames name and DSCPs lead to: SONiC's and EOS's traffic class, Cumulus's switch
//             priority, NX-OS's pfc-cos of a qos-group, Junos's pfc-priority of a forwarding class,
//             RouterOS's traffic class
//   queue     what the scheduler serves and ECN marks: SONiC's queue, EOS's tx-queue, Cumulus's traffic
//   class,
//             NX-OS's qos-group, Junos's queue-num
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "congestion/units.h"
#include "dataplane/base/reflect.h"

namespace rocetune::evidence {

enum class SwitchSystem { unknown, sonic, nvue, onyx, eos, nxos, junos, routeros };
enum class SwitchTrust { none, pcp, dscp, both };

// An egress queue.
struct SwitchQueue {
  std::optional<bool> strict;        // served before all that share
  std::optional<int> share_percent;  // of what strict queues leave; from weights where weights are written
  std::optional<bool> marks;         // ECN: marks instead of dropping
  std::optional<Bytes> mark_from;    // Kmin
  std::optional<Bytes> mark_all;     // Kmax
  std::optional<int> mark_percent;   // Pmax, at Kmax
  bool operator==(const SwitchQueue&) const = default;
};

// The receive buffer of a priority.
struct SwitchBuffer {
  bool lossless = false;
  std::optional<Bytes> headroom;      // for what arrives after Xoff (SONiC: "xoff")
  std::optional<Bytes> pause_from;    // static threshold at which Xoff is sent
  std::optional<int> alpha_exponent;  // dynamic threshold: 2^this x what is free of the pool
  std::optional<Bytes> pool;          // size of that pool
  bool operator==(const SwitchBuffer&) const = default;
};

struct SwitchWatchdog {
  bool on = true;
  std::optional<Duration> detection;    // paused this long: storm
  std::optional<Duration> restoration;  // no pause this long: over
  std::string action;                   // "drop", "forward", "alert", "errdisable"; empty: not said
  bool operator==(const SwitchWatchdog&) const = default;
};

// The settings of one port, or what holds for every port. Only what was said: absent is not a default.
struct SwitchSettings {
  std::optional<SwitchTrust> trust;
  std::map<Dscp, Priority> priority_of_dscp;
  std::map<Priority, TrafficClass> queue_of_priority;
  std::optional<PrioritySet> pfc;  // priorities with PFC; empty set: off
  std::map<TrafficClass, SwitchQueue> queues;
  std::map<Priority, SwitchBuffer> buffers;
  std::optional<Bytes> mtu;  // of the port, as its maker counts it
  std::optional<BitRate> speed;
  std::optional<Metres> cable;
  std::optional<SwitchWatchdog> watchdog;
  bool operator==(const SwitchSettings&) const = default;

  bool is_empty() const { return *this == SwitchSettings(); }
  // What `over` says goes before what is here; entries of maps one by one.
  void overlay(const SwitchSettings& over);
};

struct SwitchModel {
  SwitchSystem system = SwitchSystem::unknown;
  std::string name;  // "hostname leaf1"; empty: not said
  SwitchSettings common;
  std::map<std::string, SwitchSettings> ports;    // what differs, by name; ranges are expanded
  std::optional<Priority> announced_priority;     // DCBX application entry for UDP 4791
  std::map<std::string, int, std::less<>> lines;  // where it says so: "pfc", "dscp 26", "queue 3"; 0: no line

  // Of a port: the common ones with its own over them.
  SwitchSettings of(std::string_view port) const;
  // Ports by name, or one entry with an empty name where only common settings are known.
  std::vector<std::pair<std::string, SwitchSettings>> all() const;
  // The line that sets `what` ("pfc", "dscp 26"), on this port if it is said there; 0: not known.
  int line_of(std::string_view what, std::string_view port = {}) const;
  void note_line(std::string_view what, int line, std::string_view port = {});
  bool is_empty() const { return common.is_empty() && ports.empty() && !announced_priority; }
  // Whether it says anything about classes: more than names, MTU and speed.
  bool has_classes() const;
};

// The queue of a priority: as mapped, else the one of its number, which every maker's default has for the
// priorities that carry RoCE.
TrafficClass queue_of(const SwitchSettings& settings, Priority priority);
// The priority that a DSCP leads to; nothing if that is not said.
std::optional<Priority> priority_of(const SwitchSettings& settings, Dscp dscp);

// "SONiC", "NX-OS": for people.
std::string_view maker_name(SwitchSystem system);

}  // namespace rocetune::evidence

namespace rocetune {
ROCETUNE_ENUM(evidence::SwitchSystem, P{E::unknown, "unknown"}, P{E::sonic, "sonic"}, P{E::nvue, "nvue"},
              P{E::onyx, "onyx"}, P{E::eos, "eos"}, P{E::nxos, "nxos"}, P{E::junos, "junos"},
              P{E::routeros, "routeros"});
ROCETUNE_ENUM(evidence::SwitchTrust, P{E::none, "none"}, P{E::pcp, "pcp"}, P{E::dscp, "dscp"},
              P{E::both, "pcp and dscp"});
}  // namespace rocetune
