// [topology] with shape = "links": every link said one by one.
#pragma once

#include <cstdint>
#include <string_view>

#include "dataplane/base/toml_reader.h"
#include "dataplane/fabric/topology.h"

namespace rocetune::fabric {

constexpr std::uint32_t kMostPorts = 1024;  // of a switch towards hosts, and towards other switches

// A number in digits, from `least` to `most`.
Parsed<std::uint32_t> parse_count(std::string_view text, std::uint32_t least, std::uint32_t most);
// "host 3", "switch 0"
Parsed<NodeId> parse_node(std::string_view text, const Topology& topology);

// `loss` and `bit_error_rate`. False: there was an issue.
bool read_loss(TableReader& t, LinkSpec& out);
// `delay`, or `length` of the cable instead. False: there was an issue.
bool read_delay(TableReader& t, LinkSpec& out);

// hosts, switches and [[topology.links]], each with a, b and what differs from `usual`. Issues are recorded
// with the reader; the topology then is empty.
Topology read_links(TableReader& t, const LinkSpec& usual);

}  // namespace rocetune::fabric
