// Tables of benchmarks: nccl-tests, perftest, OSU, IMB, iperf3, ping, matrices of pairs.
#pragma once

#include <span>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

std::span<const Format> benchmark_formats();

}  // namespace rocetune::evidence
