#include "dataplane/base/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "dataplane/base/utf8.h"

namespace rocetune {

std::string_view to_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return "bad input";
    case ErrorKind::absent:
      return "absent";
    case ErrorKind::denied:
      return "denied";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::io:
      return "input/output error";
  }
  return "unknown";
}

std::string Error::text() const {
  std::string out;
  for (auto outer = context_.rbegin(); outer != context_.rend(); ++outer) out += *outer + ": ";
  out += message_;
  if (os_error_ != 0) out += fmt::format(" ({})", errno_text(os_error_));
  return out;
}

ErrorKind kind_of_errno(int os_error) {
  switch (os_error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ENOTDIR:
      return ErrorKind::absent;
    case EPERM:
    case EACCES:
    case EROFS:
      return ErrorKind::denied;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOTTY:
    case EPROTONOSUPPORT:
    case EAFNOSUPPORT:
      return ErrorKind::unsupported;
    case EBUSY:
    case ESTALE:
      return ErrorKind::conflict;
    default:
      return ErrorKind::io;
  }
}

std::string errno_text(int os_error) {
  char buffer[128];
  return strerror_r(os_error, buffer, sizeof buffer);
}

std::string SourcePlace::text() const {
  std::string out = file;
  if (line > 0) out += fmt::format(":{}", line);
  if (line > 0 && column > 0) out += fmt::format(":{}", column);
  return out;
}

// What the user gave us goes back to a terminal: without the control characters it may hold.
std::string InputIssue::text() const {
  std::string out = place.text();
  if (!key.empty()) out += (out.empty() ? "" : ": ") + printable(key);
  out +=
      fmt::format("{}found {}, allowed: {}", out.empty() ? "" : ": ", printable(found), printable(allowed));
  if (!nearest.empty()) out += fmt::format("; did you mean {}?", printable(nearest));
  return out;
}

Error bad_input(const std::vector<InputIssue>& issues) {
  ROCETUNE_ASSERT(!issues.empty());
  std::string message;
  for (const InputIssue& issue : issues) message += (message.empty() ? "" : "\n") + issue.text();
  return Error(ErrorKind::bad_input, std::move(message));
}

namespace {

// Edits (insert, delete, substitute, swap two neighbours) that turn `a` into `b`: the optimal string
// alignment distance, https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row.back();
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = lower_case(word);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()});  // by value
    if (longer - shorter >= best_distance) continue;
    const std::size_t distance = edit_distance(wanted, lower_case(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (!best.empty() || wanted.size() < 2) return best;
  const auto longer = std::find_if(candidates.begin(), candidates.end(), [&](const std::string& candidate) {
    return lower_case(candidate).starts_with(wanted);
  });
  return longer == candidates.end() ? "" : *longer;
}

Expected<> check_names(const std::string& key, const std::vector<std::string>& wanted,
                       const std::vector<std::string>& known, const std::string& if_none) {
  std::vector<InputIssue> issues;
  for (const std::string& name : wanted) {
    if (std::ranges::find(known, name) != known.end()) continue;
    issues.push_back({.place = {},
                      .key = key,
                      .found = name,
                      .allowed = known.empty() ? if_none : fmt::format("{}", fmt::join(known, ", ")),
                      .nearest = nearest_name(name, known)});
  }
  if (issues.empty()) return {};
  return tl::unexpected(bad_input(issues));
}

}  // namespace rocetune
