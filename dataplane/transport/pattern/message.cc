#include "dataplane/transport/pattern/message.h"

#include "dataplane/base/reflect_json.h"

namespace rocetune::pattern {

std::string to_line(const Message& message) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, message);
  return out.take();
}

Expected<Message> parse_message(std::string_view line, const std::string& peer) {
  const auto json = parse_json(line, peer);
  if (!json) return tl::unexpected(json.error());
  auto message = from_json<Message>(*json, JsonPath(peer));
  if (!message) return message;
  if (message->version != Message::kVersion) {
    return fail(ErrorKind::bad_input, "{}: speaks version {} of the benchmark, this is version {}", peer,
                message->version, Message::kVersion);
  }
  if (message->kind == MessageKind::refusal)
    return fail(ErrorKind::io, "{} refused: {}", peer, message->text);
  return message;
}

}  // namespace rocetune::pattern
