#include "agent/evidence/catalogue/catalogue.h"

#include <vector>

#include "agent/evidence/benchmarks/formats.h"
#include "agent/evidence/host_tools/formats.h"
#include "agent/evidence/logs/formats.h"
#include "agent/evidence/rdma_tools/formats.h"
#include "agent/evidence/switches/formats.h"

namespace rocetune::evidence {

const FormatTable& all_formats() {
  static const std::vector<Format> kFormats = [] {
    std::vector<Format> out;
    // Logs and shapes without a keyword ("NAME=value", rows of numbers) last: they must not take others'
    // lines.
    for (const auto family :
         {switch_formats(), host_tool_formats(), rdma_tool_formats(), benchmark_formats(), log_formats()}) {
      out.insert(out.end(), family.begin(), family.end());
    }
    return out;
  }();
  static const FormatTable kTable(kFormats);
  return kTable;
}

}  // namespace rocetune::evidence
