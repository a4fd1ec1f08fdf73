#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "tools/rocetune/bench.h"
#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {
namespace {

// The flags as texts; what is wrong with one is said in its name before anything starts.
struct BenchTexts {
  std::string pattern = "stream";
  std::string transport = "soft";
  std::string operation;  // empty: what the pattern usually does
  std::vector<std::string> sizes;
  std::string span = "2s";
  std::string controller = "dcqcn";
  std::string rate, line_rate, address, gateway, faults;
  std::string dscp = "26";
  std::string recovery = "go-back-n";
  std::string host;  // perftest: who waits
  std::uint32_t iterations = 0;
  std::uint32_t port = 18515;
};

template <class T>
T value_of(const std::string& flag, const std::string& text, const Parsed<T>& parsed) {
  if (!parsed) throw CLI::ValidationError(flag, "found " + text + ", allowed: " + parsed.error().allowed);
  return *parsed;
}

std::optional<wire::IpAddress> address_of(const std::string& flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto address = wire::parse_ip_address(text);
  if (!address) throw CLI::ValidationError(flag, "found " + text + ", allowed: an IPv4 or IPv6 address");
  return address;
}

std::optional<BitRate> rate_of(const std::string& flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const BitRate rate = value_of(flag, text, parse_bit_rate(text));
  if (rate <= BitRate(0)) throw CLI::ValidationError(flag, "found " + text + ", allowed: more than 0");
  return rate;
}

// None: a pattern of our own.
std::optional<perftest::Test> perftest_of(const std::string& name) {
  for (const auto& [test, test_name] : EnumNames<perftest::Test>::names) {
    if (name == test_name) return test;
  }
  return std::nullopt;
}

std::vector<std::string> pattern_names() {
  std::vector<std::string> names{"stream", "latency", "incast"};
  for (const auto& [test, name] : EnumNames<perftest::Test>::names) names.emplace_back(name);
  return names;
}

std::vector<Bytes> sizes_of(const BenchTexts& texts) {
  std::vector<Bytes> sizes;
  for (const std::string& text : texts.sizes) sizes.push_back(value_of("--size", text, parse_bytes(text)));
  return sizes;
}

void fill_perftest(BenchCommand& command, const BenchTexts& texts, perftest::Test test) {
  const std::vector<Bytes> sizes = sizes_of(texts);
  if (sizes.size() > 1) throw CLI::ValidationError("--size", "perftest takes one size a run");
  command.perftest = perftest::Options{
      .test = test,
      .host = texts.host,
      .port = texts.port,
      .size = sizes.empty() ? perftest::default_size(test) : sizes.front(),
      .iterations = texts.iterations == 0 ? perftest::default_iterations(test) : texts.iterations,
      .mtu = command.plan.mtu,
      .window = command.plan.window};
}

void fill_pattern(BenchCommand& command, const BenchTexts& texts) {
  const std::map<std::string, pattern::Pattern> patterns{{"stream", pattern::Pattern::stream},
                                                         {"latency", pattern::Pattern::latency},
                                                         {"incast", pattern::Pattern::incast}};
  const std::map<std::string, pattern::Operation> operations{{"write", pattern::Operation::write},
                                                             {"read", pattern::Operation::read},
                                                             {"send", pattern::Operation::send}};
  pattern::Plan& plan = command.plan;
  plan.pattern = patterns.at(texts.pattern);
  const bool is_latency = plan.pattern == pattern::Pattern::latency;
  plan.operation = operations.at(!texts.operation.empty() ? texts.operation : is_latency ? "send" : "write");
  plan.sizes = sizes_of(texts);
  if (plan.sizes.empty()) plan.sizes = {is_latency ? Bytes(32) : Bytes(65536)};
  plan.span = value_of("--for", texts.span, parse_duration(texts.span));
  plan.selective_repeat = texts.recovery == "selective-repeat";
  if (plan.pattern != pattern::Pattern::incast) plan.clients = 1;
}

// What every kind of benchmark takes.
void fill_port(BenchCommand& command, const BenchTexts& texts) {
  command.controller.kind = value_of("--cc", texts.controller, parse_controller_kind(texts.controller));
  if (const auto rate = rate_of("--rate", texts.rate)) command.controller.fixed_rate = *rate;
  command.line_rate = rate_of("--line-rate", texts.line_rate);
  command.address = address_of("--address", texts.address);
  command.gateway = address_of("--gateway", texts.gateway);
  command.dscp = value_of("--dscp", texts.dscp, parse_dscp(texts.dscp));
  auto faults = port::parse_fault_plan(texts.faults, "--faults");
  if (!faults) throw CLI::ValidationError(faults.error().text());
  command.faults = std::move(*faults);
}

void add_sides(CLI::App& bench, BenchCommand& command, BenchTexts& texts) {
  CLI::Option* listen =
      bench.add_option("--listen", command.listen, "be the server: TCP address that clients find it at")
          ->type_name("HOST:PORT");
  bench.add_option("--connect", command.connect, "be a client: where the server listens")
      ->type_name("HOST:PORT")
      ->excludes(listen);
  bench.add_option("--transport", texts.transport, "soft: rocetune's own RoCE v2 over a port of DPDK")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of({"soft"}));
  bench.add_option("--dpdk", command.dpdk, "arguments of DPDK's environment")
      ->type_name("ARGUMENTS")
      ->required();
  bench
      .add_option("--dpdk-port", command.dpdk_port,
                  "which port, by DPDK's name, or all, joined as by a switch (default: the only one)")
      ->type_name("NAME");
  bench.add_option("--address", texts.address, "IP address of this port (default: link-local, from its MAC)")
      ->type_name("IP");
  bench.add_option("--gateway", texts.gateway, "router on the way to the other side (default: same link)")
      ->type_name("IP");
  bench
      .add_option("--shards", command.plan.shards,
                  "cores, each with its own queue and queue pairs; both sides alike")
      ->type_name("N")
      ->capture_default_str()
      ->check(an_integer("an integer 1 to 16"));
}

