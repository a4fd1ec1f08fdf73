// Journals of any content: read or refused with bad_input. The input is tried as it is, and again as records
// with checks that fit, so that what stands inside the lines is reached too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/tune/history.h"
#include "agent/tune/journal.h"
#include "agent/tune/restoration.h"
#include "dataplane/base/sha256.h"

namespace {

using namespace rocetune;

void look(const std::vector<tune::Record>& records) {
  const auto ledger = tune::Ledger::from(records, "journal");
  if (!ledger) return;
  const host::Host host;
  const tune::Moment now{"boot", 1, 1};
  for (const tune::Entry& entry : ledger->entries()) {
    (void)tune::entry_text(entry, *ledger, now);
    (void)tune::entry_json(entry);
    for (const bool rebooted : {false, true}) (void)tune::restorations(entry, host, rebooted);
  }
  (void)tune::history_text(*ledger, now);
  (void)tune::confirmed_state(*ledger);
}

// Every line of the input as a record of a journal.
std::string with_checks(std::string_view text) {
  std::string out = "rocetune-journal 1\n", check(16, '0');
  std::int64_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string record(text.substr(at, end - at));
    check = sha256_text(fmt::format("{} {} {}", check, ++number, record)).substr(0, 16);
    out += fmt::format("{} {} {}\n", number, check, record);
    at = end + 1;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& bytes : {text, with_checks(text)}) {
    const auto parsed = tune::parse_journal(bytes, "journal");
    if (!parsed) {
      if (parsed.error().kind() != ErrorKind::bad_input) std::abort();
      continue;
    }
    look(parsed->records);
  }
  return 0;
}
