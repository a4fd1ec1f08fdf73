// Trees and chains: pieces travel behind each other, up to the root, down from it, or both.
#include <algorithm>

#include "dataplane/schedule/algorithms.h"

namespace rocetune::schedule {
namespace {

// Who is above and below whom, among ranks: a heap of `width` children a rank (1: a chain), whose places
// count from the root.
class HeapShape {
 public:
  HeapShape(const Request& request, std::uint32_t width)
      : ranks_(request.ranks), root_(request.root), width_(width) {}
  bool is_root(Rank rank) const { return rank == root_; }
  Rank parent(Rank rank) const { return rank_at((place_of(rank) - 1) / width_); }
  // Which of its parent's children it is.
  std::uint32_t which(Rank rank) const { return (place_of(rank) - 1) % width_; }
  std::uint32_t children(Rank rank) const {
    const std::uint64_t first = std::uint64_t{place_of(rank)} * width_ + 1;
    return first >= ranks_ ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(width_, ranks_ - first));
  }
  Rank child(Rank rank, std::uint32_t which) const { return rank_at(place_of(rank) * width_ + 1 + which); }

 private:
  std::uint32_t place_of(Rank rank) const { return (rank + ranks_ - root_) % ranks_; }
  Rank rank_at(std::uint32_t place) const { return (place + root_) % ranks_; }

  Rank ranks_;
  Rank root_;
  std::uint32_t width_;
};

// Ranks below reducers, as a request's parents say.
class GivenShape {
 public:
  explicit GivenShape(const Request& request)
      : parents_(request.parents), which_(parents_.size()), children_(parents_.size()) {
    for (Rank member = 0; member < parents_.size(); ++member) {
      if (is_root(member)) continue;
      std::vector<Rank>& siblings = children_[parents_[member]];
      which_[member] = static_cast<std::uint32_t>(siblings.size());
      siblings.push_back(member);
    }
  }
  bool is_root(Rank member) const { return parents_[member] == member; }
  Rank parent(Rank member) const { return parents_[member]; }
  std::uint32_t which(Rank member) const { return which_[member]; }
  std::uint32_t children(Rank member) const { return static_cast<std::uint32_t>(children_[member].size()); }
  Rank child(Rank member, std::uint32_t which) const { return children_[member][which]; }

 private:
  std::vector<Rank> parents_;
  std::vector<std::uint32_t> which_;
  std::vector<std::vector<Rank>> children_;
};

template <class Shape>
class Tree final : public Schedule {
 public:
  Tree(const Request& request, Shape shape)
      : Schedule(request),
        shape_(std::move(shape)),
        goes_up_(request.collective != Collective::broadcast),
        goes_down_(request.collective != Collective::reduce) {}

  std::uint32_t pieces() const override { return request().pieces; }
  std::uint32_t sends(Rank rank) const override {
    return ups(rank) + (goes_down_ ? shape_.children(rank) * pieces() : 0);
  }
  std::uint32_t receives(Rank rank) const override {
    return downs_begin(rank) + (goes_down_ && !shape_.is_root(rank) ? pieces() : 0);
  }

  Send send(Rank rank, std::uint32_t index) const override {
    const std::uint32_t mine = shape_.children(rank);
    if (index < ups(rank)) {
      const Rank parent = shape_.parent(rank);
      return {.to = parent,
              .pieces = {index, 1},
              .after = {index * mine, mine},
              .arrives = index * shape_.children(parent) + shape_.which(rank)};
    }
    const std::uint32_t down = index - ups(rank);
    const std::uint32_t piece = down / mine;
    const Rank child = shape_.child(rank, down % mine);
    Range after{};
    if (!shape_.is_root(rank)) {
      after = {downs_begin(rank) + piece, 1};
    } else if (goes_up_) {
      after = {piece * mine, mine};
    }
    return {.to = child, .pieces = {piece, 1}, .after = after, .arrives = downs_begin(child) + piece};
  }

  Receive receive(Rank rank, std::uint32_t index) const override {
    if (index < downs_begin(rank)) {
      const std::uint32_t mine = shape_.children(rank);
      return {.from = shape_.child(rank, index % mine), .pieces = {index / mine, 1}, .reduces = true};
    }
    return {.from = shape_.parent(rank), .pieces = {index - downs_begin(rank), 1}, .reduces = false};
  }

 private:
  // Sends to the parent; they come first.
  std::uint32_t ups(Rank rank) const { return goes_up_ && !shape_.is_root(rank) ? pieces() : 0; }
  // Receives from the children come first, those from the parent begin here.
  std::uint32_t downs_begin(Rank rank) const { return goes_up_ ? shape_.children(rank) * pieces() : 0; }

  Shape shape_;
  bool goes_up_;
  bool goes_down_;
};

}  // namespace

std::unique_ptr<Schedule> make_tree(const Request& request) {
  return std::make_unique<Tree<HeapShape>>(request, HeapShape(request, 2));
}
std::unique_ptr<Schedule> make_chain(const Request& request) {
  return std::make_unique<Tree<HeapShape>>(request, HeapShape(request, 1));
}
std::unique_ptr<Schedule> make_in_network(const Request& request) {
  return std::make_unique<Tree<GivenShape>>(request, GivenShape(request));
}

}  // namespace rocetune::schedule
