// Ranks follow their schedules: nothing is sent before what it waits for has arrived, and the time that a
// collective takes is what its algorithm says.
#include "dataplane/fabric/job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "dataplane/base/random.h"
#include "tests/dataplane/fabric/fabric_scenes.h"

namespace rocetune::fabric {
namespace {

using schedule::Algorithm;
using schedule::Collective;

Job job_of(Collective collective, Algorithm algorithm, Rank ranks, std::uint64_t bytes,
           std::uint32_t repeat) {
  Job job{.name = "job", .repeat = repeat};
  for (Rank r = 0; r < ranks; ++r) job.hosts.push_back(r);
  JobStep step{.name = "step", .grouping = {.size = ranks}, .bytes = bytes};
  step.schedule =
      schedule::Schedule::make({.collective = collective, .algorithm = algorithm, .ranks = ranks}).value();
  job.steps.push_back(step);
  return job;
}

// Delivers messages in a random order, but in order between two ranks, until nobody has anything left.
class Exchange {
 public:
  Exchange(const Job& job, std::uint64_t seed)
      : job_(job), random_(seed), ways_(job.hosts.size() * job.hosts.size()) {
    for (Rank r = 0; r < job.hosts.size(); ++r) ranks_.emplace_back(job, r);
  }
  void run() {
    for (JobRank& rank : ranks_) begin(rank);
    while (deliver_one()) {
    }
  }
  bool is_finished() const {
    return std::ranges::all_of(ranks_, [](const JobRank& r) { return r.is_finished(); });
  }
  std::uint64_t delivered() const { return delivered_; }

 private:
  void begin(JobRank& rank) {
    rank.begin(Instant());
    std::vector<JobMessage> out;
    rank.start(out);
    send(rank, out);
  }
  void send(JobRank& rank, const std::vector<JobMessage>& messages) {
    for (const JobMessage& m : messages) ways_[rank.rank() * ranks_.size() + m.to].push_back(m);
    while (!rank.is_finished() && rank.is_step_finished()) {
      if (rank.finish_step(Instant())) begin(rank);
    }
  }
  bool deliver_one() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (!ways_[i].empty()) ready.push_back(i);
    }
    if (ready.empty()) return false;
    const std::size_t way = ready[random_.below(ready.size())];
    const JobMessage message = ways_[way].front();
    ways_[way].pop_front();
    ++delivered_;
    std::vector<JobMessage> out;
    JobRank& to = ranks_[way % ranks_.size()];
    JobRank& from = ranks_[way / ranks_.size()];
    to.on_received(message.immediate, out);
    send(to, out);
    from.on_acknowledged();
    send(from, {});
    return true;
  }
  const Job& job_;
  Random random_;
  std::deque<JobRank> ranks_;
  std::vector<std::deque<JobMessage>> ways_;
  std::uint64_t delivered_ = 0;
};

TEST(JobRank, EveryAlgorithmFinishesInAnyOrderOfArrival) {
  const std::pair<Collective, Algorithm> all[] = {{Collective::all_reduce, Algorithm::ring},
                                                  {Collective::all_reduce, Algorithm::tree},
                                                  {Collective::all_reduce, Algorithm::halving_doubling},
                                                  {Collective::reduce_scatter, Algorithm::ring},
                                                  {Collective::all_gather, Algorithm::ring},
                                                  {Collective::all_to_all, Algorithm::pairwise},
                                                  {Collective::broadcast, Algorithm::chain},
                                                  {Collective::reduce, Algorithm::tree}};
  for (const auto& [collective, algorithm] : all) {
    for (const Rank ranks : {2U, 5U, 8U, 13U}) {
      const Job job = job_of(collective, algorithm, ranks, 4 * 1000, 3);
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Exchange exchange(job, seed);
        exchange.run();
        EXPECT_TRUE(exchange.is_finished())
            << enum_name(collective) << " " << enum_name(algorithm) << " of " << ranks << ", seed " << seed;
      }
    }
  }
}

TEST(JobRank, RingSendsTwiceTheBufferLessTheOwnPart) {
  const Job job = job_of(Collective::all_reduce, Algorithm::ring, 8, 8 * 4096, 1);
  std::uint64_t bytes = 0;
  for (const JobMessage& message : messages_of(job, 0, 3)) bytes += message.bytes;
  EXPECT_EQ(bytes, 2 * 7 * 4096u);
}

