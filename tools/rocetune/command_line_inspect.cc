#include <CLI/CLI.hpp>

#include <memory>

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
      "  rocetune inspect --root /host");
  auto command = std::make_shared<InspectCommand>();
  auto space = std::make_shared<std::string>();
  inspect->add_option("--port", command->ports, "netdev to show, may be repeated (default: all)")
      ->type_name("NAME");
  inspect->add_flag("--all-interfaces", command->all_interfaces, "list usable interfaces one by one too");
  inspect->add_flag("--json", command->common.json, "one JSON object");
  inspect->add_option("--root", command->common.root, "read this tree instead of the host's /")
      ->type_name("DIR");
  inspect
      ->add_option(
          "--netns", *space,
          "only this network namespace: a name of /run/netns or a path (default: all that hold NICs)")
      ->type_name("NAME");
  inspect
      ->add_option("--config-dir", command->config_directory,
                   "NIC rows of your own, in place of built-in ones")
      ->type_name("DIR");
  inspect->add_option("--colour", command->colour, "auto, always or never")
      ->type_name("WHEN")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, ColourChoice>{{"auto", ColourChoice::automatic},
                                                                      {"always", ColourChoice::always},
                                                                      {"never", ColourChoice::never}}));
  inspect->callback([=, &action = dispatch.action] {
    action = [=] {
      if (!space->empty()) command->network_namespace = *space;
      return run_inspect(*command);
    };
  });
}

}  // namespace rocetune::cli
