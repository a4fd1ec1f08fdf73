// What several hosts do together, step after step: compute, then a collective operation among groups of them.
// Training as the network sees it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataplane/fabric/packet.h"
#include "dataplane/schedule/schedule.h"

namespace rocetune::fabric {

using schedule::Rank;

// Ranks form groups of `size` whose members stand `stride` apart: stride 1 are neighbours (tensor parallel),
// groups of ranks / stride every stride-th rank (data parallel). The ranks of a job must be a multiple of
// size x stride.
struct Grouping {
  Rank size = 1;
  Rank stride = 1;
  Rank index_of(Rank rank) const { return rank % (size * stride) / stride; }
  Rank group_of(Rank rank) const { return rank / (size * stride) * stride + rank % stride; }
  Rank member(Rank group, Rank index) const {
    return group / stride * (size * stride) + index * stride + group % stride;
  }
};

struct JobStep {
  std::string name;
  Duration compute;  // before its messages
  // Followed by every group; none: the step only computes.
  std::shared_ptr<const schedule::Schedule> schedule;
  Grouping grouping;
  std::uint64_t bytes = 0;  // of each rank's buffer; a multiple of kElement
  // in_network: each group has its own reducers, and with them a schedule; `schedule` is the first one's.
  struct Tree {
    std::shared_ptr<const schedule::Schedule> schedule;
    std::vector<std::uint32_t> switches;  // by reducer
    Rank first_reducer = 0;               // which rank of the job it is
  };
  std::vector<Tree> trees = {};  // by group

  // Of a group: its ranks, then its reducers, as ranks of the job.
  Rank member(Rank group, Rank index) const {
    return index < grouping.size ? grouping.member(group, index)
                                 : trees[group].first_reducer + (index - grouping.size);
  }
};
constexpr std::uint32_t kElement = 4;  // bytes: cuts of a buffer lie between elements

// What a rank of a job is in one step: that member of a schedule. No schedule: it has no message to send.
struct JobSeat {
  const schedule::Schedule* schedule = nullptr;
  Rank group = 0;
  Rank index = 0;
};

struct Job {
  std::string name;
  std::vector<NodeId> hosts;  // by rank; then those of reducers, which are ranks that never compute
  struct Reducer {
    std::uint32_t step;  // it only takes part in this one
    Rank group;
    Rank index;  // among that group's reducers
  };
  std::vector<Reducer> reducers = {};
  Instant start;
  std::vector<JobStep> steps;
  std::uint32_t repeat = 1;  // of all steps
  std::uint32_t window = 2;  // messages posted at once from one rank to another

  Rank ranks() const { return static_cast<Rank>(hosts.size() - reducers.size()); }
  JobSeat seat_of(std::uint32_t instance, Rank rank) const;
  std::uint32_t instances() const { return repeat * static_cast<std::uint32_t>(steps.size()); }
  const JobStep& step(std::uint32_t instance) const { return steps[instance % steps.size()]; }
};
// Steps of a job, repetitions counted; receives of a rank in one step: what an immediate has room to name.
constexpr std::uint32_t kMostInstances = 1U << 12;
constexpr std::uint32_t kMostReceives = 1U << 20;

struct JobMessage {
  Rank to = 0;  // of the job
  std::uint64_t bytes = 0;
  std::uint32_t immediate = 0;
};

// All that `rank` sends in one step, in order.
std::vector<JobMessage> messages_of(const Job& job, std::uint32_t instance, Rank rank);

// How far one rank has come. No clock: whoever drives it says what time it is.
//
//   begin(now)           the step's computing starts; it takes compute()
//   start(out)           it is done: messages that wait for nothing
//   on_received, on_acknowledged ...
//   is_step_finished()   then finish_step(now), and begin() again while it says that there is more
class JobRank {
 public:
  JobRank(const Job& job, Rank rank) : job_(job), rank_(rank), spans_(job.instances()) {}

  const Job& job() const { return job_; }
  Rank rank() const { return rank_; }
  Duration compute() const { return rank_ < job_.ranks() ? job_.step(instance_).compute : Duration(0); }

  void begin(Instant now) { spans_[instance_].begin = now; }
  void start(std::vector<JobMessage>& out);
  // A message with this immediate has arrived. Adds to `out` what may be sent because of it. One that belongs
  // to a later step counts when that begins.
  void on_received(std::uint32_t immediate, std::vector<JobMessage>& out);
  void on_acknowledged() { --unacknowledged_; }
  bool is_step_finished() const { return is_started_ && unacknowledged_ == 0 && unreceived_ == 0; }
  // True: there is another step.
  bool finish_step(Instant now);
  bool is_finished() const { return instance_ == spans_.size(); }

  struct Span {
    Instant begin = Instant::never();
    Instant end = Instant::never();
  };
  const std::vector<Span>& spans() const { return spans_; }  // by instance

 private:
  void count_received(std::uint32_t receive, std::vector<JobMessage>& out);
  JobMessage message_of(std::uint32_t send) const;

  const Job& job_;
  Rank rank_;
  std::uint32_t instance_ = 0;
  bool is_started_ = false;
  std::uint32_t unacknowledged_ = 0;  // messages of this step, sent or to be sent
  std::uint32_t unreceived_ = 0;
  std::vector<std::uint32_t> missing_;  // by send: receives that it still waits for
  // By receive r: the sends that wait for it are waiting_[begins_[r]] to waiting_[begins_[r + 1] - 1].
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint32_t> early_;  // immediates of later steps
  std::vector<Span> spans_;
};

}  // namespace rocetune::fabric
