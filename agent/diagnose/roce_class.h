// The RoCE class a port is judged against: which DSCP and priority its data and its CNPs are meant to use.
// Declared by the operator, or inferred from what the host shows, and then with how sure that is.
#pragma once

#include <optional>
#include <string>

#include "agent/counters/model.h"
#include "agent/diagnose/finding.h"
#include "agent/diagnose/policy.h"
#include "agent/host/model.h"

namespace rocetune::diagnose {

// What the operator says the hosts are meant to do, by flags or a profile. Everything may be left out.
struct Intent {
  std::optional<Dscp> dscp;
  std::optional<Priority> priority;
  std::optional<Dscp> cnp_dscp;
  std::optional<Priority> cnp_priority;
  std::optional<PrioritySet> lossless;  // all priorities with PFC, where a plan has more than one
  std::optional<host::Trust> trust;
  bool lossy = false;  // no PFC on purpose
  std::string origin;  // "--dscp and --priority", "profile sonic"
  bool is_empty() const {
    return !dscp && !priority && !cnp_dscp && !cnp_priority && !lossless && !trust && !lossy;
  }
};

struct RoceClass {
  std::optional<Dscp> dscp;  // nothing: no DSCP leads to the class
  Priority priority;
  Dscp cnp_dscp;
  Priority cnp_priority;
  std::string origin;  // what it rests on, one clause
  Confidence confidence = Confidence::low;
  bool declared = false;  // the priority is the operator's word
};

// Nothing if the port shows no class at all: PFC, class map and buffers are as an unconfigured NIC has them,
// or cannot be read.
std::optional<RoceClass> class_of(const host::Port& port, const Intent& declared, const DefaultPlan& plan);

// "DSCP 26 -> priority 3, CNP DSCP 48 -> priority 6 (inferred: ...; confidence high)".
std::string to_text(const RoceClass& c);

// Priority that DSCP `d` takes on this port by its table; nothing if the table has no entry, is unknown, or
// the port does not trust DSCP.
std::optional<Priority> mapped_priority(const host::Port& port, Dscp d);

// The one priority whose receive buffer it has for itself, if there is exactly one such priority.
std::optional<Priority> priority_with_own_buffer(const host::PortBuffers& buffers);

}  // namespace rocetune::diagnose
