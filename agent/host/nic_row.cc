#include "agent/host/nic_row.h"

#include <algorithm>

#include "dataplane/base/toml_reader.h"

namespace rocetune::host {
namespace {

const std::vector<std::string> kCcUnits{"us",   "Mbps",    "MBps", "bytes",    "percent", "flag",
                                        "log2", "per1024", "dscp", "priority", "steps",   "number"};
const std::vector<std::string> kAlgorithms{"strict", "cbs", "ets", "vendor"};

// A statement of the row and where it comes from: "x" needs "x_origin" beside it.
template <class T>
void stated(TableReader& table, std::string_view key, T& out, std::string_view origin_key) {
  std::string origin;
  table.required(key, out);
  table.required(origin_key, origin, not_empty());
}

void read_dcb(TableReader& table, DcbTraits& out) {
  stated(table, "trust", out.trust, "trust_origin");
  stated(table, "pfc_delay_unit", out.pfc_delay_unit, "pfc_delay_origin");
  if (out.pfc_delay_unit == DelayUnit::metres) {
    table.required("pfc_delay_default", out.pfc_delay_default);
    table.required("pfc_delay_max", out.pfc_delay_max, at_least(out.pfc_delay_default));
  }
  stated(table, "pause_excludes_pfc", out.pause_excludes_pfc, "pause_excludes_pfc_origin");
  table.required("has_buffers", out.has_buffers);
  stated(table, "buffer_write_is_sticky", out.buffer_write_is_sticky, "buffer_write_origin");
  std::string origin;
  table.required("tx_algorithms", out.tx_algorithms, each(one_of(kAlgorithms)));
  table.required("tx_algorithms_origin", origin, not_empty());
  stated(table, "dcbx_firmware_takes_over", out.dcbx_firmware_takes_over, "dcbx_origin");
  table.optional("firmware_agent_off", out.firmware_agent_off, not_empty());
  table.optional("dscp_trust_resets_tables", out.dscp_trust_resets_tables);
  table.optional("refuses_remapping", out.refuses_remapping);
  table.optional("refuses_bond_members", out.refuses_bond_members, not_empty());
}

void read_writes(TableReader& table, WriteTraits& out) {
  stated(table, "pfc", out.pfc, "pfc_origin");
  stated(table, "ets", out.ets, "ets_origin");
  stated(table, "app", out.app, "app_origin");
  stated(table, "mtu", out.mtu, "mtu_origin");
  stated(table, "pause", out.pause, "pause_origin");
}

void read_watchdog(TableReader& table, WatchdogTraits& out) {
  stated(table, "has_pfc_prevention", out.has_pfc_prevention, "origin");
  if (!out.has_pfc_prevention) return;
  table.required("automatic_ms", out.automatic_ms);
  table.required("min_ms", out.min_ms);
  table.required("max_ms", out.max_ms, at_least(out.min_ms));
}

void read_parameter(TableReader& table, CcTraits& cc) {
  CcParameter out;
  table.required("name", out.name, not_empty());
  table.required("unit", out.unit, one_of(kCcUnits));
  table.required("min", out.min);
  table.required("max", out.max, at_least(out.min));
  table.optional("default", out.default_value, between(out.min, out.max));
  table.required("role", out.role, not_empty());
  cc.parameters.push_back(std::move(out));
}

void read_cc(TableReader& table, CcTraits& out) {
  table.required("interface", out.interface);
  if (out.interface == CcInterface::debugfs) table.required("path", out.path, not_empty());
  table.optional("alternative_path", out.alternative_path);
  table.optional("module_parameters", out.module_parameters);
  stated(table, "algorithm", out.algorithm, "origin");
  table.optional("origin", out.origin);
  table.optional("enable_parameters", out.enable_parameters);
  table.optional("programmable_pci_ids", out.programmable_pci_ids);
  if (!out.programmable_pci_ids.empty()) {
    table.required("programmable_query", out.programmable_query, not_empty());
    table.optional("fwctl_module", out.fwctl_module, not_empty());
  }
  table.optional("parameters_of", out.parameters_of, not_empty());
  table.array_of_tables("parameter", [&](TableReader& parameter) { read_parameter(parameter, out); });
  for (const std::string& name : out.enable_parameters) {
    if (out.find(name) == nullptr) table.reject("enable_parameters", "names of its own parameters");
  }
}

NicRow read_row(TableReader& table) {
  NicRow out;
  table.required("name", out.name, not_empty());
  table.required("description", out.description, not_empty());
  table.required("netdev_drivers", out.netdev_drivers);
  table.required("rdma_driver", out.rdma_driver);
  table.optional("dpu_pci_ids", out.dpu_pci_ids);
  table.required_table("dcb", [&](TableReader& dcb) { read_dcb(dcb, out.dcb); });
  table.required_table("writes", [&](TableReader& writes) { read_writes(writes, out.writes); });
  table.required_table("watchdog", [&](TableReader& watchdog) { read_watchdog(watchdog, out.watchdog); });
  table.required_table("cc", [&](TableReader& cc) { read_cc(cc, out.cc); });
  return out;
}

// Rows that have another one's parameters get them.
void share_parameters(std::vector<NicRow>& rows, std::vector<InputIssue>& issues) {
  for (NicRow& row : rows) {
    CcTraits& cc = row.cc;
    if (cc.parameters_of.empty()) continue;
    const auto from =
        std::find_if(rows.begin(), rows.end(), [&](const NicRow& r) { return r.name == cc.parameters_of; });
    if (from == rows.end() || !cc.parameters.empty()) {
      issues.push_back({.place = {.file = "configs/nics"},
                        .key = row.name + ": cc.parameters_of",
                        .found = cc.parameters_of,
                        .allowed = "the name of another row, in place of parameters of its own",
                        .nearest = {}});
      continue;
    }
    cc.parameters = from->cc.parameters;
  }
}

}  // namespace

const CcParameter* CcTraits::find(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const CcParameter& parameter) { return parameter.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

bool CcTraits::may_be_programmable(const std::optional<std::string>& pci_id) const {
  const auto& ids = programmable_pci_ids;
  return pci_id ? std::find(ids.begin(), ids.end(), *pci_id) != ids.end() : !ids.empty();
}

Expected<NicTable> NicTable::load(const ConfigFiles& files) {
  return files.list("nics", ".toml").and_then(parse);
}

Expected<NicTable> NicTable::parse(const std::vector<ConfigFile>& files) {
  NicTable out;
  std::vector<InputIssue> issues;
  for (const ConfigFile& file : files) {
    NicRow row;
    const auto found = toml_issues(file.text, file.name, [&](TableReader& table) { row = read_row(table); });
    issues.insert(issues.end(), found.begin(), found.end());
    if (found.empty()) out.rows_.push_back(std::move(row));
  }
  if (issues.empty()) share_parameters(out.rows_, issues);
  if (!issues.empty()) return tl::unexpected(bad_input(issues));
  const auto unknown = std::find_if(out.rows_.begin(), out.rows_.end(),
                                    [](const NicRow& row) { return row.name == "unknown"; });
  if (unknown == out.rows_.end()) {
    return fail(ErrorKind::bad_input, "configs/nics: no row \"unknown\", which other drivers fall back to");
  }
  return out;
}

const NicRow& NicTable::for_driver(std::string_view netdev_driver) const {
  for (const NicRow& row : rows_) {
    if (std::find(row.netdev_drivers.begin(), row.netdev_drivers.end(), netdev_driver) !=
        row.netdev_drivers.end()) {
      return row;
    }
  }
  return named("unknown");
}

const NicRow& NicTable::named(std::string_view name) const {
  const NicRow* const found = find(name);
  ROCETUNE_ASSERT(found != nullptr);
  return *found;
}

const NicRow* NicTable::find(std::string_view name) const {
  const auto found =
      std::find_if(rows_.begin(), rows_.end(), [&](const NicRow& row) { return row.name == name; });
  return found == rows_.end() ? nullptr : &*found;
}

std::string firmware_agent_off(const DcbTraits& traits, std::string_view netdev) {
  constexpr std::string_view kPlace = "{netdev}";
  std::string out = traits.firmware_agent_off;
  const std::size_t at = out.find(kPlace);
  return at == std::string::npos ? out : out.replace(at, kPlace.size(), netdev);
}

void name_nics(Host& host, const NicTable& nics) {
  for (Port& port : host.ports) {
    if (!port.nic.empty()) continue;
    port.nic = nics.for_driver(port.driver).name;
    if (!port.rdma) continue;
    for (const NicRow& row : nics.rows()) {
      const bool by_driver = !row.rdma_driver.empty() && port.rdma->driver == row.rdma_driver;
      if (by_driver || (port.nic == "unknown" && port.rdma->device.starts_with(row.name)))
        port.nic = row.name;
    }
  }
}

}  // namespace rocetune::host
