#include <algorithm>

#include "dataplane/base/config_files.h"
#include "dataplane/fabric/flow_file.h"
#include "dataplane/fabric/scenario_parts.h"

namespace rocetune {
ROCETUNE_ENUM(fabric::Pattern, P{E::pair, "pair"}, P{E::incast, "incast"}, P{E::permutation, "permutation"},
              P{E::random_permutation, "random_permutation"}, P{E::bisection, "bisection"},
              P{E::all_to_all, "all_to_all"}, P{E::poisson, "poisson"}, P{E::replay, "replay"});
}  // namespace rocetune

namespace rocetune::fabric {
namespace {

constexpr std::size_t kMostTables = 4096;
constexpr Bytes kFlowFileLimit{64 << 20};
constexpr std::string_view kFlowFileExtension = ".csv";

auto a_size() { return between(Bytes(1), SizeDistribution::kLongest); }

// Reads one table. is_good() tells whether there was no issue in it, as far as flows need that.
class TrafficReader {
 public:
  TrafficReader(TableReader& t, const Scenario& scenario)
      : t_(t), scenario_(scenario), hosts_(scenario.topology.hosts) {}

  Traffic read() {
    if (!need(t_.required("pattern", out_.pattern))) {
      for (const std::string& key : t_.keys()) t_.ignore(key);
      return out_;
    }
    t_.optional("tenant", out_.tenant);
    read_flow();
    switch (out_.pattern) {
      case Pattern::pair:
        read_pair();
        break;
      case Pattern::incast:
        read_incast();
        break;
      case Pattern::permutation:
        read_hosts(2);
        need(t_.required("shift", out_.shift, between(1U, std::max(members(), 2U) - 1)));
        break;
      case Pattern::bisection:
        read_hosts(2);
        if (members() % 2 != 0) refuse_hosts("an even number of hosts");
        break;
      case Pattern::random_permutation:
      case Pattern::all_to_all:
        read_hosts(2);
        break;
      case Pattern::poisson:
        read_poisson();
        break;
      case Pattern::replay:
        read_replay();
        break;
    }
    return out_;
  }
  bool is_good() const { return is_good_; }

  // Where the hosts of the pattern are said.
  std::string_view hosts_key() const { return t_.has("hosts") ? "hosts" : "pattern"; }

 private:
  // Something that flows cannot be made without.
  bool need(bool was_read) {
    is_good_ = is_good_ && was_read;
    return was_read;
  }
  // A key that may be left out, but not be wrong.
  template <class T, class Check>
  bool optional(std::string_view key, T& out, const Check& check) {
    const bool was_read = t_.optional(key, out, check);
    need(was_read || !t_.has(key));
    return was_read;
  }
  void refuse(std::string_view key, std::string allowed) {
    is_good_ = false;
    t_.reject(key, std::move(allowed));
  }
  void refuse_hosts(std::string allowed) {
    if (hosts_ == 0) return;
    is_good_ = false;
    t_.issue(hosts_key(), fmt::format("{} hosts", members()), std::move(allowed));
  }
  // A topology that could not be read is an issue of its own: any host will do then.
  auto a_host() const { return between(0U, (hosts_ > 0 ? hosts_ : kMostHosts) - 1); }
  std::uint32_t members() const { return out_.hosts.size(); }

  // What all patterns have, each as far as it does.
  void read_flow() {
    Flow& flow = out_.flow;
    Bytes message{flow.message};
    Duration start;
    optional("message", message, between(Bytes(1), Bytes(engine::kLongestMessage)));
    optional("window", flow.window, between(1U, 65536U));
    optional("start", start, between(Duration(0), scenario_.limit));
    flow.message = static_cast<std::uint32_t>(message.count());
    flow.start = Instant(start);
    if (out_.pattern == Pattern::replay || out_.pattern == Pattern::poisson) return;
    optional("stagger", out_.stagger, between(Duration(0), scenario_.limit));
    if (Bytes bytes; need(t_.required("bytes", bytes, a_size())))
      flow.bytes = static_cast<std::uint64_t>(bytes.count());
  }

  // hosts = "0-63": a tenant's; else all.
  void read_hosts(std::uint32_t least) {
    out_.hosts = HostSet::all(hosts_ > 0 ? hosts_ : kMostHosts);
    optional("hosts", out_.hosts, [&](const HostSet& hosts) {
      const std::uint32_t most = hosts_ > 0 ? hosts_ : kMostHosts;
      return hosts.largest() < most ? std::string() : fmt::format("hosts 0 to {}", most - 1);
    });
    if (members() < least) refuse_hosts(fmt::format("{} or more hosts", least));
  }

  void read_pair() {
    const bool has_from = need(t_.required("from", out_.flow.from, a_host()));
    const bool has_to = need(t_.required("to", out_.flow.to, a_host()));
    if (has_from && has_to && out_.flow.from == out_.flow.to) refuse("to", "another host than from");
  }

