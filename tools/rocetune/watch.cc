#include "tools/rocetune/watch.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "agent/counters/live_readers.h"
#include "agent/host/host_reader.h"
#include "agent/virtual_host/counter_readers.h"
#include "agent/virtual_host/host_facts.h"
#include "tools/rocetune/stop_signal.h"

namespace rocetune::cli {
namespace {

counters::WatchOutput output_of(const WatchCommand& command) {
  counters::WatchOutput out;
  const bool terminal = is_terminal(STDOUT_FILENO);
  out.json = command.common.json || !terminal;
  // A replay or a virtual fabric comes to its end at once: redrawing would show only the last frame.
  out.redraw = terminal && command.watch.replay.empty() && !command.fabric.is_given();
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

// Virtual time passes as fast as the machine can, up to the end of the interval in which the traffic ends.
Expected<> watch_fabric(const WatchCommand& command, const counters::Schema& schema) {
  const auto fabric = open_fabric_host(command.fabric);
  if (!fabric) return tl::unexpected(fabric.error());
  virtual_host::FabricRun& run = *fabric->run;
  virtual_host::VirtualClock clock(run);
  auto ports =
      counters::choose_ports(virtual_host::counter_readers(run, fabric->id), command.watch.ports, schema);
  if (!ports) return tl::unexpected(ports.error());
  const counters::RecordHeader header{.host = virtual_host::host_facts(run, fabric->id).name,
                                      .kernel = "",
                                      .started_unix_ns = clock.unix_ns()};
  counters::Sampler sampler(schema, std::move(*ports), clock);
  return counters::watch_live(sampler, schema, header, command.watch, output_of(command), clock,
                              [&] { return stop_was_asked() || run.is_all_read(); });
}

}  // namespace

ExitCode run_watch(const WatchCommand& command) {
  const auto configs = ConfigFiles::with_directory(command.config_directory);
  if (!configs) return complain(configs.error());
  const auto schema = counters::Schema::load(*configs);
  if (!schema) return complain(schema.error());
  stop_on_signals();
  const auto status = command.fabric.is_given() ? watch_fabric(command, *schema)
                      : command.watch.replay.empty()
                          ? watch_host(command, *configs, *schema)
                          : counters::watch_replay(*schema, command.watch, command.interval_given,
                                                   output_of(command), stop_was_asked);
  return status ? ExitCode::fine : complain(status.error());
}

}  // namespace rocetune::cli
