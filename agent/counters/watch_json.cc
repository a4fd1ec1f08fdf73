#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "agent/counters/watch_view.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::counters {
namespace {

constexpr int kFrameVersion = 1;

void write_increments(JsonWriter& out, const PortDelta& port, std::optional<Priority> priority) {
  out.key("increments").begin_object();
  for (const auto& [id, increment] : port.increments) {
    if (id.priority == priority && increment) out.member(id.name, *increment);
  }
  out.end_object();
}

void write_priority(JsonWriter& out, const PortDelta& port, Priority priority) {
  out.begin_object().member("priority", priority.value());
  const auto rate = [&](std::string_view key, std::string_view counter) {
    if (const auto value = port.rate(counter, priority)) out.member(key, value->bits_per_second());
  };
  const auto share = [&](std::string_view key, std::string_view counter) {
    if (const auto value = port.share_of_time(counter, priority)) out.member(key, value->value());
  };
  const auto stall = [&](std::string_view key, std::string_view side) {
    if (const auto value = port.mean_stall(side, priority)) out.member(key, value->microseconds());
  };
  rate("tx_bps", "tx_bytes");
  rate("rx_bps", "rx_bytes");
  share("rx_pause_ratio", "rx_pause_duration_us");
  share("tx_pause_ratio", "tx_pause_duration_us");
  stall("rx_mean_stall_us", "rx");
  stall("tx_mean_stall_us", "tx");
  write_increments(out, port, priority);
  out.end_object();
}

// Counters that are absent, those of one reason and the same priorities together.
void write_absent(JsonWriter& out, const PortDelta& port) {
  struct Reason {
    Unavailable::Kind kind;
    std::string why;
    std::vector<int> priorities;
    auto operator<=>(const Reason&) const = default;
  };
  std::map<std::pair<std::string, std::string>, Reason> of_counter;  // by name and reason
  for (const auto& [id, increment] : port.increments) {
    if (increment) continue;
    const std::string why = why_for_all(increment.error().why, id.priority);
    Reason& reason =
        of_counter.emplace(std::pair{id.name, why}, Reason{increment.error().kind, why, {}}).first->second;
    if (id.priority) reason.priorities.push_back(id.priority->value());
  }
  std::map<Reason, std::vector<std::string>> counters;
  for (const auto& [key, reason] : of_counter) counters[reason].push_back(key.first);
  out.key("absent").begin_array();
  for (const auto& [reason, names] : counters) {
    out.begin_object().member("unavailable", enum_name(reason.kind)).member("why", reason.why);
    out.key("counters").begin_array();
    for (const std::string& name : names) out.value(name);
    out.end_array();
    if (!reason.priorities.empty()) {
      out.key("priorities").begin_array();
      for (const int p : reason.priorities) out.value(p);
      out.end_array();
    }
    out.end_object();
  }
  out.end_array();
}

void write_port(JsonWriter& out, const PortDelta& port, const std::vector<RawCounter>& raw) {
  out.begin_object().member("port", port.port).member("nic", port.nic);
  if (port.speed) out.member("speed_bps", port.speed->count());
  const auto elapsed = [&](std::string_view key, Duration span) {
    if (!span.is_zero()) out.member(key, span / microseconds(1));
  };
  elapsed("ethtool_elapsed_us", port.elapsed);
  elapsed("rdma_elapsed_us", port.rdma_elapsed);
  elapsed("dcb_elapsed_us", port.dcb_elapsed);
  out.key("priorities").begin_array();
  for (int p = 0; p < Priority::kCount; ++p) write_priority(out, port, Priority(p));
  out.end_array();
  write_increments(out, port, std::nullopt);
  out.key("levels").begin_object();
  for (const auto& [id, level] : port.levels) out.member(id.name, level);
  out.end_object();
  write_absent(out, port);
  out.key("raw").begin_array();
  for (const RawCounter& counter : raw) {
    if (counter.port != port.port) continue;
    out.begin_object().member("source", enum_name(counter.source)).member("name", counter.name);
    out.member("value", counter.value);
    if (counter.increment) out.member("increment", *counter.increment);
    out.end_object();
  }
  out.end_array().end_object();
}

Observed<std::uint64_t> raw_increment(const Observed<Block>& before, const std::string& name,
                                      std::uint64_t now) {
  if (!before) return tl::unexpected(before.error());
  const auto& names = before->names->names;
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return absent("was not there before");
  const std::uint64_t then = before->values[static_cast<std::size_t>(found - names.begin())];
  if (now < then) return absent("went backwards");
  return now - then;
}

}  // namespace

std::string why_for_all(std::string why, std::optional<Priority> priority) {
  if (!priority) return why;
  const char digit = static_cast<char>('0' + priority->value());
  const auto is_digit = [&](std::size_t i) { return i < why.size() && why[i] >= '0' && why[i] <= '9'; };
  for (std::size_t i = 0; i < why.size(); ++i) {
    const bool in_longer_number = is_digit(i + 1) || (i > 0 && is_digit(i - 1));
    if (why[i] == digit && !in_longer_number) why[i] = 'N';
  }
  return why;
}

std::vector<RawCounter> find_raw(const Reading& before, const Reading& after,
                                 const std::vector<std::string>& patterns) {
  std::vector<RawCounter> out;
  if (patterns.empty()) return out;
  const auto fits = [&](const std::string& name) {
    return std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
  };
  for (const PortReading& port : after.ports) {
    const auto earlier = std::ranges::find(before.ports, port.port, &PortReading::port);
    if (earlier == before.ports.end()) continue;
    for (const Source source : kSources) {
      const auto& block = port.blocks[index_of(source)];
      if (!block) continue;
      for (std::size_t i = 0; i < block->values.size(); ++i) {
        const std::string& name = block->names->names[i];
        if (!fits(name)) continue;
        out.push_back({port.port, source, name, block->values[i],
                       raw_increment(earlier->blocks[index_of(source)], name, block->values[i])});
      }
    }
  }
  return out;
}

std::string to_json_line(const WatchFrame& frame) {
  JsonWriter out(JsonWriter::Style::compact);
  out.begin_object().member("schema_version", kFrameVersion);
  out.member("from_unix_ns", frame.interval.from_unix_ns)
      .member("until_unix_ns", frame.interval.until_unix_ns);
  out.member("elapsed_us", frame.interval.elapsed / microseconds(1));
  out.member("interval_us", frame.effective / microseconds(1));
  out.member("read_time_us", frame.read_time / microseconds(1));
  if (!frame.typical_read_time.is_zero()) {
    out.member("typical_read_time_us", frame.typical_read_time / microseconds(1));
  }
  out.key("ports").begin_array();
  for (const PortDelta& port : frame.interval.ports) write_port(out, port, frame.raw);
  out.end_array().end_object();
  return out.take() + "\n";
}

}  // namespace rocetune::counters
