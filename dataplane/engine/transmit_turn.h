// One turn of one queue pair at the transmitter: room for some frames, and what its controller allows. The
// controller is visited when the first data frame of the turn comes up and when the turn ends, not per
// packet.
#pragma once

#include "dataplane/engine/endpoint_state.h"

namespace rocetune::engine {

class TransmitTurn {
 public:
  TransmitTurn(EndpointState& state, std::uint32_t row, Instant now, std::span<TransmitFrame> frames)
      : state_(&state), row_(row), now_(now), frames_(frames) {}

  Instant now() const { return now_; }
  bool has_room() const { return count_ < frames_.size(); }
  std::size_t count() const { return count_; }
  // The next frame to fill; has_room() must hold. It counts once taken.
  TransmitFrame& frame() { return frames_[count_]; }
  void take() { ++count_; }

  // Whether a frame of data may leave now. If not, the turn has noted when.
  bool pace_allows() {
    if (!is_open_) open();
    return !is_limited_ || is_due();
  }
  // Like take(); the frame is data, and the pace counts it.
  void take_data() {
    const Bytes length = paced_length();
    sent_ += length;
    if (is_limited_) space(length);
    take();
  }
  // Likewise; it is a request.
  void take_request() {
    last_request_ = &frame();
    take_data();
  }
  // The last request of this turn; none yet: null.
  TransmitFrame* last_request() { return last_request_; }
  // So slow that acknowledgements must be asked for packet by packet, or the timeout passes between them.
  bool crawls() const { return crawls_; }
  // Unacknowledged bytes the controller allows; empty: no limit. Valid once pace_allows() was called.
  const std::optional<Bytes>& window() const { return window_; }
  // Tells the controller what left. `idle`: nothing more to send, so the past gives no credit later.
  void end(bool idle);

 private:
  void open();
  bool is_due();
  void space(Bytes frame);
  // Of the frame to take, as the pace counts it.
  Bytes paced_length() {
    const auto& around = state_->options.pace.around_payload;
    return around ? Bytes(frame().payload.length) + *around
                  : Bytes(static_cast<std::int64_t>(frame().size()));
  }

  EndpointState* state_;
  std::uint32_t row_;
  Instant now_;
  std::span<TransmitFrame> frames_;
  std::size_t count_ = 0;
  bool is_open_ = false;
  bool is_limited_ = false;  // below line rate: the port alone does not pace it
  bool crawls_ = false;
  Bytes sent_;
  TransmitFrame* last_request_ = nullptr;
  std::optional<Bytes> window_;
};

}  // namespace rocetune::engine
