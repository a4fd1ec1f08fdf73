// Hosts as far as texts tell them: what several tools printed about the same ports, put together.
#pragma once

#include <string>
#include <vector>

#include "agent/evidence/dossier.h"
#include "agent/host/model.h"

namespace rocetune::evidence {

struct AssembledHost {
  host::Host host;    // its name says the phase too where it has several: "node1 (before)"
  std::string phase;  // "before"; empty: none, or the only state
  std::vector<const Document*> documents;  // that it was made of
};

// One host for each name and each state: documents of a phase ("before", "t1") are a state of their own,
// those without one belong to every state. States that say the same are one, without a phase. What stands
// later in the dossier goes before what stands earlier; absent never replaces known. Ports are the same if
// their netdev or their RDMA device is; a port without any name is the host's only one, or one of its own
// that is called by its file.
std::vector<AssembledHost> assemble_hosts(const Dossier& dossier);

// What `from` knows goes into `into`. Exposed for readers that put a host together from several outputs.
void merge(host::Port& into, const host::Port& from);

}  // namespace rocetune::evidence
