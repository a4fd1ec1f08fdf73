// What the loadable parts say about this host: which of them can be used, and the facts that only they can
// read.
#pragma once

#include <string>
#include <vector>

#include "dataplane/base/part.h"
#include "dataplane/port/dpdk/part.h"
#include "dataplane/verbs/part.h"

namespace rocetune::cli {

struct PartFacts {
  std::vector<PartStatus> parts;
  Observed<std::vector<verbs::Device>> rdma_devices =
      not_read();                               // absent: the part is, or this kernel's RDMA
  Observed<dpdk::DpdkFacts> dpdk = not_read();  // absent: the part is
  bool operator==(const PartFacts&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("parts", self.parts...);
    visit("rdma_devices", self.rdma_devices...);
    visit("dpdk", self.dpdk...);
  }
};

// Opens every part. Verbs knows only the devices of the running kernel: with a `root` other than "/" they are
// absent.
PartFacts read_part_facts(const std::string& root);

// "131072 queue pairs of 32768 requests, 16777216 memory regions, atomics device, ..."
std::string verbs_text(const verbs::DeviceFacts& facts);
// "22.11.11 could not start: free huge pages on a hugetlbfs mount: 0 x 2MiB free of 0"
std::string dpdk_text(const dpdk::DpdkFacts& facts);

}  // namespace rocetune::cli
