// Guardrails about what rides on a port: who loses something when its link is interrupted or its class map
// changes under them.
#pragma once

#include <string>
#include <vector>

#include "agent/tune/guardrails.h"

namespace rocetune::tune {

std::vector<Refusal> default_route(const GuardrailInput& in);
std::vector<Refusal> ssh_session(const GuardrailInput& in);
std::vector<Refusal> mounted_storage(const GuardrailInput& in);
std::vector<Refusal> rdma_traffic(const GuardrailInput& in);

// DCBX mode, PFC, ETS, app table, buffers.
bool is_dcb(host::KnobKind kind);
// "a, b".
std::string joined(const std::vector<std::string>& items);

}  // namespace rocetune::tune
