#include "tools/rocetune/switch_class.h"

#include <fmt/core.h>

#include <algorithm>

#include "agent/diagnose/roce_class.h"
#include "agent/host/host_reader.h"
#include "agent/host/rdma_carrier.h"
#include "agent/virtual_host/host_facts.h"
#include "tools/rocetune/saved_host.h"

namespace rocetune::cli {
namespace {

using evidence::SwitchPlan;
using evidence::SwitchWriter;

// What ports of switches are usually set to: EOS takes no more.
Bytes usual_mtu(SwitchWriter writer, Bytes least) {
  const Bytes usual(writer == SwitchWriter::eos ? 9214 : 9216);
  return std::max(usual, least);
}

// A class of the port: the DSCPs that lead to its priority, its PFC, its traffic class.
tune::ClassSpec class_of_port(const host::Port& port, const char* name, Priority priority,
                              std::optional<Dscp> dscp) {
  tune::ClassSpec out;
  out.name = name;
  out.priority = priority;
  if (dscp) out.dscp = {*dscp};
  out.lossless = port.dcb.pfc->enabled.contains(priority);
  out.tc = port.dcb.ets->tc_of_priority[static_cast<std::size_t>(priority.value())];
  const auto tc = static_cast<std::size_t>(out.tc.value());
  // "vendor" is what mlx5 calls strict until somebody chooses.
  out.strict = port.dcb.ets->tsa[tc] != host::Tsa::ets;
  if (!out.strict) out.share_percent = port.dcb.ets->tx_share_percent[tc];
  return out;
}

Expected<tune::Profile> profile_of_port(const host::Port& port, const diagnose::Policy& policy) {
  const auto lacks = [&](std::string_view what) {
    return tl::unexpected(Error(ErrorKind::bad_input, fmt::format("{}: {}", port.name, what)));
  };
  const auto found = diagnose::class_of(port, {}, policy.plan);
  if (!found || found->confidence == diagnose::Confidence::low)
    return lacks("no RoCE class is set up that could be passed on to a switch");
  if (!port.dcb.pfc) return lacks("PFC is not known: " + port.dcb.pfc.error().why);
  if (!port.dcb.ets) return lacks("traffic classes are not known: " + port.dcb.ets.error().why);
  if (!port.dcb.trust) return lacks("trust is not known: " + port.dcb.trust.error().why);
  tune::Profile out;
  out.name = "host";
  out.trust = *port.dcb.trust;
  if (out.trust == host::Trust::dscp && !found->dscp) return lacks("no DSCP leads to the RoCE priority");
  out.classes.push_back(class_of_port(port, "roce", found->priority, found->dscp));
  if (found->cnp_priority != found->priority) {
    out.classes.push_back(class_of_port(port, "cnp", found->cnp_priority, found->cnp_dscp));
    out.classes.back().lossless = false;
  }
  out.default_tc = port.dcb.ets->tc_of_priority[0];
  const auto rest = static_cast<std::size_t>(out.default_tc.value());
  out.default_share_percent =
      port.dcb.ets->tsa[rest] == host::Tsa::ets ? port.dcb.ets->tx_share_percent[rest] : 0;
  if (port.mtu > Bytes(0)) out.mtu = port.mtu;
  return out;
}

bool is_same_class(const tune::Profile& a, const tune::Profile& b) {
  if (a.trust != b.trust || a.classes.size() != b.classes.size()) return false;
  for (std::size_t i = 0; i < a.classes.size(); ++i) {
    const tune::ClassSpec &x = a.classes[i], &y = b.classes[i];
    if (x.dscp != y.dscp || x.priority != y.priority || x.lossless != y.lossless || x.tc != y.tc)
      return false;
  }
  return true;
}

}  // namespace

SwitchPlan switch_plan_of(const tune::Profile& profile, const SwitchChoices& choices, SwitchWriter writer) {
  SwitchPlan out;
  out.trust = profile.trust == host::Trust::dscp ? evidence::SwitchTrust::dscp : evidence::SwitchTrust::pcp;
  for (const tune::ClassSpec& spec : profile.classes) {
    out.classes.push_back(
        {spec.name, spec.dscp, spec.priority, spec.tc, spec.lossless, spec.strict, spec.share_percent});
  }
  out.default_queue = profile.default_tc;
  out.default_share_percent = profile.default_share_percent;
  out.mark_from = choices.mark_from;
  out.mark_all = choices.mark_all;
  out.mark_percent = choices.mark_percent;
  if (profile.mtu) out.mtu = usual_mtu(writer, *profile.mtu);
  out.storm_after = choices.storm_after;
  out.ports = choices.ports;
  return out;
}

Expected<tune::Profile> profile_of_host(const host::Host& host, const std::vector<std::string>& ports,
                                        const diagnose::Policy& policy) {
  std::optional<tune::Profile> out;
  std::string first;
  for (const host::Port& port : host.ports) {
    const bool is_wanted = ports.empty()
                               ? host::carries_rdma(host, port) && port.role == host::PortRole::physical
                               : std::ranges::find(ports, port.name) != ports.end();
    if (!is_wanted) continue;
    auto profile = profile_of_port(port, policy);
    if (!profile) return tl::unexpected(profile.error());
    if (out && !is_same_class(*out, *profile)) {
      return tl::unexpected(Error(
          ErrorKind::bad_input,
          fmt::format("{} and {} have different class maps: name the one that is meant", first, port.name)));
    }
    if (!out) first = port.name;
    out = std::move(*profile);
  }
  if (!out)
    return tl::unexpected(
        Error(ErrorKind::bad_input, "this host has no RoCE port with a class map of its own"));
  return std::move(*out);
}

Expected<ClassTables> load_class_tables(const std::string& directory) {
  auto files = ConfigFiles::with_directory(directory);
  if (!files) return tl::unexpected(files.error());
  auto nics = host::NicTable::load(*files);
  if (!nics) return tl::unexpected(nics.error());
  auto policy = diagnose::load_policy(*files, *nics);
  if (!policy) return tl::unexpected(policy.error());
  return ClassTables{std::move(*files), std::move(*nics), std::move(*policy)};
}

Expected<host::Host> host_of(const HostOrigin& origin, const host::NicTable& nics) {
  if (origin.fabric != nullptr && origin.fabric->is_given()) {
    return open_fabric_host(*origin.fabric).map([](const FabricHost& fabric) {
      return virtual_host::host_facts(*fabric.run, fabric.id);
    });
  }
  if (origin.from.empty()) {
    host::ReadOptions read;
    read.root = origin.root;
    return host::read_host(read, nics);
  }
  auto saved = read_saved_host(origin.from);
  if (!saved) return tl::unexpected(Error(ErrorKind::bad_input, saved.error().text()));
  return saved;
}

}  // namespace rocetune::cli
