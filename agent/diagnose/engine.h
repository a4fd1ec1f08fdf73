// Runs the rule table over facts. Every rule gives exactly one outcome for every subject it applies to.
#pragma once

#include "agent/diagnose/facts.h"
#include "agent/diagnose/rule.h"

namespace rocetune::diagnose {

// Judges every RoCE port of the host, the host as a whole, and every capture. A port without an RDMA device
// is skipped, unless it was asked for by name. Names in only_ports must exist in the host. Without a host
// every rule about one is not checked.
Report diagnose(const Facts& facts);

// The same with another table, for tests.
Report diagnose(const Facts& facts, std::span<const Rule* const> rules);

// Packets of RDMA that moved in both directions; nothing if no counter says so.
std::optional<std::uint64_t> rdma_packets(const counters::PortDelta& delta);

// The traffic gate: empty if the interval is evidence, else why it is not.
std::string why_no_traffic_verdict(const PortFacts& facts, bool idle_too);

}  // namespace rocetune::diagnose
