// A journal of years: what is left out, what is kept, and that no moment is without a journal.
#include "agent/tune/compaction.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "dataplane/base/durable.h"
#include "dataplane/base/file.h"
#include "tests/agent/tune/bench.h"
#include "tests/places.h"

namespace rocetune::tune {
namespace {

class Compaction : public testing::Test {
 protected:
  Compaction() {
    std::string name = testing::TempDir() + "rocetune-compaction-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    disk.free_bytes = std::int64_t{1} << 40;
  }
  ~Compaction() override { std::filesystem::remove_all(folder_); }

  Plan plan(std::int64_t mtu) {
    Profile wanted = profile();
    wanted.mtu = Bytes(mtu);
    Reaper nobody;
    return *make_plan(*FakeHost(kernel, nobody).observe(), wanted, nics(), {"eth0"}, 0);
  }
  // A change that is committed, refusals and a rollback, and one more change.
  void live(int refusals_between) {
    kernel.host.ports[0].mtu = Bytes(1500);
    Process process(kernel, disk);
    ASSERT_EQ(process.apply(plan(9000), request())->verdict, Verdict::committed);
    const Plan next = plan(9216);
    for (int i = 0; i < refusals_between; ++i) {
      kernel.host.ports[0].attachments->carries_default_route = true;
      ASSERT_EQ(process.apply(next, request())->verdict, Verdict::refused);
      kernel.host.ports[0].attachments->carries_default_route = false;
    }
    process.host.fault = [](const host::Knob&, const host::KnobValue&) {
      return std::optional(Error(ErrorKind::io, "no", EIO));
    };
    ASSERT_EQ(process.apply(next, request())->verdict, Verdict::rolled_back);
    process.host.fault = {};
    ASSERT_EQ(process.apply(next, request())->verdict, Verdict::committed);
  }
  std::vector<Record> records() { return parse_journal(disk.journal, "journal")->records; }
  static Ledger ledger_of(const std::vector<Record>& records) { return *Ledger::from(records, "journal"); }
  StateDirectory on_disk() {
    StateDirectory state(folder_);
    EXPECT_TRUE(write_atomically(state.journal_path(), disk.journal, 0600));
    return state;
  }

