#include "agent/tune/journal.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/tune/ledger.h"
#include "tests/agent/tune/fake_host.h"

namespace rocetune::tune {
namespace {

Record note(const std::string& text) {
  Record record;
  record.kind = RecordKind::note;
  record.transaction = 1;
  record.at = {"boot", 1, 2};
  record.reason = text;
  return record;
}

Journal open(FakeDisk& disk, Reaper& reaper) {
  auto journal = Journal::open(std::make_unique<FakeStorage>(disk, reaper), "journal");
  EXPECT_TRUE(journal) << (journal ? "" : journal.error().text());
  return std::move(*journal);
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    Journal journal = open(disk, nobody);
    for (const char* text : {"one", "two", "three"}) EXPECT_TRUE(journal.append(note(text)));
  }
  FakeDisk disk;
  Reaper nobody;
};

TEST_F(JournalTest, ReadsBackWhatWasAppended) {
  const auto parsed = parse_journal(disk.journal, "journal");
  ASSERT_TRUE(parsed) << parsed.error().text();
  ASSERT_EQ(parsed->records.size(), 3u);
  EXPECT_EQ(parsed->records[1], note("two"));
  EXPECT_FALSE(parsed->torn);
}

TEST_F(JournalTest, EveryLengthOfATornLastLineIsForgotten) {
  const std::string whole = disk.journal;
  const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
  for (std::size_t length = last; length < whole.size(); ++length) {
    for (const bool reserved : {false, true}) {
      FakeDisk torn;
      torn.journal = whole.substr(0, length) + (reserved ? std::string(100, '\0') : "");
      Journal journal = open(torn, nobody);
      EXPECT_EQ(journal.records().size(), 2u) << length;
      ASSERT_TRUE(journal.append(note("again")));
      const auto parsed = parse_journal(torn.journal, "journal");
      ASSERT_TRUE(parsed) << length << ": " << parsed.error().text();
      ASSERT_EQ(parsed->records.size(), 3u) << length;
      EXPECT_EQ(parsed->records.back(), note("again"));
    }
  }
}

TEST_F(JournalTest, AHeadingThatWasTornIsAnEmptyJournal) {
  for (const std::string& bytes : {std::string("rocetune-jou"), std::string("rocetune-jou\0\0\0", 15)}) {
    FakeDisk torn;
    torn.journal = bytes;
    Journal journal = open(torn, nobody);
    EXPECT_TRUE(journal.records().empty());
    EXPECT_TRUE(journal.append(note("first")));
    EXPECT_EQ(parse_journal(torn.journal, "journal")->records.size(), 1u);
  }
}

TEST_F(JournalTest, PagesThatNeverArrivedAreATornLine) {
  const std::size_t last = disk.journal.rfind('\n', disk.journal.size() - 2) + 1;
  std::fill_n(disk.journal.begin() + static_cast<std::ptrdiff_t>(last), 10, '\0');
  const auto parsed = parse_journal(disk.journal, "journal");
  ASSERT_TRUE(parsed) << parsed.error().text();
  EXPECT_EQ(parsed->records.size(), 2u);
  EXPECT_TRUE(parsed->torn);
}

TEST_F(JournalTest, EveryFlippedBitBeforeTheLastLineIsAnError) {
  const std::size_t last = disk.journal.rfind('\n', disk.journal.size() - 2) + 1;
  for (std::size_t at = 0; at < last; ++at) {
    std::string damaged = disk.journal;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const auto parsed = parse_journal(damaged, "journal");
    ASSERT_FALSE(parsed) << "byte " << at;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::bad_input);
    EXPECT_NE(parsed.error().text().find("journal:"), std::string::npos);
  }
}

TEST_F(JournalTest, RemovedAndExchangedLinesShow) {
  const std::size_t first = disk.journal.find('\n') + 1;
  const std::size_t second = disk.journal.find('\n', first) + 1;
  const std::size_t third = disk.journal.find('\n', second) + 1;
  const std::string without = disk.journal.substr(0, second) + disk.journal.substr(third);
  const std::string exchanged = disk.journal.substr(0, first) + disk.journal.substr(second, third - second) +
                                disk.journal.substr(first, second - first) + disk.journal.substr(third);
  EXPECT_FALSE(parse_journal(without, "journal"));
  EXPECT_FALSE(parse_journal(exchanged, "journal"));
}

TEST_F(JournalTest, AnotherFileIsNotAJournal) {
  const auto parsed = parse_journal("[section]\nkey = 1\n", "x");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().text(), "x:1: found \"[section]\", allowed: \"rocetune-journal 1\"");
  EXPECT_FALSE(parse_journal("rocetune-journal 2\n", "x"));
}