void add_perftest(CLI::App& bench, BenchTexts& texts) {
  bench
      .add_option(
          "HOST", texts.host,
          "with ib_*: where a perftest waits (default: wait for one); size and iterations must be alike "
          "on both sides")
      ->type_name("");
  bench
      .add_option("-n,--iterations", texts.iterations,
                  "with ib_*: messages (default: 1000; ib_write_bw: 5000)")
      ->type_name("N")
      ->check(whole_number(1, std::int64_t{1} << 31));
  bench.add_option("-p,--port", texts.port, "with ib_*: TCP port")
      ->type_name("N")
      ->capture_default_str()
      ->check(an_integer("a TCP port, 1 to 65535"));
}

void add_traffic(CLI::App& bench, BenchCommand& command, BenchTexts& texts) {
  bench.add_option("--op", texts.operation, "write, read or send (default: send for latency, else write)")
      ->type_name("NAME")
      ->check(one_of({"write", "read", "send"}));
  bench.add_option("--size", texts.sizes, "message sizes, one row each (default: 64KiB; latency: 32B)")
      ->type_name("SIZE,...")
      ->delimiter(',');
  bench.add_option("--mtu", command.plan.mtu, "path MTU: 256, 512, 1024, 2048 or 4096")
      ->type_name("BYTES")
      ->capture_default_str()
      ->check(an_integer("256, 512, 1024, 2048 or 4096"));
  bench.add_option("--window", command.plan.window, "messages in flight on each queue pair")
      ->type_name("N")
      ->capture_default_str()
      ->check(an_integer("an integer 1 to 4096"));
  bench.add_option("--qps", command.plan.queue_pairs, "queue pairs of each shard")
      ->type_name("N")
      ->capture_default_str()
      ->check(an_integer("an integer 1 to 4096"));
  bench.add_option("--clients", command.plan.clients, "incast: clients that start together")
      ->type_name("N")
      ->capture_default_str()
      ->check(an_integer("an integer 1 to 64"));
  bench.add_option("--for", texts.span, "length of each row")->type_name("TIME")->capture_default_str();
  bench.add_option("--recovery", texts.recovery, "go-back-n, or selective-repeat (rocetune on both sides)")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(one_of({"go-back-n", "selective-repeat"}));
}

