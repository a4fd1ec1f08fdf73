// Trees and chains: pieces travel behind each other, up to the root, down from it, or both.
#include <algorithm>

#include "dataplane/schedule/algorithms.h"

namespace rocetune::schedule {
namespace {

// A heap-shaped tree of `width` children a rank; width 1 is a chain. Places count from the root.
class Tree final : public Schedule {
 public:
  Tree(const Request& request, std::uint32_t width)
      : Schedule(request),
        width_(width),
        goes_up_(request.collective != Collective::broadcast),
        goes_down_(request.collective != Collective::reduce) {}

  std::uint32_t pieces() const override { return request().pieces; }
  std::uint32_t sends(Rank rank) const override {
    return ups(rank) + (goes_down_ ? children(rank) * pieces() : 0);
  }
  std::uint32_t receives(Rank rank) const override {
    return downs_begin(rank) + (goes_down_ && place_of(rank) != 0 ? pieces() : 0);
  }

  Send send(Rank rank, std::uint32_t index) const override {
    const std::uint32_t place = place_of(rank);
    const std::uint32_t mine = children(rank);
    if (index < ups(rank)) {
      const Rank parent = rank_at(parent_of(place));
      const std::uint32_t which = (place - 1) % width_;
      return {.to = parent,
              .pieces = {index, 1},
              .after = {index * mine, mine},
              .arrives = index * children(parent) + which};
    }
    const std::uint32_t down = index - ups(rank);
    const std::uint32_t piece = down / mine;
    const Rank child = rank_at(place * width_ + 1 + down % mine);
    Range after{};
    if (place != 0) {
      after = {downs_begin(rank) + piece, 1};
    } else if (goes_up_) {
      after = {piece * mine, mine};
    }
    return {.to = child, .pieces = {piece, 1}, .after = after, .arrives = downs_begin(child) + piece};
  }

  Receive receive(Rank rank, std::uint32_t index) const override {
    const std::uint32_t place = place_of(rank);
    if (index < downs_begin(rank)) {
      const std::uint32_t mine = children(rank);
      return {
          .from = rank_at(place * width_ + 1 + index % mine), .pieces = {index / mine, 1}, .reduces = true};
    }
    return {.from = rank_at(parent_of(place)), .pieces = {index - downs_begin(rank), 1}, .reduces = false};
  }

 private:
  std::uint32_t place_of(Rank rank) const { return (rank + ranks() - request().root) % ranks(); }
  Rank rank_at(std::uint32_t place) const { return (place + request().root) % ranks(); }
  std::uint32_t parent_of(std::uint32_t place) const { return (place - 1) / width_; }
  std::uint32_t children(Rank rank) const {
    const std::uint64_t first = std::uint64_t{place_of(rank)} * width_ + 1;
    return first >= ranks() ? 0
                            : static_cast<std::uint32_t>(std::min<std::uint64_t>(width_, ranks() - first));
  }
  // Sends to the parent; they come first.
  std::uint32_t ups(Rank rank) const { return goes_up_ && place_of(rank) != 0 ? pieces() : 0; }
  // Receives from the children come first, those from the parent begin here.
  std::uint32_t downs_begin(Rank rank) const { return goes_up_ ? children(rank) * pieces() : 0; }

  std::uint32_t width_;
  bool goes_up_;
  bool goes_down_;
};

}  // namespace

std::unique_ptr<Schedule> make_tree(const Request& request) { return std::make_unique<Tree>(request, 2); }
std::unique_ptr<Schedule> make_chain(const Request& request) { return std::make_unique<Tree>(request, 1); }

}  // namespace rocetune::schedule
