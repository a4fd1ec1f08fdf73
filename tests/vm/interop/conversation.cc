#include "tests/vm/interop/conversation.h"

#include "dataplane/base/reflect_json.h"

namespace rocetune::interop {

Expected<Command> parse_command(std::string_view line) {
  const auto json = parse_json(line, "command");
  if (!json) return tl::unexpected(json.error());
  return from_json<Command>(*json, JsonPath("command"));
}

std::string to_line(const Reply& reply) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, reply);
  return out.take() + "\n";
}

}  // namespace rocetune::interop
