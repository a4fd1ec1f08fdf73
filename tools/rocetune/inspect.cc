#include "tools/rocetune/inspect.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/host/interfaces.h"
#include "agent/virtual_host/host_facts.h"
#include "dataplane/base/reflect_json.h"
#include "tools/rocetune/saved_host.h"
#include "tools/rocetune/this_host.h"

namespace rocetune::cli {
namespace {

Expected<host::NicTable> load_nics(const std::string& config_directory) {
  const auto files = ConfigFiles::with_directory(config_directory);
  if (!files) return tl::unexpected(files.error());
  return host::NicTable::load(*files);
}

// Leaves the wanted ports and their bonds. Error: bad_input with the nearest name.
Expected<> keep_ports(const std::vector<std::string>& wanted, host::Host& host) {
  if (wanted.empty()) return {};
  std::vector<std::string> known;
  for (const host::Port& port : host.ports) known.push_back(port.name);
  if (auto found = check_names("--port", wanted, known, "nothing: no NIC is visible here"); !found)
    return tl::unexpected(found.error());
  std::erase_if(host.ports, [&](const host::Port& port) {
    return std::find(wanted.begin(), wanted.end(), port.name) == wanted.end();
  });
  return {};
}

struct Inspected {
  host::Host host;
  PartFacts parts;
};

Expected<Inspected> inspect_fabric(const FabricOptions& options) {
  const auto fabric = open_fabric_host(options);
  if (!fabric) return tl::unexpected(fabric.error());
  const auto none = absent("a host of the virtual fabric is not of this machine");
  return Inspected{virtual_host::host_facts(*fabric->run, fabric->id),
                   {.parts = {}, .rdma_devices = none, .dpdk = none}};
}

Expected<Inspected> inspect_saved(const std::string& path) {
  auto host = read_saved_host(path);
  if (!host) return tl::unexpected(host.error());
  const auto none = not_read();
  return Inspected{std::move(*host), {.parts = {}, .rdma_devices = none, .dpdk = none}};
}

Expected<Inspected> inspect_live(const InspectCommand& command, const host::NicTable& nics) {
  auto host = read_this_host({command.common.root, command.network_namespace}, nics);
  if (!host) return tl::unexpected(host.error());
  return Inspected{std::move(*host), read_part_facts(command.common.root)};
}

}  // namespace

std::string inspect_json(const host::Host& host, const PartFacts& parts) {
  JsonWriter out;
  out.begin_object();
  for_each_field(host, [&](std::string_view name, const auto& member) {
    out.key(name);
    to_json(out, member);
  });
  for_each_field(parts, [&](std::string_view name, const auto& member) {
    out.key(name);
    to_json(out, member);
  });
  out.key("interfaces");
  to_json(out, host::interfaces_of(host));
  out.end_object();
  return out.take();
}

ExitCode run_inspect(const InspectCommand& command) {
  const auto nics = load_nics(command.config_directory);
  if (!nics) return complain(nics.error());
  auto found = command.fabric.is_given() ? inspect_fabric(command.fabric)
               : !command.from.empty()   ? inspect_saved(command.from)
                                         : inspect_live(command, *nics);
  if (!found) return complain(found.error());
  if (const auto kept = keep_ports(command.ports, found->host); !kept) return complain(kept.error());
  const std::string text = command.common.json
                               ? inspect_json(found->host, found->parts)
                               : inspect_text(found->host, *nics, found->parts, command.all_interfaces,
                                              TextTable::Look::for_stream(STDOUT_FILENO, command.colour));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return std::fflush(stdout) == 0 ? ExitCode::fine : ExitCode::bad_input;
}

}  // namespace rocetune::cli
