// A file of flows to replay, a line each: start_us,from,to,bytes. Microseconds may have up to six decimals.
// Blank lines and lines that begin with # are passed over; so is a first line with these four names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/fabric/host_node.h"

namespace rocetune::fabric {

struct FlowFile {
  static constexpr std::size_t kMostIssues = 20;
  std::vector<Flow> flows;         // from, to, bytes and start; in the order of the file
  std::vector<InputIssue> issues;  // by line; more than kMostIssues are counted in one more
};

// `islands`: by host, as islands_of() has them; as many as there are hosts. Flows start from 0 to `latest`.
// Of a bad line the first issue is told.
FlowFile parse_flow_file(std::string_view text, const std::string& file, std::span<const NodeId> islands,
                         Duration latest);

}  // namespace rocetune::fabric
