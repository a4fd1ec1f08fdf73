#include "agent/counters/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/counters/deltas.h"
#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::port_sample;
using testing::sample;
using testing::schema;

const RecordHeader kHeader{.host = "h1", .kernel = "6.1.0", .started_unix_ns = 12};

Reading reading(int second, std::uint64_t bytes, std::uint64_t cnps) {
  PortSample port =
      port_sample("mlx5", seconds(second), {{"tx_prio3_bytes", bytes}}, {{"np_cnp_sent", cnps}});
  port.speed = gigabits_per_second(100);
  port.rdma_resolution = milliseconds(10);
  port.dcb_at = Instant();
  port.unread.emplace(Source::dcb, denied("no \"permission\"").value());
  return to_reading(schema(), sample(port));
}

class RecordTest : public ::testing::Test {
 protected:
  RecordTest()
      : path_((fs::path(::testing::TempDir()) /
               (std::string("record_") + ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                  .string()) {
    fs::remove_all(path_);
  }
  ~RecordTest() override { fs::remove_all(path_); }
  void write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Expected<RecordOutcome> read() {
    samples_.clear();
    return read_record(path_, schema(), [this](const Reading& r) {
      samples_.push_back(to_sample(schema(), r));
      return true;
    });
  }
  // A good record of three readings.
  std::string good() {
    RecordEncoder encoder;
    std::string text = RecordEncoder::header_line(kHeader);
    for (const Reading& r : {reading(1, 10, 1), reading(2, 20, 2), reading(3, 30, 3)})
      text += encoder.lines(r);
    return text;
  }
  std::string error_of(const std::string& content) {
    write(content);
    const auto outcome = read();
    if (!outcome) return outcome.error().text();
    return outcome->damaged.empty() ? "" : outcome->damaged[0].text();
  }

  std::string path_;
  std::vector<Sample> samples_;
};

TEST_F(RecordTest, ReadsBackWhatItWrote) {
  auto file = RecordFile::create(path_, kHeader);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_TRUE(file->write(reading(1, 10, 1)));
  ASSERT_TRUE(file->write(reading(2, 20, 2)));
  const auto outcome = read();
  ASSERT_TRUE(outcome) << outcome.error().text();
  EXPECT_EQ(outcome->header, kHeader);
  EXPECT_EQ(outcome->readings, 2u);
  ASSERT_EQ(samples_.size(), 2u);
  EXPECT_EQ(samples_[0], to_sample(schema(), reading(1, 10, 1)));
  EXPECT_EQ(samples_[1], to_sample(schema(), reading(2, 20, 2)));
}

TEST_F(RecordTest, NamesStandOnceWhileTheyDoNotChange) {
  Reading same = reading(1, 10, 1);
  RecordEncoder encoder;
  const std::string first = encoder.lines(same);
  const std::string second = encoder.lines(same);
  EXPECT_THAT(first, HasSubstr("\"of\":"));
  EXPECT_THAT(second, ::testing::Not(HasSubstr("\"of\":")));
}

TEST_F(RecordTest, IncrementsOfARecordAreThoseOfTheRun) {
  write(good());
  ASSERT_TRUE(read());
  const Interval interval = interval_between(schema(), samples_[0], samples_[2]);
  EXPECT_EQ(interval.ports[0].increment("tx_bytes", Priority(3)), 20u);
  EXPECT_EQ(interval.ports[0].elapsed, seconds(2));
  EXPECT_EQ(interval.ports[0].why_absent("tx_pause_transitions", Priority(0))->kind,
            Unavailable::Kind::absent);
}

TEST_F(RecordTest, NeverOverwritesAFile) {
  write("mine\n");
  const auto file = RecordFile::create(path_, kHeader);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind(), ErrorKind::bad_input);
  EXPECT_EQ(text(), "mine\n");
}

TEST_F(RecordTest, AFullDiskIsAnError) {
  auto file = RecordFile::create("/dev/full", kHeader);
  EXPECT_FALSE(file);
}

TEST_F(RecordTest, ADamagedLineLosesOnlyItself) {
  std::string content = good();
  const std::string needle = "{\"at_ps\":2";
  const auto at = content.find(needle);
  ASSERT_NE(at, std::string::npos);
  content[at] = '#';
  write(content);
  const auto outcome = read();
  ASSERT_TRUE(outcome) << outcome.error().text();
  EXPECT_EQ(outcome->readings, 2u);
  ASSERT_EQ(outcome->damaged_lines, 1u);
  EXPECT_THAT(outcome->damaged[0].text(), HasSubstr(path_ + ":5: found text that is no JSON object"));
}

TEST_F(RecordTest, ALineCutShortByACrashIsToldApart) {
  const std::string content = good();
  write(content.substr(0, content.size() - 20));
  const auto outcome = read();
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->is_cut_short);
  EXPECT_EQ(outcome->damaged_lines, 0u);
  EXPECT_EQ(outcome->readings, 2u);
}

TEST_F(RecordTest, EveryTruncationIsReadWithoutHarm) {
  const std::string content = good();
  for (std::size_t size = 0; size < content.size(); ++size) {
    write(content.substr(0, size));
    const auto outcome = read();
    EXPECT_TRUE(!outcome || outcome->damaged_lines == 0) << size;
  }
}

TEST_F(RecordTest, LostNamesAreNamed) {
  std::string content = good();
  const auto names = content.find("{\"names\":0");
  content.erase(names, content.find('\n', names) - names);
  EXPECT_THAT(error_of(content), AllOf(HasSubstr(path_ + ":4"), HasSubstr("ethtool.names: found 0"),
                                       HasSubstr("told on an earlier line")));
}

TEST_F(RecordTest, ValuesMustFitTheirNames) {
  std::string content = good();
  const auto values = content.find("\"values\":[10]");
  ASSERT_NE(values, std::string::npos);
  content.replace(values, 13, "\"values\":[10,11]");
  EXPECT_THAT(error_of(content), HasSubstr("found 2 values, allowed: 1"));
}

TEST_F(RecordTest, WrongKindsAreNamedByTheirPath) {
  std::string content = good();
  const auto at = content.find("\"port\":\"eth0\"");
  content.replace(at, 13, "\"port\":77    ");
  EXPECT_THAT(error_of(content), HasSubstr(".ports[0].port: found an integer"));
}

TEST_F(RecordTest, ANewerVersionIsRefused) {
  EXPECT_THAT(error_of("{\"rocetune_counters\":2}\n"),
              HasSubstr(path_ + ":1: rocetune_counters: found version 2, allowed: 1"));
}

TEST_F(RecordTest, AnotherFileIsNoRecord) {
  EXPECT_THAT(error_of("{\"a\":1}\n"), HasSubstr("found no header of a counter record"));
  EXPECT_THAT(error_of("hello\n"), HasSubstr(":1: found text that is no JSON object"));
  EXPECT_THAT(error_of(""), HasSubstr("empty file"));
}

TEST_F(RecordTest, AFolderOrNothingIsNoRecord) {
  EXPECT_EQ(read().error().kind(), ErrorKind::absent);
  fs::create_directories(path_);
  EXPECT_EQ(read().error().kind(), ErrorKind::bad_input);
}

TEST_F(RecordTest, ReadingStopsWhenTold) {
  write(good());
  int taken = 0;
  const auto outcome = read_record(path_, schema(), [&](const Reading&) { return ++taken < 2; });
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->readings, 2u);
}

}  // namespace
}  // namespace rocetune::counters
