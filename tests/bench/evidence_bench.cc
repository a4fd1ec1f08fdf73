// How fast pasted texts are read, with every format asked: a log of NCCL with a table in between, a log that
// no format knows (each line is offered to all), and memcpy of the same bytes beside them.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "agent/evidence/catalogue/catalogue.h"
#include "agent/evidence/dossier.h"

namespace {

using namespace rocetune;

constexpr std::size_t kSize = 16 << 20;

template <class AddLine>
std::string text_of(AddLine add_line) {
  std::string out;
  out.reserve(kSize + 4096);
  for (unsigned n = 0; out.size() < kSize; ++n) add_line(out, n);
  return out;
}

std::string nccl_log() {
  return text_of([](std::string& out, unsigned n) {
    const std::string host = "gpu-node-" + std::to_string(n / 97 % 64);
    const std::string rank = std::to_string(n % 8);
    out += host + ":25668:27396 [" + rank + "] NCCL INFO ";
    switch (n % 6) {
      case 0:
        out += "Channel 0" + rank + "/0 : " + rank + "[1b000] -> 8[1b000] [send] via NET/IB/0/GDRDMA\n";
        break;
      case 1:
        out += "Channel 0" + rank + "/0 : " + rank + "[1b000] -> 1[29000] via P2P/CUMEM\n";
        break;
      case 2:
        out +=
            "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE [2]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n";
        break;
      case 3:
        out += "Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1 [2] 1/-1/-1->0->-1 [3] 1/-1/-1->0->-1\n";
        break;
      case 4:
        out +=
            "AllReduce: opCount 2f sendbuff 0x7f1200 recvbuff 0x7f1300 count 4194304 datatype 7 op 0 root 0 "
            "comm "
            "0x55cc8aa86c70 [nranks=16] stream 0x55cc8b1\n";
        break;
      default:
        out +=
            "comm 0x55cc8aa86c70 rank 0 nranks 16 cudaDev 0 nvmlDev 0 busId 1c000 commId 0x65e0 - Init "
            "START\n";
    }
    if (n % 50 == 0) {
      out +=
          "     8388608       2097152     float     sum      -1    992.6    8.45   16.20      0    986.0    "
          "8.51   "
          "16.31      0\n";
    }
  });
}

std::string foreign_log() {
  return text_of([](std::string& out, unsigned n) {
    out += "2026-11-30 12:00:00," + std::to_string(n % 1000) + " INFO trainer: step " + std::to_string(n) +
           " loss 2.3178 learning rate 0.0003 tokens per second 18234\n";
  });
}

void read_all(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    const auto reading = evidence::read_text(text, "nccl.log", evidence::all_formats());
    benchmark::DoNotOptimize(reading.documents.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void copy_all(benchmark::State& state, const std::string& text) {
  std::vector<char> out(text.size());
  for (auto _ : state) {
    std::memcpy(out.data(), text.data(), text.size());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string nccl = nccl_log();
  const std::string foreign = foreign_log();
  benchmark::RegisterBenchmark("evidence/nccl-log", read_all, nccl);
  benchmark::RegisterBenchmark("evidence/foreign-log", read_all, foreign);
  benchmark::RegisterBenchmark("evidence/memcpy", copy_all, nccl);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
