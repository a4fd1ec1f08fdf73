// Every algorithm at every number of ranks does what its collective promises, in whatever order messages
// move.
#include "dataplane/schedule/schedule.h"

#include <gtest/gtest.h>

#include <bit>

#include "dataplane/base/random.h"
#include "dataplane/schedule/check.h"

namespace rocetune::schedule {
namespace {

struct Kind {
  Collective collective;
  Algorithm algorithm;
};
void PrintTo(const Kind& kind, std::ostream* out) {
  *out << enum_name(kind.collective) << " by " << enum_name(kind.algorithm);
}

constexpr Kind kKinds[] = {
    {Collective::all_reduce, Algorithm::ring},
    {Collective::all_reduce, Algorithm::tree},
    {Collective::all_reduce, Algorithm::halving_doubling},
    {Collective::reduce_scatter, Algorithm::ring},
    {Collective::reduce_scatter, Algorithm::halving_doubling},
    {Collective::all_gather, Algorithm::ring},
    {Collective::all_gather, Algorithm::halving_doubling},
    {Collective::all_to_all, Algorithm::pairwise},
    {Collective::broadcast, Algorithm::tree},
    {Collective::broadcast, Algorithm::chain},
    {Collective::reduce, Algorithm::tree},
};

class EveryKind : public testing::TestWithParam<Kind> {
 protected:
  bool takes(Rank ranks) const {
    const auto [collective, algorithm] = GetParam();
    return algorithm != Algorithm::halving_doubling || collective == Collective::all_reduce ||
           std::has_single_bit(ranks);
  }
  std::unique_ptr<Schedule> make(Rank ranks, Rank root = 0, std::uint32_t pieces = 3) const {
    const auto [collective, algorithm] = GetParam();
    return Schedule::make({collective, algorithm, ranks, root, pieces}).value();
  }
};

TEST_P(EveryKind, IsRightAtEveryNumberOfRanksInAnyOrder) {
  for (Rank ranks = 1; ranks <= 40; ++ranks) {
    if (!takes(ranks)) continue;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto right = check(*make(ranks, static_cast<Rank>(seed) % ranks), seed);
      ASSERT_TRUE(right) << ranks << " ranks, seed " << seed << ": " << right.error().text();
    }
  }
  for (const Rank ranks : {64U, 100U, 127U, 128U}) {
    if (!takes(ranks)) continue;
    const auto right = check(*make(ranks, ranks - 1), ranks);
    ASSERT_TRUE(right) << ranks << " ranks: " << right.error().text();
  }
}

TEST_P(EveryKind, OneRankHasNothingToDo) {
  const auto one = make(1);
  EXPECT_EQ(one->sends(0), 0u);
  EXPECT_EQ(one->receives(0), 0u);
}

TEST_P(EveryKind, NeverSendsMoreThanItsCollectiveTakes) {
  // Bytes a rank sends, as a share of the buffer: the bound of each algorithm.
  for (const Rank ranks : {2U, 8U, 13U, 32U}) {
    if (!takes(ranks)) continue;
    const auto schedule = make(ranks);
    double most = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      double sent = 0;
      for (std::uint32_t i = 0; i < schedule->sends(rank); ++i) sent += schedule->send(rank, i).pieces.count;
      most = std::max(most, sent / schedule->pieces());
    }
    const auto [collective, algorithm] = GetParam();
    double bound = bus_factor(collective, ranks);
    if (algorithm == Algorithm::tree) bound = collective == Collective::all_reduce ? 3 : 2;
    if (algorithm == Algorithm::tree && collective == Collective::reduce) bound = 1;
    // The surplus of ranks hands a whole buffer over, and gets one back.
    if (algorithm == Algorithm::halving_doubling && !std::has_single_bit(ranks)) bound = 3;
    EXPECT_LE(most, bound + 1e-9) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, EveryKind, testing::ValuesIn(kKinds));

TEST(Schedule, OfManyRanksIsAskedRankByRank) {
  const auto schedule =
      Schedule::make({Collective::all_reduce, Algorithm::halving_doubling, 16'384, 0, 1}).value();
  EXPECT_EQ(schedule->sends(5), 28u);
  const auto ring = Schedule::make({Collective::all_reduce, Algorithm::ring, kMostRanks, 0, 1}).value();
  EXPECT_EQ(ring->sends(0), 2 * (kMostRanks - 1));
  const Send last = ring->send(kMostRanks - 1, 2 * (kMostRanks - 1) - 1);
  EXPECT_EQ(last.to, 0u);
  EXPECT_EQ(ring->receive(0, last.arrives).pieces, last.pieces);
}

TEST(Schedule, RefusesWhatDoesNotExist) {
  const auto text = [](const Request& request) {
    const auto made = Schedule::make(request);
    return made ? std::string("made") : made.error().text();
  };
  EXPECT_NE(text({Collective::broadcast, Algorithm::ring, 4, 0, 1}).find("allowed: tree, chain"),
            std::string::npos);
  EXPECT_NE(text({Collective::all_gather, Algorithm::halving_doubling, 6, 0, 1}).find("powers of two"),
            std::string::npos);
  EXPECT_NE(text({Collective::reduce, Algorithm::tree, 4, 4, 1}).find("root: found 4, allowed: 0 to 3"),
            std::string::npos);
  EXPECT_NE(text({Collective::all_reduce, Algorithm::ring, 0, 0, 1}).find("ranks: found 0"),
            std::string::npos);
  EXPECT_NE(text({Collective::all_reduce, Algorithm::tree, 4, 0, 0}).find("pieces: found 0"),
            std::string::npos);
}

TEST(Pieces, CoverABufferWithoutGapsAndDifferByOneUnit) {
  for (const std::uint64_t bytes : {0ULL, 4ULL, 40ULL, 1'048'576ULL, 1'000'004ULL}) {
    for (const std::uint32_t pieces : {1U, 3U, 7U, 128U}) {
      EXPECT_EQ(piece_offset(bytes, pieces, 0, 4), 0u);
      EXPECT_EQ(piece_offset(bytes, pieces, pieces, 4), bytes);
      std::uint64_t longest = 0;
      std::uint64_t shortest = UINT64_MAX;
      for (std::uint32_t i = 0; i < pieces; ++i) {
        const std::uint64_t length =
            piece_offset(bytes, pieces, i + 1, 4) - piece_offset(bytes, pieces, i, 4);
        EXPECT_EQ(length % 4, 0u);
        longest = std::max(longest, length);
        shortest = std::min(shortest, length);
      }
      EXPECT_LE(longest - shortest, 4u);
    }
  }
}

// A schedule with one thing wrong, to see that the check can fail.
class Broken final : public Schedule {
 public:
  enum class Fault { none, waits_for_nothing, wrong_piece, waits_for_ever };
  Broken(std::unique_ptr<Schedule> good, Fault fault)
      : Schedule(good->request()), good_(std::move(good)), fault_(fault) {}
  std::uint32_t pieces() const override { return good_->pieces(); }
  std::uint32_t sends(Rank rank) const override { return good_->sends(rank); }
  std::uint32_t receives(Rank rank) const override { return good_->receives(rank); }
  Send send(Rank rank, std::uint32_t index) const override {
    Send out = good_->send(rank, index);
    if (rank != 1 || index != 1) return out;
    if (fault_ == Fault::waits_for_nothing) out.after = {};
    if (fault_ == Fault::waits_for_ever) out.after = {0, good_->receives(rank)};
    if (fault_ == Fault::wrong_piece) out.pieces.first = (out.pieces.first + 1) % pieces();
    return out;
  }
  Receive receive(Rank rank, std::uint32_t index) const override {
    Receive out = good_->receive(rank, index);
    if (fault_ == Fault::wrong_piece && rank == 2 && index == 1)
      out.pieces.first = (out.pieces.first + 1) % pieces();
    return out;
  }

 private:
  std::unique_ptr<Schedule> good_;
  Fault fault_;
};

std::string verdict_on(Broken::Fault fault) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Broken broken(Schedule::make({Collective::all_reduce, Algorithm::ring, 5, 0, 1}).value(), fault);
    if (const auto right = check(broken, seed); !right) return right.error().text();
  }
  return "right";
}

TEST(Check, FindsWhatIsWrong) {
  EXPECT_EQ(verdict_on(Broken::Fault::none), "right");
  EXPECT_NE(verdict_on(Broken::Fault::waits_for_nothing).find("ends without piece"), std::string::npos);
  EXPECT_NE(verdict_on(Broken::Fault::wrong_piece).find("counts twice"), std::string::npos);
  EXPECT_NE(verdict_on(Broken::Fault::waits_for_ever).find("never sends"), std::string::npos);
}

// A tree drawn by chance: reducers below reducers, ranks below any of them, none without children.
Request drawn_tree(Rank ranks, Rank reducers, std::uint32_t pieces, Random& random) {
  Request out{.algorithm = Algorithm::in_network, .ranks = ranks, .pieces = pieces};
  out.parents.resize(ranks + reducers);
  for (Rank i = 0; i < reducers; ++i)
    out.parents[ranks + i] = ranks + (i == 0 ? 0 : static_cast<Rank>(random.below(i)));
  for (Rank i = 0; i < ranks; ++i)
    out.parents[i] = ranks + (i < reducers ? i : static_cast<Rank>(random.below(reducers)));
  return out;
}

TEST(InNetwork, IsRightOnEveryTreeInAnyOrder) {
  Random random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const Rank reducers = 1 + static_cast<Rank>(random.below(12));
    const Rank ranks = reducers + static_cast<Rank>(random.below(30));
    const auto schedule =
        Schedule::make(drawn_tree(ranks, reducers, 1 + static_cast<std::uint32_t>(trial % 4), random));
    ASSERT_TRUE(schedule) << schedule.error().text();
    EXPECT_EQ((*schedule)->members(), ranks + reducers);
    const auto right = check(**schedule, static_cast<std::uint64_t>(trial));
    ASSERT_TRUE(right) << "trial " << trial << ": " << right.error().text();
  }
}

