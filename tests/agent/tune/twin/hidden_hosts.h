// Hosts whose network is a virtual fabric that nobody told: the plant answers with what they would see of it.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/tune/search/tuner.h"
#include "agent/tune/twin/twin_guide.h"
#include "tests/agent/tune/host_plant/plant_bench.h"

namespace rocetune::twin {

// Three to one of four hosts on a switch; `more` are lines of [switches], and `traffic` stands in the end.
struct Star {
  std::string delay = "500ns";
  std::string rate = "100Gbps";
  std::string kmin = "100kB", kmax = "400kB", pmax = "20%";
  std::string traffic = "[[flows]]\npattern = \"incast\"\nto = 0\nsenders = 3\nbytes = \"1500kB\"\n";
  std::string text() const {
    return "name = \"star\"\nlimit = \"2ms\"\n[topology]\nshape = \"star\"\nhosts = 4\nrate = \"" + rate +
           "\"\ndelay = \"" + delay +
           "\"\n[hosts]\nmtu = 1024\nack_timeout = 10\n[switches]\nbuffer = \"4MiB\"\nlossless = [3]\n"
           "headroom = \"80kB\"\nalpha_exponent = 0\nkmin = \"" +
           kmin + "\"\nkmax = \"" + kmax + "\"\npmax = \"" + pmax + "\"\n" + traffic;
  }
};

// Two machines of the fixtures with two ports each, whose DCQCN somebody set to recover slowly.
std::vector<tune::FoundHost> two_machines();
tune::HostSpace space_of(std::vector<tune::FoundHost> hosts,
                         const std::vector<tune::VariedVariable>& varied = {});

// What its fabric shows is the answer; only `objectives` are measured, and counters unless `is_blind`.
class HiddenHosts final : public search::Plant {
 public:
  HiddenHosts(const tune::HostSpace& hosts, const std::string& fabric,
              std::vector<search::Objective> objectives, bool is_blind = false);

  const search::PlantTraits& traits() const override { return traits_; }
  const search::Space& space() const override { return hosts_.space(); }
  const std::vector<search::Constraint>& constraints() const override { return hosts_.constraints(); }
  const std::vector<search::Workload>& workloads() const override { return workloads_; }
  const std::vector<search::Suggestion>& suggestions() const override { return hosts_.suggestions(); }
  Expected<search::Observation> observe(const search::Request& request, std::stop_token stop) override;
  Expected<> restore() override { return {}; }

 private:
  const tune::HostSpace& hosts_;
  Twin hidden_;
  std::vector<search::Objective> objectives_;
  bool is_blind_;
  search::PlantTraits traits_{
      .name = "hidden hosts", .identity = "hidden", .is_repeatable = false, .parallel = 1};
  std::vector<search::Workload> workloads_{{.name = "workload", .weight = 1, .held_out = false}};
};

Twin twin_of(const tune::HostSpace& hosts, const std::string& text);
// Three trials of the hosts as they are.
std::deque<search::Trial> baseline_of(HiddenHosts& hosts);
const Parameter* parameter_of(const TwinReport& report, std::string_view name);

}  // namespace rocetune::twin
