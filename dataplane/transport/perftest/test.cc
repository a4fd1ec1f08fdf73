#include "dataplane/transport/perftest/test.h"

#include <bit>

namespace rocetune::perftest {

Expected<> check(const Options& options) {
  std::vector<InputIssue> issues;
  const auto complain = [&](const char* key, std::string found, const char* allowed) {
    issues.push_back({.key = key, .found = std::move(found), .allowed = allowed});
  };
  if (options.size < Bytes(1) || options.size > Bytes(std::int64_t{1} << 30))
    complain("size", to_text(options.size), "1B to 1GiB");
  if (options.iterations < 1 || options.iterations > 1U << 31)
    complain("iterations", std::to_string(options.iterations), "1 to 2^31");
  if (!std::has_single_bit(options.mtu) || options.mtu < 256 || options.mtu > 4096)
    complain("mtu", std::to_string(options.mtu), "256, 512, 1024, 2048, 4096");
  if (options.window < 1 || options.window > 4096)
    complain("window", std::to_string(options.window), "1 to 4096");
  if (options.port < 1 || options.port > 65535) complain("port", std::to_string(options.port), "1 to 65535");
  if (!issues.empty()) return tl::unexpected(bad_input(issues));
  return {};
}

}  // namespace rocetune::perftest
