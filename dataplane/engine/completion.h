// What became of a work request. Source: InfiniBand architecture specification, volume 1, section 11.6.2
// (completion return status).
#pragma once

#include <cstdint>

#include "dataplane/base/reflect.h"
#include "dataplane/engine/payload.h"
#include "dataplane/engine/untouched_array.h"
#include "dataplane/wire/psn.h"

namespace rocetune::engine {

enum class CompletionStatus : std::uint8_t {
  success,
  local_length_error,        // a message longer than the receive buffer
  local_protection_error,    // a receive or result buffer whose key no longer allows it
  remote_invalid_request,    // NAK: the responder could not make sense of the request
  remote_access_error,       // NAK: key, bounds or permission
  remote_operational_error,  // NAK: the responder failed
  retries_exceeded,          // no answer, or the same gap, retry_count times
  rnr_retries_exceeded,      // no receive request at the peer, rnr_retry times
  bad_response,              // an answer that cannot belong to the request
  flushed,                   // the queue pair failed before; nothing is known about this request
};

enum class CompletionKind : std::uint8_t {
  send,
  write,
  read,
  compare_swap,
  fetch_add,
  receive,            // a SEND arrived
  receive_immediate,  // a WRITE with immediate arrived; the buffer of the receive request is untouched
};

struct Completion {
  std::uint64_t work_id = 0;  // as posted
  wire::Qpn qpn;
  CompletionKind kind = CompletionKind::send;
  CompletionStatus status = CompletionStatus::success;
  bool has_immediate = false;
  bool has_invalidated = false;
  bool is_solicited = false;
  std::uint32_t length = 0;     // bytes received or read; 0 unless status is success
  std::uint32_t immediate = 0;  // has_immediate
  MemoryKey invalidated;        // has_invalidated: refused from now on
  wire::Qpn source;             // UD: who sent it
};

// A ring with room for every request that may be outstanding: it cannot overflow, because posting reserves.
// It begins anew whenever it is empty, so that whoever polls in time never leaves the first cache lines.
class CompletionQueue {
 public:
  explicit CompletionQueue(std::uint32_t capacity) : ring_(capacity), capacity_(capacity) {}
  // Takes a place for a later push; false if none is free.
  bool reserve() {
    if (reserved_ == capacity_) return false;
    ++reserved_;
    return true;
  }
  // Gives a place back unused: an unsignalled request that succeeded.
  void cancel() { --reserved_; }
  // The next place to fill; must have been reserved.
  void push(const Completion& completion) {
    ROCETUNE_ASSERT(count_ < reserved_);
    Completion& out = ring_[tail_];  // field by field: a copy would be read before its stores are there
    out.work_id = completion.work_id;
    out.qpn = completion.qpn;
    out.kind = completion.kind;
    out.status = completion.status;
    out.has_immediate = completion.has_immediate;
    out.has_invalidated = completion.has_invalidated;
    out.is_solicited = completion.is_solicited;
    out.length = completion.length;
    out.immediate = completion.immediate;
    out.invalidated = completion.invalidated;
    out.source = completion.source;
    tail_ = tail_ + 1 == capacity_ ? 0 : tail_ + 1;
    ++count_;
  }
  bool pop(Completion& out) {
    if (count_ == 0) return false;
    out = ring_[head_];
    head_ = head_ + 1 == capacity_ ? 0 : head_ + 1;
    --count_;
    --reserved_;
    if (count_ == 0) head_ = tail_ = 0;
    return true;
  }
  std::size_t size() const { return count_; }

 private:
  UntouchedArray<Completion> ring_;
  std::size_t capacity_;
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::size_t count_ = 0;
  std::size_t reserved_ = 0;
};

}  // namespace rocetune::engine

namespace rocetune {
ROCETUNE_ENUM(engine::CompletionStatus, P{E::success, "success"},
              P{E::local_length_error, "local_length_error"},
              P{E::local_protection_error, "local_protection_error"},
              P{E::remote_invalid_request, "remote_invalid_request"},
              P{E::remote_access_error, "remote_access_error"},
              P{E::remote_operational_error, "remote_operational_error"},
              P{E::retries_exceeded, "retries_exceeded"}, P{E::rnr_retries_exceeded, "rnr_retries_exceeded"},
              P{E::bad_response, "bad_response"}, P{E::flushed, "flushed"});
ROCETUNE_ENUM(engine::CompletionKind, P{E::send, "send"}, P{E::write, "write"}, P{E::read, "read"},
              P{E::compare_swap, "compare_swap"}, P{E::fetch_add, "fetch_add"}, P{E::receive, "receive"},
              P{E::receive_immediate, "receive_immediate"});
}  // namespace rocetune
