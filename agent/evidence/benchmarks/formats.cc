#include "agent/evidence/benchmarks/formats.h"

#include <array>

#include "agent/evidence/benchmarks/iperf.h"
#include "agent/evidence/benchmarks/nccl_tests.h"
#include "agent/evidence/benchmarks/pair_matrix.h"
#include "agent/evidence/benchmarks/perftest.h"
#include "agent/evidence/benchmarks/ping.h"
#include "agent/evidence/benchmarks/size_table.h"
#include "agent/evidence/benchmarks/traffic_generator.h"

namespace rocetune::evidence {

std::span<const Format> benchmark_formats() {
  static const std::array kFormats{nccl_tests_format(), perftest_format(), ucx_perftest_format(),
                                   osu_format(),        imb_format(),      traffic_generator_format(),
                                   iperf_format(),      ping_format(),     pair_matrix_format()};
  return kFormats;
}

}  // namespace rocetune::evidence
