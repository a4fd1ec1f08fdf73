// Collective operations as data: which rank sends which piece of its buffer to whom, and what must have
// arrived there before. Nothing here moves a byte; who does (a simulated host, a transport) asks rank by
// rank.
//
// A buffer is cut into pieces. What a rank holds of a piece is its own contribution at first, and grows by
// what it receives: a receive either adds (reduces) or replaces. Messages between two ranks stay in order;
// everything else may overtake.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::schedule {

enum class Collective : std::uint8_t {
  all_reduce,
  reduce_scatter,
  all_gather,
  all_to_all,
  broadcast,
  reduce
};

// How it is done. Source of the classical ones: Thakur, Rabenseifner, Gropp, "Optimization of Collective
// Communication Operations in MPICH", IJHPCA 2005.
enum class Algorithm : std::uint8_t {
  ring,  // all_reduce, reduce_scatter, all_gather: neighbour to neighbour, each rank a piece at a time
  tree,  // all_reduce, broadcast, reduce: a binary tree, the buffer in pieces behind each other
  halving_doubling,  // all_reduce (any number of ranks), reduce_scatter, all_gather (powers of two)
  chain,             // broadcast: rank to rank, in pieces behind each other
  pairwise,          // all_to_all: every rank to every other, beginning with its neighbour
  // all_reduce: switches reduce on the way up and multicast on the way down, the buffer in pieces behind each
  // other. Source: Graham et al., "Scalable Hierarchical Aggregation Protocol (SHArP)", COMHPC 2016.
  in_network,
};

using Rank = std::uint32_t;

// Some that follow each other: pieces of a buffer, or receives of a rank.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t end() const { return first + count; }
  bool operator==(const Range&) const = default;
};

struct Send {
  Rank to = 0;
  Range pieces;
  Range after;                // receives of the sender that must be complete
  std::uint32_t arrives = 0;  // as which receive of the other rank
};

struct Receive {
  Rank from = 0;
  Range pieces;
  bool reduces = false;  // adds to what is there; else replaces it
};

struct Request {
  Collective collective = Collective::all_reduce;
  Algorithm algorithm = Algorithm::ring;
  Rank ranks = 1;  // 1 to kMostRanks
  Rank root = 0;   // of broadcast and reduce
  std::uint32_t pieces =
      1;  // tree, chain and in_network: how many behind each other; the other algorithms decide themselves
  // in_network: whom each rank gives to, then whom each reducer does. Reducers are the switches: they have no
  // contribution of their own and are promised no result. They are numbered from `ranks` on; the one that
  // gives to itself is the root. At most kMostRanks ranks and reducers together. Empty for all others.
  std::vector<Rank> parents = {};
};
constexpr Rank kMostRanks = Rank{1} << 20;
constexpr std::uint32_t kMostPieces = 4096;

class Schedule {
 public:
  // Errors: bad_input (ranks, root, pieces out of range; an algorithm that this collective, or this number of
  // ranks, does not have; parents that are no tree of reducers with the ranks as its leaves).
  static Expected<std::unique_ptr<Schedule>> make(const Request& request);
  virtual ~Schedule() = default;

  const Request& request() const { return request_; }
  Rank ranks() const { return request_.ranks; }
  // Ranks, then reducers: whoever sends and receives.
  Rank members() const { return std::max(ranks(), static_cast<Rank>(request_.parents.size())); }
  // What the buffer of each member is cut into. all_to_all: piece r goes to rank r, and the piece that comes
  // from rank r stands in its place in a second buffer.
  virtual std::uint32_t pieces() const = 0;
  virtual std::uint32_t sends(Rank rank) const = 0;
  virtual Send send(Rank rank, std::uint32_t index) const = 0;
  virtual std::uint32_t receives(Rank rank) const = 0;
  virtual Receive receive(Rank rank, std::uint32_t index) const = 0;

 protected:
  explicit Schedule(const Request& request) : request_(request) {}

 private:
  Request request_;
};

// Where piece `piece` of a buffer of `bytes` begins, cut at multiples of `unit` into `pieces` as equal as
// possible, the longer ones first; that of piece `pieces` is the end. `bytes` must be a multiple of `unit`.
std::uint64_t piece_offset(std::uint64_t bytes, std::uint32_t pieces, std::uint32_t piece,
                           std::uint32_t unit);

// What bus bandwidth is algorithm bandwidth times: 2(n-1)/n for all_reduce, (n-1)/n for reduce_scatter,
// all_gather and all_to_all, 1 for the others. Source: nccl-tests, doc/PERFORMANCE.md.
double bus_factor(Collective collective, Rank ranks);

}  // namespace rocetune::schedule

namespace rocetune {
ROCETUNE_ENUM(schedule::Collective, P{E::all_reduce, "all_reduce"}, P{E::reduce_scatter, "reduce_scatter"},
              P{E::all_gather, "all_gather"}, P{E::all_to_all, "all_to_all"}, P{E::broadcast, "broadcast"},
              P{E::reduce, "reduce"});
ROCETUNE_ENUM(schedule::Algorithm, P{E::ring, "ring"}, P{E::tree, "tree"},
              P{E::halving_doubling, "halving_doubling"}, P{E::chain, "chain"}, P{E::pairwise, "pairwise"},
              P{E::in_network, "in_network"});
}  // namespace rocetune
