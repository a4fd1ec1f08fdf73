// TOML of any content: read or refused with a place, never more. Every type the reader knows is asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dataplane/base/toml_reader.h"

namespace rocetune {
namespace fuzz {
enum class Colour { red, green };
}
ROCETUNE_ENUM(fuzz::Colour, P{E::red, "red"}, P{E::green, "green"});

namespace fuzz {

struct Everything {
  std::string name;
  bool flag = false;
  std::uint8_t small = 0;
  std::int64_t large = 0;
  double real = 0;
  Bytes size;
  Duration wait;
  BitRate rate;
  Ratio share;
  Metres cable;
  Priority priority;
  TrafficClass tc;
  Dscp dscp;
  PrioritySet priorities;
  Colour colour = Colour::red;
  std::vector<std::vector<int>> grid;
  std::array<Bytes, 2> pair;
  std::map<std::string, Duration> waits;
  std::optional<Metres> maybe;
};

void read_everything(TableReader& t) {
  Everything e;
  t.required("name", e.name, not_empty());
  t.optional("flag", e.flag);
  t.optional("small", e.small, between(1, 200));
  t.optional("large", e.large, more_than(0));
  t.optional("real", e.real, at_least(0.5));
  t.optional("size", e.size);
  t.optional("wait", e.wait);
  t.optional("rate", e.rate, at_least(gigabits_per_second(1)));
  t.optional("share", e.share);
  t.optional("cable", e.cable);
  t.optional("priority", e.priority);
  t.optional("tc", e.tc);
  t.optional("dscp", e.dscp);
  t.optional("priorities", e.priorities);
  t.optional("colour", e.colour);
  t.optional("grid", e.grid);
  t.optional("pair", e.pair);
  t.optional("waits", e.waits);
  t.optional("maybe", e.maybe);
  t.table("table", read_everything);
  t.array_of_tables("tables", read_everything);
  t.named_tables("named", [](const std::string&, TableReader& sub) { read_everything(sub); });
}

}  // namespace fuzz
}  // namespace rocetune

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const InputIssue& issue : toml_issues(text, "f.toml", fuzz::read_everything)) {
    if (issue.place.line < 0 || issue.allowed.empty() || issue.text().find('\n') != std::string::npos) {
      std::abort();
    }
  }
  return 0;
}
