#include "congestion/pfc.h"

#include <algorithm>

#include "congestion/fixed_point.h"

namespace rocetune {

void PauseState::pause(Instant now, Priority p, PauseQuanta quanta) {
  const std::size_t i = index(p);
  const bool paused_already = now < until_[i];
  const Instant until = now + quanta.at(link_);
  if (!paused_already) {
    if (quanta == PauseQuanta(0)) return;  // a resume nobody waits for
    total_[i] += until_[i] - since_[i];
    since_[i] = now;
    ++transitions_[i];
  }
  until_[i] = until;
}

void PauseState::on_pfc(Instant now, const PfcMessage& message) {
  for (int p = 0; p < Priority::kCount; ++p) {
    const Priority priority(p);
    if (message.enabled.contains(priority)) pause(now, priority, message.quanta[index(priority)]);
  }
}

void PauseState::on_global_pause(Instant now, PauseQuanta quanta) {
  for (int p = 0; p < Priority::kCount; ++p) pause(now, Priority(p), quanta);
}

Duration PauseState::paused_time(Instant now, Priority p) const {
  const std::size_t i = index(p);
  return total_[i] + (std::min(now, until_[i]) - since_[i]);
}

Pauser::Pauser(BitRate link, PauserParameters parameters)
    : refresh_interval_(mul_div(parameters.quanta.at(link).count(), parameters.refresh.count(), Ratio::kOne)),
      quanta_(parameters.quanta) {
  ROCETUNE_ASSERT(parameters.quanta > PauseQuanta(0));
  ROCETUNE_ASSERT(parameters.refresh > Ratio(0) && parameters.refresh < Ratio::one());
}

std::optional<PfcMessage> Pauser::on_buffer(Instant now, Priority p, bool above_xoff) {
  if (paused_.contains(p) == above_xoff) return std::nullopt;
  const auto i = static_cast<std::size_t>(p.value());
  PfcMessage message{.enabled = PrioritySet::of(p)};
  if (above_xoff) {
    paused_ = paused_.with(p);
    message.quanta[i] = quanta_;
    refresh_at_[i] = now + refresh_interval_;
  } else {
    paused_ = paused_.without(p);
  }
  return message;
}

std::optional<PfcMessage> Pauser::on_timer(Instant now) {
  PfcMessage message;
  for (int p = 0; p < Priority::kCount; ++p) {
    const auto i = static_cast<std::size_t>(p);
    if (!paused_.contains(Priority(p)) || refresh_at_[i] > now) continue;
    message.enabled = message.enabled.with(Priority(p));
    message.quanta[i] = quanta_;
    refresh_at_[i] = now + refresh_interval_;
  }
  if (message.enabled.is_empty()) return std::nullopt;
  return message;
}

Instant Pauser::next_timer() const {
  Instant next = Instant::never();
  for (int p = 0; p < Priority::kCount; ++p) {
    if (paused_.contains(Priority(p))) next = std::min(next, refresh_at_[static_cast<std::size_t>(p)]);
  }
  return next;
}

}  // namespace rocetune
