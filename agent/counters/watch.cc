#include "agent/counters/watch.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/counters/deltas.h"

namespace rocetune::counters {
namespace {

// "13:24:05.123Z" of the wall clock, UTC; where frames follow each other faster, "13:24:05.123456Z".
std::string time_text(std::int64_t unix_ns, Duration elapsed) {
  std::string text = utc_text(unix_ns);
  const auto t = text.find('T');
  if (t != std::string::npos) text.erase(0, t + 1);
  if (elapsed < milliseconds(10) && text.ends_with('Z'))
    text.insert(text.size() - 1, fmt::format("{:03}", unix_ns / 1000 % 1000));
  return text;
}

}  // namespace

void WatchPrinter::write(const WatchFrame& frame) {
  if (output_.json) {
    output_.write(to_json_line(frame));
    return;
  }
  const std::string text =
      to_table(frame, time_text(frame.interval.until_unix_ns, frame.interval.elapsed), output_.look);
  if (output_.redraw)
    output_.write(block_.redraw(text));
  else
    output_.write(shown_ > 0 ? "\n" + text : text);
}

bool WatchPrinter::take(const Reading& reading, Duration effective) {
  // A record may hold a new start of the clock; nothing can be said across it.
  if (before_ && reading.at > before_->at) {
    WatchFrame frame;
    frame.interval = interval_between(schema_, *before_, reading);
    frame.raw = find_raw(*before_, reading, options_.raw);
    frame.wanted = options_.interval;
    frame.effective = effective;
    frame.read_time = reading.read_time;
    frame.typical_read_time = reading.typical_read_time;
    write(frame);
    ++shown_;
  }
  before_ = reading;
  return !options_.count || shown_ < *options_.count;
}

Expected<> watch_live(Sampler& sampler, const Schema& schema, const RecordHeader& header,
                      const WatchOptions& options, const WatchOutput& output, Clock& clock,
                      const StopQuestion& is_stopped) {
  std::optional<RecordFile> record;
  if (!options.record.empty()) {
    auto file = RecordFile::create(options.record, header);
    if (!file) return tl::unexpected(file.error());
    record = std::move(*file);
  }
  WatchPrinter printer(schema, options, output);
  while (!is_stopped()) {
    const Reading reading = sampler.read();
    const Duration effective = Sampler::effective_interval(options.interval, reading);
    if (record) {
      if (auto status = record->write(reading); !status) return status;
    }
    if (!printer.take(reading, effective)) break;
    const Instant next = reading.at + effective;
    while (!is_stopped() && clock.now() < next) clock.sleep_until(next);
  }
  return {};
}

Expected<> watch_replay(const Schema& schema, const WatchOptions& options, bool join,
                        const WatchOutput& output, const StopQuestion& is_stopped) {
  WatchPrinter printer(schema, options, output);
  std::optional<Instant> last;
  std::size_t unknown_ports = 0;
  const auto wanted = [&](const PortReading& port) {
    return options.ports.empty() || std::ranges::find(options.ports, port.port) != options.ports.end();
  };
  const auto outcome = read_record(options.replay, schema, [&](const Reading& reading) {
    if (is_stopped()) return false;
    if (join && last && reading.at >= *last && reading.at - *last < options.interval) return true;
    const Duration since = last && reading.at > *last ? reading.at - *last : options.interval;
    last = reading.at;
    Reading chosen = reading;
    std::erase_if(chosen.ports, [&](const PortReading& port) { return !wanted(port); });
    if (chosen.ports.empty()) {
      ++unknown_ports;
      return true;
    }
    return printer.take(chosen, since);
  });
  if (!outcome) return tl::unexpected(outcome.error());
  for (const Error& error : outcome->damaged) output.warn(error.text() + "; line left out");
  if (outcome->damaged_lines > outcome->damaged.size()) {
    output.warn(fmt::format("{}: {} more damaged lines left out", options.replay,
                            outcome->damaged_lines - outcome->damaged.size()));
  }
  if (outcome->is_cut_short) {
    output.warn(fmt::format("{}: ends in the middle of a line, which was left out", options.replay));
  }
  if (outcome->readings > 0 && unknown_ports == outcome->readings) {
    return fail(ErrorKind::bad_input, "{}: holds no port of those asked for", options.replay);
  }
  if (outcome->damaged_lines > 0) {
    return fail(ErrorKind::bad_input, "{}: {} damaged lines were left out", options.replay,
                outcome->damaged_lines);
  }
  if (printer.shown() == 0 && !is_stopped()) {
    return fail(ErrorKind::bad_input,
                "{}: found {} readings, allowed: two or more, to show what happened between", options.replay,
                outcome->readings);
  }
  return {};
}

Expected<std::vector<PortReaders>> choose_ports(std::vector<PortReaders> ports,
                                                const std::vector<std::string>& wanted,
                                                const Schema& schema) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const PortReaders& port : ports) names.push_back(port.port);
  if (auto found = check_names("--port", wanted, names, "nothing: no port was found"); !found)
    return tl::unexpected(found.error());
  std::erase_if(ports, [&](const PortReaders& port) {
    if (!wanted.empty()) return std::ranges::find(wanted, port.port) == wanted.end();
    return port.readers[index_of(Source::rdma)] == nullptr && schema.vendor(port.nic) == nullptr;
  });
  if (ports.empty()) {
    return fail(ErrorKind::bad_input,
                "no port with an RDMA device or a known RoCE NIC here; name one with --port to watch it");
  }
  return ports;
}

}  // namespace rocetune::counters