void add_congestion(CLI::App& bench, BenchCommand& command, BenchTexts& texts) {
  bench
      .add_option("-u,--qp-timeout", command.ack_timeout,
                  "acknowledgements of what this side sends are waited for 4.096 us x 2^N")
      ->type_name("N")
      ->capture_default_str()
      ->check(whole_number(1, 31));
  bench
      .add_option("--cc", texts.controller,
                  "congestion control of what this side sends: off, fixed, dcqcn, swift, timely")
      ->type_name("NAME")
      ->capture_default_str();
  bench.add_option("--rate", texts.rate, "with --cc fixed: the rate of each queue pair (default: 1Gbps)")
      ->type_name("RATE");
  bench.add_option("--line-rate", texts.line_rate, "speed of the port (default: what it says, else 100Gbps)")
      ->type_name("RATE");
  bench.add_option("--dscp", texts.dscp, "class of the packets")->type_name("DSCP")->capture_default_str();
  bench
      .add_option("--faults", texts.faults,
                  "what is done to frames this side sends, as loss=0.1% reorder=1%:3")
      ->type_name("FAULTS");
}

// Flags that the other kind of benchmark would take must not be passed over in silence.
void refuse_strangers(const CLI::App& bench, bool is_perftest) {
  const std::vector<std::string> of_patterns{"--listen",  "--connect", "--op",       "--qps",
                                             "--clients", "--for",     "--recovery", "--shards"};
  const std::vector<std::string> of_perftest{"HOST", "--iterations", "--port"};
  for (const std::string& name : is_perftest ? of_patterns : of_perftest) {
    if (bench.get_option(name)->count() > 0) {
      throw CLI::ValidationError(name, is_perftest
                                           ? "perftest has no such thing; allowed: HOST, --iterations, --port"
                                           : "only with ib_*; allowed: --listen, --connect, --for");
    }
  }
}

}  // namespace

void add_bench(const Dispatch& dispatch) {
  CLI::App* bench = dispatch.app.add_subcommand("bench",
                                                "traffic between two or more processes: throughput, latency, "
                                                "incast; contents compared; or with perftest");
  bench->footer(
      "The client decides what is measured; the server is told. Two processes over shared memory:\n\n"
      "  rocetune bench stream --listen :7471 --dpdk '--no-huge --no-pci -l 0 "
      "--vdev=net_memif0,role=server,socket=/tmp/roce.sock,socket-abstract=no'\n"
      "  rocetune bench stream --connect localhost:7471 --size 32B,64KiB --mtu 4096 --dpdk '--no-huge "
      "--no-pci -l 1 "
      "--vdev=net_memif0,role=client,socket=/tmp/roce.sock,socket-abstract=no'\n\n"
      "Against perftest on another host (there: ib_write_bw -d mlx5_0 -x 3):\n\n"
      "  rocetune bench ib_write_bw 192.0.2.1 --address 192.0.2.9 --dpdk '-a 0000:03:00.0'");
  auto command = std::make_shared<BenchCommand>();
  auto texts = std::make_shared<BenchTexts>();
  bench
      ->add_option("PATTERN", texts->pattern,
                   "stream, latency or incast; or ib_*, with that program of perftest on the other side")
      ->type_name("NAME")
      ->required()
      ->check(one_of(pattern_names()));
  add_perftest(*bench, *texts);
  add_sides(*bench, *command, *texts);
  add_traffic(*bench, *command, *texts);
  add_congestion(*bench, *command, *texts);
  bench->add_flag("--json", command->json, "everything as JSON");
  add_colour(*bench, command->colour);
  bench->callback([=, &dispatch_action = dispatch.action] {
    const auto perftest = perftest_of(texts->pattern);
    refuse_strangers(*bench, perftest.has_value());
    if (perftest) {
      fill_perftest(*command, *texts, *perftest);
    } else if (command->listen.empty() == command->connect.empty()) {
      throw CLI::RequiredError("--listen HOST:PORT or --connect HOST:PORT");
    } else {
      fill_pattern(*command, *texts);
    }
    fill_port(*command, *texts);
    dispatch_action = [=] { return run_bench(*command); };
  });
}

}  // namespace rocetune::cli
