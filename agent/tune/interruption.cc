#include "agent/tune/interruption.h"

#include <algorithm>

#include "agent/host/rdma_carrier.h"

namespace rocetune::tune {
namespace {

using host::KnobKind;
using Refusals = std::vector<Refusal>;

// Below this a port counts as idle: connection managers and monitoring exchange a few packets a second.
constexpr double kIdlePacketsPerSecond = 100;

// Ports whose link is interrupted, members of a bond included when the bond itself is.
std::vector<std::string> interrupted_ports(const GuardrailInput& in) {
  Plan interrupting;
  for (const Step& step : in.plan.steps) {
    if (step.interrupts_link) interrupting.steps.push_back(step);
  }
  return interrupting.touched_ports(in.host);
}

// The port itself and the bond it carries for: addresses, routes and sessions sit on the bond.
std::vector<const host::Port*> port_and_bond(const host::Host& host, const std::string& name) {
  std::vector<const host::Port*> out;
  if (const host::Port* port = host.find_port(name)) {
    out.push_back(port);
    const host::Port* bond = port->bond ? host.find_port(*port->bond) : nullptr;
    if (bond != nullptr) out.push_back(bond);
  }
  return out;
}

template <class Judge>
Refusals for_each_attachment(const GuardrailInput& in, std::string_view consent, Judge&& judge) {
  Refusals out;
  for (const std::string& name : interrupted_ports(in)) {
    for (const host::Port* port : port_and_bond(in.host, name)) {
      std::string reason;
      if (!port->attachments) {
        if (port->name == name) {
          reason = fmt::format("whether it carries the default route, a session or storage is not known: {}",
                               port->attachments.error().why);
        }
      } else {
        reason = judge(*port->attachments);
      }
      if (!reason.empty()) {
        out.push_back({std::string(consent), name, std::move(reason)});
        break;
      }
    }
  }
  return out;
}

// The busier direction, in packets per second; nothing if no counter tells.
std::optional<double> rdma_rate(const counters::Interval& traffic, const host::Port* port) {
  const counters::PortDelta* delta = port == nullptr ? nullptr : traffic.find_port(port->name);
  if (delta == nullptr) return std::nullopt;
  std::optional<double> rate;
  for (const std::string_view counter : {"rdma_tx_packets", "rdma_rx_packets"}) {
    if (const auto packets = delta->per_second(counter)) rate = std::max(rate.value_or(0), *packets);
  }
  return rate;
}

// What runs now over the device whose packets pass `port`: those of a bond's device pass any member. Nothing
// unless the port itself or the port that shows the device has a counter.
std::optional<double> device_rate(const GuardrailInput& in, const host::Port& port) {
  if (!rdma_rate(*in.traffic, &port) && !rdma_rate(*in.traffic, host::rdma_holder(in.host, port)))
    return std::nullopt;
  double rate = 0;
  for (const host::Port* sibling : host::rdma_siblings(in.host, port)) {
    rate = std::max(rate, rdma_rate(*in.traffic, sibling).value_or(0));
  }
  return rate;
}

}  // namespace

bool is_dcb(KnobKind kind) {
  return kind == KnobKind::pfc || kind == KnobKind::ets || kind == KnobKind::app_table ||
         kind == KnobKind::buffers || kind == KnobKind::dcbx_mode;
}

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

std::vector<Refusal> default_route(const GuardrailInput& in) {
  return for_each_attachment(in, "bounce-default-route", [](const host::Attachments& a) {
    return a.carries_default_route ? std::string("it carries the default route and would be interrupted")
                                   : "";
  });
}

std::vector<Refusal> ssh_session(const GuardrailInput& in) {
  return for_each_attachment(in, "bounce-ssh", [](const host::Attachments& a) {
    if (!a.ssh_peers.empty()) return fmt::format("ssh sessions of {} run over it", joined(a.ssh_peers));
    return a.unknown_sessions.empty()
               ? std::string()
               : fmt::format("whether ssh sessions run over it is not known: {}", joined(a.unknown_sessions));
  });
}

std::vector<Refusal> mounted_storage(const GuardrailInput& in) {
  return for_each_attachment(in, "bounce-storage", [](const host::Attachments& a) {
    if (!a.storage_mounts.empty()) return fmt::format("{} is reached over it", joined(a.storage_mounts));
    return a.unknown_storage.empty() ? std::string()
                                     : fmt::format("whether storage is reached over it is not known: {}",
                                                   joined(a.unknown_storage));
  });
}

std::vector<Refusal> rdma_traffic(const GuardrailInput& in) {
  Refusals out;
  std::vector<std::string> ports = interrupted_ports(in);
  for (const Step& step : in.plan.steps) {
    const bool maps = std::any_of(step.changes.begin(), step.changes.end(),
                                  [](const Change& change) { return is_dcb(change.knob.kind); });
    if (maps && std::find(ports.begin(), ports.end(), step.port) == ports.end()) ports.push_back(step.port);
  }
  for (const std::string& name : ports) {
    const host::Port* port = in.host.find_port(name);
    if (port == nullptr || !host::carries_rdma(in.host, *port)) continue;
    const auto refuse = [&](std::string reason) { out.push_back({"rdma-traffic", name, std::move(reason)}); };
    if (!in.traffic) {
      refuse("whether RDMA traffic runs is not known: " + in.traffic.error().why);
      continue;
    }
    const auto rate = device_rate(in, *port);
    if (!rate) {
      refuse("whether RDMA traffic runs is not known: the NIC shows no RDMA packet counter");
    } else if (*rate > kIdlePacketsPerSecond) {
      refuse(fmt::format("RDMA traffic runs{}: {:.0f} packets/s", port->bond ? " on " + *port->bond : "",
                         *rate));
    }
  }
  return out;
}

}  // namespace rocetune::tune
