#include "agent/report/busiest_ports.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "dataplane/html/quantity.h"
#include "dataplane/html/table.h"

namespace rocetune::report {
namespace {

using html::Table;

Table::Cell count_cell(std::uint64_t count, std::string_view class_if_any = {}) {
  Table::Cell cell(html::count_text(count));
  return count == 0 ? std::move(cell).in_class("faint") : std::move(cell).in_class(class_if_any);
}

Table::Cell ratio_cell(double value) {
  Table::Cell cell(fmt::format("{:.1f}", 100 * value));
  return value > 0 ? std::move(cell).with_bar(value) : std::move(cell).in_class("faint");
}

std::string kilobytes(double bytes) { return fmt::format("{:.1f}", bytes / 1e3); }

}  // namespace

std::vector<const fabric::PortResult*> busiest_ports(const std::vector<fabric::PortResult>& ports) {
  std::vector<const fabric::PortResult*> out;
  for (const fabric::PortResult& port : ports) {
    if (port.queue_bytes.max > 0 || port.pauses_sent > 0 || port.drops > 0) out.push_back(&port);
  }
  std::ranges::stable_sort(out, std::greater<>(), [](const fabric::PortResult* p) {
    return std::pair(p->queue_bytes.mean, p->pauses_sent);
  });
  return out;
}

std::string port_section(const std::vector<fabric::PortResult>& ports) {
  std::string out = "<h2>Busiest ports</h2>\n";
  if (ports.empty()) return out + "<p class='faint'>This result has no ports of switches.</p>\n";
  const auto busiest = busiest_ports(ports);
  if (busiest.empty()) return out + "<p>No queue at any port of a switch.</p>\n";
  Table table({{.title = "port", .align = Align::left},
               {.title = "to", .align = Align::left},
               {.title = "queue mean", .unit = "kB"},
               {.title = "p99", .unit = "kB"},
               {.title = "max", .unit = "kB"},
               {.title = "CE"},
               {.title = "drops"},
               {.title = "Xoff sent", .explanation = "to the peer"},
               {.title = "Xoff received", .explanation = "from the peer"},
               {.title = "held by peer", .unit = "%", .explanation = "of the time"},
               {.title = "holds peer", .unit = "%", .explanation = "of the time"}});
  double longest = 0;
  for (const fabric::PortResult* port : busiest)
    longest = std::max(longest, static_cast<double>(port->queue_bytes.max));
  for (std::size_t i = 0; i < std::min(busiest.size(), kMostPorts); ++i) {
    const fabric::PortResult& p = *busiest[i];
    const auto most = static_cast<double>(p.queue_bytes.max);
    table.add_row(
        {p.name, p.peer, kilobytes(p.queue_bytes.mean), kilobytes(static_cast<double>(p.queue_bytes.p99)),
         Table::Cell(kilobytes(most)).with_bar(longest > 0 ? most / longest : 0), count_cell(p.ce_marked),
         count_cell(p.drops, "warn"), count_cell(p.pauses_sent), count_cell(p.pauses_received),
         ratio_cell(p.paused_ratio), ratio_cell(p.peer_paused_ratio)});
  }
  out += table.text();
  if (busiest.size() > kMostPorts) {
    out += fmt::format("<p class='faint'>{} more with shorter queues; --json has all {}.</p>\n",
                       busiest.size() - kMostPorts, ports.size());
  }
  return out;
}

}  // namespace rocetune::report
