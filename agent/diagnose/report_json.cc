#include "agent/diagnose/report_json.h"

#include <fmt/core.h>

#include "agent/diagnose/engine.h"
#include "agent/host/knob_json.h"
#include "agent/host/rdma_carrier.h"

namespace rocetune::diagnose {
namespace {

constexpr int kSchemaVersion = 1;

void write(JsonWriter& out, const Fix& fix) {
  out.begin_object().member("text", fix.text);
  out.key("changes").begin_array();
  for (const Change& change : fix.changes) {
    out.begin_object();
    out.member("port", change.knob.port).member("kind", enum_name(change.knob.kind));
    if (!change.knob.parameter.empty()) out.member("parameter", change.knob.parameter);
    out.key("before");
    to_json(out, change.before);
    out.key("after");
    to_json(out, change.after);
    out.end_object();
  }
  out.end_array();
  out.key("commands");
  to_json(out, fix.commands);
  out.end_object();
}

void write(JsonWriter& out, const Finding& finding) {
  out.begin_object().member("rule", finding.rule).member("severity", enum_name(finding.severity));
  out.member("subject", finding.subject).member("confidence", enum_name(finding.confidence));
  out.member("cause", finding.cause);
  out.key("evidence");
  to_json(out, finding.evidence);
  out.key("fix");
  write(out, finding.fix);
  out.end_object();
}

void write(JsonWriter& out, const Input& input) {
  const auto text_or_null = [&](std::string_view key, const std::optional<std::string>& text) {
    out.key(key);
    if (text)
      out.value(*text);
    else
      out.null();
  };
  out.begin_object().member("file", input.file).member("format", input.format);
  text_or_null("host", input.host);
  text_or_null("phase", input.phase);
  if (input.first_line > 0) out.member("first_line", input.first_line).member("last_line", input.last_line);
  out.end_object();
}

// "eth0." where there are several ports, else nothing.
std::string prefix_of(const std::string& name, bool several) { return several ? name + "." : std::string(); }

void add_port_facts(FactTable& facts, const host::Port& port, bool several, const std::string& at) {
  const std::string prefix = prefix_of(port.name, several);
  if (port.dcb.pfc) facts["qos." + prefix + "pfc_mask" + at] = port.dcb.pfc->enabled.mask();
  if (port.dcb.app) {
    for (const host::AppEntry& entry : *port.dcb.app) {
      if (entry.selector != host::AppSelector::dscp) continue;
      facts[fmt::format("qos.{}dscp_{}_prio{}", prefix, entry.protocol, at)] = entry.priority.value();
    }
  }
  if (port.dcb.ets) {
    for (std::size_t p = 0; p < 8; ++p) {
      const auto tc = static_cast<std::size_t>(port.dcb.ets->tc_of_priority[p].value());
      if (port.dcb.ets->tsa[tc] != host::Tsa::ets) continue;
      facts[fmt::format("ets.{}prio{}_share_pct{}", prefix, p, at)] = port.dcb.ets->tx_share_percent[tc];
    }
  }
  if (port.pcie && port.pcie->width_lanes) facts["pcie." + prefix + "width" + at] = *port.pcie->width_lanes;
  if (!port.rdma) return;
  const std::string device = prefix_of(port.rdma->device, several);
  facts["gid." + device + "rows" + at] = static_cast<double>(port.rdma->gids.size());
  const host::Gid* best = nullptr;
  for (const host::Gid& gid : port.rdma->gids) {
    if (gid.type != host::GidType::roce_v2 || gid.is_link_local()) continue;
    if (best == nullptr || (gid.is_ipv4_mapped() && !best->is_ipv4_mapped())) best = &gid;
  }
  if (best != nullptr) {
    facts["gid.best_index" + (several ? "." + port.rdma->device : std::string()) + at] = best->index;
  }
}

// The value all ports agree on, if they do.
template <class Value>
void add_if_equal(FactTable& facts, const std::string& name, const std::vector<Value>& values) {
  if (values.empty()) return;
  for (const Value& value : values) {
    if (value != values.front()) return;
  }
  facts[name] = static_cast<double>(values.front().count());
}

}  // namespace

FactTable facts_of(const host::Host& host, const std::string& origin) {
  const std::string at = "@" + origin;
  FactTable facts;
  std::vector<const host::Port*> ports;
  std::vector<Bytes> active, netdev;
  for (const host::Port& port : host.ports) {
    if (!host::carries_rdma(host, port)) continue;
    ports.push_back(&port);
    if (port.rdma && port.rdma->active_mtu) active.push_back(*port.rdma->active_mtu);
    if (port.mtu > Bytes(0)) netdev.push_back(port.mtu);
  }
  for (const host::Port* port : ports) add_port_facts(facts, *port, ports.size() > 1, at);
  add_if_equal(facts, "mtu.active_B" + at, active);
  add_if_equal(facts, "mtu.netdev_B" + at, netdev);
  return facts;
}

std::string to_json_text(const Report& report, const std::vector<Input>& inputs, const FactTable& facts) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("host", report.host);
  out.key("inputs").begin_array();
  for (const Input& input : inputs) write(out, input);
  out.end_array();
  out.key("classes");
  to_json(out, report.classes);
  out.key("captures");
  to_json(out, report.captures);
  out.key("texts");
  to_json(out, report.texts);
  out.key("findings").begin_array();
  for (const Finding& finding : report.findings) write(out, finding);
  out.end_array();
  out.key("not_checked");
  to_json(out, report.not_checked);
  out.key("passed").begin_array();
  for (const Passed& one : report.passed) {
    out.begin_object().member("rule", one.rule).member("subject", one.subject);
    out.key("evidence");
    to_json(out, one.evidence);
    out.end_object();
  }
  out.end_array();
  out.key("skipped").begin_array();
  for (const Skipped& one : report.skipped) {
    out.begin_object().member("subject", one.subject).member("reason", one.reason).end_object();
  }
  out.end_array();
  out.key("facts").begin_object();
  for (const auto& [name, value] : facts) out.member(name, value);
  out.end_object();
  out.member("first_step", report.first_step());
  out.end_object();
  return out.take();
}

}  // namespace rocetune::diagnose
