#include "dataplane/base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <cstdlib>

#include "dataplane/base/file.h"

namespace rocetune {
namespace {

// A terminal of this process: the far end of a pseudo-terminal, `columns` wide.
class Terminal : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("NO_COLOR");
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("COLUMNS");
    near_ = Descriptor(::posix_openpt(O_RDWR | O_NOCTTY));
    ASSERT_TRUE(near_.is_open());
    ASSERT_EQ(::grantpt(near_.fd()), 0);
    ASSERT_EQ(::unlockpt(near_.fd()), 0);
    far_ = Descriptor(::open(::ptsname(near_.fd()), O_RDWR | O_NOCTTY));
    ASSERT_TRUE(far_.is_open());
  }
  int fd() const { return far_.fd(); }
  void resize(unsigned short columns) {
    winsize size{};
    size.ws_col = columns;
    ASSERT_EQ(::ioctl(fd(), TIOCSWINSZ, &size), 0);
  }
  Descriptor near_, far_;
  Descriptor file_{::open("/dev/null", O_WRONLY)};
};

TEST_F(Terminal, IsToldFromAFile) {
  EXPECT_TRUE(is_terminal(fd()));
  EXPECT_FALSE(is_terminal(file_.fd()));
}

TEST_F(Terminal, ColoursFollowTheTerminalAndTheEnvironment) {
  EXPECT_TRUE(uses_colour(ColourChoice::automatic, fd()));
  EXPECT_FALSE(uses_colour(ColourChoice::automatic, file_.fd()));
  EXPECT_TRUE(uses_colour(ColourChoice::always, file_.fd()));
  EXPECT_FALSE(uses_colour(ColourChoice::never, fd()));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(uses_colour(ColourChoice::automatic, fd()));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(uses_colour(ColourChoice::automatic, fd()));
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(uses_colour(ColourChoice::automatic, fd()));
}

TEST_F(Terminal, HasAWidth) {
  resize(132);
  EXPECT_EQ(terminal_width(fd()), 132);
  resize(3);
  EXPECT_EQ(terminal_width(fd()), 20);
  EXPECT_EQ(terminal_width(file_.fd()), 80);
  ::setenv("COLUMNS", "100", 1);
  EXPECT_EQ(terminal_width(file_.fd()), 100);
}

TEST(Painted, EndsWhatItBegins) {
  EXPECT_EQ(painted("x", Paint::warning, true), "\033[33mx\033[0m");
  EXPECT_EQ(painted("x", Paint::warning, false), "x");
  EXPECT_EQ(painted("x", Paint::plain, true), "x");
  EXPECT_EQ(painted("", Paint::bad, true), "");
}

TEST(LiveBlock, GoesBackOverTheLastFrame) {
  LiveBlock block;
  EXPECT_EQ(block.redraw("a\nb\n"), "\ra\033[K\nb\033[K\n\033[J");
  EXPECT_EQ(block.redraw("c\n"), "\033[2A\rc\033[K\n\033[J");
  EXPECT_EQ(block.redraw("d\ne\n"), "\033[1A\rd\033[K\ne\033[K\n\033[J");
  block.leave();
  EXPECT_EQ(block.redraw("f\n"), "\rf\033[K\n\033[J");
}

}  // namespace
}  // namespace rocetune
