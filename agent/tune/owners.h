// Which knobs other programs of a host write: configs/tune/owners.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/host/knob.h"
#include "dataplane/base/error.h"

namespace rocetune::tune {

struct OwnerRow {
  std::string name;  // host::Owner::name
  std::vector<host::KnobKind> writes;
};

struct OwnerTable {
  std::vector<OwnerRow> rows;
  // A program without a row may write everything.
  bool may_write(std::string_view owner, host::KnobKind kind) const;
};

// Error: bad_input with all issues.
Expected<OwnerTable> owners_from_toml(std::string_view text, const std::string& file);

}  // namespace rocetune::tune
