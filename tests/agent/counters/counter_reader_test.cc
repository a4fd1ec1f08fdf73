#include "agent/counters/counter_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rocetune::counters {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HwCounterFilesTest : public ::testing::Test {
 protected:
  HwCounterFilesTest()
      : folder_(fs::path(::testing::TempDir()) /
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write("lifespan", "10\n");
    write("np_cnp_sent", "5\n");
    write("out_of_sequence", "4294967295\n");
  }
  ~HwCounterFilesTest() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  HwCounterFiles files() { return {folder_.string(), clock_}; }

  fs::path folder_;
  ManualClock clock_;
};

TEST_F(HwCounterFilesTest, ReadsEveryCounterAndTheLifespan) {
  HwCounterFiles reader = files();
  Block block;
  ASSERT_TRUE(reader.read(block));
  EXPECT_THAT(block.names->names, ElementsAre("np_cnp_sent", "out_of_sequence"));
  EXPECT_THAT(block.values, ElementsAre(5, 4294967295));
  EXPECT_EQ(block.resolution, milliseconds(10));
}

TEST_F(HwCounterFilesTest, SeesNewValuesAndKeepsTheNames) {
  HwCounterFiles reader = files();
  Block block;
  ASSERT_TRUE(reader.read(block));
  const auto names = block.names;
  write("np_cnp_sent", "6\n");
  ASSERT_TRUE(reader.read(block));
  EXPECT_EQ(block.values[0], 6u);
  EXPECT_EQ(block.names, names);
}

TEST_F(HwCounterFilesTest, AFolderThatIsNotThereIsAbsent) {
  fs::remove_all(folder_);
  HwCounterFiles reader = files();
  Block block;
  EXPECT_EQ(reader.read(block).error().kind(), ErrorKind::absent);
}

TEST_F(HwCounterFilesTest, TextThatIsNoNumberIsAnErrorWithItsFile) {
  write("np_cnp_sent", "many\n");
  HwCounterFiles reader = files();
  Block block;
  const auto status = reader.read(block);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("np_cnp_sent: found \"many"));
}

TEST_F(HwCounterFilesTest, CountersThatAppearAreFoundWhenToldToLookAgain) {
  HwCounterFiles reader = files();
  Block block;
  ASSERT_TRUE(reader.read(block));
  write("cc_rx_ce_pkts", "1\n");
  reader.forget_names();
  ASSERT_TRUE(reader.read(block));
  EXPECT_THAT(block.names->names, ElementsAre("cc_rx_ce_pkts", "np_cnp_sent", "out_of_sequence"));
}

struct NumberCase {
  std::string text;
  std::optional<std::uint64_t> value;
};
class ParseCounter : public ::testing::TestWithParam<NumberCase> {};
TEST_P(ParseCounter, IsOneNumberOrNothing) { EXPECT_EQ(parse_counter(GetParam().text), GetParam().value); }
INSTANTIATE_TEST_SUITE_P(All, ParseCounter,
                         ::testing::Values(NumberCase{"0\n", 0}, NumberCase{" 12 ", 12},
                                           NumberCase{"18446744073709551615", UINT64_MAX},
                                           NumberCase{"18446744073709551616", std::nullopt},
                                           NumberCase{"", std::nullopt}, NumberCase{"\n", std::nullopt},
                                           NumberCase{"-1", std::nullopt}, NumberCase{"1 2", std::nullopt},
                                           NumberCase{"0x10", std::nullopt},
                                           NumberCase{"1e3", std::nullopt}));

}  // namespace
}  // namespace rocetune::counters
