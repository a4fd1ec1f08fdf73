// How egresses share a link among classes (IEEE 802.1Qaz). Shares do something where data of several classes
// meet; what CNPs have of their own stays strict.
#include <algorithm>
#include <cmath>

#include "agent/tune/fabric_plant/knobs.h"

namespace rocetune::fabric_plant {
namespace {

using fabric::HostParameters;
using fabric::Scenario;

// Of what all classes share, percent of the class that most hosts have their data in; the others divide the
// rest.
constexpr int kMainShares[] = {10, 25, 50, 70, 85};
// For traffic that is not RDMA, in queue 0, which takes no more of it than it uses: makers want a share above
// 0 for every queue that is not strict.
constexpr int kForTheRest = 5;
constexpr int kAll = 100;

// Null: not so many percent.
std::optional<EtsConfig> shares_of(const std::vector<Priority>& data, int main_share) {
  EtsConfig out;
  const auto set = [&](Priority p, int share) {
    out.classes[static_cast<std::size_t>(p.value())] = {.strict = false, .share_percent = share};
  };
  int left = kAll - main_share;
  if (std::ranges::find(data, Priority(0)) == data.end()) {
    set(Priority(0), kForTheRest);
    left -= kForTheRest;
  }
  const int others = static_cast<int>(data.size()) - 1;
  if (left < others) return std::nullopt;
  set(data.front(), main_share);
  for (int i = 0; i < others; ++i)
    set(data[static_cast<std::size_t>(i) + 1], left / others + (i < left % others ? 1 : 0));
  return out;
}

void set_switches(Scenario& s, const EtsConfig& ets) {
  s.options.switches.ets = ets;
  for (auto& [index, own] : s.options.own_switch) own.ets = ets;
  for (fabric::Fault& fault : s.options.faults) {
    if (fault.kind == fabric::Fault::Kind::switch_classes) fault.classes.ets = ets;
  }
}

void add_switches(KnobTableMaker& maker) {
  const std::vector<Priority> data =
      data_priorities(dscps_in_use(maker.scenario()), maker.usual_switch("priority_of_dscp"));
  std::vector<KnobTableMaker::Choice> choices{
      {ets_text(EtsConfig()), [](Scenario& to) { set_switches(to, EtsConfig()); }}};
  for (const int share : kMainShares) {
    if (data.size() < 2) break;
    const auto ets = shares_of(data, share);
    if (ets) choices.push_back({ets_text(*ets), [ets = *ets](Scenario& to) { set_switches(to, ets); }});
  }
  maker.add_choice(
      {.name = "switches.ets",
       .meaning = "how switches share a link among classes: percent of what strict ones leave",
       .standard_origin = "IEEE 802.1Qaz; 5 % for what is not RDMA"},
      Place::switches, std::move(choices),
      [](const Scenario& of) { return ets_text(of.options.own_switch.begin()->second.ets); },
      "all data are of one class, and CNPs that have another one go first");
}

void add_hosts(KnobTableMaker& maker) {
  std::vector<KnobTableMaker::Choice> choices{
      {ets_text(EtsConfig()), [members = maker.usual_hosts("ets")](Scenario& to) {
         const auto set = [](HostParameters& host) {
           host.ets = EtsConfig();
           host.class_of = a_class_each();
         };
         set(to.options.host);
         for (const std::uint32_t id : members) set(to.options.own_host.at(id));
       }}};
  maker.add_choice(
      {.name = "hosts.ets",
       .meaning = "how NICs share their link among traffic classes",
       .standard_origin = "IEEE 802.1Qaz"},
      Place::hosts, std::move(choices),
      [usual = maker.usual_hosts("ets").front()](const Scenario& of) {
        const HostParameters& host = of.options.own_host.at(usual);
        return ets_text(host.ets, host.class_of);
      },
      "the data of a host are of one class, and CNPs go first");
}

}  // namespace

void add_ets_knobs(KnobTableMaker& maker) {
  add_switches(maker);
  add_hosts(maker);
}

}  // namespace rocetune::fabric_plant
