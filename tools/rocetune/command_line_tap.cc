#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/tap.h"
#include "tools/rocetune/tap_device.h"

namespace rocetune::cli {
namespace {

// CLI11's validators return what is wrong, or nothing.
std::string check_speed(const std::string& text) {
  const auto speed = parse_bit_rate(text);
  if (!speed) return "found " + text + ", allowed: " + speed.error().allowed;
  return *speed > BitRate(0) ? "" : "found " + text + ", allowed: more than 0";
}
std::string check_time(const std::string& text) {
  const auto time = parse_duration(text);
  if (!time) return "found " + text + ", allowed: " + time.error().allowed;
  return *time > Duration(0) ? "" : "found " + text + ", allowed: more than 0";
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
  CLI::Option* pcap = tap->add_option("--pcap", command->pcap, "capture file to read")->type_name("FILE");
  CLI::Option* dpdk =
      tap->add_option("--dpdk", command->dpdk, "listen to a port: arguments of DPDK's environment")
          ->type_name("ARGUMENTS")
          ->excludes(pcap);
  tap->add_option("--dpdk-port", command->dpdk_port, "which port, by DPDK's name (default: the only one)")
      ->type_name("NAME")
      ->needs(dpdk);
  tap->add_option("--device", command->device,
                  "listen to this host's own RDMA device (or its port: mlx5_0:2)")
      ->type_name("NAME")
      ->check(CLI::Validator(check_rdma_port, "", "device"))
      ->excludes(pcap)
      ->excludes(dpdk);
  tap->add_option("--for", *span, "how long to listen (default: until Ctrl-C)")
      ->type_name("TIME")
      ->check(CLI::Validator(check_time, "", "time"))
      ->excludes(pcap);
  tap->add_option("--link-speed", *speed, "speed of the link, for pause times (default: 100Gbps is assumed)")
      ->type_name("RATE")
      ->check(CLI::Validator(check_speed, "", "rate"));
  tap->add_option("--storm-time", *storm, "shortest pause that is called a storm (default: 100ms)")
      ->type_name("TIME")
      ->check(CLI::Validator(check_time, "", "time"));
  tap->add_option("--html", command->html, "also write the timeline as one self-contained page")
      ->type_name("FILE");
  tap->add_flag("--json", command->json, "everything as JSON");
  tap->add_option("--colour", command->colour, "auto, always or never")
      ->type_name("WHEN")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, ColourChoice>{{"auto", ColourChoice::automatic},
                                                                      {"always", ColourChoice::always},
                                                                      {"never", ColourChoice::never}}));
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