TEST(InNetwork, ARankSendsAndReceivesItsBufferOnce) {
  Random random(3);
  const auto schedule = Schedule::make(drawn_tree(16, 5, 8, random)).value();
  for (Rank rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(schedule->sends(rank), 8u);
    EXPECT_EQ(schedule->receives(rank), 8u);
  }
}

TEST(InNetwork, NeedsATreeOfReducersAboveRanks) {
  const auto refusal = [](std::vector<Rank> parents) {
    const auto made =
        Schedule::make({.algorithm = Algorithm::in_network, .ranks = 2, .parents = std::move(parents)});
    return made ? std::string("made") : made.error().text();
  };
  EXPECT_EQ(refusal({2, 2, 2}), "made");
  const std::string none =
      "parents: found 3 of them, allowed for in_network: a tree of reducers with the ranks as its leaves";
  EXPECT_EQ(refusal({2, 0, 2}), none);  // below a rank
  EXPECT_EQ(refusal({2, 3, 2}), none);  // below nobody
  EXPECT_NE(refusal({}), "made");
  EXPECT_NE(refusal({2, 3, 2, 3}), "made");  // two roots
  EXPECT_NE(refusal({2, 2, 3, 2}), "made");  // a circle
  EXPECT_NE(refusal({2, 2, 2, 2}), "made");  // a reducer without children
  EXPECT_FALSE(Schedule::make({.algorithm = Algorithm::ring, .ranks = 2, .parents = {2, 2, 2}}));
  EXPECT_FALSE(Schedule::make({Collective::broadcast, Algorithm::in_network, 2, 0, 1}));
}

}  // namespace
}  // namespace rocetune::schedule
