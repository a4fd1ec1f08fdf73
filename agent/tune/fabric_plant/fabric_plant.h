// A virtual fabric as something that can be tuned: a file, its workloads, its knobs, and what doctor says of
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/tune/fabric_plant/diagnosis.h"
#include "agent/tune/fabric_plant/knobs.h"
#include "agent/tune/fabric_plant/tune_table.h"
#include "agent/tune/search/plant.h"
#include "dataplane/base/config_files.h"

namespace rocetune::fabric_plant {

struct FabricOptions {
  std::vector<TomlSetting> settings;  // put over the file
  std::uint64_t seed = 1;             // of what differs from repeat to repeat
  std::size_t threads = 1;            // runs at once; results do not depend on it
  std::vector<std::string> only;      // knobs that may be turned, besides what the file says; empty: all
  std::vector<std::string> without;   // that may not
  std::stop_token stop = {};          // of opening it: doctor's run may take minutes
};

// What is held out runs so many times as often as the others: it has the last word, after few trials.
inline constexpr int kHeldOutRuns = 2;

class FabricPlant final : public search::Plant {
 public:
  // `text` is that of the scenario `file`. Errors: bad_input with every issue of the file, a knob that is not
  // there, a fabric of which nothing can be turned (InfiniBand, nothing left by `only`); conflict: it was
  // stopped.
  static Expected<std::unique_ptr<FabricPlant>> open(std::string_view text, const std::string& file,
                                                     const FabricOptions& options,
                                                     const ConfigFiles& configs);

  const search::PlantTraits& traits() const override { return traits_; }
  const search::Space& space() const override { return space_; }
  const std::vector<search::Constraint>& constraints() const override { return constraints_; }
  const std::vector<search::Workload>& workloads() const override { return workloads_; }
  const std::vector<search::Suggestion>& suggestions() const override { return suggestions_; }
  Expected<search::Observation> observe(const search::Request& request, std::stop_token stop) override;
  std::vector<Expected<search::Observation>> observe_all(const std::vector<search::Request>& requests,
                                                         const std::stop_token& stop) override;
  // Nothing is ever changed: each run is made anew.
  Expected<> restore() override { return {}; }

  const TuneTable& table() const { return table_; }
  const std::vector<FabricKnob>& knobs() const { return knobs_; }
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  const FabricDiagnosis& diagnosis() const { return diagnosis_; }
  const fabric::Scenario& scenario() const { return runs_.front(); }

 private:
  FabricPlant() = default;
  Expected<> choose_knobs(KnobTable table, const std::string& file, const FabricOptions& options);
  void suggest();
  // As found, under the circumstances of one run of a repeat.
  fabric::Scenario circumstances(const search::Request& request, int run) const;
  search::Observation observe_once(const search::Request& request, int run,
                                   const std::stop_token& stop) const;

  std::uint64_t seed_ = 1;
  TuneTable table_;
  std::vector<fabric::Scenario> runs_;  // by workload; the first one is the file's own, if it is searched on
  fabric::Scenario bones_;              // without traffic: what constraints look at
  std::vector<FabricKnob> knobs_;
  std::vector<LeftOut> left_out_;
  FabricDiagnosis diagnosis_;
  search::PlantTraits traits_;
  search::Space space_;
  std::vector<search::Constraint> constraints_;
  std::vector<search::Workload> workloads_;
  std::vector<search::Suggestion> suggestions_;
};

}  // namespace rocetune::fabric_plant
