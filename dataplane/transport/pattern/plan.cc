#include "dataplane/transport/pattern/plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "dataplane/base/random.h"

namespace rocetune::pattern {
namespace {

constexpr Bytes kLongestMessage{std::int64_t{1} << 30};
constexpr Bytes kMostMemory{std::int64_t{4} << 30};
constexpr std::int64_t kMostInFlight = std::int64_t{1}
                                       << 20;  // messages of all queue pairs of a server's core
constexpr Duration kLongestSpan = seconds(3600);

std::uint64_t stride_of(const Plan& plan) {
  const Bytes largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
  return static_cast<std::uint64_t>((largest.count() + 63) / 64 * 64);
}

class Complaints {
 public:
  void add(std::string_view key, std::string found, std::string allowed) {
    issues_.push_back({{}, std::string(key), std::move(found), std::move(allowed), ""});
  }
  void range(std::string_view key, std::uint32_t value, std::uint32_t most) {
    if (value < 1 || value > most) add(key, std::to_string(value), fmt::format("1 to {}", most));
  }
  bool is_empty() const { return issues_.empty(); }
  Expected<> result() const {
    if (issues_.empty()) return {};
    return tl::unexpected(bad_input(issues_));
  }

 private:
  std::vector<InputIssue> issues_;
};

}  // namespace

Expected<> check(const Plan& plan, std::uint32_t largest_mtu) {
  Complaints complaints;
  complaints.range("window", plan.window, 4096);
  complaints.range("queue pairs", plan.queue_pairs, 4096);
  complaints.range("shards", plan.shards, 16);
  complaints.range("clients", plan.clients, 64);
  constexpr std::array<std::uint32_t, 5> kMtus{256, 512, 1024, 2048, kLargestMtu};
  if (std::find(kMtus.begin(), kMtus.end(), plan.mtu) == kMtus.end()) {
    complaints.add("mtu", std::to_string(plan.mtu), "256, 512, 1024, 2048 or 4096");
  } else if (plan.mtu > largest_mtu) {
    complaints.add("mtu", std::to_string(plan.mtu),
                   fmt::format("up to {}, which this port carries", largest_mtu));
  }
  if (plan.span <= Duration(0) || plan.span > kLongestSpan) {
    complaints.add("time", to_text(plan.span), "more than 0, at most 1h");
  }
  if (plan.sizes.empty()) complaints.add("size", "none", "at least one");
  for (const Bytes size : plan.sizes) {
    if (size < Bytes(1) || size > kLongestMessage) complaints.add("size", to_text(size), "1B to 1GiB");
  }
  if (!complaints.is_empty()) return complaints.result();
  const std::int64_t slots = std::int64_t{3} * plan.queue_pairs * plan.clients * plan.window;
  if (slots / 3 > kMostInFlight) {
    complaints.add("window × queue pairs × clients", std::to_string(slots / 3),
                   fmt::format("up to {}", kMostInFlight));
  } else if (slots > kMostMemory.count() / static_cast<std::int64_t>(stride_of(plan))) {
    complaints.add("size, window, queue pairs", fmt::format("{} slots", slots), "at most 4GiB of slots");
  }
  return complaints.result();
}

Layout::Layout(const Plan& plan) : stride_(stride_of(plan)), slots_(plan.window) {}

void fill_message(std::span<std::byte> out, std::uint32_t pair, std::uint64_t slot) {
  Random random(pair, slot);
  for (std::size_t at = 0; at < out.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(out.data() + at, &word, std::min(sizeof word, out.size() - at));
  }
}

}  // namespace rocetune::pattern
