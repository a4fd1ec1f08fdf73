#include "tools/rocetune/tap.h"

#include <fmt/core.h>
#include <unistd.h>

#include "dataplane/base/durable.h"
#include "dataplane/tap/capture_analysis.h"
#include "dataplane/tap/report.h"
#include "tools/rocetune/tap_device.h"
#include "tools/rocetune/tap_port.h"

namespace rocetune::cli {
namespace {

ExitCode refused(const Error& error) {
  fmt::print(stderr, "rocetune tap: {}\n", error.text());
  return ExitCode::bad_input;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// Where the frames come from: what it is called, and what it showed.
struct Source {
  std::string name;
  bool is_file = false;
};

Source source_of(const TapCommand& command) {
  if (!command.dpdk.empty()) return {command.dpdk};
  if (!command.device.empty()) return {command.device};
  return {command.pcap, true};
}

Expected<tap::TapFacts> facts_of(const TapCommand& command, const tap::ObserverOptions& options) {
  if (!command.dpdk.empty()) return facts_of_port(command, options);
  if (!command.device.empty()) return facts_of_device(command, options);
  const auto file = tap::MappedFile::open(command.pcap);
  if (!file) return tl::unexpected(file.error());
  return tap::analyse_capture(file->bytes(), command.pcap, options);
}

}  // namespace

ExitCode run_tap(const TapCommand& command) {
  tap::ObserverOptions options{.link_speed = command.link_speed};
  if (command.storm_time > Duration(0)) options.storm.detection = command.storm_time;
  const auto [source, is_file] = source_of(command);
  const auto facts = facts_of(command, options);
  if (!facts) return refused(facts.error());
  if (!command.html.empty()) {
    const auto written =
        write_atomically(command.html, tap::html_report(*facts, is_file ? base_name(source) : source));
    if (!written) return refused(written.error());
  }
  const std::string text =
      command.json
          ? tap::json_report(*facts, source)
          : tap::text_report(*facts, source, TextTable::Look::for_stream(STDOUT_FILENO, command.colour));
  return print_report("tap", text);
}

}  // namespace rocetune::cli
