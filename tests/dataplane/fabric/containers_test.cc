// What the event loop is made of: queues of a link, the tournament of moments.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "dataplane/base/random.h"
#include "dataplane/fabric/fifo.h"
#include "dataplane/fabric/soonest.h"

namespace rocetune::fabric {
namespace {

TEST(Fifo, AgreesWithADeque) {
  Random random(7);
  Fifo<std::uint64_t> fifo;
  std::deque<std::uint64_t> model;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    // Grows for a while, then shrinks, again and again.
    const bool grows = i / 500 % 2 == 0;
    const std::uint64_t what = random.below(8);
    if (what < (grows ? 6U : 3U)) {
      fifo.push(i);
      model.push_back(i);
    } else if (!model.empty()) {
      fifo.pop();
      model.pop_front();
    }
    ASSERT_EQ(fifo.is_empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(fifo.front(), model.front());
    }
  }
}

TEST(Soonest, IsTheFirstOfTheLeast) {
  for (const std::size_t count : {1U, 2U, 3U, 16U, 37U}) {
    Random random(count);
    Soonest soonest;
    soonest.resize(count);
    std::vector<Instant> model(count, Instant::never());
    EXPECT_EQ(soonest.time(), Instant::never());
    for (int i = 0; i < 2000; ++i) {
      const auto which = static_cast<std::size_t>(random.below(count));
      // Few moments, so that several are often the same.
      const std::uint64_t at = random.below(9);
      model[which] = at == 8 ? Instant::never() : Instant(picoseconds(static_cast<std::int64_t>(at)));
      soonest.set(which, model[which]);
      const auto least = std::ranges::min_element(model);
      ASSERT_EQ(soonest.time(), *least);
      ASSERT_EQ(soonest.index(), static_cast<std::size_t>(least - model.begin()));
      ASSERT_EQ(soonest[which], model[which]);
    }
  }
}

}  // namespace
}  // namespace rocetune::fabric
