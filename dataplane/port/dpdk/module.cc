// The module librocetune-dpdk.so.
#include <rte_build_config.h>
#include <rte_cpuflags.h>
#include <rte_version.h>

#include <algorithm>

#include "dataplane/port/dpdk/eal_arguments.h"
#include "dataplane/port/dpdk/environment.h"
#include "dataplane/port/dpdk/ethdev_port.h"
#include "dataplane/port/dpdk/host_readiness.h"
#include "dataplane/port/dpdk/part.h"

namespace rocetune::dpdk {
namespace {

Requirement cpu_requirement() {
  const bool supported = rte_cpu_is_supported() == 1;
  return {.what = "the CPU features that DPDK was built for",
          .state = supported ? Requirement::State::met : Requirement::State::unmet,
          .evidence = supported ? "all there" : "DPDK says that this CPU lacks some"};
}

class DpdkModule final : public DpdkPart {
 public:
  DpdkFacts facts(const std::string& root) override {
    const RootedPath host(root);
    DpdkFacts facts;
    facts.version = std::string(rte_version()).substr(sizeof "DPDK");
    facts.drivers = read_drivers(host, RTE_EAL_PMD_PATH);
    facts.hugepages = read_hugepages(host);
    facts.requirements = {cpu_requirement(), hugepage_requirement(facts.hugepages),
                          driver_requirement(facts.drivers), runtime_folder_requirement(host)};
    facts.device_access = vfio_requirement(host);
    facts.could_start = std::all_of(
        facts.requirements.begin(), facts.requirements.end(),
        [](const Requirement& requirement) { return requirement.state == Requirement::State::met; });
    return facts;
  }

  Expected<Port*> open(const PortRequest& request) override {
    const auto arguments = split_arguments(request.eal_arguments, "--dpdk");
    if (!arguments) return tl::unexpected(arguments.error());
    if (auto started = start_environment(*arguments); !started) return tl::unexpected(started.error());
    auto port = start_port(request);
    if (!port) {
      remove_runtime_folder();
      return tl::unexpected(port.error());
    }
    // Lives as long as the environment, which is as long as the process.
    return port->release();
  }
};

}  // namespace
}  // namespace rocetune::dpdk

ROCETUNE_EXPORT_PART(rocetune::dpdk::DpdkPart, rocetune::dpdk::DpdkModule);
