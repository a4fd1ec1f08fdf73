// The changes that are in force on a set of hosts for the moment: put on all of them or on none, and taken
// back whatever happened meanwhile. Every host is asked at the same time; what a host did not answer is found
// out from its own history.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/tune/host_plant/host_control.h"
#include "dataplane/base/clock.h"

namespace rocetune::tune {

class HostTransactions {
 public:
  // `allow`: consents, as apply takes them.
  HostTransactions(std::vector<HostControl> hosts, std::vector<std::string> allow);

  const std::vector<HostControl>& hosts() const { return hosts_; }

  // Takes back what is in force, then applies one plan to each host (an empty one: nothing), to be taken back
  // by the host itself after the dead-man. A sentence: some host could not have it, and all are as they were.
  // Error: some host is not, or is not known to be.
  Expected<std::optional<std::string>> apply(const std::vector<Plan>& plans, const HostControl::Terms& terms);
  // All hosts as they were before apply. Tries again where a host fails or does not answer. Error: names
  // those that are still changed, and what ends that.
  Expected<> take_back();
  // Confirms what is in force: all hosts, or none. The transactions in the order of hosts; 0: nothing to do.
  // Error: what failed; every host is then as it was, or the error says which is not.
  Expected<std::vector<std::int64_t>> confirm();
  // Whether the hosts were what this object made of them since it was asked last (or first): empty, or a
  // sentence about what is in force no more. Errors: conflict if somebody else changes a host, or confirmed
  // one of these changes; io if a host does not say.
  Expected<std::string> check_alone();
  // When the oldest of what is in force was applied; nothing: there is none.
  std::optional<Instant> since() const;

 private:
  struct Open {
    enum class What {
      nothing,  // the host is as it was
      waiting,  // to be confirmed
      unknown,  // nobody said how it ended
      stuck,    // its rollback has failed
    } what = What::nothing;
    std::int64_t id = 0;                    // waiting, stuck
    std::int64_t plan_made_at_unix_ns = 0;  // by which the host's history knows it
    Instant since;
  };
  std::string apply_to(std::size_t host, const Plan& plan, const HostControl::Terms& terms);
  Expected<> take_back_from(std::size_t host);
  Expected<> find_out(std::size_t host);
  bool is_committed(std::size_t host) const;
  Expected<std::string> check_alone_on(std::size_t host);

  std::vector<HostControl> hosts_;
  std::vector<std::string> allow_;
  std::vector<Open> open_;  // by host
  // By host: the plans that were sent there, and the last transaction when it was asked.
  std::vector<std::set<std::int64_t>> sent_;
  std::vector<std::optional<std::int64_t>> last_seen_;
  Duration dead_man_;  // of what is in force
};

}  // namespace rocetune::tune
