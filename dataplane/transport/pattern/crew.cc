#include "dataplane/transport/pattern/crew.h"

namespace rocetune::pattern {

void Crew::follow(unsigned index) {
  Role& role = *roles_[index];
  std::uint64_t seen = 0;
  Expected<> status;
  while (!is_dismissed_.load(std::memory_order_acquire)) {
    if (status) status = role.turn();
    const std::uint64_t number = number_.load(std::memory_order_acquire);
    if (number == seen) continue;
    seen = number;
    if (status) status = (*command_)(role);
    errors_[index] = status;
    done_.fetch_add(1, std::memory_order_release);
  }
}

Expected<> Crew::all(const Command& command) {
  command_ = &command;
  done_.store(0, std::memory_order_relaxed);
  number_.fetch_add(1, std::memory_order_release);
  Expected<> own = command(*roles_.front());
  while (done_.load(std::memory_order_acquire) + 1 < roles_.size()) {
    if (own) own = turn();
  }
  errors_.front() = own;
  for (const Expected<>& error : errors_) {
    if (!error) return error;
  }
  return {};
}

void Crew::dismiss() { is_dismissed_.store(true, std::memory_order_release); }

}  // namespace rocetune::pattern
