#include "agent/counters/record.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "agent/counters/snapshot.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::counters {
namespace {

// Enough for a hundred ports; a longer line is no record of ours.
constexpr std::size_t kLineLimit = 64 << 20;

std::string names_line(std::size_t number, const NameList& list) {
  JsonWriter out(JsonWriter::Style::compact);
  out.begin_object().member("names", std::uint64_t{number}).key("of").begin_array();
  for (const std::string& name : list.names) out.value(name);
  out.end_array().end_object();
  return out.take() + "\n";
}

void write_block(JsonWriter& out, const Observed<Block>& block, std::size_t names) {
  if (!block) return to_json(out, block.error());
  out.begin_object();
  out.member("names", std::uint64_t{names});
  out.member("at_ps", block->at.since_origin().count());
  if (!block->resolution.is_zero()) out.member("resolution_ps", block->resolution.count());
  out.key("values");
  to_json(out, block->values);
  out.end_object();
}

// ---- reading

template <class T>
Expected<T> required(const Json& object, std::string_view key, const JsonPath& path) {
  const Json* found = json_member(object, key);
  if (found == nullptr) return fail(ErrorKind::bad_input, "{}: missing", path.member(key).text());
  return from_json<T>(*found, path.member(key));
}

template <class T>
Expected<T> or_default(const Json& object, std::string_view key, const JsonPath& path) {
  if (json_member(object, key) == nullptr) return T{};
  return required<T>(object, key, path);
}

using Names = std::map<std::uint64_t, std::shared_ptr<const NameList>>;

Expected<Observed<Block>> read_block(const Json& json, const JsonPath& path, const Names& names) {
  if (json_member(json, "unavailable") != nullptr) {
    auto reason = from_json<Unavailable>(json, path);
    if (!reason) return tl::unexpected(reason.error());
    return Observed<Block>(tl::unexpected(std::move(*reason)));
  }
  const auto number = required<std::uint64_t>(json, "names", path);
  if (!number) return tl::unexpected(number.error());
  const auto at = required<Duration>(json, "at_ps", path);
  if (!at) return tl::unexpected(at.error());
  const auto resolution = or_default<Duration>(json, "resolution_ps", path);
  if (!resolution) return tl::unexpected(resolution.error());
  auto values = required<std::vector<std::uint64_t>>(json, "values", path);
  if (!values) return tl::unexpected(values.error());
  const auto list = names.find(*number);
  if (list == names.end()) {
    return fail(ErrorKind::bad_input, "{}: found {}, allowed: names told on an earlier line",
                path.member("names").text(), *number);
  }
  if (list->second->names.size() != values->size()) {
    return fail(ErrorKind::bad_input, "{}: found {} values, allowed: {}, one for each name",
                path.member("values").text(), values->size(), list->second->names.size());
  }
  return Observed<Block>(Block{list->second, std::move(*values), Instant(*at), *resolution});
}

Expected<PortReading> read_port(const Json& json, const JsonPath& path, const Names& names) {
  PortReading out;
  const auto port = required<std::string>(json, "port", path);
  if (!port) return tl::unexpected(port.error());
  const auto nic = required<std::string>(json, "nic", path);
  if (!nic) return tl::unexpected(nic.error());
  out.port = *port;
  out.nic = *nic;
  if (json_member(json, "speed_bps") != nullptr) {
    const auto speed = required<BitRate>(json, "speed_bps", path);
    if (!speed) return tl::unexpected(speed.error());
    out.speed = *speed;
  }
  for (const Source source : kSources) {
    const Json* block_json = json_member(json, enum_name(source));
    if (block_json == nullptr) continue;
    auto block = read_block(*block_json, path.member(enum_name(source)), names);
    if (!block) return tl::unexpected(block.error());
    out.blocks[index_of(source)] = std::move(*block);
  }
  return out;
}

Expected<Reading> read_reading(const Json& json, const JsonPath& path, const Names& names) {
  Reading out;
  const auto at = required<Duration>(json, "at_ps", path);
  if (!at) return tl::unexpected(at.error());
  const auto taken = required<std::int64_t>(json, "taken_unix_ns", path);
  if (!taken) return tl::unexpected(taken.error());
  const auto read_time = required<Duration>(json, "read_time_ps", path);
  if (!read_time) return tl::unexpected(read_time.error());
  out.at = Instant(*at);
  out.taken_unix_ns = *taken;
  out.read_time = *read_time;
  const Json* ports = json_member(json, "ports");
  if (ports == nullptr || !ports->is_array()) {
    return fail(ErrorKind::bad_input, "{}: found {}, allowed: an array", path.member("ports").text(),
                ports == nullptr ? "nothing" : json_kind(*ports));
  }
  for (std::size_t i = 0; i < ports->get_array().size(); ++i) {
    auto port = read_port(ports->get_array()[i], path.member("ports").element(i), names);
    if (!port) return tl::unexpected(port.error());
    out.ports.push_back(std::move(*port));
  }
  return out;
}

}  // namespace

std::string RecordEncoder::header_line(const RecordHeader& header) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, header);
  return out.take() + "\n";
}

// The list's number; told in `text` first if it is new. Ports of one kind have equal lists.
std::size_t RecordEncoder::number_of(const std::shared_ptr<const NameList>& list, std::string& text) {
  const auto known = numbers_.find(list);
  if (known != numbers_.end()) return known->second;
  const auto equal = std::ranges::find_if(told_, [&](const auto& old) { return old->names == list->names; });
  const auto number = static_cast<std::size_t>(equal - told_.begin());
  if (equal == told_.end()) {
    text += names_line(number, *list);
    told_.push_back(list);
  }
  numbers_.emplace(list, number);
  return number;
}

