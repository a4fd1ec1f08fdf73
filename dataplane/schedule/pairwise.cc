// Every rank to every other: at each step all of them to the one that many places further, so that no two
// meet at one receiver as long as they keep pace.
#include "dataplane/schedule/algorithms.h"

namespace rocetune::schedule {
namespace {

class Pairwise final : public Schedule {
 public:
  explicit Pairwise(const Request& request) : Schedule(request) {}
  std::uint32_t pieces() const override { return ranks(); }
  std::uint32_t sends(Rank) const override { return ranks() - 1; }
  std::uint32_t receives(Rank) const override { return ranks() - 1; }
  Send send(Rank rank, std::uint32_t step) const override {
    const Rank to = (rank + step + 1) % ranks();
    return {.to = to, .pieces = {to, 1}, .after = {}, .arrives = step};
  }
  Receive receive(Rank rank, std::uint32_t step) const override {
    const Rank from = (rank + ranks() - step - 1) % ranks();
    return {.from = from, .pieces = {from, 1}, .reduces = false};
  }
};

}  // namespace

std::unique_ptr<Schedule> make_pairwise(const Request& request) {
  return std::make_unique<Pairwise>(request);
}

}  // namespace rocetune::schedule
