// Counters out of texts, under the schema's names: what happened between two dumps of one thing, or what one
// dump has counted since boot or reset.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/counters/model.h"
#include "agent/counters/schema.h"
#include "agent/diagnose/finding.h"
#include "agent/evidence/dossier.h"

namespace rocetune::diagnose {

// Where a number stands.
struct CountedAt {
  const evidence::Document* document;
  int line = 0;
  std::string name;  // as printed: "rx_prio3_pause"
};

struct CountedPort {
  std::string host;                 // empty: not said
  std::string device;               // netdev or RDMA device as printed; empty: not said
  bool is_total = false;            // of one dump: since boot or reset, no rate
  std::string since;                // of a pair: the file of the earlier dump
  std::optional<Duration> elapsed;  // between the two; nothing: not said
  counters::PortDelta delta;        // increments, of one dump the totals; its elapsed is 0 if not known
  std::map<counters::CounterId, CountedAt> places;
  const evidence::Document* document = nullptr;  // the first that is part of it

  // "node1 eth0", "eth0", else the file.
  std::string subject() const;
  std::optional<std::uint64_t> count(std::string_view name, std::optional<Priority> priority = {}) const {
    return delta.increment(name, priority);
  }
  std::uint64_t known(std::string_view name, std::optional<Priority> priority = {}) const {
    return count(name, priority).value_or(0);
  }
  // The largest and the sum over priorities; nothing if it is counted for none.
  std::optional<std::uint64_t> sum(std::string_view name) const;
  // "rx_prio3_pause", its number, "eth.after.txt:12, since eth.before.txt". The counter must be known.
  Evidence evidence(std::string_view name, std::optional<Priority> priority = {}) const;
  // Those of the names that are known, all priorities that are not zero included.
  std::vector<Evidence> all(const std::vector<std::string_view>& names) const;
  // "since boot or reset" or "in 60 s" or "between the two dumps".
  std::string span() const;
};

// Every pair of dumps, and every dump that is in no pair, of ethtool -S, RDMA counters and dcb. Dumps of one
// host and moment that name one device each are put together.
std::vector<CountedPort> counted_ports(const evidence::Dossier& dossier, const counters::Schema& schema);

}  // namespace rocetune::diagnose
