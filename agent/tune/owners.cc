#include "agent/tune/owners.h"

#include <algorithm>

#include "dataplane/base/toml_reader.h"

namespace rocetune::tune {
namespace {

void read_row(TableReader& table, OwnerRow& out) {
  std::vector<std::string> kinds, names;
  for (const auto& [kind, name] : EnumNames<host::KnobKind>::names) kinds.emplace_back(name);
  table.required("name", out.name, not_empty());
  table.required("writes", names);
  std::string origin;
  table.required("origin", origin, not_empty());
  for (const std::string& name : names) {
    const auto found = std::find(kinds.begin(), kinds.end(), name);
    if (found == kinds.end()) {
      table.issue("writes", name, "names of knobs", nearest_name(name, kinds));
    } else {
      out.writes.push_back(
          EnumNames<host::KnobKind>::names[static_cast<std::size_t>(found - kinds.begin())].first);
    }
  }
}

}  // namespace

bool OwnerTable::may_write(std::string_view owner, host::KnobKind kind) const {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const OwnerRow& candidate) { return candidate.name == owner; });
  return row == rows.end() || std::find(row->writes.begin(), row->writes.end(), kind) != row->writes.end();
}

Expected<OwnerTable> owners_from_toml(std::string_view text, const std::string& file) {
  OwnerTable out;
  return read_toml(text, file,
                   [&](TableReader& table) {
                     table.required_array_of_tables("owner", [&](TableReader& entry) {
                       OwnerRow row;
                       read_row(entry, row);
                       out.rows.push_back(std::move(row));
                     });
                   })
      .map([&] { return std::move(out); });
}

}  // namespace rocetune::tune
