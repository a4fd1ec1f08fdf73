// The same promise with real processes, a real file and a real SIGKILL: a child applies, dies at a point, a
// new process recovers from what stands in the file.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/agent/tune/bench.h"

namespace rocetune::tune {
namespace {

// What outlives a process: the number of writes, and the kernel's knobs as JSON, in memory shared with the
// child.
struct Shared {
  std::size_t size = 0;
  char text[1 << 20];
};

class SharedKernel {
 public:
  SharedKernel()
      : shared_(static_cast<Shared*>(
            ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedKernel() { ::munmap(shared_, sizeof(Shared)); }
  void save(const FakeKernel& kernel) {
    std::string text = host::to_json_text(kernel.host);
    for (const auto& [port, tos] : kernel.tos) {
      text += fmt::format("\x1f{} {} {} {}", port, tos, kernel.tos_directories.contains(port) ? 1 : 0,
                          kernel.manual_buffers.contains(port) ? 1 : 0);
    }
    ASSERT_LT(text.size(), sizeof shared_->text);
    std::copy(text.begin(), text.end(), shared_->text);
    shared_->size = text.size();
  }
  FakeKernel load() const {
    FakeKernel kernel(2);
    std::string text(shared_->text, shared_->size);
    for (std::size_t at = text.rfind('\x1f'); at != std::string::npos; at = text.rfind('\x1f')) {
      char port[16];
      int tos = 0, shown = 0, manual = 0;
      EXPECT_EQ(std::sscanf(text.c_str() + at + 1, "%15s %d %d %d", port, &tos, &shown, &manual), 4);
      kernel.tos[port] = tos;
      if (shown != 0) kernel.tos_directories.insert(port);
      if (manual != 0) kernel.manual_buffers.insert(port);
      text.resize(at);
    }
    kernel.host = *host::host_from_json(text, "shared");
    return kernel;
  }

 private:
  Shared* shared_;
};

class ProcessKill : public testing::Test {
 protected:
  ProcessKill() : path_(fmt::format("{}/kill-journal-{}", testing::TempDir(), ::getpid())) {}
  ~ProcessKill() override { ::unlink(path_.c_str()); }

  // Runs `action` in a child that is killed right behind its `nth` knob write. True if it was.
  template <class Action>
  bool die_at(int nth, Action&& action) {
    const pid_t child = ::fork();
    if (child == 0) {
      FakeKernel kernel = shared_.load();
      Reaper nobody;
      FakeHost host(kernel, nobody);
      int writes = 0;
      // Each observation follows a write sooner or later; saving there and before each write is what a real
      // kernel does by itself.
      host.meanwhile = [&](FakeKernel& k) { shared_.save(k); };
      host.fault = [&](const host::Knob&, const host::KnobValue&) -> std::optional<Error> {
        shared_.save(kernel);
        if (++writes == nth) ::kill(::getpid(), SIGKILL);
        return std::nullopt;
      };
      Journal journal = *Journal::open(*open_journal_file(path_), path_);
      Transactions transactions(host, journal, Timing(), limits(), [](const std::string&) {});
      action(transactions);
      shared_.save(kernel);
      ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  std::string path_;
  SharedKernel shared_;
};

TEST_F(ProcessKill, AtEveryWriteOfAnApply) {
  FakeKernel fresh(2);
  const Plan plan = plan_for(fresh);
  const std::string before = fresh.state();
  int kills = 0;
  for (int nth = 1;; ++nth) {
    ::unlink(path_.c_str());
    shared_.save(fresh);
    const bool killed = die_at(nth, [&](Transactions& transactions) {
      (void)transactions.apply(plan, request(seconds(600)), [](std::int64_t) { return Expected<>(); });
    });
    if (!killed) break;
    ++kills;
    ASSERT_FALSE(die_at(0, [](Transactions& transactions) { (void)transactions.recover({}); }));
    EXPECT_EQ(shared_.load().state(), before) << "killed at write " << nth;
    const auto journal = Journal::open(read_only_journal_file(path_), path_);
    ASSERT_TRUE(journal) << journal.error().text();
    const Ledger ledger = *Ledger::from(journal->records(), path_);
    EXPECT_EQ(ledger.entries().back().outcome, Outcome::rolled_back);
  }
  EXPECT_GT(kills, 20);
}

}  // namespace
}  // namespace rocetune::tune
