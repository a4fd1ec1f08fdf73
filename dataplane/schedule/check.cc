#include "dataplane/schedule/check.h"

#include <deque>
#include <map>
#include <vector>

#include "dataplane/base/random.h"

namespace rocetune::schedule {
namespace {

// Whose contributions a piece holds.
using Holding = std::vector<bool>;

template <class... Args>
tl::unexpected<Error> wrong(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorKind::conflict, format, std::forward<Args>(args)...);
}

// What is on its way: the content of its pieces when it left.
struct Message {
  Rank to;
  std::uint32_t arrives;
  std::vector<Holding> content;
};

struct RankState {
  std::vector<Holding> buffer;                        // by piece
  std::vector<Holding> second;                        // all_to_all: where pieces arrive
  std::vector<bool> received;                         // by receive
  std::vector<std::uint32_t> missing;                 // by send: receives it waits for
  std::map<Rank, std::deque<std::uint32_t>> to_send;  // by destination, in order
  std::map<Rank, std::deque<Message>> on_the_way;     // likewise: sent, not arrived
};

class Trial {
 public:
  Trial(const Schedule& schedule, std::uint64_t seed) : schedule_(schedule), random_(seed) {}

  Expected<> run() {
    begin();
    if (auto matched = match(); !matched) return matched;
    while (!actions_.empty()) {
      const std::size_t at = random_.below(actions_.size());
      const Action action = actions_[at];
      actions_[at] = actions_.back();
      actions_.pop_back();
      if (auto done = action.is_arrival ? arrive(action) : leave(action); !done) return done;
    }
    return end();
  }

 private:
  struct Action {
    Rank from;
    Rank to;
    bool is_arrival;
  };

  bool is_exchange() const { return schedule_.request().collective == Collective::all_to_all; }
  Holding of(Rank rank) const {
    Holding out(schedule_.ranks());
    out[rank] = true;
    return out;
  }

  void begin() {
    const Request& request = schedule_.request();
    const Holding none(schedule_.ranks());
    for (Rank rank = 0; rank < schedule_.members(); ++rank) {
      RankState state;
      for (std::uint32_t piece = 0; piece < schedule_.pieces(); ++piece) {
        const bool has_it = rank >= schedule_.ranks()                      ? false
                            : request.collective == Collective::all_gather ? piece == rank
                            : request.collective == Collective::broadcast  ? rank == request.root
                                                                           : true;
        state.buffer.push_back(has_it ? of(rank) : none);
      }
      if (is_exchange()) state.second.assign(schedule_.pieces(), none);
      state.received.assign(schedule_.receives(rank), false);
      for (std::uint32_t i = 0; i < schedule_.sends(rank); ++i) {
        const Send send = schedule_.send(rank, i);
        state.missing.push_back(send.after.count);
        state.to_send[send.to].push_back(i);
      }
      ranks_.push_back(std::move(state));
    }
    for (Rank rank = 0; rank < schedule_.members(); ++rank) {
      for (const auto& [to, queue] : ranks_[rank].to_send) offer(rank, to);
    }
  }

  // Sends and receives fit together before anything moves.
  Expected<> match() const {
    std::vector<std::vector<bool>> used;
    for (Rank rank = 0; rank < schedule_.members(); ++rank) used.emplace_back(schedule_.receives(rank));
    std::size_t sends = 0;
    std::size_t receives = 0;
    for (Rank rank = 0; rank < schedule_.members(); ++rank) {
      receives += schedule_.receives(rank);
      for (std::uint32_t i = 0; i < schedule_.sends(rank); ++i, ++sends) {
        const Send send = schedule_.send(rank, i);
        if (send.to >= schedule_.members() || send.to == rank || send.arrives >= schedule_.receives(send.to))
          return wrong("send {} of rank {} goes to receive {} of rank {}", i, rank, send.arrives, send.to);
        if (send.after.end() > schedule_.receives(rank) || send.pieces.end() > schedule_.pieces() ||
            send.pieces.count == 0)
          return wrong("send {} of rank {} is out of range", i, rank);
        if (used[send.to][send.arrives])
          return wrong("receive {} of rank {} is sent twice", send.arrives, send.to);
        used[send.to][send.arrives] = true;
        const Receive receive = schedule_.receive(send.to, send.arrives);
        if (receive.from != rank || (!is_exchange() && receive.pieces != send.pieces) ||
            receive.pieces.count != send.pieces.count || receive.pieces.end() > schedule_.pieces())
          return wrong("send {} of rank {} and receive {} of rank {} differ", i, rank, send.arrives, send.to);
      }
    }
    if (sends != receives) return wrong("{} sends and {} receives", sends, receives);
    return {};
  }

