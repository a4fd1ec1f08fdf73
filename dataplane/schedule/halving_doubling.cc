// Recursive halving, then recursive doubling: log2(n) steps each way, the distance halves (doubles) and so
// does what is exchanged. Of a number of ranks that is no power of two, the surplus folds into its neighbours
// first and gets the result last (Rabenseifner).
#include <bit>

#include "dataplane/schedule/algorithms.h"

namespace rocetune::schedule {
namespace {

class HalvingDoubling final : public Schedule {
 public:
  explicit HalvingDoubling(const Request& request)
      : Schedule(request),
        members_(std::bit_floor(request.ranks)),
        surplus_(request.ranks - members_),
        steps_(static_cast<std::uint32_t>(std::countr_zero(members_))),
        halves_(request.collective != Collective::all_gather),
        doubles_(request.collective != Collective::reduce_scatter) {}

  std::uint32_t pieces() const override { return members_; }
  std::uint32_t sends(Rank rank) const override {
    return is_folded(rank) ? 1 : exchanges() + (hosts_one(rank) ? 1 : 0);
  }
  std::uint32_t receives(Rank rank) const override { return sends(rank); }

  Send send(Rank rank, std::uint32_t index) const override {
    if (is_folded(rank)) return {.to = rank + 1, .pieces = {0, members_}, .after = {}, .arrives = 0};
    const std::uint32_t folded = hosts_one(rank) ? 1 : 0;
    const Range after{0, folded + index};
    if (index == exchanges()) return {.to = rank - 1, .pieces = {0, members_}, .after = after, .arrives = 0};
    const Exchange e = exchange(member_of(rank), index);
    const Rank partner = rank_of(e.partner);
    return {
        .to = partner, .pieces = e.given, .after = after, .arrives = index + (hosts_one(partner) ? 1U : 0U)};
  }

  Receive receive(Rank rank, std::uint32_t index) const override {
    if (is_folded(rank)) return {.from = rank + 1, .pieces = {0, members_}, .reduces = false};
    const std::uint32_t folded = hosts_one(rank) ? 1 : 0;
    if (index < folded) return {.from = rank - 1, .pieces = {0, members_}, .reduces = true};
    const Exchange e = exchange(member_of(rank), index - folded);
    return {.from = rank_of(e.partner), .pieces = e.taken, .reduces = halves_ && index - folded < steps_};
  }

 private:
  struct Exchange {
    std::uint32_t partner;
    Range given;
    Range taken;
  };
  std::uint32_t exchanges() const { return (halves_ ? steps_ : 0) + (doubles_ ? steps_ : 0); }
  // The first of each pair of the surplus sits out; the second one is a member for both.
  bool is_folded(Rank rank) const { return rank < 2 * surplus_ && rank % 2 == 0; }
  bool hosts_one(Rank rank) const { return rank < 2 * surplus_ && rank % 2 == 1; }
  std::uint32_t member_of(Rank rank) const { return rank < 2 * surplus_ ? rank / 2 : rank - surplus_; }
  Rank rank_of(std::uint32_t member) const { return member < surplus_ ? 2 * member + 1 : member + surplus_; }

  Exchange exchange(std::uint32_t member, std::uint32_t index) const {
    if (halves_ && index < steps_) {
      // Of the pieces it still has, a member gives the half that its partner goes on with.
      const std::uint32_t half = members_ >> (index + 1);
      const std::uint32_t mine = member & ~(half - 1);
      return {member ^ half, {mine ^ half, half}, {mine, half}};
    }
    const std::uint32_t have = 1U << (index - (halves_ ? steps_ : 0));
    const std::uint32_t mine = member & ~(have - 1);
    return {member ^ have, {mine, have}, {mine ^ have, have}};
  }

  std::uint32_t members_;
  std::uint32_t surplus_;
  std::uint32_t steps_;
  bool halves_;
  bool doubles_;
};

}  // namespace

std::unique_ptr<Schedule> make_halving_doubling(const Request& request) {
  return std::make_unique<HalvingDoubling>(request);
}

}  // namespace rocetune::schedule
