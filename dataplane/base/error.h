// Operating errors: what went wrong, where, and what the person can do. Programmer's mistakes assert instead,
// and a bad packet is a counter; see docs/architecture.md, "Three channels".
#pragma once

#include <fmt/core.h>
#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "congestion/units.h"

namespace rocetune {

// The exit codes of every subcommand.
enum class ExitCode : int {
  fine = 0,
  findings = 1,           // findings at or above --fail-on
  bad_input = 2,          // bad usage or bad input; nothing was changed
  failed_undone = 3,      // the change failed and the host is as it was
  failed_not_undone = 4,  // the change failed and the host is NOT as it was
};

// What kind of failure: decides the exit code and whether trying again can help.
enum class ErrorKind {
  bad_input,    // a file, flag or value given by the user
  absent,       // the thing is not there: file, device, attribute, kernel feature
  denied,       // it is there and we may not: permission, lockdown, namespace
  unsupported,  // this kernel, NIC or build cannot
  conflict,     // state changed under us, another owner, a stale plan
  io,           // the system refused: see os_error
};
std::string_view to_text(ErrorKind);

class [[nodiscard]] Error {
 public:
  Error(ErrorKind kind, std::string message, int os_error = 0)
      : kind_(kind), message_(std::move(message)), os_error_(os_error) {}

  ErrorKind kind() const { return kind_; }
  // errno of the failing call, 0 if none.
  int os_error() const { return os_error_; }
  // The innermost message, without context.
  const std::string& message() const { return message_; }
  // "outer: inner: message (errno text)".
  std::string text() const;
  // Adds what was being done, on the way up. Outermost last.
  Error within(std::string context) && {
    context_.push_back(std::move(context));
    return std::move(*this);
  }
  Error within(std::string context) const& { return Error(*this).within(std::move(context)); }

 private:
  ErrorKind kind_;
  std::string message_;
  int os_error_;
  std::vector<std::string> context_;
};

template <class T = void>
using Expected = tl::expected<T, Error>;

// `return fail(ErrorKind::absent, "no device {}", name);`
template <class... Args>
tl::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error(kind, fmt::format(format, std::forward<Args>(args)...)));
}
ErrorKind kind_of_errno(int os_error);
// "No such file or directory"; thread-safe.
std::string errno_text(int os_error);

// A failed system call: kind from errno (ENOENT, ENODEV, ENXIO, ENOTDIR -> absent; EPERM, EACCES, EROFS ->
// denied; EOPNOTSUPP, ENOSYS, ENOTTY, EPROTONOSUPPORT, EAFNOSUPPORT -> unsupported; EBUSY, ESTALE ->
// conflict; the rest -> io).
template <class... Args>
tl::unexpected<Error> fail_os(int os_error, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(
      Error(kind_of_errno(os_error), fmt::format(format, std::forward<Args>(args)...), os_error));
}

// A place in a text the user gave us. line and column count from 1; 0 = unknown.
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text() const;  // "file:12:3"
  bool operator==(const SourcePlace&) const = default;
};

// One complaint about a user's file or flag: where, which key, what was found, what is allowed, what was
// likely meant.
struct InputIssue {
  SourcePlace place;
  std::string key;
  std::string found;
  std::string allowed;
  std::string nearest;  // empty if nothing is near
  std::string text() const;
};
// All complaints of one file as one bad_input error; `issues` must not be empty.
Error bad_input(const std::vector<InputIssue>& issues);

// The candidate closest to `word` by edit distance (a swap counts once, case does not), the first of equals:
// within a third of the word's length, or one edit; else one that begins with it ("warn"); else empty.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

// Every name of `wanted` must be a known one. Error: bad_input, with one issue of `key` for each that is not;
// `if_none` is what is allowed where nothing is known ("nothing: ...").
Expected<> check_names(const std::string& key, const std::vector<std::string>& wanted,
                       const std::vector<std::string>& known, const std::string& if_none);

}  // namespace rocetune
