#include "dataplane/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace rocetune {
namespace {

TEST(NearestName, CountsASwapOnce) {
  EXPECT_EQ(nearest_name("nmae", {"name", "count"}), "name");
  EXPECT_EQ(nearest_name("priorty", {"port", "priority"}), "priority");
}

TEST(CheckNames, EachUnknownNameIsAnIssueWithAllThatAreKnown) {
  EXPECT_TRUE(check_names("--port", {}, {}, "nothing"));
  EXPECT_TRUE(check_names("--port", {"eth0"}, {"eth0", "eth1"}, "nothing"));
  const auto refused = check_names("--port", {"eth2", "eth1", "zz"}, {"eth0", "eth1"}, "nothing");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::bad_input);
  const std::string first = InputIssue{{}, "--port", "eth2", "eth0, eth1", "eth0"}.text();
  const std::string second = InputIssue{{}, "--port", "zz", "eth0, eth1", ""}.text();
  EXPECT_NE(refused.error().text().find(first), std::string::npos) << refused.error().text();
  EXPECT_NE(refused.error().text().find(second), std::string::npos) << refused.error().text();
}

TEST(CheckNames, WhereNothingIsKnownItSaysSo) {
  const auto refused = check_names("--port", {"eth2"}, {}, "nothing: no port was found");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("nothing: no port was found"), std::string::npos);
}

TEST(NearestName, IsEmptyIfNothingIsNear) {
  EXPECT_EQ(nearest_name("zzz", {"priority", "port"}), "");
  EXPECT_EQ(nearest_name("name", {}), "");
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'x'), {"priority"}), "");
}

TEST(NearestName, DoesNotMindCase) {
  EXPECT_EQ(nearest_name("pfc-6", {"MAP-6", "PFC-6"}), "PFC-6");
  EXPECT_EQ(nearest_name("Warnin", {"critical", "warning"}), "warning");
}

TEST(NearestName, MayBeWhatTheWordBegins) {
  EXPECT_EQ(nearest_name("warn", {"critical", "warning"}), "warning");
  EXPECT_EQ(nearest_name("w", {"critical", "warning"}), "");
}

TEST(NearestName, PrefersTheFirstOfEquals) { EXPECT_EQ(nearest_name("ax", {"bx", "ab"}), "bx"); }

TEST(Error, ContextReadsFromTheOutsideIn) {
  const Error error = Error(ErrorKind::io, "cannot read f", EIO).within("port eth0").within("inspect");
  EXPECT_EQ(error.text(), "inspect: port eth0: cannot read f (Input/output error)");
  EXPECT_EQ(error.message(), "cannot read f");
  EXPECT_EQ(error.os_error(), EIO);
}

TEST(Error, ErrnoDecidesTheKind) {
  EXPECT_EQ(kind_of_errno(ENODEV), ErrorKind::absent);
  EXPECT_EQ(kind_of_errno(ENOTDIR), ErrorKind::absent);
  EXPECT_EQ(kind_of_errno(EROFS), ErrorKind::denied);
  EXPECT_EQ(kind_of_errno(EPERM), ErrorKind::denied);
  EXPECT_EQ(kind_of_errno(EOPNOTSUPP), ErrorKind::unsupported);
  EXPECT_EQ(kind_of_errno(EBUSY), ErrorKind::conflict);
  EXPECT_EQ(kind_of_errno(ENOSPC), ErrorKind::io);
}

TEST(InputIssue, LeavesOutWhatIsNotKnown) {
  const InputIssue flag{SourcePlace{}, "--interval", "\"5\"", "a duration", ""};
  EXPECT_EQ(flag.text(), "--interval: found \"5\", allowed: a duration");
  const InputIssue place{SourcePlace{"f", 3, 0}, "", "x", "y", "z"};
  EXPECT_EQ(place.text(), "f:3: found x, allowed: y; did you mean z?");
}

}  // namespace
}  // namespace rocetune
