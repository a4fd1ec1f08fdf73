#include "agent/tune/host_plant/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "dataplane/base/clock.h"

namespace rocetune::tune {
namespace {

Process shell(const std::string& line) {
  auto process = Process::start({"/bin/sh", "-c", line});
  EXPECT_TRUE(process) << (process ? "" : process.error().text());
  return std::move(*process);
}
RunResult run(const std::string& line, Duration limit = seconds(60)) {
  auto done = run_program({"/bin/sh", "-c", line}, {}, limit, {});
  EXPECT_TRUE(done) << (done ? "" : done.error().text());
  return done ? *done : RunResult{};
}
double seconds_of(const auto& job) {
  const SystemClock clock;
  const Instant begin = clock.now();
  job();
  return (clock.now() - begin).seconds();
}
bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }
// Dead, or a zombie whose parent is someone else's to wait for, within a moment.
bool ends_soon(pid_t pid) {
  for (int i = 0; i < 200 && is_alive(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (!is_alive(pid)) return true;
  const auto stat = run("cut -d' ' -f3 /proc/" + std::to_string(pid) + "/stat").out;
  return stat.starts_with("Z");
}

TEST(Process, WhatItWritesAndHowItEnds) {
  const RunResult done = run("echo out; echo err >&2; exit 7");
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.status, 7);
  EXPECT_FALSE(done.timed_out);
}

TEST(Process, ASignalIsTold128Higher) { EXPECT_EQ(run("kill -9 $$").status, 128 + 9); }

TEST(Process, ReadsItsInput) {
  const std::string input(300'000, 'x');
  const auto done = run_program({"wc", "-c"}, input, seconds(60), {});
  ASSERT_TRUE(done);
  EXPECT_EQ(std::stoi(done->out), 300'000);
}

TEST(Process, MuchOutputDoesNotBlockIt) {
  EXPECT_EQ(run("head -c 1000000 /dev/zero | tr '\\0' a").out.size(), 1'000'000U);
}

TEST(Process, OfTooMuchOutputTheEndIsKept) {
  const std::string all = run("yes | head -c 90000000; echo busbw 90").out;
  EXPECT_GE(all.size(), Process::kMostOutput);
  EXPECT_LE(all.size(), 2 * Process::kMostOutput);
  EXPECT_TRUE(all.ends_with("y\nbusbw 90\n"));
}

TEST(Process, AProgramThatIsNotThereIsAnError) {
  const auto none = run_program({"/nonexistent/rocetune"}, {}, seconds(1), {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind(), ErrorKind::absent);
  EXPECT_NE(none.error().text().find("/nonexistent/rocetune"), std::string::npos);
}

TEST(Process, WhoKeepsItsOutputsOpenKeepsNobodyWaiting) {
  RunResult done;
  EXPECT_LT(seconds_of([&] { done = run("sleep 60 & echo $!; exit 3"); }), 20);
  EXPECT_EQ(done.status, 3);
  EXPECT_TRUE(ends_soon(std::stoi(done.out))) << "what it left behind is killed";
}

TEST(Process, ClosedOutputsAreNoEnd) {
  const RunResult done = run("exec >&- 2>&-; sleep 0.3; exit 5");
  EXPECT_EQ(done.status, 5);
}

TEST(Process, TheLimitEndsItAndAllThatItStarted) {
  RunResult done;
  EXPECT_LT(seconds_of([&] { done = run("sleep 60 & echo $!; wait", milliseconds(300)); }), 20);
  EXPECT_TRUE(done.timed_out);
  EXPECT_TRUE(ends_soon(std::stoi(done.out)));
}

TEST(Process, WhoeverIgnoresTheRequestIsKilled) {
  RunResult done;
  EXPECT_LT(seconds_of([&] { done = run("trap '' TERM; while :; do sleep 0.05; done", milliseconds(100)); }),
            20);
  EXPECT_EQ(done.status, 128 + 9);
}

TEST(Process, AStopEndsIt) {
  std::stop_source stop;
  stop.request_stop();
  const auto done = run_program({"sleep", "60"}, {}, seconds(60), stop.get_token());
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->stopped);
  EXPECT_FALSE(done->timed_out);
}

TEST(Process, ItsDestructionEndsIt) {
  pid_t child = 0;
  {
    Process process = shell("echo $$; exec sleep 60");
    std::vector<std::string> lines;
    while (lines.empty() && process.poll(seconds(5))) lines = process.take_lines();
    ASSERT_EQ(lines.size(), 1U);
    child = std::stoi(lines[0]);
    EXPECT_TRUE(is_alive(child));
  }
  EXPECT_FALSE(is_alive(child));
}

TEST(Process, LinesAreTakenOnce) {
  Process process = shell("printf 'one\\ntwo\\nthr'; sleep 0.2; printf 'ee\\n'");
  std::vector<std::string> lines;
  while (process.poll(seconds(5))) {
    for (std::string& line : process.take_lines()) lines.push_back(std::move(line));
  }
  for (std::string& line : process.take_lines()) lines.push_back(std::move(line));
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(process.out(), "");
}

TEST(ShellWord, ComesBackAsItWas) {
  for (const std::string word :
       {"plain", "", "two words", "it's", "$HOME `id` \"x\" \\ *", "a\nb", "--x=1;reboot"}) {
    const auto done = run_program({"/bin/sh", "-c", "printf %s " + shell_word(word)}, {}, seconds(10), {});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, word);
  }
  EXPECT_EQ(shell_word("eth0"), "eth0");
}

}  // namespace
}  // namespace rocetune::tune
