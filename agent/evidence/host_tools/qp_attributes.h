// Attributes of a queue pair by the names of struct ibv_qp_attr, "name: value" or "name = value".
#pragma once

#include <map>
#include <string>

#include "agent/evidence/format.h"

namespace rocetune::evidence {

struct QpAttributes {
  std::map<std::string, std::int64_t, std::less<>> values;
  std::map<std::string, int, std::less<>> lines;
  std::optional<std::int64_t> value(std::string_view name) const;
  int line(std::string_view name) const;
};

// The timer that a receiver asks the sender to wait, from its code 0..31: 0 is the longest, 655.36 ms.
// Source: InfiniBand Architecture Specification, table of the RNR NAK timer.
std::optional<double> rnr_timer_ms(std::int64_t code);

Format qp_attributes_format();

}  // namespace rocetune::evidence
