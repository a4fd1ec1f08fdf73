#include "agent/host/rdma_carrier.h"

#include <algorithm>

namespace rocetune::host {

std::vector<const Port*> rdma_siblings(const Host& host, const Port& port) {
  std::vector<const Port*> out{&port};
  const std::string bond = port.role == PortRole::bond ? port.name : port.bond.value_or("");
  if (bond.empty()) return out;
  for (const Port& other : host.ports) {
    if (&other == &port || other.network_namespace != port.network_namespace) continue;
    if (other.name == bond || other.bond == bond) out.push_back(&other);
  }
  return out;
}

const Port* rdma_holder(const Host& host, const Port& port) {
  if (port.rdma) return &port;
  if (!port.bond) return nullptr;
  const Port* found = nullptr;
  for (const Port* other : rdma_siblings(host, port)) {
    if (other->rdma && (found == nullptr || other->name == *port.bond)) found = other;
  }
  return found;
}

bool carries_rdma(const Host& host, const Port& port) {
  if (port.rdma) return true;
  if (port.rdma.error().kind != Unavailable::Kind::absent) return true;
  return rdma_holder(host, port) != nullptr;
}

}  // namespace rocetune::host
