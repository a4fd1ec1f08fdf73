// Sets a sniffer up on a device: raw packet queue pair, its completion queue and memory, and the flow that
// mirrors the port's RoCE packets to it.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "dataplane/verbs/part.h"

namespace rocetune::verbs {

// Takes the open device over. Errors: those of VerbsPart::sniff.
Expected<std::unique_ptr<Sniffer>> open_sniffer(ibv_context* context, const SniffRequest& request);

// Width and speed codes of ibv_port_attr to a rate. Nothing for codes that no verbs header names.
// Source: InfiniBand architecture specification, volume 1, PortInfo LinkWidthActive and LinkSpeedActive.
std::optional<BitRate> link_rate(std::uint8_t active_width, std::uint8_t active_speed);

}  // namespace rocetune::verbs