  // The next send from one to the other may leave as soon as nothing it waits for is missing.
  void offer(Rank from, Rank to) {
    RankState& state = ranks_[from];
    const auto& queue = state.to_send[to];
    if (!queue.empty() && state.missing[queue.front()] == 0) actions_.push_back({from, to, false});
  }

  Expected<> leave(const Action& action) {
    RankState& state = ranks_[action.from];
    auto& queue = state.to_send[action.to];
    const Send send = schedule_.send(action.from, queue.front());
    queue.pop_front();
    Message message{send.to, send.arrives, {}};
    for (std::uint32_t piece = send.pieces.first; piece < send.pieces.end(); ++piece)
      message.content.push_back(state.buffer[piece]);
    auto& way = state.on_the_way[action.to];
    way.push_back(std::move(message));
    if (way.size() == 1) actions_.push_back({action.from, action.to, true});
    offer(action.from, action.to);
    return {};
  }

  Expected<> arrive(const Action& action) {
    auto& way = ranks_[action.from].on_the_way[action.to];
    const Message message = std::move(way.front());
    way.pop_front();
    if (!way.empty()) actions_.push_back({action.from, action.to, true});
    RankState& state = ranks_[action.to];
    const Receive receive = schedule_.receive(action.to, message.arrives);
    for (std::uint32_t i = 0; i < receive.pieces.count; ++i) {
      Holding& mine = (is_exchange() ? state.second : state.buffer)[receive.pieces.first + i];
      const Holding& theirs = message.content[i];
      if (!receive.reduces) {
        mine = theirs;
        continue;
      }
      for (Rank rank = 0; rank < schedule_.ranks(); ++rank) {
        if (mine[rank] && theirs[rank]) {
          return wrong("piece {} of rank {}: rank {} counts twice", receive.pieces.first + i, action.to,
                       rank);
        }
        if (theirs[rank]) mine[rank] = true;
      }
    }
    complete(action.to, message.arrives);
    return {};
  }

  void complete(Rank rank, std::uint32_t index) {
    RankState& state = ranks_[rank];
    state.received[index] = true;
    for (std::uint32_t i = 0; i < state.missing.size(); ++i) {
      const Send send = schedule_.send(rank, i);
      if (index < send.after.first || index >= send.after.end()) continue;
      if (--state.missing[i] == 0 && !state.to_send[send.to].empty() && state.to_send[send.to].front() == i)
        actions_.push_back({rank, send.to, false});
    }
  }

  Expected<> end() const {
    for (Rank rank = 0; rank < schedule_.members(); ++rank) {
      for (const auto& [to, queue] : ranks_[rank].to_send) {
        if (!queue.empty()) return wrong("rank {} never sends {} to rank {}", rank, queue.front(), to);
      }
      for (std::uint32_t piece = 0; piece < schedule_.pieces(); ++piece) {
        if (rank < schedule_.ranks() && !ends_well(rank, piece))
          return wrong("rank {} ends without piece {}", rank, piece);
      }
    }
    return {};
  }

  bool ends_well(Rank rank, std::uint32_t piece) const {
    const Request& request = schedule_.request();
    const Holding& mine = ranks_[rank].buffer[piece];
    const Holding all(schedule_.ranks(), true);
    switch (request.collective) {
      case Collective::all_reduce:
        return mine == all;
      case Collective::reduce_scatter:
        return piece != rank || mine == all;
      case Collective::all_gather:
        return mine == of(piece);
      case Collective::broadcast:
        return mine == of(request.root);
      case Collective::reduce:
        return rank != request.root || mine == all;
      case Collective::all_to_all:
        return piece == rank || ranks_[rank].second[piece] == of(piece);
    }
    return false;
  }

  const Schedule& schedule_;
  Random random_;
  std::vector<RankState> ranks_;
  std::vector<Action> actions_;
};

}  // namespace

Expected<> check(const Schedule& schedule, std::uint64_t seed) { return Trial(schedule, seed).run(); }

}  // namespace rocetune::schedule
