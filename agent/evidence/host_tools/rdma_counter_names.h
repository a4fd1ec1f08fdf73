// Names that counters of RDMA devices have in sysfs and netlink, over vendors.
#pragma once

#include <string_view>

namespace rocetune::evidence {

// A name that no other tool uses: a line with it and a number is a counter of an RDMA device.
// Source: Linux drivers/infiniband: hw/mlx5/counters.c, hw/bnxt_re/hw_counters.c, hw/irdma/hw.c,
// hw/qedr/main.c, sw/rxe/rxe_hw_counters.c, core/sysfs.c (port counters).
bool is_rdma_counter(std::string_view name);

}  // namespace rocetune::evidence