std::string RecordEncoder::lines(const Reading& reading) {
  std::string text;
  JsonWriter out(JsonWriter::Style::compact);
  out.begin_object();
  out.member("at_ps", reading.at.since_origin().count());
  out.member("taken_unix_ns", reading.taken_unix_ns);
  out.member("read_time_ps", reading.read_time.count());
  out.key("ports").begin_array();
  for (const PortReading& port : reading.ports) {
    out.begin_object().member("port", port.port).member("nic", port.nic);
    if (port.speed) out.member("speed_bps", port.speed->count());
    for (const Source source : kSources) {
      const auto& block = port.blocks[index_of(source)];
      const std::size_t names = block ? number_of(block->names, text) : 0;
      out.key(enum_name(source));
      write_block(out, block, names);
    }
    out.end_object();
  }
  out.end_array().end_object();
  return text + out.take() + "\n";
}

Expected<std::optional<Reading>> RecordDecoder::line(std::string_view text) {
  ++line_;
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return std::nullopt;
  const std::string place = fmt::format("{}:{}", file_, line_);
  const auto json = parse_json(text, place);
  if (!json || !json->is_object()) {
    return fail(ErrorKind::bad_input, "{}: found text that is no JSON object, allowed: one object on a line",
                place);
  }
  const JsonPath path(place);

  if (!header_) {
    const auto version = required<int>(*json, "rocetune_counters", path);
    if (!version) {
      return fail(ErrorKind::bad_input,
                  "{}: found no header of a counter record ({}), allowed: a file made by "
                  "rocetune watch --record",
                  place, version.error().message());
    }
    if (*version != RecordHeader::kVersion) {
      return fail(ErrorKind::bad_input, "{}: rocetune_counters: found version {}, allowed: {}", place,
                  *version, RecordHeader::kVersion);
    }
    auto header = from_json<RecordHeader>(*json, path);
    if (!header) return tl::unexpected(header.error());
    header_ = std::move(*header);
    return std::nullopt;
  }
  if (json_member(*json, "of") != nullptr) {
    const auto number = required<std::uint64_t>(*json, "names", path);
    if (!number) return tl::unexpected(number.error());
    auto list = required<std::vector<std::string>>(*json, "of", path);
    if (!list) return tl::unexpected(list.error());
    names_[*number] = std::make_shared<const NameList>(NameList{std::move(*list)});
    return std::nullopt;
  }
  auto reading = read_reading(*json, path, names_);
  if (!reading) return tl::unexpected(reading.error());
  for (PortReading& port : reading->ports) {
    port.layout = layouts_[port.port];
    lay_out(schema_, port);
    layouts_[port.port] = port.layout;
  }
  return std::move(*reading);
}

Expected<RecordFile> RecordFile::create(const std::string& path, const RecordHeader& header) {
  std::FILE* file = std::fopen(path.c_str(), "wxe");
  if (file == nullptr && errno == EEXIST) {
    return fail(ErrorKind::bad_input, "{}: found a file, allowed: a new name (records are not overwritten)",
                path);
  }
  if (file == nullptr) return fail_os(errno, "{}", path);
  RecordFile out(path, file);
  if (auto status = out.put(RecordEncoder::header_line(header)); !status)
    return tl::unexpected(status.error());
  return out;
}

Expected<> RecordFile::put(std::string_view lines) {
  if (std::fwrite(lines.data(), 1, lines.size(), file_.get()) != lines.size() ||
      std::fflush(file_.get()) != 0) {
    return fail_os(errno, "{}", path_);
  }
  return {};
}

Expected<> RecordFile::write(const Reading& reading) { return put(encoder_.lines(reading)); }

Expected<RecordOutcome> read_record(const std::string& path, const Schema& schema,
                                    const std::function<bool(const Reading&)>& take) {
  std::ifstream in(path, std::ios::binary);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return fail_os(errno, "{}", path);
  if (S_ISDIR(status.st_mode))
    return fail(ErrorKind::bad_input, "{}: found a folder, allowed: a record", path);
  if (!in) return fail_os(EACCES, "{}", path);

  RecordDecoder decoder(schema, path);
  RecordOutcome out;
  std::string text;
  while (std::getline(in, text)) {
    const bool is_cut_short = in.eof();
    if (text.size() > kLineLimit) {
      return fail(ErrorKind::bad_input, "{}:{}: found a line of {} bytes, allowed: {} at most", path,
                  decoder.line_number() + 1, text.size(), kLineLimit);
    }
    if (is_snapshot_line(text)) {
      decoder.skip_line();
      continue;
    }
    auto reading = decoder.line(text);
    if (!decoder.header()) {
      if (reading) continue;
      return tl::unexpected(reading.error());
    }
    if (!reading) {
      if (is_cut_short) {
        out.is_cut_short = true;
      } else {
        if (out.damaged.size() < RecordOutcome::kDamagedKept) out.damaged.push_back(reading.error());
        ++out.damaged_lines;
      }
      continue;
    }
    if (!*reading) continue;
    ++out.readings;
    if (!take(**reading)) break;
  }
  if (in.bad()) return fail(ErrorKind::io, "{}: cannot be read to its end", path);
  if (!decoder.header())
    return fail(ErrorKind::bad_input, "{}: found an empty file, allowed: a record", path);
  out.header = *decoder.header();
  return out;
}

}  // namespace rocetune::counters