  void read_incast() {
    read_hosts(1);
    if (members() > 0) out_.flow.to = out_.hosts[members() - 1];
    optional("to", out_.flow.to, a_host());
    optional("flows_per_sender", out_.flows_per_sender, between(1U, 1024U));
    std::uint32_t others = 0;
    for (std::uint32_t i = 0; i < members(); ++i) others += out_.hosts[i] != out_.flow.to;
    if (others == 0) {
      t_.ignore("senders");
      return refuse_hosts("a host other than the receiver");
    }
    out_.senders = others;
    // Who names the hosts means all of them.
    if (t_.has("hosts"))
      optional("senders", out_.senders, between(1U, others));
    else
      need(t_.required("senders", out_.senders, between(1U, others)));
  }

  void read_poisson() {
    read_hosts(2);
    // Between hardly anything and twice what the links take.
    need(t_.required("load", out_.load, between(Ratio::of(1, 10'000), Ratio::from_percent(200))));
    Duration until;
    need(t_.required("until", until, between(nanoseconds(1), scenario_.limit)));
    out_.until = Instant(until);
    if (out_.until <= out_.flow.start && is_good_)
      refuse("until", "later than start (" + to_text(out_.flow.start.since_origin()) + ")");
    read_sizes();
  }
  void read_sizes() {
    if (t_.has("sizes") == t_.has("bytes")) {
      t_.ignore("bytes");
      t_.ignore("sizes");
      is_good_ = false;
      const bool has_both = t_.has("sizes");
      return t_.issue(has_both ? "bytes" : "sizes", has_both ? "both" : "neither",
                      "sizes (a distribution) or bytes (all alike)");
    }
    Bytes bytes{1};
    if (optional("bytes", bytes, a_size())) out_.sizes = SizeDistribution::fixed(bytes);
    std::string name;
    if (!optional("sizes", name, one_of(workload_names()))) return;
    auto workload = shipped_workload(name);
    if (!workload) return refuse("sizes", workload.error().text());
    out_.sizes = std::move(workload->sizes);
  }

  void read_replay() {
    std::string name;
    if (!need(t_.required("file", name, [](const std::string& file) {
          return file.ends_with(kFlowFileExtension) ? std::string() : "the path of a .csv file";
        })))
      return;
    if (hosts_ == 0) return;
    const auto beside = read_beside(t_.place().file, name, kFlowFileLimit);
    if (!beside) {
      is_good_ = false;
      return t_.issue("file", beside.error().text(), "a file that can be read");
    }
    const Duration start = out_.flow.start.since_origin();
    const std::vector<NodeId> islands = islands_of(scenario_.topology);
    FlowFile file = parse_flow_file(beside->text, beside->name, std::span(islands).first(hosts_),
                                    scenario_.limit - start);
    for (const InputIssue& issue : file.issues) {
      is_good_ = false;
      t_.issue("file", issue.place.text() + ": " + issue.key + (issue.key.empty() ? "" : " ") + issue.found,
               issue.allowed);
    }
    if (file.flows.empty() && file.issues.empty()) refuse("file", "a file with at least one flow");
    for (Flow& flow : file.flows) {
      flow.start = flow.start + start;
      flow.message = out_.flow.message;
      flow.window = out_.flow.window;
    }
    out_.replayed = std::move(file.flows);
  }

  TableReader& t_;
  const Scenario& scenario_;
  std::uint32_t hosts_;
  Traffic out_;
  bool is_good_ = true;
};

// Adds the flows of one table.
void make_flows(Traffic& traffic, std::uint32_t number, std::span<const BitRate> host_rates, Scenario& out) {
  const std::vector<Flow> flows = flows_of(traffic, host_rates, out.seed, number);
  traffic.first = out.flows.size();
  traffic.count = flows.size();
  out.flows.insert(out.flows.end(), flows.begin(), flows.end());
}

}  // namespace

void read_flows(TableReader& t, Scenario& out) {
  TrafficReader reader(t, out);
  Traffic traffic = reader.read();
  if (!reader.is_good() || out.topology.hosts == 0) return;
  if (out.traffic.size() >= kMostTables)
    return t.issue("", "one more", fmt::format("at most {} [[flows]]", kMostTables));
  const std::vector<BitRate> rates = host_rates_of(out.topology);
  const std::uint64_t expected = expected_flows(traffic, rates);
  const std::uint64_t room = kMostFlows - std::min<std::uint64_t>(kMostFlows, out.flows.size());
  if (expected > room)
    return t.issue("pattern", fmt::format("{} flows", expected),
                   fmt::format("at most {} in all, {} here", kMostFlows, room));
  if (expected == 0) return t.reject("load", "a load that starts a flow before until");
  if (const auto pair = without_way(traffic, islands_of(out.topology)))
    return t.issue(reader.hosts_key(), fmt::format("hosts {} and {}", pair->first, pair->second),
                   "hosts that have a way to each other");
  make_flows(traffic, static_cast<std::uint32_t>(out.traffic.size()), rates, out);
  out.traffic.push_back(std::move(traffic));
}

void reseed(Scenario& scenario, std::uint64_t seed) {
  scenario.seed = scenario.options.seed = seed;
  scenario.flows.clear();
  const std::vector<BitRate> rates = host_rates_of(scenario.topology);
  for (std::uint32_t i = 0; i < scenario.traffic.size(); ++i)
    make_flows(scenario.traffic[i], i, rates, scenario);
}

}  // namespace rocetune::fabric
