// What a communication library has to be told on this host so that its traffic travels in the class that the
// host really has: derived from the class map, devices and addresses as they were read. What is not known is
// said, never guessed.
#pragma once

#include <string>
#include <vector>

#include "agent/diagnose/policy.h"
#include "agent/host/model.h"
#include "dataplane/base/reflect.h"

namespace rocetune::diagnose {

enum class Library { nccl, rccl, ucx, uccl, nvshmem };

struct EnvironmentLine {
  std::string name;    // "NCCL_IB_TC"
  std::string value;   // "106"; of lines to leave unset: empty
  std::string reason;  // one sentence or two
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("value", self.value...);
    visit("reason", self.reason...);
  }
};

struct DerivedEnvironment {
  std::string class_map;                     // "DSCP 26 -> priority 3, ..."; empty: none is in force
  std::vector<EnvironmentLine> set;          // in the order in which a person reads them
  std::vector<EnvironmentLine> leave_unset;  // what people set by habit, and what it would break
  std::vector<std::string> not_known;        // what would belong here, and why it is not
};

// Errors: bad_input if no RDMA device of the host is an Ethernet port that is up.
Expected<DerivedEnvironment> environment_for(Library library, const host::Host& host, const Policy& policy);

// Shell lines to be sourced, each under its reason.
std::string environment_text(const DerivedEnvironment& environment, Library library, const std::string& host);

}  // namespace rocetune::diagnose

namespace rocetune {
ROCETUNE_ENUM(diagnose::Library, P{E::nccl, "nccl"}, P{E::rccl, "rccl"}, P{E::ucx, "ucx"}, P{E::uccl, "uccl"},
              P{E::nvshmem, "nvshmem"});
}  // namespace rocetune
