#include <CLI/CLI.hpp>

#include <memory>

#include "tools/rocetune/command_line_flags.h"
#include "tools/rocetune/inspect.h"
#include "tools/rocetune/subcommands.h"

namespace rocetune::cli {

void add_inspect(const Dispatch& dispatch) {
  CLI::App* inspect = dispatch.app.add_subcommand(
      "inspect", "what this host is: NICs, RDMA, PCIe, class map, PFC, ECN, owners, what can be read");
  inspect->footer(
      "Reads and changes nothing. Without root some interfaces are denied; they are listed with the "
      "reason.\n\n"
      "  rocetune inspect\n"
      "  rocetune inspect --port eth0\n"
      "  rocetune inspect --json | jq '.ports[] | {name, pfc: .dcb.pfc.enabled}'\n"
      "  rocetune inspect --netns pod-1\n"
      "  rocetune inspect --root /host\n"
      "  rocetune inspect --fabric incast-dcqcn --host h3");
  auto command = std::make_shared<InspectCommand>();
  auto space = std::make_shared<std::string>();
  add_text(*inspect, "--port", command->ports, "NAME", "netdev to show, may be repeated (default: all)");
  inspect->add_flag("--all-interfaces", command->all_interfaces, "list usable interfaces one by one too");
  inspect->add_flag("--json", command->common.json, "one JSON object");
  CLI::Option* root =
      add_text(*inspect, "--root", command->common.root, "DIR", "read this tree instead of the host's /");
  CLI::Option* netns =
      add_text(*inspect, "--netns", *space, "NAME",
               "only this network namespace: a name of /run/netns or a path (default: all that hold NICs)");
  CLI::Option* from = add_text(*inspect, "--from", command->from, "FILE",
                               "show what snapshot or inspect --json wrote, not this host")
                          ->excludes(root)
                          ->excludes(netns);
  add_fabric(*inspect, command->fabric)->excludes(root)->excludes(netns)->excludes(from);
  add_text(*inspect, "--config-dir", command->config_directory, "DIR",
           "NIC rows of your own, in place of built-in ones");
  add_colour(*inspect, command->colour);
  inspect->callback([=, &action = dispatch.action] {
    action = [=] {
      if (!space->empty()) command->network_namespace = *space;
      return run_inspect(*command);
    };
  });
}

}  // namespace rocetune::cli
