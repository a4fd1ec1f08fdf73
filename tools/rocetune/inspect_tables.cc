#include "tools/rocetune/inspect_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace rocetune::cli {
namespace {

// Numbers as ranges: "0-7, 26".
std::string ranges(const std::set<int>& numbers) {
  std::vector<std::string> out;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const int first = *at;
    int last = first;
    while (++at != numbers.end() && *at == last + 1) last = *at;
    out.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  }
  return joined(out);
}

// "DCB netlink: PFC" and its sisters as "DCB netlink (PFC, ETS)", or "DCB netlink" if all of them are in
// `names`.
std::string collapsed(const std::vector<std::string>& names, const std::vector<std::string>& all) {
  const auto group_of = [](const std::string& name) { return name.substr(0, name.find(": ")); };
  const auto size_in = [&](const std::vector<std::string>& list, const std::string& group) {
    return std::count_if(list.begin(), list.end(),
                         [&](const std::string& name) { return group_of(name) == group; });
  };
  std::vector<std::string> out;
  std::set<std::string> done;
  for (const std::string& name : names) {
    const std::string group = group_of(name);
    if (!done.insert(group).second) continue;
    if (group == name || size_in(names, group) == size_in(all, group)) {
      out.push_back(group);
      continue;
    }
    std::vector<std::string> members;
    for (const std::string& other : names) {
      if (group_of(other) == group) members.push_back(other.substr(group.size() + 2));
    }
    out.push_back(fmt::format("{} ({})", group, joined(members)));
  }
  return joined(out);
}

}  // namespace

TextTable class_map(const host::Dcb& dcb) {
  TextTable table({{.title = "priority", .align = Align::right},
                   {.title = "DSCP", .overflow = Overflow::wrap},
                   {.title = "PFC"},
                   {.title = "buffer", .align = Align::right},
                   {.title = "size", .unit = "B", .align = Align::right},
                   {.title = "TC", .align = Align::right},
                   {.title = "algorithm"},
                   {.title = "share", .unit = "%", .align = Align::right},
                   {.title = "limit", .align = Align::right}});
  if (!dcb.pfc && !dcb.ets && !dcb.buffers) return table;
  for (int p = 0; p < 8; ++p) {
    const auto at = static_cast<std::size_t>(p);
    std::set<int> dscps;
    if (dcb.app) {
      for (const host::AppEntry& entry : *dcb.app) {
        if (entry.selector == host::AppSelector::dscp && entry.priority == Priority(p))
          dscps.insert(entry.protocol);
      }
    }
    std::string dscp_text = ranges(dscps);
    if (dcb.trust && *dcb.trust == host::Trust::dscp && p == 0)
      dscp_text += dscp_text.empty() ? "all others" : ", all others";
    if (dcb.trust && *dcb.trust == host::Trust::pcp) dscp_text = "by PCP";
    const bool lossless = dcb.pfc && dcb.pfc->enabled.contains(Priority(p));
    std::string buffer, size, tc, algorithm, share, limit;
    if (dcb.buffers) {
      const std::uint8_t number = dcb.buffers->buffer_of_priority[at];
      buffer = fmt::format("{}", number);
      if (number < 8) size = fmt::format("{}", dcb.buffers->size[number].count());
    }
    if (dcb.ets) {
      const auto index = static_cast<std::size_t>(dcb.ets->tc_of_priority[at].value());
      tc = fmt::format("{}", index);
      algorithm = enum_name(dcb.ets->tsa[index]);
      if (dcb.ets->tsa[index] == host::Tsa::ets) share = fmt::format("{}", dcb.ets->tx_share_percent[index]);
      if (dcb.max_rate && !(*dcb.max_rate)[index].is_zero()) limit = to_text((*dcb.max_rate)[index]);
    }
    table.add_row({fmt::format("{}", p),
                   dscp_text,
                   {dcb.pfc ? (lossless ? "lossless" : "-") : "", lossless ? Paint::notice : Paint::plain},
                   buffer,
                   size,
                   tc,
                   algorithm,
                   share,
                   limit});
  }
  return table;
}

TextTable parameter_table(const host::Port& port, const host::NicRow& row) {
  TextTable table({{.title = "parameter"},
                   {.title = "value", .align = Align::right},
                   {.title = "unit"},
                   {.title = "default", .align = Align::right},
                   {.title = ""},
                   {.title = "meaning", .overflow = Overflow::wrap}});
  if (!port.cc_params) return table;
  for (const auto& [name, value] : *port.cc_params) {
    const host::CcParameter* const known = row.cc.find(name);
    std::string unit, usual, note, role;
    Paint paint = Paint::plain;
    if (known != nullptr) {
      unit = known->unit;
      role = known->role;
      if (known->default_value) {
        usual = fmt::format("{}", *known->default_value);
        note = value == *known->default_value ? "" : "changed";
      }
      if (value < known->min || value > known->max) {
        note = fmt::format("allowed {}..{}", known->min, known->max);
        paint = Paint::warning;
      } else if (!note.empty()) {
        paint = Paint::notice;
      }
    }
    table.add_row(
        {name, {fmt::format("{}", value), paint}, unit, usual, {note, paint}, {role, Paint::faint}});
  }
  return table;
}

void add_interfaces(const std::vector<host::InterfaceState>& interfaces, const std::string& port,
                    bool list_usable, Section& out) {
  using State = host::InterfaceState::State;
  struct Reason {
    State state;
    std::string why;
    std::vector<std::string> names;
  };
  std::vector<std::string> all, usable;
  std::vector<Reason> reasons;
  for (const host::InterfaceState& interface : interfaces) {
    if (interface.port != port) continue;
    all.push_back(interface.name);
    if (interface.state == State::usable) {
      usable.push_back(interface.name);
      continue;
    }
    auto known = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& reason) {
      return reason.state == interface.state && reason.why == interface.why;
    });
    if (known == reasons.end()) known = reasons.insert(reasons.end(), {interface.state, interface.why, {}});
    known->names.push_back(interface.name);
  }
  out.line("usable", list_usable ? joined(usable) : collapsed(usable, all));
  for (const Reason& reason : reasons) {
    out.line(std::string(enum_name(reason.state)),
             fmt::format("{}: {}", collapsed(reason.names, all), reason.why),
             reason.state == State::absent ? Paint::faint : Paint::warning);
  }
}

}  // namespace rocetune::cli
