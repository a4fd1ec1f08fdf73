#include "tools/rocetune/bench.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "dataplane/port/dpdk/part.h"
#include "dataplane/wire/neighbour_discovery.h"
#include "tools/rocetune/stop_signal.h"

namespace rocetune::cli {
namespace {

// The frame of a path MTU, with every header that can stand before and behind the payload.
constexpr Bytes frame_of(std::uint32_t mtu) {
  return Bytes(static_cast<std::int64_t>(mtu + engine::TransmitFrame::kHeaderRoom + wire::kIcrcSize));
}
constexpr BitRate kAssumedLineRate = gigabits_per_second(100);

void say(std::string_view line) { fmt::print(stderr, "rocetune bench: {}\n", line); }

ExitCode exit_code_of(const Error& error) {
  say(error.text());
  return error.kind() == ErrorKind::io ? ExitCode::failed_undone : ExitCode::bad_input;
}

Expected<dpdk::Port*> open_port(const BenchCommand& command) {
  const auto part = open_part<dpdk::DpdkPart>();
  if (!part) return tl::unexpected(part.error());
  return (*part)->open({.eal_arguments = command.dpdk,
                        .port = command.dpdk_port,
                        .queues = command.plan.shards,
                        .largest_frame = frame_of(pattern::kLargestMtu)});
}

pattern::Party party_of(const BenchCommand& command, dpdk::Port& port, const TickClock& clock,
                        soft::HandOff& hand_off) {
  const port::Capabilities& capabilities = port.queue(0).capabilities();
  pattern::Party party;
  party.options = {
      .mac = capabilities.mac,
      .address = command.address.value_or(wire::link_local_address(capabilities.mac)),
      .line_rate = command.line_rate.value_or(capabilities.link_speed.value_or(kAssumedLineRate)),
      .controller = command.controller,
      .faults = command.faults,
      .shards = command.plan.shards,
      .hand_off = command.plan.shards > 1 ? &hand_off : nullptr};
  party.clock = &clock;
  party.dscp = command.dscp;
  while (party.largest_mtu > 256 && frame_of(party.largest_mtu) > capabilities.largest_frame)
    party.largest_mtu /= 2;
  party.ack_timeout = static_cast<std::uint8_t>(command.ack_timeout);
  party.gateway = command.gateway;
  party.stop = stop_was_asked;
  party.make_shard = [&port, &clock, options = party.options](std::uint32_t index, std::uint32_t pairs,
                                                              std::uint32_t requests) {
    return std::make_unique<pattern::ShardOn<dpdk::Queue>>(port.queue(index), clock, options, index, pairs,
                                                           requests);
  };
  party.run = [&port](const std::function<void(unsigned)>& body) {
    port.run([](void* argument,
                unsigned index) { (*static_cast<const std::function<void(unsigned)>*>(argument))(index); },
             const_cast<std::function<void(unsigned)>*>(&body));
  };
  return party;
}

Expected<pattern::Result> run_side(const BenchCommand& command, const pattern::Party& party) {
  if (!command.listen.empty()) {
    return pattern::run_server(party, command.plan.pattern, command.listen, [&] {
      say(fmt::format("waiting for clients on {}, as {}", command.listen, to_text(party.options.address)));
    });
  }
  return pattern::run_client(party, command.plan, command.connect, [](const pattern::Row&) {});
}

Expected<> check(const BenchCommand& command) {
  if (command.perftest) return perftest::check(*command.perftest);
  return command.listen.empty() ? pattern::check(command.plan) : Expected<>();
}

// The port's name as reports show it.
std::string shown(const port::Capabilities& capabilities) {
  return fmt::format("{} ({})", capabilities.name, capabilities.driver);
}

ExitCode run_perftest(const BenchCommand& command, dpdk::Port& port, const pattern::Party& party) {
  perftest::Options options = *command.perftest;
  options.mtu = std::min(options.mtu, party.largest_mtu);  // the smaller one of both sides is taken anyway
  auto result = perftest::run(party, options, [&] {
    say(fmt::format("waiting for {} on TCP port {}, as {}", enum_name(options.test), options.port,
                    to_text(party.options.address)));
  });
  if (result) result->port = shown(port.queue(0).capabilities());
  port.close();
  if (!result) return exit_code_of(result.error());
  return print_report(
      "bench", command.json ? perftest::json_report(*result)
                            : perftest::text_report(
                                  *result, TextTable::Look::for_stream(STDOUT_FILENO, command.colour)));
}

}  // namespace

ExitCode run_bench(const BenchCommand& command) {
  if (auto checked = check(command); !checked) return exit_code_of(checked.error());
  stop_on_signals();
  const auto port = open_port(command);
  if (!port) return exit_code_of(port.error());
  const TickClock clock;
  soft::HandOff hand_off(command.plan.shards);
  const pattern::Party party = party_of(command, **port, clock, hand_off);
  if (command.perftest) return run_perftest(command, **port, party);
  auto result = run_side(command, party);
  if (result) {
    result->port = shown((*port)->queue(0).capabilities());
    result->congestion_control = to_text(command.controller.kind);
    result->faults = command.faults.text();
  }
  (*port)->close();
  if (!result) return exit_code_of(result.error());
  const std::string text =
      command.json
          ? pattern::json_report(*result)
          : pattern::text_report(*result, TextTable::Look::for_stream(STDOUT_FILENO, command.colour));
  if (const ExitCode code = print_report("bench", text); code != ExitCode::fine) return code;
  for (const pattern::Row& row : result->rows) {
    if (!row.content_is_right) return ExitCode::failed_undone;
  }
  return ExitCode::fine;
}

}  // namespace rocetune::cli
