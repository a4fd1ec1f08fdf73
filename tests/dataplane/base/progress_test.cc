#include "dataplane/base/progress.h"

#include <gtest/gtest.h>

namespace rocetune {
namespace {

Instant at(Duration since) { return Instant(since); }

TEST(Progress, ShowsShareAndTimeLeft) {
  Progress progress("searching", 200, 100, at(seconds(10)));
  EXPECT_EQ(progress.update(0, at(seconds(10))), "\r\033[Ksearching [........................]   0%");
  EXPECT_EQ(progress.update(50, at(seconds(30)), "kmin 100KiB"),
            "\r\033[Ksearching [######..................]  25%  1min 00s left  kmin 100KiB");
  EXPECT_EQ(progress.update(200, at(seconds(60))), "\r\033[Ksearching [########################] 100%");
}

TEST(Progress, RedrawsAtMostTenTimesASecondButAlwaysTheEnd) {
  Progress progress("x", 10, 80, at(Duration()));
  EXPECT_NE(progress.update(1, at(seconds(1))), "");
  EXPECT_EQ(progress.update(2, at(seconds(1) + milliseconds(99))), "");
  EXPECT_NE(progress.update(3, at(seconds(1) + milliseconds(100))), "");
  EXPECT_NE(progress.update(10, at(seconds(1) + milliseconds(101))), "");
}

TEST(Progress, FitsTheTerminal) {
  Progress progress("a rather long title", 10, 30, at(Duration()));
  EXPECT_EQ(progress.update(5, at(seconds(1))), "\r\033[Ka rather long title [#######\xE2\x80\xA6");
}

TEST(Progress, ClampsWhatItIsTold) {
  Progress progress("x", 10, 80, at(Duration()));
  EXPECT_NE(progress.update(-5, at(seconds(1))).find("  0%"), std::string::npos);
  EXPECT_NE(progress.update(50, at(seconds(2))).find("100%"), std::string::npos);
}

TEST(Progress, KnowsNoTimeBeforeTheFirstStep) {
  const Progress progress("x", 1'000'000'000'000, 80, at(Duration()));
  EXPECT_EQ(progress.time_left(0, at(seconds(5))), std::nullopt);
  EXPECT_EQ(progress.time_left(1, at(seconds(5))), Duration::max()) << "too long to say, not an overflow";
  EXPECT_EQ(progress.time_left(1'000'000'000'000, at(seconds(5))), Duration());
}

TEST(Progress, ClearsOnlyWhatItDrew) {
  Progress progress("x", 10, 80, at(Duration()));
  EXPECT_EQ(progress.clear(), "");
  (void)progress.update(1, at(seconds(1)));
  EXPECT_EQ(progress.clear(), "\r\033[K");
}

TEST(ProgressLine, IsSilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    const ManualClock clock;
    ProgressLine line("x", 10, clock);
    line.update(5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(RoughText, RoundsDownForPeople) {
  EXPECT_EQ(rough_text(milliseconds(850)), "850ms");
  EXPECT_EQ(rough_text(milliseconds(13'900)), "13s");
  EXPECT_EQ(rough_text(seconds(125)), "2min 05s");
  EXPECT_EQ(rough_text(seconds(3'780)), "1h 03min");
}

}  // namespace
}  // namespace rocetune
