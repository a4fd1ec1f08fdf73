#include "dataplane/transport/perftest/test.h"

#include <gtest/gtest.h>

namespace rocetune::perftest {
namespace {

TEST(Test, WhoAsksAndWhoReceives) {
  const auto roles = [](perftest::Test test, const char* host) {
    const Options options{.test = test, .host = host};
    return std::pair{options.asks(), options.receives()};
  };
  using Roles = std::pair<bool, bool>;
  for (const perftest::Test test :
       {perftest::Test::write_bw, perftest::Test::read_bw, perftest::Test::read_lat}) {
    EXPECT_EQ(roles(test, "peer"), Roles(true, false)) << enum_name(test);
    EXPECT_EQ(roles(test, ""), Roles(false, false)) << enum_name(test);
  }
  EXPECT_EQ(roles(perftest::Test::send_bw, "peer"), Roles(true, false));
  EXPECT_EQ(roles(perftest::Test::send_bw, ""), Roles(false, true));
  for (const perftest::Test test : {perftest::Test::write_lat, perftest::Test::send_lat}) {
    EXPECT_EQ(roles(test, "peer"), Roles(true, true)) << enum_name(test);
    EXPECT_EQ(roles(test, ""), Roles(true, true)) << enum_name(test);
  }
}

TEST(Test, TheServersWriteIsTheFirstAndTheClientsSend) {
  EXPECT_TRUE((Options{.test = perftest::Test::write_lat}.begins()));
  EXPECT_FALSE((Options{.test = perftest::Test::write_lat, .host = "peer"}.begins()));
  EXPECT_TRUE((Options{.test = perftest::Test::send_lat, .host = "peer"}.begins()));
  EXPECT_FALSE((Options{.test = perftest::Test::send_lat}.begins()));
}

TEST(Test, EverythingOutOfRangeIsSaidAtOnce) {
  EXPECT_TRUE(check(Options()));
  const auto checked = check({.port = 0, .size = Bytes(0), .iterations = 0, .mtu = 1500, .window = 0});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind(), ErrorKind::bad_input);
  for (const char* key : {"size", "iterations", "mtu", "window", "port"}) {
    EXPECT_NE(checked.error().text().find(key), std::string::npos) << checked.error().text();
  }
}

}  // namespace
}  // namespace rocetune::perftest
