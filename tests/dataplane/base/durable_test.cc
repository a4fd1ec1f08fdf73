#include "dataplane/base/durable.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/dataplane/base/scratch_directory.h"

namespace rocetune {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat about {};
  EXPECT_EQ(::stat(path.c_str(), &about), 0);
  return about.st_mode & 07777;
}

// Files of this process may not grow beyond `limit` bytes: a full disk, by EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t limit) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit smaller{limit, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &smaller);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Durable, ReplacesTheWholeFileAndKeepsItsMode) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_atomically(scratch / "f", "long content", 0640));
  EXPECT_EQ(mode_of(scratch / "f"), 0640u);
  ::chmod((scratch / "f").c_str(), 0604);
  ASSERT_TRUE(write_atomically(scratch / "f", "new", 0640));
  EXPECT_EQ(read_file(scratch / "f").value(), "new");
  EXPECT_EQ(mode_of(scratch / "f"), 0604u);
}

TEST(Durable, AFailedReplacementLeavesTheOldFileAndNothingElse) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(write_atomically(scratch / "f", "old"));
  {
    const FileSizeLimit limit(1000);
    const auto written = write_atomically(scratch / "f", std::string(5000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().os_error(), EFBIG);
    EXPECT_EQ(written.error().text(), "cannot write " + (scratch / "f") + " (File too large)");
  }
  EXPECT_EQ(read_file(scratch / "f").value(), "old");
  EXPECT_EQ(list_directory(scratch.path()).value(), std::vector<std::string>{"f"});
}

TEST(Durable, ADirectoryInTheWayLeavesNoTemporaryFile) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(create_directories(scratch / "d/sub"));
  EXPECT_EQ(write_atomically(scratch / "d", "x").error().os_error(), EISDIR);
  EXPECT_EQ(list_directory(scratch.path()).value(), std::vector<std::string>{"d"});
  EXPECT_EQ(write_atomically(scratch / "none/f", "x").error().kind(), ErrorKind::absent);
}

TEST(Durable, SaysBeforehandWhetherAFileCanBeWritten) {
  const ScratchDirectory scratch;
  EXPECT_TRUE(check_writable(scratch / "new"));
  EXPECT_FALSE(path_exists(scratch / "new"));
  EXPECT_FALSE(check_writable(scratch / "."));
  EXPECT_FALSE(check_writable(scratch / "nowhere/new"));
}

TEST(Durable, AppendsRecordAfterRecord) {
  const ScratchDirectory scratch;
  {
    auto file = AppendFile::open(scratch / "j").value();
    ASSERT_TRUE(file.append("one\n"));
    ASSERT_TRUE(file.append("two\n"));
  }
  auto again = AppendFile::open(scratch / "j").value();
  ASSERT_TRUE(again.append("three\n"));
  EXPECT_EQ(read_file(scratch / "j").value(), "one\ntwo\nthree\n");
  EXPECT_EQ(mode_of(scratch / "j"), 0600u);
}

TEST(Durable, AnAppendThatDoesNotFitLeavesNoHalfRecord) {
  const ScratchDirectory scratch;
  auto file = AppendFile::open(scratch / "j").value();
  ASSERT_TRUE(file.append("first\n"));
  {
    const FileSizeLimit limit(10);
    const auto appended = file.append("second record\n");
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().os_error(), EFBIG);
  }
  EXPECT_EQ(read_file(scratch / "j").value(), "first\n");
  ASSERT_TRUE(file.append("third\n"));
  EXPECT_EQ(read_file(scratch / "j").value(), "first\nthird\n");
}

TEST(Durable, AFullDeviceIsReported) {
  auto full = AppendFile::open("/dev/full").value();
  const auto appended = full.append("x");
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().text(), "cannot write /dev/full (No space left on device)");
}

TEST(Durable, ALockIsHeldByOne) {
  const ScratchDirectory scratch;
  {
    const auto lock = LockFile::acquire(scratch / "lock");
    ASSERT_TRUE(lock) << lock.error().text();
    const auto second = LockFile::acquire(scratch / "lock");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind(), ErrorKind::conflict);
    EXPECT_EQ(second.error().text(),
              (scratch / "lock") + " is locked by process " + std::to_string(::getpid()));
  }
  EXPECT_TRUE(LockFile::acquire(scratch / "lock"));
}

TEST(Durable, AKilledOwnersLockIsFree) {
  const ScratchDirectory scratch;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = LockFile::acquire(scratch / "lock");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_attribute(scratch / "lock").value(), std::to_string(child));
  EXPECT_TRUE(LockFile::acquire(scratch / "lock"));
  EXPECT_EQ(read_attribute(scratch / "lock").value(), std::to_string(::getpid()));
}

}  // namespace
}  // namespace rocetune
