// What a user asks a queue pair to do. One segment of local memory per request. Source: InfiniBand
// architecture specification, volume 1, sections 9.4 and 11.4.1.
#pragma once

#include <tl/expected.hpp>

#include <cstdint>

#include "dataplane/base/reflect.h"
#include "dataplane/engine/memory_region.h"

namespace rocetune::engine {

enum class SendKind : std::uint8_t { send, write, read, compare_swap, fetch_add };

struct SendRequest {
  std::uint64_t work_id = 0;  // comes back in the completion
  SendKind kind = SendKind::send;
  bool signaled = true;         // false: completes silently unless it fails
  bool solicited = false;       // SEND, WRITE with immediate: the receiver's completion is marked
  bool fenced = false;          // waits until every earlier READ and atomic is done
  bool has_immediate = false;   // SEND, WRITE
  bool has_invalidate = false;  // SEND
  std::uint32_t immediate = 0;
  MemoryKey invalidate;              // a key of the peer
  Buffer local;                      // source; READ, atomics: where the result goes (atomics: 8 bytes)
  std::uint64_t remote_address = 0;  // WRITE, READ, atomics (a multiple of 8)
  MemoryKey remote_key;
  std::uint64_t swap_or_add = 0;  // atomics
  std::uint64_t compare = 0;      // compare_swap
};

struct ReceiveRequest {
  std::uint64_t work_id = 0;
  Buffer local;  // UD: 40 bytes of network header come first
};

// Why a request was not taken. Nothing was changed.
enum class PostRefusal : std::uint8_t {
  unknown_queue_pair,
  not_connected,     // send before connect, or anything after an error
  queue_full,        // this queue pair's depth
  endpoint_full,     // the requests of all queue pairs together
  completions_full,  // poll_completion first
  bad_local_key,     // local key, bounds or permission
  too_long,          // more than kLongestMessage
  misaligned,        // atomic on an address that is no multiple of 8, or a result that is not 8 bytes
  not_supported,     // this service cannot, or a combination that does not exist
};
using Posted = tl::expected<void, PostRefusal>;

// Longest message. The specification allows 2^31 bytes; this is what adapters offer, and keeps a READ at a
// path MTU of 256 within a quarter of the PSN circle.
constexpr std::uint32_t kLongestMessage = std::uint32_t{1} << 30;

}  // namespace rocetune::engine

namespace rocetune {
ROCETUNE_ENUM(engine::SendKind, P{E::send, "send"}, P{E::write, "write"}, P{E::read, "read"},
              P{E::compare_swap, "compare_swap"}, P{E::fetch_add, "fetch_add"});
ROCETUNE_ENUM(engine::PostRefusal, P{E::unknown_queue_pair, "unknown_queue_pair"},
              P{E::not_connected, "not_connected"}, P{E::queue_full, "queue_full"},
              P{E::endpoint_full, "endpoint_full"}, P{E::completions_full, "completions_full"},
              P{E::bad_local_key, "bad_local_key"}, P{E::too_long, "too_long"},
              P{E::misaligned, "misaligned"}, P{E::not_supported, "not_supported"});
}  // namespace rocetune
