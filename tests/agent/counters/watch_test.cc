#include "agent/counters/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::schema;

// Grows by `rate` a second of the test's clock.
class GrowingReader : public CounterReader {
 public:
  explicit GrowingReader(ManualClock& clock) : clock_(clock) {}
  Expected<> read(Block& block) override {
    block.at = clock_.now();
    clock_.advance(takes);
    block.names = names_;
    block.values = {static_cast<std::uint64_t>(clock_.now().since_origin() / milliseconds(1))};
    return {};
  }
  Duration takes;

 private:
  std::shared_ptr<const NameList> names_ = std::make_shared<const NameList>(NameList{{"tx_prio3_bytes"}});
  ManualClock& clock_;
};

class WatchTest : public ::testing::Test {
 protected:
  WatchTest() : folder_(fs::path(::testing::TempDir()) / "watch_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    output_.write = [this](std::string_view text) {
      out_ += text;
      if (on_write) on_write();
    };
    output_.warn = [this](std::string_view line) { warnings_.emplace_back(line); };
    output_.json = true;
  }
  ~WatchTest() override { fs::remove_all(folder_); }

  std::vector<PortReaders> ports() {
    std::vector<PortReaders> out;
    for (const char* name : {"eth0", "eth1"}) {
      PortReaders port{.port = name, .nic = "mlx5"};
      auto reader = std::make_unique<GrowingReader>(clock_);
      reader->takes = takes;
      port.readers[index_of(Source::ethtool)] = std::move(reader);
      out.push_back(std::move(port));
    }
    return out;
  }
  Expected<> live() {
    Sampler sampler(schema(), ports(), clock_);
    return watch_live(sampler, schema(), {}, options_, output_, clock_, is_stopped_);
  }
  Expected<> replay(bool join = false) {
    return watch_replay(schema(), options_, join, output_, is_stopped_);
  }
  std::size_t lines() const { return static_cast<std::size_t>(std::ranges::count(out_, '\n')); }

  fs::path folder_;
  ManualClock clock_{1'700'000'000'000'000'000};
  WatchOptions options_;
  WatchOutput output_;
  std::string out_;
  std::vector<std::string> warnings_;
  std::function<void()> on_write;
  bool stop_ = false;
  StopQuestion is_stopped_ = [this] { return stop_; };
  Duration takes;
};

TEST_F(WatchTest, ShowsAsManyIntervalsAsAskedFor) {
  options_.count = 3;
  ASSERT_TRUE(live());
  EXPECT_EQ(lines(), 3u);
  EXPECT_EQ(clock_.now(), Instant(seconds(3)));
}

TEST_F(WatchTest, StopsCleanlyWhenToldTo) {
  on_write = [this] { stop_ = true; };
  ASSERT_TRUE(live());
  EXPECT_EQ(lines(), 1u);
}

TEST_F(WatchTest, SlowReadingStretchesTheInterval) {
  options_.interval = milliseconds(100);
  options_.count = 2;
  takes = milliseconds(5);  // two ports: 10 ms a reading
  ASSERT_TRUE(live());
  EXPECT_THAT(out_, HasSubstr("\"interval_us\":200000"));
  EXPECT_THAT(out_, HasSubstr("\"elapsed_us\":200000"));
}

TEST_F(WatchTest, WhatWasRecordedIsReplayedTheSame) {
  options_.count = 3;
  options_.record = (folder_ / "r.jsonl").string();
  ASSERT_TRUE(live());
  const std::string live_output = out_;
  out_.clear();
  options_.replay = options_.record;
  options_.record.clear();
  const auto status = replay();
  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(out_, live_output);
}

TEST_F(WatchTest, ReplayJoinsReadingsUpToTheInterval) {
  options_.count = 6;
  options_.record = (folder_ / "r.jsonl").string();
  ASSERT_TRUE(live());
  out_.clear();
  options_ = {.interval = seconds(3), .replay = options_.record};
  ASSERT_TRUE(replay(true));
  EXPECT_EQ(lines(), 2u);
  EXPECT_THAT(out_, HasSubstr("\"elapsed_us\":3000000"));
}

TEST_F(WatchTest, ReplayTellsDamagedLinesAndEndsAsBadInput) {
  options_.count = 3;
  options_.record = (folder_ / "r.jsonl").string();
  ASSERT_TRUE(live());
  out_.clear();
  std::ofstream(options_.record, std::ios::app) << "garbage\n";
  options_ = {.replay = options_.record};
  const auto status = replay();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::bad_input);
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("r.jsonl:7: found text that is no JSON object"));
  EXPECT_EQ(lines(), 3u);
}

TEST_F(WatchTest, ReplayOfPortsThatAreNotInTheRecordIsBadInput) {
  options_.count = 1;
  options_.record = (folder_ / "r.jsonl").string();
  ASSERT_TRUE(live());
  options_ = {.ports = {"eth7"}, .replay = options_.record};
  EXPECT_THAT(replay().error().text(), HasSubstr("holds no port of those asked for"));
}

TEST_F(WatchTest, ATerminalIsRedrawnInPlace) {
  output_.json = false;
  output_.redraw = true;
  options_.count = 2;
  ASSERT_TRUE(live());
  EXPECT_THAT(out_, HasSubstr("\x1b["));
}

TEST_F(WatchTest, ChoosesThePortsAskedFor) {
  const auto chosen = choose_ports(ports(), {"eth1"}, schema());
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->size(), 1u);
  EXPECT_EQ((*chosen)[0].port, "eth1");
}

TEST_F(WatchTest, AnUnknownPortSaysTheNearest) {
  const auto chosen = choose_ports(ports(), {"eht1"}, schema());
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().kind(), ErrorKind::bad_input);
  EXPECT_THAT(chosen.error().text(),
              HasSubstr("--port: found eht1, allowed: eth0, eth1; did you mean eth1?"));
}

TEST_F(WatchTest, PortsWithoutRdmaOrTableAreLeftOutUnlessAskedFor) {
  const auto plain = [&] {
    auto out = ports();
    out[0].nic = "unknown";
    return out;
  };
  EXPECT_EQ(choose_ports(plain(), {}, schema())->size(), 1u);
  EXPECT_EQ(choose_ports(plain(), {"eth0"}, schema())->at(0).port, "eth0");
  EXPECT_EQ(choose_ports({}, {}, schema()).error().kind(), ErrorKind::bad_input);
}

}  // namespace
}  // namespace rocetune::counters
