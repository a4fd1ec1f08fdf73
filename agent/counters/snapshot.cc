#include "agent/counters/snapshot.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/base/json_reader.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::counters {
namespace {

constexpr std::string_view kHeader = "{\"rocetune_snapshot\":";
constexpr std::string_view kHost = "{\"rocetune_host\":";
constexpr std::string_view kText = "{\"rocetune_text\":";

std::string_view next_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

Expected<SnapshotHeader> header_from(std::string_view line, const std::string& file) {
  const auto json = parse_json(line, file + ":1");
  if (!json) return tl::unexpected(json.error());
  auto header = from_json<SnapshotHeader>(*json, JsonPath(file + ":1"));
  if (header && header->version != SnapshotHeader::kVersion) {
    return fail(ErrorKind::bad_input, "{}:1: found a snapshot of version {}, allowed: {}", file,
                header->version, SnapshotHeader::kVersion);
  }
  return header;
}

Expected<host::Host> host_from(std::string_view line, const std::string& place) {
  const auto json = parse_json(line, place);
  if (!json) return tl::unexpected(json.error());
  const Json* host = json_member(*json, "rocetune_host");
  return from_json<host::Host>(*host, JsonPath(place).member("rocetune_host"));
}

std::optional<SavedText> text_from(std::string_view line, const std::string& place) {
  const auto json = parse_json(line, place);
  if (!json) return std::nullopt;
  const Json* name = json_member(*json, "rocetune_text");
  const Json* content = json_member(*json, "content");
  if (name == nullptr || content == nullptr || !name->is_string() || !content->is_string())
    return std::nullopt;
  return SavedText{std::string(name->as_string()), std::string(content->as_string())};
}

}  // namespace

std::string to_text(const Snapshot& snapshot) {
  const auto compact = [](const auto& write) {
    JsonWriter json(JsonWriter::Style::compact);
    write(json);
    return json.take() + "\n";
  };
  std::string out = compact([&](JsonWriter& json) { to_json(json, snapshot.header); });
  out += compact([&](JsonWriter& json) {
    json.begin_object().key("rocetune_host");
    to_json(json, snapshot.host);
    json.end_object();
  });
  for (const SavedText& text : snapshot.texts) {
    out += compact([&](JsonWriter& json) {
      json.begin_object().member("rocetune_text", text.name).member("content", text.content).end_object();
    });
  }
  if (snapshot.readings.empty()) return out;
  out += RecordEncoder::header_line({.host = snapshot.host.name,
                                     .kernel = snapshot.host.kernel,
                                     .started_unix_ns = snapshot.readings.front().taken_unix_ns});
  RecordEncoder encoder;
  for (const Reading& reading : snapshot.readings) out += encoder.lines(reading);
  return out;
}

bool is_snapshot(std::string_view text) { return text.starts_with(kHeader); }

bool is_snapshot_line(std::string_view line) {
  return line.starts_with(kHeader) || line.starts_with(kHost) || line.starts_with(kText);
}

Expected<Snapshot> read_snapshot(std::string_view text, const std::string& file, const Schema& schema) {
  Snapshot out;
  std::string_view rest = text;
  auto header = header_from(next_line(rest), file);
  if (!header) return tl::unexpected(header.error());
  out.header = std::move(*header);
  RecordDecoder decoder(schema, file);
  bool has_host = false;
  for (int number = 2; !rest.empty(); ++number) {
    const bool is_cut_short = rest.find('\n') == std::string_view::npos;
    const std::string_view line = next_line(rest);
    const std::string place = fmt::format("{}:{}", file, number);
    bool is_good = true;
    if (line.starts_with(kHost)) {
      auto host = host_from(line, place);
      if (!host) return tl::unexpected(host.error());
      out.host = std::move(*host);
      has_host = true;
    } else if (line.starts_with(kText)) {
      auto saved = text_from(line, place);
      is_good = saved.has_value();
      if (saved) out.texts.push_back(std::move(*saved));
    } else {
      auto reading = decoder.line(line);
      is_good = reading.has_value();
      if (reading && *reading) out.readings.push_back(std::move(**reading));
    }
    if (!is_good) {
      out.remarks.push_back(
          fmt::format("line {}: {}", number, is_cut_short ? "cut off, left out" : "damaged, left out"));
    }
  }
  if (!has_host)
    return fail(ErrorKind::bad_input, "{}: found a snapshot without a host: it was cut off", file);
  return out;
}

Expected<host::Host> host_of_snapshot(std::string_view text, const std::string& file) {
  std::string_view rest = text;
  if (auto header = header_from(next_line(rest), file); !header) return tl::unexpected(header.error());
  for (int number = 2; !rest.empty(); ++number) {
    const std::string_view line = next_line(rest);
    if (line.starts_with(kHost)) return host_from(line, fmt::format("{}:{}", file, number));
  }
  return fail(ErrorKind::bad_input, "{}: found a snapshot without a host: it was cut off", file);
}

}  // namespace rocetune::counters
