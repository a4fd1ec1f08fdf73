#include "agent/tune/history_index.h"

#include <unistd.h>

#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

class HistoryIndex : public testing::Test {
 protected:
  HistoryIndex() : path(fmt::format("{}/index-{}", testing::TempDir(), ::getpid())) {
    FakeKernel kernel(1);
    FakeDisk disk;
    Process process(kernel, disk);
    EXPECT_EQ(process.apply(plan_for(kernel), request())->verdict, Verdict::committed);
    ledger = process.ledger();
  }
  ~HistoryIndex() override { ::unlink(path.c_str()); }
  std::string path;
  Ledger ledger;
};

TEST_F(HistoryIndex, AnswersQueries) {
  const auto written = write_history_index(ledger, path);
  if (!written && written.error().kind() == ErrorKind::unsupported) GTEST_SKIP() << written.error().text();
  ASSERT_TRUE(written) << written.error().text();
  const auto result = query_history(path,
                                    "select t.user, c.before, c.after, c.read_back from changes c join "
                                    "transactions t on t.id = c.transaction_id where c.knob = 'mtu'");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->columns, (std::vector<std::string>{"user", "before", "after", "read_back"}));
  ASSERT_EQ(result->rows.size(), 1u);
  EXPECT_EQ(result->rows[0], (std::vector<std::string>{"root", "1500", "9000", "9000"}));
}

TEST_F(HistoryIndex, IsRenewedAsAWhole) {
  if (!write_history_index(ledger, path)) GTEST_SKIP();
  ASSERT_TRUE(write_history_index(ledger, path));
  EXPECT_EQ(query_history(path, "select count(*) from transactions")->rows[0][0], "1");
}

TEST_F(HistoryIndex, CannotBeWrittenByAQuery) {
  if (!write_history_index(ledger, path)) GTEST_SKIP();
  const auto result = query_history(path, "delete from transactions");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::bad_input);
  EXPECT_FALSE(query_history(path, "selec 1"));
  EXPECT_FALSE(query_history(path, ""));
  EXPECT_TRUE(query_history(path, "select 1;  \n"));
  const auto two = query_history(path, "select 1; drop table notes");
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().kind(), ErrorKind::bad_input);
  EXPECT_NE(two.error().text().find("drop table notes, allowed: one SELECT"), std::string::npos)
      << two.error().text();
}

}  // namespace
}  // namespace rocetune::tune
