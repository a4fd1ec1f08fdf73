#include "dataplane/schedule/schedule.h"

#include <algorithm>
#include <array>
#include <bit>

#include "dataplane/schedule/algorithms.h"

namespace rocetune::schedule {
namespace {

struct Row {
  Collective collective;
  Algorithm algorithm;
  bool powers_of_two;  // only such numbers of ranks
  std::unique_ptr<Schedule> (*make)(const Request&);
};
constexpr std::array kRows{
    Row{Collective::all_reduce, Algorithm::ring, false, make_ring},
    Row{Collective::all_reduce, Algorithm::tree, false, make_tree},
    Row{Collective::all_reduce, Algorithm::halving_doubling, false, make_halving_doubling},
    Row{Collective::all_reduce, Algorithm::in_network, false, make_in_network},
    Row{Collective::reduce_scatter, Algorithm::ring, false, make_ring},
    Row{Collective::reduce_scatter, Algorithm::halving_doubling, true, make_halving_doubling},
    Row{Collective::all_gather, Algorithm::ring, false, make_ring},
    Row{Collective::all_gather, Algorithm::halving_doubling, true, make_halving_doubling},
    Row{Collective::all_to_all, Algorithm::pairwise, false, make_pairwise},
    Row{Collective::broadcast, Algorithm::tree, false, make_tree},
    Row{Collective::broadcast, Algorithm::chain, false, make_chain},
    Row{Collective::reduce, Algorithm::tree, false, make_tree},
};

std::string algorithms_of(Collective collective) {
  std::string out;
  for (const Row& row : kRows) {
    if (row.collective == collective)
      out += (out.empty() ? "" : ", ") + std::string(enum_name(row.algorithm));
  }
  return out;
}

// Whether the parents are a tree of reducers with the ranks as its leaves.
bool is_tree(const Request& request) {
  const std::vector<Rank>& parents = request.parents;
  if (parents.size() <= request.ranks || parents.size() > kMostRanks) return false;
  std::vector<Rank> children(parents.size());
  Rank roots = 0;
  for (Rank member = 0; member < parents.size(); ++member) {
    const Rank parent = parents[member];
    if (parent < request.ranks || parent >= parents.size()) return false;
    roots += parent == member;
    if (parent != member) ++children[parent];
  }
  // From the leaves on, whoever has heard of all children is done: what is in a circle never is.
  std::vector<Rank> done;
  for (Rank member = 0; member < parents.size(); ++member) {
    if (children[member] == 0) done.push_back(member);
  }
  if (done.size() != request.ranks) return false;  // a reducer without children
  for (std::size_t at = 0; at < done.size(); ++at) {
    const Rank parent = parents[done[at]];
    if (parent != done[at] && --children[parent] == 0) done.push_back(parent);
  }
  return roots == 1 && done.size() == parents.size();
}

}  // namespace

Expected<std::unique_ptr<Schedule>> Schedule::make(const Request& request) {
  const auto row = std::ranges::find_if(kRows, [&](const Row& r) {
    return r.collective == request.collective && r.algorithm == request.algorithm;
  });
  if (row == kRows.end()) {
    return fail(ErrorKind::bad_input, "{} by {}: found {}, allowed: {}", enum_name(request.collective),
                enum_name(request.algorithm), enum_name(request.algorithm),
                algorithms_of(request.collective));
  }
  if (request.ranks < 1 || request.ranks > kMostRanks)
    return fail(ErrorKind::bad_input, "ranks: found {}, allowed: 1 to {}", request.ranks, kMostRanks);
  if (row->powers_of_two && !std::has_single_bit(request.ranks)) {
    return fail(ErrorKind::bad_input, "ranks: found {}, allowed for {} by {}: powers of two", request.ranks,
                enum_name(request.collective), enum_name(request.algorithm));
  }
  if (request.root >= request.ranks)
    return fail(ErrorKind::bad_input, "root: found {}, allowed: 0 to {}", request.root, request.ranks - 1);
  if (request.pieces < 1 || request.pieces > kMostPieces)
    return fail(ErrorKind::bad_input, "pieces: found {}, allowed: 1 to {}", request.pieces, kMostPieces);
  const bool needs_tree = request.algorithm == Algorithm::in_network;
  if (needs_tree ? !is_tree(request) : !request.parents.empty()) {
    return fail(ErrorKind::bad_input, "parents: found {} of them, allowed for {}: {}", request.parents.size(),
                enum_name(request.algorithm),
                needs_tree ? "a tree of reducers with the ranks as its leaves" : "none");
  }
  return row->make(request);
}

std::uint64_t piece_offset(std::uint64_t bytes, std::uint32_t pieces, std::uint32_t piece,
                           std::uint32_t unit) {
  ROCETUNE_ASSERT(pieces > 0 && piece <= pieces && unit > 0 && bytes % unit == 0);
  const std::uint64_t units = bytes / unit;
  const std::uint64_t longer = units % pieces;
  return unit * (units / pieces * piece + std::min<std::uint64_t>(piece, longer));
}

double bus_factor(Collective collective, Rank ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
      return (n - 1) / n;
    case Collective::broadcast:
    case Collective::reduce:
      break;
  }
  return 1;
}

}  // namespace rocetune::schedule
