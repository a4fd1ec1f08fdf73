#include "dataplane/fabric/job.h"

#include <algorithm>

namespace rocetune::fabric {
namespace {

std::uint32_t immediate_of(std::uint32_t instance, std::uint32_t receive) {
  return instance * kMostReceives | receive;
}

JobMessage message(const Job& job, std::uint32_t instance, const JobSeat& seat, const schedule::Send& send) {
  const JobStep& step = job.step(instance);
  const auto offset = [&](std::uint32_t piece) {
    return schedule::piece_offset(step.bytes, seat.schedule->pieces(), piece, kElement);
  };
  return {.to = step.member(seat.group, send.to),
          .bytes = offset(send.pieces.end()) - offset(send.pieces.first),
          .immediate = immediate_of(instance, send.arrives)};
}

}  // namespace

JobSeat Job::seat_of(std::uint32_t instance, Rank rank) const {
  const JobStep& step = this->step(instance);
  if (rank >= ranks()) {
    const Reducer& reducer = reducers[rank - ranks()];
    if (reducer.step != instance % steps.size()) return {};
    return {step.trees[reducer.group].schedule.get(), reducer.group, step.grouping.size + reducer.index};
  }
  const Rank group = step.grouping.group_of(rank);
  const auto& schedule = step.trees.empty() ? step.schedule : step.trees[group].schedule;
  return {schedule.get(), group, step.grouping.index_of(rank)};
}

std::vector<JobMessage> messages_of(const Job& job, std::uint32_t instance, Rank rank) {
  const JobSeat seat = job.seat_of(instance, rank);
  std::vector<JobMessage> out;
  if (seat.schedule == nullptr) return out;
  for (std::uint32_t i = 0; i < seat.schedule->sends(seat.index); ++i)
    out.push_back(message(job, instance, seat, seat.schedule->send(seat.index, i)));
  return out;
}

JobMessage JobRank::message_of(std::uint32_t send) const {
  const JobSeat seat = job_.seat_of(instance_, rank_);
  return message(job_, instance_, seat, seat.schedule->send(seat.index, send));
}

void JobRank::start(std::vector<JobMessage>& out) {
  is_started_ = true;
  const JobSeat seat = job_.seat_of(instance_, rank_);
  if (seat.schedule == nullptr) return;
  const Rank index = seat.index;
  const schedule::Schedule& schedule = *seat.schedule;
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
