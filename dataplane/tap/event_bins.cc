#include "dataplane/tap/event_bins.h"

#include <algorithm>

namespace rocetune::tap {

void EventBins::double_width() {
  for (std::size_t i = 0; i < kBins; ++i) {
    Bin merged{};
    if (2 * i + 1 < kBins) {
      for (std::size_t e = 0; e < merged.size(); ++e) merged[e] = bins_[2 * i][e] + bins_[2 * i + 1][e];
    }
    bins_[i] = merged;
  }
  ++shift_;
  used_ = (used_ + 1) / 2;
}

void EventBins::add(Instant now, Event event, std::int64_t amount) {
  if (!any_) start_ = now;
  any_ = true;
  const std::int64_t since = std::max(now - start_, Duration(0)).count();
  while (since >> shift_ >= static_cast<std::int64_t>(kBins)) double_width();
  const auto bin = static_cast<std::size_t>(since >> shift_);
  used_ = std::max(used_, bin + 1);
  bins_[bin][static_cast<std::size_t>(event)] += amount;
}

TimelineFacts EventBins::facts() const {
  TimelineFacts f{.bin_s = Duration(std::int64_t{1} << shift_).seconds()};
  for (std::size_t i = 0; i < used_; ++i) {
    f.bytes.push_back(bins_[i][0]);
    f.retransmitted_packets.push_back(bins_[i][1]);
    f.nak_packets.push_back(bins_[i][2]);
    f.ce_packets.push_back(bins_[i][3]);
    f.cnp_packets.push_back(bins_[i][4]);
  }
  return f;
}

}  // namespace rocetune::tap
