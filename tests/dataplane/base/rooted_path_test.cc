#include "dataplane/base/rooted_path.h"

#include <gtest/gtest.h>

#include "tests/dataplane/base/scratch_directory.h"

namespace rocetune {
namespace {

TEST(RootedPath, PutsTheRootInFront) {
  EXPECT_EQ(RootedPath()("/sys/class/net"), "/sys/class/net");
  EXPECT_EQ(RootedPath("/")("/sys"), "/sys");
  EXPECT_EQ(RootedPath("/fixtures/a/")("/sys"), "/fixtures/a/sys");
  EXPECT_EQ(RootedPath("fixture")("/sys"), "fixture/sys");
}

TEST(RootedPath, RefusesToLeaveTheRoot) {
  const RootedPath root("/r");
  EXPECT_EQ(root.checked("/sys/..hidden/a..b").value(), "/r/sys/..hidden/a..b");
  EXPECT_EQ(root.checked("/sys/../../etc").error().kind(), ErrorKind::bad_input);
  EXPECT_FALSE(root.checked("/.."));
  EXPECT_FALSE(root.checked("sys"));
  EXPECT_FALSE(root.checked(""));
  EXPECT_FALSE(root.checked(std::string_view("/a\0b", 4)));
}

TEST(RootedPathDeathTest, OurOwnPathsMustStayInside) {
  EXPECT_DEATH((void)RootedPath("/r")("/a/../b"), "assertion");
  EXPECT_DEATH((void)RootedPath("/r")("a"), "assertion");
}

TEST(RootedPath, KnowsWhatCanBeAComponent) {
  EXPECT_TRUE(is_path_component("eth0"));
  EXPECT_TRUE(is_path_component("0000:03:00.0"));
  for (const char* bad : {"", ".", "..", "a/b", "/"}) EXPECT_FALSE(is_path_component(bad)) << bad;
}

class RootedPathLinks : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(scratch_ / "sys/class/net");
    std::filesystem::create_directories(scratch_ / "sys/devices/pci/eth0");
    std::filesystem::create_symlink("../../devices/pci/eth0", scratch_ / "sys/class/net/eth0");
    std::filesystem::create_symlink("..", scratch_ / "sys/devices/pci/eth0/device");
    std::filesystem::create_symlink("/sys/devices", scratch_ / "absolute");
    std::filesystem::create_symlink("../../../../../../../../etc", scratch_ / "escape");
    std::filesystem::create_symlink("loop", scratch_ / "loop");
  }
  ScratchDirectory scratch_;
  RootedPath root_{scratch_.path()};
};

TEST_F(RootedPathLinks, FollowsRelativeLinks) {
  EXPECT_EQ(root_.resolved("/sys/class/net/eth0/device").value(), "/sys/devices/pci");
  EXPECT_EQ(root_.resolved("/").value(), "/");
  EXPECT_EQ(root_.resolved("/sys/./class/../class//net/").value(), "/sys/class/net");
}

TEST_F(RootedPathLinks, TakesAbsoluteLinksAndParentsInsideTheRoot) {
  EXPECT_EQ(root_.resolved("/absolute/pci").value(), "/sys/devices/pci");
  EXPECT_EQ(root_.resolved("/escape").error().kind(), ErrorKind::absent) << "there is no /etc in the root";
  EXPECT_EQ(root_.resolved("/../../sys").value(), "/sys");
}

TEST_F(RootedPathLinks, SaysWhyItCannotResolve) {
  EXPECT_EQ(root_.resolved("/loop").error().os_error(), ELOOP);
  EXPECT_EQ(root_.resolved("/sys/none/x").error().kind(), ErrorKind::absent);
}

}  // namespace
}  // namespace rocetune
