#include "dataplane/base/file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/dataplane/base/scratch_directory.h"

namespace rocetune {
namespace {

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(File, ReadsFilesThatClaimToBeEmpty) {
  const auto status = read_file("/proc/self/status");
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_TRUE(status->starts_with("Name:"));
}

TEST(File, ReadsMoreThanOneBuffer) {
  const ScratchDirectory scratch;
  const std::string text(300'001, 'x');
  put(scratch / "f", text);
  EXPECT_EQ(read_file(scratch / "f").value(), text);
}

TEST(File, RefusesWhatIsLargerThanTheLimit) {
  const ScratchDirectory scratch;
  put(scratch / "f", "12345");
  EXPECT_EQ(read_file(scratch / "f", Bytes(5)).value(), "12345");
  const auto refused = read_file(scratch / "f", Bytes(4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), (scratch / "f") + " is larger than 4B");
  EXPECT_FALSE(read_file("/dev/zero"));
}

TEST(File, ErrorsNameThePathAndKeepErrno) {
  const auto missing = read_file("/no/such");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().os_error(), ENOENT);
  EXPECT_EQ(missing.error().text(), "cannot open /no/such (No such file or directory)");
  EXPECT_EQ(read_file("/").error().os_error(), EISDIR);
}

TEST(File, AttributesLoseTheirNewline) {
  const ScratchDirectory scratch;
  put(scratch / "f", " a b \n");
  put(scratch / "blank", " \n");
  EXPECT_EQ(read_attribute(scratch / "f").value(), " a b");
  EXPECT_EQ(read_attribute(scratch / "blank").value(), "");
}

TEST(File, WritingAnAttributeNeitherCreatesNorTruncates) {
  const ScratchDirectory scratch;
  EXPECT_EQ(write_attribute(scratch / "f", "1").error().kind(), ErrorKind::absent);
  put(scratch / "f", "abc");
  ASSERT_TRUE(write_attribute(scratch / "f", "X"));
  EXPECT_EQ(read_file(scratch / "f").value(), "Xbc");
  EXPECT_EQ(write_attribute("/dev/full", "1").error().text(),
            "cannot write \"1\" to /dev/full (No space left on device)");
}

TEST(File, CreatesMissingParents) {
  const ScratchDirectory scratch;
  ASSERT_TRUE(create_directories(scratch / "a/b/c"));
  ASSERT_TRUE(create_directories(scratch / "a/b/c/"));
  EXPECT_TRUE(path_exists(scratch / "a/b/c"));
  put(scratch / "f", "");
  EXPECT_EQ(create_directories(scratch / "f").error().os_error(), ENOTDIR);
  EXPECT_EQ(create_directories(scratch / "f/d").error().os_error(), ENOTDIR);
}

TEST(File, ListsNamesInOrder) {
  const ScratchDirectory scratch;
  for (const char* name : {"b", "a", ".c"}) put(scratch / name, "");
  EXPECT_EQ(list_directory(scratch.path()).value(), (std::vector<std::string>{".c", "a", "b"}));
  EXPECT_EQ(list_directory(scratch / "none").error().kind(), ErrorKind::absent);
}

TEST(File, ReadsLinks) {
  const ScratchDirectory scratch;
  std::filesystem::create_symlink("../some/where", scratch / "l");
  EXPECT_EQ(read_link(scratch / "l").value(), "../some/where");
  EXPECT_TRUE(path_exists(scratch / "l"));
  EXPECT_EQ(read_link(scratch.path()).error().os_error(), EINVAL);
}

TEST(File, RemovesOnce) {
  const ScratchDirectory scratch;
  put(scratch / "f", "");
  EXPECT_TRUE(remove_file(scratch / "f"));
  EXPECT_EQ(remove_file(scratch / "f").error().kind(), ErrorKind::absent);
}

TEST(File, SplitsPaths) {
  EXPECT_EQ(directory_of("a/b/c"), "a/b");
  EXPECT_EQ(directory_of("a/b/"), "a");
  EXPECT_EQ(directory_of("c"), ".");
  EXPECT_EQ(directory_of("/c"), "/");
  EXPECT_EQ(file_name_of("a/b/c"), "c");
  EXPECT_EQ(file_name_of("c"), "c");
}

}  // namespace
}  // namespace rocetune
