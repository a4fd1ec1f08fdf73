// Verbs structures to plain values.
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "dataplane/verbs/part.h"

namespace rocetune::verbs {

// `mlx5` of the result stays not_read.
DeviceFacts device_facts(const ibv_device_attr_ex& attributes);
Mlx5Facts mlx5_facts(const mlx5dv_context& context);

}  // namespace rocetune::verbs
