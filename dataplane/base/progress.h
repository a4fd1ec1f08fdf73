// A progress bar with an estimate of the time left. Silent when there is no terminal to show it on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "congestion/units.h"
#include "dataplane/base/clock.h"

namespace rocetune {

// The bar's text as a function of time; writes nothing.
class Progress {
 public:
  // `total` steps, at least 1. `width`: columns of the terminal.
  Progress(std::string_view title, std::int64_t total, int width, Instant start);

  // The bytes that redraw the line, or empty if it was drawn less than 100 ms ago. `done` is clamped to
  // 0..total; `note` says what is being done.
  std::string update(std::int64_t done, Instant now, std::string_view note = {});
  // The bytes that remove the line.
  std::string clear() const;

  // Elapsed time × steps left ÷ steps done; unknown before the first step.
  std::optional<Duration> time_left(std::int64_t done, Instant now) const;

 private:
  std::string title_;
  std::int64_t total_;
  int width_;
  Instant start_;
  std::optional<Instant> drawn_;
};

// A Progress on standard error while the object lives, if that is a terminal.
class ProgressLine {
 public:
  ProgressLine(const std::string& title, std::int64_t total, const Clock& clock);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void update(std::int64_t done, std::string_view note = {});

 private:
  const Clock& clock_;
  std::optional<Progress> progress_;  // none without a terminal
};

// "850ms", "13s", "2min 05s", "1h 03min": for people, rounded down.
std::string rough_text(Duration);

}  // namespace rocetune
