#include "dataplane/fabric/job.h"

#include <algorithm>

namespace rocetune::fabric {
namespace {

std::uint32_t immediate_of(std::uint32_t instance, std::uint32_t receive) {
  return instance * kMostReceives | receive;
}

JobMessage message(const Job& job, std::uint32_t instance, Rank rank, const schedule::Send& send) {
  const JobStep& step = job.step(instance);
  const auto offset = [&](std::uint32_t piece) {
    return schedule::piece_offset(step.bytes, step.schedule->pieces(), piece, kElement);
  };
  return {.to = step.grouping.member(rank, send.to),
          .bytes = offset(send.pieces.end()) - offset(send.pieces.first),
          .immediate = immediate_of(instance, send.arrives)};
}

}  // namespace

std::vector<JobMessage> messages_of(const Job& job, std::uint32_t instance, Rank rank) {
  const JobStep& step = job.step(instance);
  std::vector<JobMessage> out;
  if (step.schedule == nullptr) return out;
  const Rank index = step.grouping.index_of(rank);
  for (std::uint32_t i = 0; i < step.schedule->sends(index); ++i)
    out.push_back(message(job, instance, rank, step.schedule->send(index, i)));
  return out;
}

JobMessage JobRank::message_of(std::uint32_t send) const {
  const JobStep& step = job_.step(instance_);
  return message(job_, instance_, rank_, step.schedule->send(step.grouping.index_of(rank_), send));
}

void JobRank::start(std::vector<JobMessage>& out) {
  is_started_ = true;
  const JobStep& step = job_.step(instance_);
  if (step.schedule == nullptr) return;
  const Rank index = step.grouping.index_of(rank_);
  const schedule::Schedule& schedule = *step.schedule;
  const std::uint32_t sends = unacknowledged_ = schedule.sends(index);
  const std::uint32_t receives = unreceived_ = schedule.receives(index);
  missing_.assign(sends, 0);
  begins_.assign(receives + 1, 0);
  for (std::uint32_t i = 0; i < sends; ++i) {
    const schedule::Range after = schedule.send(index, i).after;
    missing_[i] = after.count;
    for (std::uint32_t r = after.first; r < after.end(); ++r) ++begins_[r];
  }
  std::uint32_t sum = 0;
  for (std::uint32_t& begin : begins_) begin = std::exchange(sum, sum + begin);
  waiting_.resize(sum);
  std::vector<std::uint32_t> filled(begins_);
  for (std::uint32_t i = 0; i < sends; ++i) {
    const schedule::Range after = schedule.send(index, i).after;
    for (std::uint32_t r = after.first; r < after.end(); ++r) waiting_[filled[r]++] = i;
  }
  for (std::uint32_t i = 0; i < sends; ++i) {
    if (missing_[i] == 0) out.push_back(message_of(i));
  }
  const auto later = std::ranges::stable_partition(
      early_, [&](std::uint32_t immediate) { return immediate / kMostReceives != instance_; });
  const std::vector<std::uint32_t> now(later.begin(), later.end());
  early_.erase(later.begin(), later.end());
  for (const std::uint32_t immediate : now) count_received(immediate % kMostReceives, out);
}

void JobRank::on_received(std::uint32_t immediate, std::vector<JobMessage>& out) {
  if (is_started_ && immediate / kMostReceives == instance_) {
    count_received(immediate % kMostReceives, out);
  } else {
    early_.push_back(immediate);
  }
}

void JobRank::count_received(std::uint32_t receive, std::vector<JobMessage>& out) {
  ROCETUNE_ASSERT(unreceived_ > 0 && receive + 1 < begins_.size());
  --unreceived_;
  for (std::uint32_t i = begins_[receive]; i < begins_[receive + 1]; ++i) {
    if (--missing_[waiting_[i]] == 0) out.push_back(message_of(waiting_[i]));
  }
}

bool JobRank::finish_step(Instant now) {
  spans_[instance_].end = now;
  is_started_ = false;
  ++instance_;
  if (!is_finished()) return true;
  missing_ = begins_ = waiting_ = early_ = {};
  return false;
}

}  // namespace rocetune::fabric
