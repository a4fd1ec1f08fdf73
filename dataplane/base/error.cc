#include "dataplane/base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

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
      return ErrorKind::absent;
    case EPERM:
    case EACCES:
      return ErrorKind::denied;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOTTY:
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

std::string InputIssue::text() const {
  std::string out = place.text();
  if (!key.empty()) out += fmt::format("{}{}", out.empty() ? "" : ": ", key);
  out += fmt::format("{}found {}, allowed: {}", out.empty() ? "" : ": ", found, allowed);
  if (!nearest.empty()) out += fmt::format("; did you mean {}?", nearest);
  return out;
}

Error bad_input(const std::vector<InputIssue>& issues) {
  ROCETUNE_ASSERT(!issues.empty());
  std::string message;
  for (const InputIssue& issue : issues) message += (message.empty() ? "" : "\n") + issue.text();
  return Error(ErrorKind::bad_input, std::move(message));
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  const auto distance = [word](std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < other.size(); ++j) {
        const std::size_t substitution = diagonal + (word[i] == other[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, substitution});
      }
    }
    return row.back();
  };
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t d = distance(candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace rocetune
