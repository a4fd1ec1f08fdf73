#include "tools/rocetune/watch.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "agent/counters/live_readers.h"
#include "agent/host/host_reader.h"
#include "tools/rocetune/stop_signal.h"

namespace rocetune::cli {
namespace {

counters::WatchOutput output_of(const WatchCommand& command) {
  counters::WatchOutput out;
  const bool terminal = is_terminal(STDOUT_FILENO);
  out.json = command.common.json || !terminal;
  // A replay is read to its end at once: redrawing would show only the last frame.
  out.redraw = terminal && command.watch.replay.empty();
  out.look = TextTable::Look::for_stream(STDOUT_FILENO, command.colour);
  out.write = print;
  out.warn = [](std::string_view line) { complain(line); };
  return out;
}

Expected<> watch_host(const WatchCommand& command, const ConfigFiles& configs,
                      const counters::Schema& schema) {
  const auto nics = host::NicTable::load(configs);
  if (!nics) return tl::unexpected(nics.error());
  const auto host = host::read_host({.root = command.common.root}, *nics);
  if (!host) return tl::unexpected(host.error());
  SystemClock clock;
  const host::HostFiles files(command.common.root);
  counters::LiveSockets sockets(files);
  auto ports = counters::choose_ports(counters::live_readers(*host, files, sockets, clock),
                                      command.watch.ports, schema);
  if (!ports) return tl::unexpected(ports.error());
  const counters::RecordHeader header{
      .host = host->name, .kernel = host->kernel, .started_unix_ns = clock.unix_ns()};
  counters::Sampler sampler(schema, std::move(*ports), clock);
  return counters::watch_live(sampler, schema, header, command.watch, output_of(command), clock,
                              stop_was_asked);
}

}  // namespace

ExitCode run_watch(const WatchCommand& command) {
  const auto configs = command.config_directory.empty()
                           ? Expected<ConfigFiles>(ConfigFiles())
                           : ConfigFiles::with_directory(command.config_directory);
  if (!configs) return complain(configs.error());
  const auto schema = counters::Schema::load(*configs);
  if (!schema) return complain(schema.error());
  stop_on_signals();
  const auto status = command.watch.replay.empty()
                          ? watch_host(command, *configs, *schema)
                          : counters::watch_replay(*schema, command.watch, command.interval_given,
                                                   output_of(command), stop_was_asked);
  return status ? ExitCode::fine : complain(status.error());
}

}  // namespace rocetune::cli
