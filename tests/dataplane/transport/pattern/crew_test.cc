#include "dataplane/transport/pattern/crew.h"

#include <gtest/gtest.h>

#include <thread>

namespace rocetune::pattern {
namespace {

class CountingRole final : public Role {
 public:
  Expected<> turn() override {
    ++turns;
    return {};
  }
  Expected<> prepare(Bytes size) override {
    prepared = size;
    if (size == Bytes(13)) return fail(ErrorKind::io, "unlucky");
    return {};
  }
  Expected<> run(Duration) override { return {}; }
  std::uint64_t turns = 0;
  Bytes prepared;
};

class TwoCores : public ::testing::Test {
 protected:
  TwoCores() : crew_({&leader_, &follower_}), thread_([this] { crew_.follow(1); }) {}
  ~TwoCores() override {
    crew_.dismiss();
    thread_.join();
  }
  CountingRole leader_;
  CountingRole follower_;
  Crew crew_;
  std::thread thread_;
};

TEST_F(TwoCores, EveryRoleDoesACommand) {
  for (const std::int64_t size : {1, 2, 3}) {
    EXPECT_TRUE(crew_.all([&](Role& role) { return role.prepare(Bytes(size)); }));
    EXPECT_EQ(leader_.prepared, Bytes(size));
    EXPECT_EQ(follower_.prepared, Bytes(size));
  }
}

TEST_F(TwoCores, AFollowersErrorReachesTheLeader) {
  const auto status =
      crew_.all([&](Role& role) { return &role == &follower_ ? role.prepare(Bytes(13)) : Expected<>(); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), "unlucky");
}

TEST_F(TwoCores, AFollowerThatFailedDoesNothingMore) {
  (void)crew_.all([&](Role& role) { return role.prepare(Bytes(13)); });
  EXPECT_FALSE(crew_.all([&](Role& role) { return role.prepare(Bytes(1)); }));
  EXPECT_EQ(follower_.prepared, Bytes(13));
}

}  // namespace
}  // namespace rocetune::pattern
