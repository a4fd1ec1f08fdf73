#include "agent/tune/journal.h"

#include <algorithm>
#include <charconv>

#include "dataplane/base/sha256.h"

namespace rocetune::tune {
namespace {

constexpr std::string_view kHeading = "rocetune-journal 1\n";
constexpr std::string_view kFirstCheck = "0000000000000000";
constexpr std::size_t kCheckLength = 16;

std::string check_of(std::string_view previous, std::int64_t number, std::string_view record) {
  return sha256_text(fmt::format("{} {} {}", previous, number, record)).substr(0, kCheckLength);
}

bool is_all_nul(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

// Control characters: JSON text has none.
bool has_foreign_bytes(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) { return c > 0 && c < 0x20; });
}

std::string line_of(std::int64_t number, const std::string& check, const std::string& json) {
  return fmt::format("{} {} {}\n", number, check, json);
}

struct Line {
  std::int64_t number = 0;
  std::string_view check, record;
};

// The three parts of a line without its newline; nothing if it does not have them.
std::optional<Line> split(std::string_view text) {
  const std::size_t first = text.find(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = text.find(' ', first + 1);
  if (second != first + 1 + kCheckLength) return std::nullopt;
  Line line{0, text.substr(first + 1, kCheckLength), text.substr(second + 1)};
  const auto [end, error] = std::from_chars(text.data(), text.data() + first, line.number);
  if (error != std::errc() || end != text.data() + first) return std::nullopt;
  return line;
}

// Why the line cannot be the next one; empty: it is.
std::string_view fault(const std::optional<Line>& line, const ParsedJournal& so_far) {
  if (!line) return "not a journal line";
  if (line->number != so_far.lines + 1) return "a line is missing, repeated or out of order";
  if (line->check != check_of(so_far.check, line->number, line->record)) {
    return "the check does not fit the record and the line before it";
  }
  return "";
}

}  // namespace

Expected<ParsedJournal> parse_journal(std::string_view bytes, const std::string& file) {
  ParsedJournal out;
  out.check = kFirstCheck;
  if (is_all_nul(bytes)) return out;
  if (!bytes.starts_with(kHeading)) {
    // A heading that never got to the disk whole, with nothing behind it, is a journal without records.
    const std::string_view written = bytes.substr(0, bytes.find('\0'));
    if (written.size() < kHeading.size() && kHeading.starts_with(written) &&
        is_all_nul(bytes.substr(written.size()))) {
      out.torn = true;
      return out;
    }
    return fail(ErrorKind::bad_input, "{}:1: found \"{}\", allowed: \"rocetune-journal 1\"", file,
                bytes.substr(0, bytes.substr(0, 40).find('\n')));
  }
  std::size_t at = kHeading.size();
  out.end = static_cast<std::int64_t>(at);
  while (at < bytes.size() && !is_all_nul(bytes.substr(at))) {
    const std::size_t newline = bytes.find('\n', at);
    const bool whole = newline != std::string_view::npos;
    const std::optional<Line> line = whole ? split(bytes.substr(at, newline - at)) : std::nullopt;
    const std::string_view why = fault(line, out);
    if (!why.empty()) {
      // A torn write is the last thing in the file: nothing but NUL may follow its first newline. It leaves
      // parts of the line and NUL, never another number (a line is missing) or bytes that no line has.
      const bool numbered_wrong = line && line->number != out.lines + 1;
      const bool is_last = !whole || is_all_nul(bytes.substr(newline + 1));
      if (is_last && !numbered_wrong && !has_foreign_bytes(bytes.substr(at, newline - at))) {
        out.torn = true;
        return out;
      }
      return fail(ErrorKind::bad_input, "{}:{}: {}", file, out.lines + 2, why);
    }
    auto record = record_from_json(line->record, fmt::format("{}:{}", file, out.lines + 2));
    if (!record) return tl::unexpected(record.error());
    out.records.push_back(std::move(*record));
    out.check = line->check;
    ++out.lines;
    at = newline + 1;
    out.end = static_cast<std::int64_t>(at);
  }
  return out;
}

std::string journal_text(const std::vector<Record>& records) {
  std::string out(kHeading), check(kFirstCheck);
  std::int64_t number = 0;
  for (const Record& record : records) {
    const std::string json = to_json_text(record);
    check = check_of(check, ++number, json);
    out += line_of(number, check, json);
  }
  return out;
}

Expected<Journal> Journal::open(std::unique_ptr<JournalStorage> storage, std::string name) {
  const auto bytes = storage->read();
  if (!bytes) return tl::unexpected(bytes.error());
  auto parsed = parse_journal(*bytes, name);
  if (!parsed) return tl::unexpected(parsed.error());
  return Journal(std::move(storage), std::move(name), std::move(*parsed));
}

Expected<> Journal::reserve(Bytes size) {
  const std::int64_t heading = static_cast<std::int64_t>(kHeading.size());
  auto status = storage_->reserve(std::max(parsed_.end, heading) + size.count());
  if (!status)
    return tl::unexpected(std::move(status.error()).within(fmt::format("reserve space in {}", name_)));
  return {};
}

Expected<> Journal::append(Record record) {
  const std::string json = to_json_text(record);
  const std::int64_t number = parsed_.lines + 1;
  const std::string check = check_of(parsed_.check, number, json);
  std::string bytes = parsed_.end == 0 ? std::string(kHeading) : "";
  bytes += line_of(number, check, json);
  if (parsed_.torn) {
    // What a torn write left is overwritten in place, so that reserved space stays reserved.
    auto old = storage_->read();
    if (!old) return tl::unexpected(old.error());
    const std::size_t behind = static_cast<std::size_t>(parsed_.end) + bytes.size();
    const std::size_t last = old->find_last_not_of('\0');
    if (last != std::string::npos && last >= behind) {
      if (auto status =
              storage_->write(static_cast<std::int64_t>(behind), std::string(last + 1 - behind, '\0'));
          !status) {
        return status;
      }
    }
  }
  auto status = storage_->write(parsed_.end, bytes);
  if (!status) {
    parsed_.torn = true;
    return tl::unexpected(std::move(status.error()).within(fmt::format("write {}", name_)));
  }
  parsed_.torn = false;
  parsed_.end += static_cast<std::int64_t>(bytes.size());
  parsed_.check = check;
  parsed_.lines = number;
  parsed_.records.push_back(std::move(record));
  return {};
}

Expected<> Journal::trim() { return storage_->truncate(parsed_.end); }

}  // namespace rocetune::tune
