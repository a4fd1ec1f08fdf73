// Runs a fuzz target over kept inputs, in any build and without a fuzzer: each file of the folder, each of
// its prefixes up to 64 bytes, and nothing at all.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::string& bytes, std::size_t size) {
  // A copy of exactly this size, so that a sanitizer or the allocator sees a read past the end.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  int passed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::printf("%s\n", entry.path().c_str());
    std::fflush(stdout);  // a crash must leave the name of its input
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t size = 0; size < std::min<std::size_t>(bytes.size(), 64); ++size) feed(bytes, size);
    feed(bytes, bytes.size());
    ++passed;
  }
  std::printf("%d passed, 0 failed\n", passed);
  return passed > 0 ? 0 : 1;
}
