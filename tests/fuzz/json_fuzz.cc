// JSON of any content: read or refused; what was read is written and read back to the same text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dataplane/base/reflect_json.h"

namespace rocetune {
namespace fuzz {

struct Leaf {
  Bytes size;
  Observed<Dscp> dscp = not_read();
  PrioritySet priorities;
  std::optional<double> real;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("size", self.size...);
    visit("dscp", self.dscp...);
    visit("priorities", self.priorities...);
    visit("real", self.real...);
  }
};
struct Tree {
  std::string name;
  std::uint16_t small = 0;
  std::uint64_t large = 0;
  std::array<TosByte, 2> tos{};
  std::vector<Leaf> leaves;
  std::map<std::string, Leaf> named;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("small", self.small...);
    visit("large", self.large...);
    visit("tos", self.tos...);
    visit("leaves", self.leaves...);
    visit("named", self.named...);
  }
};

}  // namespace fuzz
}  // namespace rocetune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = parse_json(text, "f.json");
  if (!json) {
    if (json.error().kind() != ErrorKind::bad_input) std::abort();
    return 0;
  }
  const auto tree = from_json<fuzz::Tree>(*json, JsonPath("f.json"));
  if (!tree) return 0;
  JsonWriter first;
  to_json(first, *tree);
  const std::string written = first.take();
  const auto again = parse_json(written, "again").and_then([](const Json& j) {
    return from_json<fuzz::Tree>(j, JsonPath("again"));
  });
  if (!again) std::abort();
  JsonWriter second;
  to_json(second, *again);
  if (second.take() != written) std::abort();
  return 0;
}
