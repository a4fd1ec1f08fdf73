#include "agent/counters/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/agent/counters/test_data.h"

namespace rocetune::counters {
namespace {

using ::testing::HasSubstr;
using testing::port_sample;
using testing::sample;
using testing::schema;

Snapshot example() {
  Snapshot out;
  out.header.rocetune = "0.1.0";
  out.header.taken_unix_ns = 5;
  out.host.name = "h1";
  out.host.ports.emplace_back().name = "eth0";
  out.texts = {{"dmesg", "[ 1.0] mlx5_core: \"line\"\n[ 2.0] two\n"}};
  for (int second = 1; second <= 3; ++second) {
    const auto bytes = static_cast<std::uint64_t>(10 * second);
    out.readings.push_back(
        to_reading(schema(), sample(port_sample("mlx5", seconds(second), {{"tx_prio3_bytes", bytes}}, {}))));
  }
  return out;
}

TEST(Snapshot, ReadsBackWhatWasWritten) {
  const Snapshot before = example();
  const std::string text = to_text(before);
  ASSERT_TRUE(is_snapshot(text));
  const auto after = read_snapshot(text, "x", schema());
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->header, before.header);
  EXPECT_EQ(after->host, before.host);
  ASSERT_EQ(after->texts.size(), 1u);
  EXPECT_EQ(after->texts[0].content, before.texts[0].content);
  ASSERT_EQ(after->readings.size(), 3u);
  EXPECT_TRUE(after->remarks.empty());
  EXPECT_EQ(host_of_snapshot(text, "x")->name, "h1");
}

TEST(Snapshot, ItsRecordIsReadAsAnyRecord) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "snapshot_record";
  std::ofstream(path, std::ios::binary) << to_text(example());
  std::size_t readings = 0;
  const auto outcome = read_record(path.string(), schema(), [&](const Reading&) {
    ++readings;
    return true;
  });
  std::filesystem::remove(path);
  ASSERT_TRUE(outcome) << outcome.error().text();
  EXPECT_EQ(readings, 3u);
  EXPECT_EQ(outcome->damaged_lines, 0u);
}

// Wherever it is cut: the host and what stands before the cut, a remark, or an error that says it; never a
// crash.
TEST(Snapshot, CutAnywhere) {
  const std::string text = to_text(example());
  const std::size_t host_end = text.find('\n', text.find("rocetune_host"));
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto read = read_snapshot(text.substr(0, length), "x", schema());
    EXPECT_EQ(read.has_value(), length >= host_end) << length;
    if (read) {
      EXPECT_EQ(read->host.name, "h1");
    }
  }
}

TEST(Snapshot, ADamagedLineLosesOnlyItself) {
  std::string text = to_text(example());
  const auto at = text.find("{\"rocetune_text\"");
  text.insert(at, "{\"rocetune_text\": 7}\ngarbage\n");
  const auto read = read_snapshot(text, "x", schema());
  ASSERT_TRUE(read);
  EXPECT_THAT(read->remarks,
              ::testing::ElementsAre("line 3: damaged, left out", "line 4: damaged, left out"));
  EXPECT_EQ(read->readings.size(), 3u);
}

TEST(Snapshot, AnotherVersionIsRefused) {
  const auto read =
      read_snapshot("{\"rocetune_snapshot\":2,\"rocetune\":\"9\",\"taken_unix_ns\":0,\"anonymous\":false}\n",
                    "new", schema());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("new:1: found a snapshot of version 2, allowed: 1"));
}

}  // namespace
}  // namespace rocetune::counters
