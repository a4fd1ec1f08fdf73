// Runs many schedules. `--seed N` runs one and says what broke; `--capture FILE` keeps what was sent, as
// pcap.
//   schedule-search [--first N] [--count N] [--seed N] [--capture FILE]
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/dataplane/engine/schedule.h"

namespace {

using namespace rocetune;
using namespace rocetune::engine;

// Statuses and drop reasons that a hundred thousand schedules must have met; the others need a peer that
// breaks the rules, and have unit tests.
constexpr std::array kStatuses{CompletionStatus::success,
                               CompletionStatus::local_length_error,
                               CompletionStatus::remote_invalid_request,
                               CompletionStatus::remote_access_error,
                               CompletionStatus::retries_exceeded,
                               CompletionStatus::rnr_retries_exceeded,
                               CompletionStatus::flushed};
constexpr std::array kReasons{
    DropReason::bad_icrc,        DropReason::not_ready,          DropReason::duplicate_request,
    DropReason::out_of_sequence, DropReason::receiver_not_ready, DropReason::invalid_request,
    DropReason::remote_access,   DropReason::responder_full,     DropReason::duplicate_response,
    DropReason::response_gap,    DropReason::truncated,          DropReason::not_roce};

// A capture file with nanoseconds (draft-ietf-opsawg-pcap), of everything sent before a fault befell it.
class Capture {
 public:
  explicit Capture(const char* path) : file_(std::fopen(path, "wb")) {
    if (file_ == nullptr) return;
    put<std::uint32_t>({0xA1B23C4D, 0x0004'0002, 0, 0, 65535, 1});
  }
  ~Capture() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  bool is_open() const { return file_ != nullptr; }

  void add(Instant at, std::span<const std::byte> frame) {
    // Schedules begin at zero, one after the other.
    last_ = std::max(last_ + 1, at.since_origin().count() / 1000);
    const auto length = static_cast<std::uint32_t>(frame.size());
    put<std::uint32_t>({static_cast<std::uint32_t>(last_ / kSecond),
                        static_cast<std::uint32_t>(last_ % kSecond), length, length});
    std::fwrite(frame.data(), 1, frame.size(), file_);
  }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  template <class T>
  void put(std::initializer_list<T> words) {
    std::fwrite(words.begin(), sizeof(T), words.size(), file_);
  }
  std::FILE* file_;
  std::int64_t last_ = 0;
};

bool is_covered(const Coverage& coverage) {
  bool all = true;
  const auto need = [&](std::string_view what, std::uint64_t count) {
    if (count > 0) return;
    fmt::print("never met: {}\n", what);
    all = false;
  };
  for (const auto s : kStatuses) need(enum_name(s), coverage.statuses[static_cast<std::size_t>(s)]);
  for (const auto r : kReasons) need(enum_name(r), coverage.totals.dropped(r));
  need("retransmission", coverage.totals.retransmitted_frames);
  need("RNR NAK", coverage.totals.rnr_naks_sent);
  need("sequence NAK", coverage.totals.sequence_naks_sent);
  need("implied NAK", coverage.totals.implied_naks);
  need("timeout", coverage.totals.ack_timeouts);
  need("CNP", coverage.totals.cnps_handled);
  return all;
}

void report(const Coverage& coverage) {
  for (const auto& [status, name] : EnumNames<CompletionStatus>::names) {
    fmt::print("  {:<28}{}\n", name, coverage.statuses[static_cast<std::size_t>(status)]);
  }
  for (const auto& [reason, name] : EnumNames<DropReason>::names) {
    if (coverage.totals.dropped(reason) > 0)
      fmt::print("  {:<28}{}\n", name, coverage.totals.dropped(reason));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t first = 1;
  std::uint64_t count = 100'000;
  std::unique_ptr<Capture> capture;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--first") == 0) first = value;
    if (std::strcmp(argv[i], "--count") == 0) count = value;
    if (std::strcmp(argv[i], "--seed") == 0) first = value, count = 1;
    if (std::strcmp(argv[i], "--capture") == 0) capture = std::make_unique<Capture>(argv[i + 1]);
  }
  if (capture && !capture->is_open()) {
    fmt::print("the capture cannot be written\n");
    return 2;
  }
  Schedule::Listener listener;
  if (capture) listener = [&](Instant at, std::span<const std::byte> frame) { capture->add(at, frame); };
  Coverage coverage;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed < first + count && failed < 10; ++seed) {
    const std::string broken = Schedule(seed, coverage, listener).run();
    if (broken.empty()) continue;
    ++failed;
    fmt::print("{}\n  again: {} --seed {}\n", broken, argv[0], seed);
  }
  fmt::print("{} schedules, {} faults, {} failed\n", count, coverage.faults, failed);
  report(coverage);
  const bool covers = count < 100'000 || is_covered(coverage);
  return failed == 0 && count > 0 && covers ? 0 : 1;
}
