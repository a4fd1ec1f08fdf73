#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "tools/rocetune/subcommands.h"
#include "tools/rocetune/tap.h"

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
  CLI::App* tap = dispatch.app.add_subcommand(
      "tap", "passive RoCE analysis of a capture: queue pairs, ECN, CNP, retransmission, RTT, pauses, LLDP");
  tap->footer(
      "Reads pcap and pcapng, with VLAN tags, Linux cooked headers, ERSPAN, GRE and VXLAN around RoCE.\n\n"
      "  rocetune tap --pcap port.pcap --link-speed 400Gbps\n"
      "  rocetune tap --pcap port.pcapng --html timeline.html\n"
      "  rocetune tap --pcap port.pcap --json | jq .facts");
  auto command = std::make_shared<TapCommand>();
  auto speed = std::make_shared<std::string>();
  auto storm = std::make_shared<std::string>();
  tap->add_option("--pcap", command->pcap, "capture file to read")->type_name("FILE")->required();
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
    dispatch_action = [=] {
      if (!speed->empty()) command->link_speed = parse_bit_rate(*speed).value();
      if (!storm->empty()) command->storm_time = parse_duration(*storm).value();
      return run_tap(*command);
    };
  });
}

}  // namespace rocetune::cli