TEST(JournalFile, SurvivesClosingAndReserves) {
  const std::string path = fmt::format("{}/journal-{}", testing::TempDir(), ::getpid());
  {
    auto journal = Journal::open(*open_journal_file(path), path);
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->reserve(Bytes(100'000)));
    ASSERT_TRUE(journal->append(note("kept")));
  }
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_GE(status.st_size, 100'000);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  auto journal = Journal::open(*open_journal_file(path), path);
  ASSERT_TRUE(journal);
  ASSERT_EQ(journal->records().size(), 1u);
  ASSERT_TRUE(journal->trim());
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_LT(status.st_size, 1000);
  ::unlink(path.c_str());
}

TEST(JournalFile, AnAbsentFileReadsAsEmptyAndIsNotMade) {
  const std::string path = fmt::format("{}/no-journal-{}", testing::TempDir(), ::getpid());
  const auto journal = Journal::open(read_only_journal_file(path), path);
  ASSERT_TRUE(journal);
  EXPECT_TRUE(journal->records().empty());
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

Record begin(std::int64_t id) {
  Record record;
  record.kind = RecordKind::begin;
  record.transaction = id;
  record.begin.emplace();
  return record;
}
Record end(std::int64_t id, Outcome outcome) {
  Record record;
  record.kind = RecordKind::end;
  record.transaction = id;
  record.outcome = outcome;
  return record;
}

TEST(LedgerTest, RefusesRecordsThatCannotFollow) {
  EXPECT_TRUE(Ledger::from({begin(1), end(1, Outcome::committed), begin(2)}, "j"));
  EXPECT_FALSE(Ledger::from({end(1, Outcome::committed)}, "j"));
  EXPECT_FALSE(Ledger::from({begin(1), begin(2)}, "j"));
  EXPECT_FALSE(Ledger::from({begin(2), end(2, Outcome::committed), begin(1)}, "j"));
  EXPECT_FALSE(Ledger::from({begin(1), end(1, Outcome::committed), end(1, Outcome::rolled_back)}, "j"));
  Record step = begin(1);
  step.kind = RecordKind::step_intent;
  step.step = 3;
  step.direction = Direction::apply;
  const auto ledger = Ledger::from({begin(1), step}, "j");
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().text().find("j:3"), std::string::npos) << ledger.error().text();
}

// One committed transaction that sets eth0's MTU.
Record sets_mtu(std::int64_t id, std::int64_t before, std::int64_t after,
                std::optional<std::int64_t> undoes = {}) {
  Record record = begin(id);
  const host::Knob knob{"eth0", host::KnobKind::mtu, ""};
  record.begin->plan.kind = undoes ? PlanKind::undo : PlanKind::change;
  record.begin->plan.undoes = undoes;
  record.begin->plan.steps = {{"eth0", true, {{knob, host::KnobValue(before), host::KnobValue(after)}}}};
  record.begin->baseline = {{"eth0", "0000:01:00.0", true, false, {}}};
  return record;
}

TEST(LedgerTest, TheConfirmedStateIsWhatWasCommittedAndNotTakenBack) {
  const host::Knob knob{"eth0", host::KnobKind::mtu, ""};
  std::vector<Record> records;
  const auto state = [&] { return confirmed_state(*Ledger::from(records, "j")); };
  const auto add = [&](Record record, Outcome outcome) {
    const std::int64_t id = record.transaction;
    records.push_back(std::move(record));
    records.push_back(end(id, outcome));
  };
  EXPECT_TRUE(state().is_empty());
  add(sets_mtu(1, 1500, 4200), Outcome::committed);
  EXPECT_EQ(state().ports.at(0).values.at(knob), host::KnobValue(std::int64_t{4200}));
  EXPECT_EQ(state().ports.at(0).pci_address, "0000:01:00.0");
  add(sets_mtu(2, 4200, 9000), Outcome::rolled_back);
  EXPECT_EQ(state().ports.at(0).values.at(knob), host::KnobValue(std::int64_t{4200}));
  add(sets_mtu(3, 4200, 9000), Outcome::committed);
  EXPECT_EQ(state().ports.at(0).values.at(knob), host::KnobValue(std::int64_t{9000}));
  add(sets_mtu(4, 9000, 4200, 3), Outcome::committed);
  EXPECT_EQ(state().ports.at(0).values.at(knob), host::KnobValue(std::int64_t{4200}));
  // Nobody before us had set it: after this it is the boot's own business again.
  add(sets_mtu(5, 4200, 1500, 1), Outcome::committed);
  EXPECT_TRUE(state().is_empty());
}

TEST(LedgerTest, UndoingAnUndoPutsTheFirstInForceAgain) {
  const auto ledger =
      Ledger::from({sets_mtu(1, 1500, 9000), end(1, Outcome::committed), sets_mtu(2, 9000, 1500, 1),
                    end(2, Outcome::committed), sets_mtu(3, 1500, 9000, 2), end(3, Outcome::committed)},
                   "j");
  ASSERT_TRUE(ledger);
  EXPECT_EQ(ledger->find(1)->undone_by, std::nullopt);
  EXPECT_EQ(ledger->find(2)->undone_by, 3);
  EXPECT_EQ(confirmed_state(*ledger).ports.size(), 1u);
}

}  // namespace
}  // namespace rocetune::tune
