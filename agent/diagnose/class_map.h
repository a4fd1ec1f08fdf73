// Questions about the class map that several families ask: one cause must give one finding, so what follows
// from it elsewhere has to be recognised as a consequence.
#pragma once

#include <optional>

#include "agent/diagnose/facts.h"

namespace rocetune::diagnose {

// The host works without PFC on purpose: declared, or its NIC repairs losses by adaptive retransmission right
// now.
bool is_lossy_on_purpose(const PortFacts& facts);

// 802.3x pause is on in a direction.
bool has_global_pause(const PortFacts& facts);

// 802.3x pause is on, PFC is off everywhere, and this NIC cannot do both: the pause is the cause.
bool has_pause_in_place_of_pfc(const PortFacts& facts);

// Priorities with PFC that carry data: all but the CNPs' own.
PrioritySet lossless_data_priorities(const PortFacts& facts);

// The first link of the chain DSCP -> priority -> PFC that does not lead into the RoCE class.
enum class ChainBreak {
  none,
  unknown,   // the class or a fact of the chain is not known
  trust,     // the port classifies by PCP: DSCP is not looked at
  no_entry,  // no DSCP leads to the priority
  map,       // the DSCP is mapped to another priority
  pfc,       // the priority has no PFC
};
ChainBreak chain_break(const PortFacts& facts);

// Where packets of the RoCE DSCP go by this port's settings: 0 where DSCP is not trusted or has no entry.
std::optional<Priority> where_data_goes(const PortFacts& facts);

// The ToS byte of the class for applications, with ECT(0): what NCCL_IB_TC and its like must hold.
TosByte tos_of(Dscp dscp);

// The class as it should be: what was declared or found, filled up from the default plan.
struct WantedClass {
  Dscp dscp;
  Priority priority;
  Dscp cnp_dscp;
  Priority cnp_priority;
};
WantedClass wanted(const PortFacts& facts);

// PFC is on for `p`; false where PFC is not known.
bool is_lossless(const PortFacts& facts, Priority p);

Evidence pfc_evidence(const host::Pfc& pfc);
// What the application table says about a DSCP, "no entry" included. The table must be known.
Evidence entry_evidence(const host::Port& port, Dscp dscp);

// Whether somebody chose this DSCP's entry: see chosen_entries in roce_class.cc.
bool is_chosen(const host::Port& port, Dscp dscp);

}  // namespace rocetune::diagnose