TEST(Grouping, NeighboursAndStrides) {
  const Grouping tensor{.size = 4, .stride = 1};
  EXPECT_EQ(tensor.index_of(6), 2u);
  EXPECT_EQ(tensor.group_of(6), 1u);
  EXPECT_EQ(tensor.member(1, 0), 4u);
  const Grouping data{.size = 4, .stride = 4};
  EXPECT_EQ(data.index_of(6), 1u);
  EXPECT_EQ(data.group_of(6), 2u);
  EXPECT_EQ(data.member(2, 3), 14u);
  // Groups partition the ranks: whoever I name as member i names itself the same.
  for (const Grouping g : {tensor, data, Grouping{.size = 2, .stride = 4}}) {
    for (Rank r = 0; r < 16; ++r) {
      const Rank group = g.group_of(r);
      EXPECT_EQ(g.member(group, g.index_of(r)), r);
      for (Rank i = 0; i < g.size; ++i) {
        EXPECT_EQ(g.index_of(g.member(group, i)), i);
        EXPECT_EQ(g.group_of(g.member(group, i)), group);
      }
    }
  }
}

constexpr const char* kRing = R"(
name = "ring"
[topology]
shape = "star"
hosts = 8
[hosts]
mtu = 4096
controller = "off"
[switches]
buffer = "16MiB"
lossless = [3]
[[jobs]]
name = "reduce"
repeat = 2
[[jobs.steps]]
name = "think"
compute = "100us"
[[jobs.steps]]
collective = "all_reduce"
bytes = "8MiB"
)";

TEST(Jobs, ARingTakesTheTimeOfItsBytesOnTheWire) {
  const RunResult r = result_of(kRing);
  EXPECT_EQ(violations(r), "");
  ASSERT_EQ(r.jobs.size(), 1u);
  EXPECT_EQ(r.jobs[0].finished, 8u);
  ASSERT_EQ(r.jobs[0].steps.size(), 2u);
  EXPECT_NEAR(r.jobs[0].steps[0].time_us->mean, 100, 0.001);
  const StepResult& step = r.jobs[0].steps[1];
  EXPECT_EQ(step.count, 2u);
  // 4096 of payload in 4096 + 82 on the wire; 14 steps of 1 MiB, each with a round of latency.
  const double wire_us = 14.0 * (1 << 20) / 4096 * (4096 + 82) * 8 / 100e3;
  EXPECT_GT(step.time_us->min, wire_us);
  EXPECT_LT(step.time_us->max, 1.06 * wire_us);
  EXPECT_NEAR(*step.busbw_gbps, 8.0 * (8 << 20) / step.time_us->mean / 1e3 * 1.75, 0.01);
  // Each repetition begins where the one before it ended, computing first.
  const JobResult& job = r.jobs[0];
  ASSERT_EQ(step.when.size(), job.steps[0].when.size());
  EXPECT_EQ(job.steps[0].when[0].start_us, 0);
  for (std::size_t i = 0; i < step.when.size(); ++i) {
    EXPECT_GE(job.steps[0].when[i].end_us - job.steps[0].when[i].start_us, 100 - 0.001) << i;
    EXPECT_GE(step.when[i].end_us - step.when[i].start_us, step.time_us->min) << i;
  }
}

TEST(Jobs, GroupsDoNotWaitForEachOther) {
  const RunResult r = result_of(kRing, {{"jobs.0.steps.1.group", "4"}});
  EXPECT_EQ(r.jobs[0].steps[1].groups, 2u);
  EXPECT_EQ(r.jobs[0].steps[1].ranks, 4u);
  EXPECT_EQ(r.jobs[0].steps[1].count, 4u);  // two groups, twice
}

TEST(Jobs, TreesWinSmallBuffersAndRingsLargeOnes) {
  const auto time = [](const char* algorithm, const char* bytes) {
    const RunResult r =
        result_of(kRing, {{"jobs.0.steps.1.algorithm", algorithm}, {"jobs.0.steps.1.bytes", bytes}});
    return r.jobs[0].steps[1].time_us->mean;
  };
  EXPECT_LT(time("tree", "4KiB"), time("ring", "4KiB"));
  EXPECT_LT(time("ring", "8MiB"), time("tree", "8MiB"));
}

TEST(Jobs, WhatCannotBeIsRefusedWithItsPlace) {
  const auto refusal = [](const std::vector<TomlSetting>& settings) {
    const auto scenario = scenario_from_toml(kRing, "test.toml", settings);
    return scenario ? std::string("accepted") : scenario.error().text();
  };
  EXPECT_NE(refusal({{"jobs.0.steps.1.group", "3"}}).find("divides 8 ranks"), std::string::npos);
  EXPECT_NE(refusal({{"jobs.0.steps.1.bytes", "10B"}}).find("a multiple of 4 B"), std::string::npos);
  EXPECT_NE(refusal({{"jobs.0.steps.1.algorithm", "pairwise"}}).find("algorithm"), std::string::npos);
  EXPECT_NE(refusal({{"jobs.0.hosts", "[0, 0]"}}).find("hosts"), std::string::npos);
  EXPECT_NE(refusal({{"jobs.0.repeat", "4000"}}).find("steps in all"), std::string::npos);
}

}  // namespace
}  // namespace rocetune::fabric
