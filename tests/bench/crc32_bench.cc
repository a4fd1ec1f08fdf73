// The ICRC's CRC: our methods beside ISA-L's, at the sizes RoCE has. ISA-L is opened, not linked: where it is
// not installed its rows are missing, and everything else runs.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <vector>

#include "dataplane/wire/crc32.h"
#include "dataplane/wire/path_headers.h"

namespace {

using namespace rocetune;
using namespace rocetune::wire;

// Header, header and small payload, path MTU 1024 and 4096 with their headers.
constexpr std::array kSizes{48, 64, 128, 256, 1072, 4144};

// Buffers rotate, so that the data is in the cache but not in registers.
class Buffers {
 public:
  explicit Buffers(std::size_t size) : size_(size), data_(64 * 8192) {
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  }
  ConstBytes next() {
    turn_ = (turn_ + 1) % 64;
    return ConstBytes(data_).subspan(turn_ * 8192, size_);
  }

 private:
  std::size_t size_;
  std::size_t turn_ = 0;
  std::vector<std::byte> data_;
};

template <class Extend>
void measure(benchmark::State& state, const Extend& extend) {
  Buffers buffers(static_cast<std::size_t>(state.range(0)));
  std::uint32_t sum = 0;
  for (auto _ : state) sum ^= extend(buffers.next());
  benchmark::DoNotOptimize(sum);
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

using IsalCrc = std::uint32_t (*)(std::uint32_t, const unsigned char*, std::uint64_t);

void register_all() {
  for (const Crc32Method& method : crc32_methods()) {
    if (!method.usable) continue;
    auto* bench = benchmark::RegisterBenchmark(
        ("crc32/" + std::string(method.name)).c_str(),
        [&](auto& state) { measure(state, [&](ConstBytes b) { return method.extend(kCrc32Start, b); }); });
    for (const int size : kSizes) bench->Arg(size);
  }
  void* isal = dlopen("libisal.so.2", RTLD_NOW | RTLD_LOCAL);
  if (isal == nullptr) {
    std::puts("crc32/isa-l: not measured, libisal.so.2 is not installed (tools/install-packages peers)");
    return;
  }
  const auto crc = reinterpret_cast<IsalCrc>(dlsym(isal, "crc32_gzip_refl"));
  if (crc == nullptr) return;
  auto* bench = benchmark::RegisterBenchmark("crc32/isa-l", [crc](auto& state) {
    measure(state, [crc](ConstBytes b) {
      return crc(0, reinterpret_cast<const unsigned char*>(b.data()), b.size());
    });
  });
  for (const int size : kSizes) bench->Arg(size);
}

// A packet's ICRC as a sender computes it, with the constant part folded once, and from nothing.
void with_prefix(benchmark::State& state) {
  const PathHeaders headers(Path{.source = IpAddress::v4(1), .destination = IpAddress::v4(2)});
  Buffers buffers(static_cast<std::size_t>(12 + state.range(0)));
  std::uint16_t id = 0;
  for (auto _ : state) benchmark::DoNotOptimize(headers.icrc().icrc(buffers.next(), id++));
}
void without_prefix(benchmark::State& state) {
  Buffers buffers(static_cast<std::size_t>(40 + state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(icrc_of(buffers.next(), NetworkHeader::ipv4, 28));
}
BENCHMARK(with_prefix)->Name("icrc/prefix")->Arg(16)->Arg(48)->Arg(1024)->Arg(4096);
BENCHMARK(without_prefix)->Name("icrc/whole")->Arg(16)->Arg(48)->Arg(1024)->Arg(4096);

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