  FakeKernel kernel{1};
  FakeDisk disk;
  std::string folder_;
};

TEST_F(Compaction, OldRefusalsGoAndWhatFollowsFromTheRestStays) {
  live(150);
  const Ledger before = ledger_of(records());
  const auto needed = needed_records(records(), before);
  const Ledger after = ledger_of(needed);
  EXPECT_EQ(before.entries().size(), 153u);
  EXPECT_EQ(after.entries().size(), kRecentTransactions + 1);  // the first change is older than those
  EXPECT_EQ(after.entries().front().id, 1);
  EXPECT_EQ(confirmed_state(after), confirmed_state(before));
  EXPECT_EQ(after.next_id(), before.next_id());
}

TEST_F(Compaction, AnUndoneChangeAndItsUndoStay) {
  Process process(kernel, disk);
  ASSERT_EQ(process.apply(plan(9000), request())->verdict, Verdict::committed);
  Reaper nobody;
  const Plan undo =
      *undo_plan(*FakeHost(kernel, nobody).observe(), process.ledger().entries().back(), nics(), false, 0);
  ASSERT_EQ(process.apply(undo, request())->verdict, Verdict::committed);
  live(150);
  const Ledger after = ledger_of(needed_records(records(), ledger_of(records())));
  EXPECT_EQ(after.find(1)->undone_by, 2);
  EXPECT_NE(after.find(3), nullptr);
  EXPECT_EQ(after.find(4), nullptr);  // refused
}

TEST_F(Compaction, TheWholeJournalStaysAsideAndTheShortOneGoesOn) {
  live(150);
  const StateDirectory state = on_disk();
  const std::string whole = disk.journal;
  const auto aside = shorten_journal(state, Bytes(1000));
  ASSERT_TRUE(aside) << aside.error().text();
  ASSERT_TRUE(*aside);
  EXPECT_EQ(**aside, folder_ + "/journal-until-153");
  EXPECT_EQ(*read_file(**aside), whole);
  auto journal = state.open_journal();
  ASSERT_TRUE(journal) << journal.error().text();
  EXPECT_LT(journal->size().count(), static_cast<std::int64_t>(whole.size()) * 3 / 4);
  EXPECT_EQ(confirmed_state(ledger_of(journal->records())), confirmed_state(ledger_of(records())));
  Record record;
  record.kind = RecordKind::note;
  record.transaction = 153;
  record.reason = "later";
  ASSERT_TRUE(journal->append(record));
  EXPECT_EQ(state.open_journal()->records().back().reason, "later");
  struct stat info {};
  ASSERT_EQ(::stat(state.journal_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
}

TEST_F(Compaction, AShortOneOneWithoutGainAndAnOpenOneAreLeft) {
  live(0);
  const StateDirectory state = on_disk();
  EXPECT_FALSE(shorten_journal(state)->has_value());               // short
  EXPECT_FALSE(shorten_journal(state, Bytes(1000))->has_value());  // nothing to leave out
  live(150);
  disk.journal.resize(disk.journal.find_last_not_of('\0') + 1);
  const std::size_t last = disk.journal.rfind('\n', disk.journal.size() - 2) + 1;
  disk.journal.resize(last);  // the last transaction has not ended
  const StateDirectory open = on_disk();
  EXPECT_FALSE(shorten_journal(open, Bytes(1000))->has_value());
  EXPECT_EQ(*read_file(open.journal_path()), disk.journal);
}

TEST_F(Compaction, AnInterruptedAttemptIsDoneAgain) {
  live(150);
  const StateDirectory state = on_disk();
  ASSERT_EQ(::link(state.journal_path().c_str(), (folder_ + "/journal-until-153").c_str()), 0);
  const auto aside = shorten_journal(state, Bytes(1000));
  ASSERT_TRUE(aside) << aside.error().text();
  EXPECT_EQ(*read_file(**aside), disk.journal);
}

TEST_F(Compaction, AnotherFileOfThatNameIsNotTouched) {
  live(150);
  const StateDirectory state = on_disk();
  ASSERT_TRUE(write_atomically(folder_ + "/journal-until-153", "somebody's"));
  EXPECT_FALSE(shorten_journal(state, Bytes(1000)));
  EXPECT_EQ(*read_file(folder_ + "/journal-until-153"), "somebody's");
  EXPECT_EQ(*read_file(state.journal_path()), disk.journal);
}

TEST_F(Compaction, ADamagedJournalAndALinkAreNotTouched) {
  live(150);
  disk.journal[disk.journal.size() / 2] ^= 1;
  const StateDirectory state = on_disk();
  EXPECT_FALSE(shorten_journal(state, Bytes(1000)));
  EXPECT_EQ(*read_file(state.journal_path()), disk.journal);
  const std::string elsewhere = folder_ + "/elsewhere";
  std::filesystem::rename(state.journal_path(), elsewhere);
  std::filesystem::create_symlink(elsewhere, state.journal_path());
  EXPECT_FALSE(shorten_journal(state, Bytes(1000))->has_value());
}

// Records without what this version has added to steps and plans.
TEST_F(Compaction, AJournalOfAnEarlierVersionReads) {
  const auto bytes = read_file(source_root() + "/tests/fuzz/corpus/journal/every_end.txt");
  ASSERT_TRUE(bytes);
  ASSERT_EQ(bytes->find("\"effect\""), std::string::npos);
  const auto parsed = parse_journal(*bytes, "journal");
  ASSERT_TRUE(parsed) << parsed.error().text();
  const Ledger ledger = ledger_of(parsed->records);
  EXPECT_EQ(ledger.entries().size(), 5u);
  EXPECT_EQ(ledger.find(2)->undone_by, 3);
  EXPECT_EQ(ledger.unrepaired()->id, 5);
  const Ledger again = ledger_of(parse_journal(journal_text(parsed->records), "journal")->records);
  EXPECT_EQ(again.unrepaired()->id, 5);
}

// The read limit can therefore not strike inside a transaction.
TEST_F(Compaction, AJournalTakesNoMoreThanIsRead) {
  auto file = open_journal_file(folder_ + "/journal");
  ASSERT_TRUE(file);
  const std::int64_t limit = kJournalLimit.count();
  EXPECT_FALSE((*file)->reserve(limit + 1));
  EXPECT_FALSE((*file)->write(limit - 1, "ab"));
  const auto refused = (*file)->reserve(limit + 1);
  EXPECT_NE(refused.error().text().find("would grow beyond 256MiB"), std::string::npos)
      << refused.error().text();
  EXPECT_EQ(std::filesystem::file_size(folder_ + "/journal"), 0u);
}

}  // namespace
}  // namespace rocetune::tune
