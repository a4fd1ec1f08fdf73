// The two controllers that ignore the network: a fixed rate, and none at all (line rate).
#pragma once

#include "congestion/controller.h"

namespace rocetune {

// Paces at one rate whatever happens: a rate limiter, or the unresponsive flow of an experiment.
class FixedRate {
 public:
  explicit FixedRate(BitRate rate) : rate_(rate) { ROCETUNE_ASSERT(rate > BitRate(0)); }
  void on_cnp(Instant) {}
  void on_ack(Instant, const AckSample&) {}
  void on_bytes_sent(Instant, Bytes) {}
  void on_loss(Instant) {}
  void on_timer(Instant) {}
  Instant next_timer() const { return Instant::never(); }
  BitRate rate() const { return rate_; }
  std::optional<Bytes> window() const { return std::nullopt; }

 private:
  BitRate rate_;
};
static_assert(RateController<FixedRate>);

// No congestion control: PFC or loss alone keep the flow in check.
class Uncontrolled : public FixedRate {
 public:
  explicit Uncontrolled(BitRate line_rate) : FixedRate(line_rate) {}
};
static_assert(RateController<Uncontrolled>);

}  // namespace rocetune
