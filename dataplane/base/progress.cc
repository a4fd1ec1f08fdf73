#include "dataplane/base/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "congestion/fixed_point.h"
#include "dataplane/base/durable.h"
#include "dataplane/base/terminal.h"
#include "dataplane/base/utf8.h"

namespace rocetune {
namespace {

constexpr Duration kRedraw = milliseconds(100);
constexpr int kBar = 24;
constexpr std::string_view kClearLine = "\r\033[K";

// a × b ÷ c without overflow in between; saturates.
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(std::min<Wide>(Wide(a) * b / c, INT64_MAX));
}

}  // namespace

std::string rough_text(Duration span) {
  const std::int64_t s = span / seconds(1);
  if (s < 1) return fmt::format("{}ms", span / milliseconds(1));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}min {:02}s", s / 60, s % 60);
  return fmt::format("{}h {:02}min", s / 3600, s / 60 % 60);
}

Progress::Progress(std::string_view title, std::int64_t total, int width, Instant start)
    : title_(printable(title)), total_(total), width_(width), start_(start) {
  ROCETUNE_ASSERT(total >= 1);
}

std::optional<Duration> Progress::time_left(std::int64_t done, Instant now) const {
  if (done <= 0) return std::nullopt;
  return Duration(scaled((now - start_).count(), total_ - std::min(done, total_), done));
}

std::string Progress::update(std::int64_t done, Instant now, std::string_view note) {
  done = std::clamp<std::int64_t>(done, 0, total_);
  if (drawn_ && now - *drawn_ < kRedraw && done < total_) return {};
  drawn_ = now;
  const auto filled = static_cast<std::size_t>(scaled(done, kBar, total_));
  std::string line = fmt::format("{} [{}{}] {:3}%", title_, std::string(filled, '#'),
                                 std::string(kBar - filled, '.'), scaled(done, 100, total_));
  if (const auto left = time_left(done, now); left && done < total_) {
    line += fmt::format("  {} left", rough_text(*left));
  }
  if (!note.empty()) line += "  " + printable(note);
  return std::string(kClearLine) + truncated(line, width_ - 1);  // the last column would wrap the line
}

std::string Progress::clear() const { return drawn_ ? std::string(kClearLine) : std::string(); }

ProgressLine::ProgressLine(const std::string& title, std::int64_t total, const Clock& clock) : clock_(clock) {
  if (!is_terminal(STDERR_FILENO)) return;
  progress_.emplace(title, total, terminal_width(STDERR_FILENO), clock.now());
}

// A terminal that went away is no reason to fail the work.
ProgressLine::~ProgressLine() {
  if (progress_) (void)write_all(STDERR_FILENO, progress_->clear(), "standard error");
}

void ProgressLine::update(std::int64_t done, std::string_view note) {
  if (progress_) {
    (void)write_all(STDERR_FILENO, progress_->update(done, clock_.now(), note), "standard error");
  }
}

}  // namespace rocetune
