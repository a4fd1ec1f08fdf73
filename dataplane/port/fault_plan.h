// What a fault injector is to do to frames, and its text form.
//
//   loss=0.1% reorder=1%:3 delay=50%:20us seed=7
//
// A fault is NAME=WHEN, some with an argument behind a colon:
//
//   loss=WHEN              the frame is thrown away
//   duplicate=WHEN         a copy follows it
//   corrupt=WHEN           one bit behind the Ethernet header is flipped
//   reorder=WHEN:FRAMES    the frame lets FRAMES (1..256) later ones pass; not for longer than 1 ms
//   delay=WHEN:TIME        the frame stays TIME (up to 10s); others may pass it
//   ce=WHEN                an ECN-capable frame is marked CE
//   rate=RATE[:BYTES]      a wire of this rate behind a queue of BYTES (256KiB), frames beyond it are lost
//   mark=BYTES             with rate: ECN-capable frames are marked CE while the queue is longer than BYTES
//   seed=NUMBER            of the random numbers (1)
//
// WHEN is a ratio ("0.1%" or "0.001"), frame numbers counted from 0 ("#7", "#3,7,10-12"), or a pattern of up
// to 4096 frames that repeats ("..x": every third frame).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/random.h"

namespace rocetune::port {

// Which frames a fault strikes.
class FaultWhen {
 public:
  struct Range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  // included
    bool operator==(const Range&) const = default;
  };
  FaultWhen() = default;  // never
  static FaultWhen with_probability(Ratio p);
  // Must not be empty.
  static FaultWhen repeating(std::vector<bool> pattern);
  static FaultWhen at(std::vector<Range> frames);

  bool is_never() const { return pattern_.empty() && frames_.empty() && probability_.is_zero(); }
  // Whether frame number `index` is struck. Draws a random number only for a ratio.
  bool strikes(std::uint64_t index, Random& random) const;
  std::string text() const;
  bool operator==(const FaultWhen&) const = default;

 private:
  Ratio probability_;
  std::vector<bool> pattern_;
  std::vector<Range> frames_;
};
// Error: what was found and what is allowed.
Parsed<FaultWhen> parse_fault_when(std::string_view text);

constexpr int kMaxReorder = 256;  // frames
constexpr Duration kMaxDelay = seconds(10);
constexpr Duration kReorderPatience = milliseconds(1);  // when no later frames come
constexpr Bytes kDefaultRateQueue = Bytes(256 * 1024);
constexpr Bytes kMaxRateQueue = Bytes(1'000'000'000);

struct FaultPlan {
  FaultWhen loss;
  FaultWhen duplicate;
  FaultWhen corrupt;
  FaultWhen reorder;
  int reorder_frames = 0;
  FaultWhen delay;
  Duration delay_time;
  FaultWhen ce;
  std::optional<BitRate> rate;  // positive
  Bytes rate_queue = kDefaultRateQueue;
  std::optional<Bytes> mark;  // only with rate
  std::uint64_t seed = 1;
  bool operator==(const FaultPlan&) const = default;

  // Nothing is done to any frame.
  bool is_empty() const;
  // Parses back to this plan.
  std::string text() const;
};

// Error (bad_input): every fault of `text` that cannot be, with what is allowed. `source`: the flag or file
// it came from. An empty text is an empty plan.
Expected<FaultPlan> parse_fault_plan(std::string_view text, const std::string& source);

}  // namespace rocetune::port
