#include "agent/tune/deadman.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "agent/tune/boot_unit.h"

namespace rocetune::tune {
namespace {

class Deadman : public testing::Test {
 protected:
  Deadman() : state(fmt::format("{}/deadman-{}", testing::TempDir(), ::getpid())) {
    std::filesystem::remove_all(state.path());
    EXPECT_TRUE(state.make());
    append(RecordKind::begin, [](Record& record) { record.begin.emplace(); });
  }
  ~Deadman() override { std::filesystem::remove_all(state.path()); }

  template <class Fill>
  void append(RecordKind kind, Fill&& fill) {
    Record record;
    record.kind = kind;
    record.transaction = 1;
    record.at = now;
    fill(record);
    EXPECT_TRUE(state.open_journal()->append(record));
  }
  Expected<Result> watch() {
    return run_deadman(state, 1,
                       {[&] { return now; },
                        [&](Duration span) {
                          now.boottime_ns += span.count() / 1000;
                          if (on_sleep) on_sleep();
                        },
                        [&]() -> Expected<Result> {
                          recovered_at = now.boottime_ns;
                          return Result{Verdict::rolled_back, 1, "", {}, 0, {}};
                        }});
  }

  StateDirectory state;
  Moment now{"boot", 1'000'000'000, 0};
  std::function<void()> on_sleep;
  std::optional<std::int64_t> recovered_at;
};

TEST_F(Deadman, RollsBackAtOnceWhenApplyIsDead) {
  ASSERT_TRUE(watch());
  EXPECT_EQ(recovered_at, 1'000'000'000);
}

TEST_F(Deadman, WaitsAsLongAsApplyHoldsTheLock) {
  std::optional<LockFile> apply = *state.lock();
  int looks = 0;
  on_sleep = [&] {
    EXPECT_FALSE(recovered_at);
    if (++looks == 5) apply.reset();
  };
  ASSERT_TRUE(watch());
  EXPECT_EQ(looks, 5);
  EXPECT_TRUE(recovered_at);
}

TEST_F(Deadman, WaitsForTheDeadlineAndNoLonger) {
  append(RecordKind::waiting, [](Record& record) { record.deadline_boottime_ns = 61'500'000'000; });
  ASSERT_TRUE(watch());
  EXPECT_EQ(recovered_at, 61'500'000'000);
}

TEST_F(Deadman, GoesWhenItIsConfirmed) {
  append(RecordKind::waiting, [](Record& record) { record.deadline_boottime_ns = 61'000'000'000; });
  int looks = 0;
  on_sleep = [&] {
    if (++looks == 3) append(RecordKind::end, [](Record& record) { record.outcome = Outcome::committed; });
  };
  const auto result = watch();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->verdict, Verdict::nothing_to_do);
  EXPECT_FALSE(recovered_at);
}

TEST_F(Deadman, DoesNotWaitForADeadlineOfAnotherBoot) {
  append(RecordKind::waiting, [](Record& record) { record.deadline_boottime_ns = 61'000'000'000; });
  now = {"next boot", 1, 0};
  ASSERT_TRUE(watch());
  EXPECT_EQ(recovered_at, 1);
}

TEST_F(Deadman, OneLivesAtATime) {
  EXPECT_FALSE(deadman_is_alive(state));
  const auto alive = LockFile::acquire(state.deadman_path());
  ASSERT_TRUE(alive);
  EXPECT_TRUE(deadman_is_alive(state));
  EXPECT_FALSE(watch());
  EXPECT_FALSE(recovered_at);
}

// util-linux' flock stands in for the program: it takes the lock, in a session of its own, and goes by
// itself.
TEST_F(Deadman, StartsApartFromThisSession) {
  if (::access("/usr/bin/flock", X_OK) != 0 || ::access("/run/systemd/system", F_OK) == 0) GTEST_SKIP();
  const std::string mark = state.path() + "/session";
  ASSERT_TRUE(start_deadman(state, {"/usr/bin/flock", state.deadman_path(), "/bin/sh", "-c",
                                    "ps -o sid= -p $$ > " + mark + "; sleep 1"}));
  EXPECT_TRUE(deadman_is_alive(state));
  std::optional<LockFile> gone;
  while (!gone) {
    auto lock = LockFile::acquire(state.deadman_path());
    if (lock) gone = std::move(*lock);
  }
  const auto session = read_attribute(mark);
  ASSERT_TRUE(session);
  EXPECT_NE(std::atoi(session->c_str()), ::getsid(0));
}

class BootUnit : public testing::Test {
 protected:
  BootUnit() : root(fmt::format("{}/boot-unit-{}", testing::TempDir(), ::getpid())) {
    std::filesystem::create_directories(root + "/etc/systemd/system");
  }
  ~BootUnit() override { std::filesystem::remove_all(root); }
  std::string root;
};

TEST_F(BootUnit, IsWrittenEnabledAndRemoved) {
  for (int i = 0; i < 2; ++i) {  // twice is as good as once
    const auto unit = install_boot_unit(root, "/usr/local/bin/rocetune", "/var/lib/rocetune", ConfigFiles());
    ASSERT_TRUE(unit) << unit.error().text();
    const auto text = read_file(*unit);
    ASSERT_TRUE(text);
    EXPECT_NE(text->find("ExecStart=/usr/local/bin/rocetune apply --boot --state-dir /var/lib/rocetune\n"),
              std::string::npos);
    EXPECT_EQ(text->find('@'), std::string::npos);
  }
  const std::string link = root + "/etc/systemd/system/multi-user.target.wants/rocetune-boot.service";
  EXPECT_TRUE(std::filesystem::exists(link));
  ASSERT_TRUE(remove_boot_unit(root));
  EXPECT_FALSE(std::filesystem::exists(link));
  EXPECT_TRUE(remove_boot_unit(root));
}

TEST_F(BootUnit, NamesTheJournalItWouldApply) {
  EXPECT_EQ(boot_unit_state_directory(root), "/var/lib/rocetune");
  ASSERT_TRUE(install_boot_unit(root, "/usr/local/bin/rocetune", "/srv/state", ConfigFiles()));
  EXPECT_EQ(boot_unit_state_directory(root), "/srv/state");
}

TEST_F(BootUnit, ItsTextAloneWritesNothing) {
  ASSERT_TRUE(boot_unit_text(root, "/usr/local/bin/rocetune", "/var/lib/rocetune", ConfigFiles()));
  EXPECT_TRUE(std::filesystem::is_empty(root + "/etc/systemd/system"));
}

TEST_F(BootUnit, RefusesAStateDirectoryThatIsNotAbsolute) {
  const auto unit = install_boot_unit(root, "/usr/local/bin/rocetune", "state", ConfigFiles());
  ASSERT_FALSE(unit);
  EXPECT_NE(unit.error().text().find("found state"), std::string::npos) << unit.error().text();
}

TEST_F(BootUnit, RefusesAProgramThatARebootTakesAway) {
  const auto unit = install_boot_unit(root, "/tmp/rocetune", "/var/lib/rocetune", ConfigFiles());
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().kind(), ErrorKind::bad_input);
}

TEST_F(BootUnit, RefusesWhereThereIsNoSystemd) {
  std::filesystem::remove_all(root + "/etc");
  const auto unit = install_boot_unit(root, "/usr/bin/rocetune", "/var/lib/rocetune", ConfigFiles());
  ASSERT_FALSE(unit);
  EXPECT_EQ(unit.error().kind(), ErrorKind::unsupported);
}

}  // namespace
}  // namespace rocetune::tune
