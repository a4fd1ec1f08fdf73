// Rings: every rank sends to the next one, and passes on at each step what came at the step before.
#include "dataplane/schedule/algorithms.h"

namespace rocetune::schedule {
namespace {

class Ring final : public Schedule {
 public:
  explicit Ring(const Request& request) : Schedule(request), steps_(steps_of(request)) {
    // reduce_scatter ends with piece r at rank r, so it begins one piece earlier.
    shift_ = request.collective == Collective::reduce_scatter ? 1 : 0;
  }
  std::uint32_t pieces() const override { return ranks(); }
  std::uint32_t sends(Rank) const override { return steps_; }
  std::uint32_t receives(Rank) const override { return steps_; }

  Send send(Rank rank, std::uint32_t step) const override {
    return {.to = rank + 1 == ranks() ? 0 : rank + 1,
            .pieces = {piece_of(rank, step), 1},
            .after = step == 0 ? Range{} : Range{step - 1, 1},
            .arrives = step};
  }
  Receive receive(Rank rank, std::uint32_t step) const override {
    const Rank from = rank == 0 ? ranks() - 1 : rank - 1;
    const bool reduces = request().collective != Collective::all_gather && step < ranks() - 1;
    return {.from = from, .pieces = {piece_of(from, step), 1}, .reduces = reduces};
  }

 private:
  static std::uint32_t steps_of(const Request& request) {
    return (request.collective == Collective::all_reduce ? 2 : 1) * (request.ranks - 1);
  }
  // What `rank` sends at `step`: its own piece first, then the pieces of those before it.
  std::uint32_t piece_of(Rank rank, std::uint32_t step) const {
    const std::uint64_t back = std::uint64_t{step} + shift_;
    return static_cast<std::uint32_t>((rank + 3 * std::uint64_t{ranks()} - back) % ranks());
  }

  std::uint32_t steps_;
  std::uint32_t shift_;
};

}  // namespace

std::unique_ptr<Schedule> make_ring(const Request& request) { return std::make_unique<Ring>(request); }

}  // namespace rocetune::schedule
