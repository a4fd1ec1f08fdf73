// Any text as tables of benchmarks, pings and matrices of pairs; the split of pairs is one of all its pairs.
#include <cstdint>

#include "agent/evidence/benchmarks/formats.h"
#include "agent/evidence/benchmarks/pair_matrix.h"
#include "agent/evidence/dossier.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune::evidence;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TextReading reading = read_text(text, "node1.txt", benchmark_formats());
  for (const Document& document : reading.documents) {
    const auto* matrix = document.as<PairMatrix>();
    if (matrix == nullptr) continue;
    for (const PairMatrix::Table& table : matrix->tables) {
      const auto split = split_pairs(table);
      if (split && (split->slow.empty() || split->fast.empty() || !(split->slow_over_fast() <= 1)))
        __builtin_trap();
    }
  }
  return 0;
}
