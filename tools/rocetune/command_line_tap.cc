#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/tap.h"
#include "tools/rocetune/tap_device.h"

namespace rocetune::cli {
namespace {

Parsed<BitRate> parse_speed(std::string_view text) {
  auto speed = parse_bit_rate(text);
  if (speed && *speed <= BitRate(0)) return tl::unexpected(UnitError{std::string(text), "more than 0"});
  return speed;
}
Parsed<Duration> parse_time(std::string_view text) {
  auto time = parse_duration(text);
  if (time && *time <= Duration(0)) return tl::unexpected(UnitError{std::string(text), "more than 0"});
  return time;
}

}  // namespace

void add_tap(const Dispatch& dispatch) {
  CLI::App* tap = dispatch.app.add_subcommand("tap",
                                              "passive RoCE analysis of a capture or a port: queue pairs, "
                                              "ECN, CNP, retransmission, RTT, pauses, LLDP");
  tap->footer(
      "Reads pcap and pcapng, with VLAN tags, Linux cooked headers, ERSPAN, GRE and VXLAN around RoCE; or "
      "listens to a\n"
      "port of DPDK (a mirror, a NIC, a veth by af_packet), or to an RDMA device of this host by a raw "
      "packet\n"
      "queue pair that its own RoCE packets are mirrored to; sends nothing.\n\n"
      "  rocetune tap --pcap port.pcap --link-speed 400Gbps\n"
      "  rocetune tap --pcap port.pcapng --html timeline.html\n"
      "  rocetune tap --pcap port.pcap --json | jq .facts\n"
      "  rocetune tap --dpdk '-l 2 -a 0000:03:00.0' --for 10s\n"
      "  rocetune tap --dpdk '--no-huge --no-pci --vdev=net_af_packet0,iface=eth0'\n"
      "  rocetune tap --device mlx5_0 --for 10s");
  auto command = std::make_shared<TapCommand>();
  auto speed = std::make_shared<std::string>();
  auto storm = std::make_shared<std::string>();
  auto span = std::make_shared<std::string>();
  CLI::Option* pcap = add_text(*tap, "--pcap", command->pcap, "FILE", "capture file to read");
  CLI::Option* dpdk =
      tap->add_option("--dpdk", command->dpdk, "listen to a port: arguments of DPDK's environment")
          ->type_name("ARGUMENTS")
          ->excludes(pcap);
  add_text(*tap, "--dpdk-port", command->dpdk_port, "NAME",
           "which port, by DPDK's name (default: the only one)")
      ->needs(dpdk);
  tap->add_option("--device", command->device,
                  "listen to this host's own RDMA device (or its port: mlx5_0:2)")
      ->type_name("NAME")
      ->check(CLI::Validator(check_rdma_port, "", "device"))
      ->excludes(pcap)
      ->excludes(dpdk);
  tap->add_option("--for", *span, "how long to listen (default: until Ctrl-C)")
      ->type_name("TIME")
      ->check(parsed_by(parse_time))
      ->excludes(pcap);
  tap->add_option("--link-speed", *speed, "speed of the link, for pause times (default: 100Gbps is assumed)")
      ->type_name("RATE")
      ->check(parsed_by(parse_speed));
  tap->add_option("--storm-time", *storm, "shortest pause that is called a storm (default: 100ms)")
      ->type_name("TIME")
      ->check(parsed_by(parse_time));
  add_text(*tap, "--html", command->html, "FILE", "also write the timeline as one self-contained page");
  tap->add_flag("--json", command->json, "everything as JSON");
  add_colour(*tap, command->colour);
  tap->callback([=, &dispatch_action = dispatch.action] {
    if (command->pcap.empty() && command->dpdk.empty() && command->device.empty()) {
      throw CLI::RequiredError("--pcap FILE, --dpdk ARGUMENTS or --device NAME");
    }
    dispatch_action = [=] {
      if (!speed->empty()) command->link_speed = parse_bit_rate(*speed).value();
      if (!span->empty()) command->span = parse_duration(*span).value();
      if (!storm->empty()) command->storm_time = parse_duration(*storm).value();
      return run_tap(*command);
    };
  });
}

}  // namespace rocetune::cli
