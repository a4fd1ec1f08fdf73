#include "agent/report/busiest_ports.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
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

using fabric::PortResult;

// What a port may have done, apart from its queue; left out where no port did.
struct Deed {
  std::string_view title, unit, explanation;
  bool (*is_done)(const PortResult&);
  Table::Cell (*cell)(const PortResult&);
};
constexpr std::array kDeeds{
    Deed{"CE", "", "packets marked", [](const PortResult& p) { return p.ce_marked > 0; },
         [](const PortResult& p) { return count_cell(p.ce_marked); }},
    Deed{"drops", "", "packets", [](const PortResult& p) { return p.drops > 0; },
         [](const PortResult& p) { return count_cell(p.drops, "warn"); }},
    Deed{"Xoff sent", "", "to the peer", [](const PortResult& p) { return p.pauses_sent > 0; },
         [](const PortResult& p) { return count_cell(p.pauses_sent); }},
    Deed{"Xoff received", "", "from the peer", [](const PortResult& p) { return p.pauses_received > 0; },
         [](const PortResult& p) { return count_cell(p.pauses_received); }},
    Deed{"held by peer", "%", "of the time", [](const PortResult& p) { return p.paused_ratio > 0; },
         [](const PortResult& p) { return ratio_cell(p.paused_ratio); }},
    Deed{"holds peer", "%", "of the time", [](const PortResult& p) { return p.peer_paused_ratio > 0; },
         [](const PortResult& p) { return ratio_cell(p.peer_paused_ratio); }},
};

Table::Column column_of(const Deed& deed) {
  return {.title = std::string(deed.title),
          .unit = std::string(deed.unit),
          .explanation = std::string(deed.explanation)};
}

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
  std::vector<Table::Column> columns{{.title = "port", .align = Align::left},
                                     {.title = "to", .align = Align::left},
                                     {.title = "queue mean", .unit = "kB"},
                                     {.title = "p99", .unit = "kB"},
                                     {.title = "max", .unit = "kB"}};
  std::vector<const Deed*> done;
  std::string never;
  for (const Deed& deed : kDeeds) {
    if (std::ranges::any_of(ports, deed.is_done)) {
      done.push_back(&deed);
      columns.push_back(column_of(deed));
    } else {
      never += fmt::format("{}{}", never.empty() ? "" : ", ", deed.title);
    }
  }
  Table table(std::move(columns));
  double longest = 0;
  for (const PortResult* port : busiest)
    longest = std::max(longest, static_cast<double>(port->queue_bytes.max));
  for (std::size_t i = 0; i < std::min(busiest.size(), kMostPorts); ++i) {
    const PortResult& p = *busiest[i];
    const auto most = static_cast<double>(p.queue_bytes.max);
    std::vector<Table::Cell> cells{p.name, p.peer, kilobytes(p.queue_bytes.mean),
                                   kilobytes(static_cast<double>(p.queue_bytes.p99)),
                                   Table::Cell(kilobytes(most)).with_bar(longest > 0 ? most / longest : 0)};
    for (const Deed* deed : done) cells.push_back(deed->cell(p));
    table.add_row(std::move(cells));
  }
  out += table.text();
  if (!never.empty()) out += "<p class='faint'>At no port: " + never + ".</p>\n";
  if (busiest.size() > kMostPorts) {
    out += fmt::format("<p class='faint'>{} more with shorter queues; --json has all {}.</p>\n",
                       busiest.size() - kMostPorts, ports.size());
  }
  return out;
}

}  // namespace rocetune::report
