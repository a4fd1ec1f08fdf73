// The module librocetune-topology.so.
#include "agent/host/topology/affinity.h"
#include "agent/host/topology/part.h"

namespace rocetune::host {
namespace {

class TopologyModule final : public TopologyPart {
 public:
  Expected<std::vector<Affinity>> affinity(const std::string& root, const std::vector<NicPlace>& nics,
                                           const std::vector<std::string>& gpus) override {
    return read_affinity(root, nics, gpus);
  }
};

}  // namespace
}  // namespace rocetune::host

ROCETUNE_EXPORT_PART(rocetune::host::TopologyPart, rocetune::host::TopologyModule);
