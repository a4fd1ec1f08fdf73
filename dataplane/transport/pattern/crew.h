// The shards of one process at work: the first core leads, the others follow its commands, and all of them
// keep their endpoints running meanwhile.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::pattern {

// What one core does. All calls come from that core's thread.
class Role {
 public:
  virtual ~Role() = default;
  // One turn of the loop while there is nothing else to do. Error: io.
  virtual Expected<> turn() = 0;
  virtual Expected<> prepare(Bytes size) = 0;
  // Traffic for `span`, until nothing is in flight any more.
  virtual Expected<> run(Duration span) = 0;
};

class Crew {
 public:
  using Command = std::function<Expected<>(Role&)>;
  explicit Crew(std::vector<Role*> roles) : roles_(std::move(roles)), errors_(roles_.size()) {}

  // Followers: returns after dismiss().
  void follow(unsigned index);
  // Leader: every role does it, each on its core; returns when all have. Error: the first of any.
  Expected<> all(const Command& command);
  // Leader: one turn of its own role.
  Expected<> turn() { return roles_.front()->turn(); }
  // Leader: the followers may go.
  void dismiss();

 private:
  std::vector<Role*> roles_;
  std::vector<Expected<>> errors_;    // of the command at hand, or of a turn
  const Command* command_ = nullptr;  // published by number_
  std::atomic<std::uint64_t> number_{0};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> is_dismissed_{false};
};

// Runs body(index) for each shard on a core of its own, the caller's included; returns when all have.
using CoreRunner = std::function<void(const std::function<void(unsigned)>& body)>;

// Puts every role on its core; the first core does `lead`, then the others are dismissed. Error: that of
// `lead`.
template <class R>
Expected<> run_crew(const CoreRunner& run, const std::vector<std::unique_ptr<R>>& roles,
                    const std::function<Expected<>(Crew&)>& lead) {
  std::vector<Role*> all;
  for (const auto& role : roles) all.push_back(role.get());
  Crew crew(std::move(all));
  Expected<> status;
  run([&](unsigned index) {
    if (index > 0) return crew.follow(index);
    status = lead(crew);
    crew.dismiss();
  });
  return status;
}

}  // namespace rocetune::pattern
