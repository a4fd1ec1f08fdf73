// A frame of the engine into a buffer of a port: header, payload, pad and ICRC, in one piece.
#pragma once

#include "dataplane/engine/frame.h"
#include "dataplane/engine/host_memory.h"
#include "dataplane/port/packet_port.h"

namespace rocetune::soft {

// The buffer must hold frame.size() bytes: the port was opened for frames of the path MTU.
inline void write_frame(const engine::TransmitFrame& frame, const engine::HostMemory& memory,
                        port::TransmitBuffer& buffer) {
  buffer.size = static_cast<std::uint32_t>(engine::seal(frame, memory, {buffer.data, buffer.capacity}));
}

}  // namespace rocetune::soft
