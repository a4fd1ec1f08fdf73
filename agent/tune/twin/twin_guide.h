// The twin as a guide of the hosts' search: fitted from their baseline, searched, and asked what it expects.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/tune/search/guide.h"
#include "agent/tune/search/policy.h"
#include "agent/tune/search/score.h"
#include "agent/tune/twin/twin.h"
#include "agent/tune/twin/twin_plant.h"
#include "agent/tune/twin/twin_report.h"

namespace rocetune::twin {

struct GuideOptions {
  int budget = 120;        // trials of the search on the twin; at least search::kLeastTrials
  std::uint64_t seed = 1;  // of that search
  std::size_t threads = 1;
  int candidates = 4;    // proposed at most
  int fit_points = 240;  // at most
  // What is being done, how much of it is, and of how much: for a progress bar. May be empty.
  std::function<void(std::string_view what, int done, int of)> on_progress;
};

class TwinGuide final : public search::Guide {
 public:
  // Both must outlive it.
  TwinGuide(const Twin& twin, const search::Policy& policy, GuideOptions options);

  std::string identity() const override;
  std::vector<Proposal> propose(const std::deque<search::Trial>& trials, std::stop_token stop) override;
  std::optional<double> expected(const search::Candidate& of_hosts) override;
  bool knows(std::size_t knob) const override { return twin_.knows(knob); }

  const TwinReport& report() const { return report_; }
  // Of the unknowns, by place, as fitted.
  const std::vector<double>& values() const { return values_; }

 private:
  bool fit_to(const std::deque<search::Trial>& trials, const std::stop_token& stop);
  std::vector<std::vector<Readings>> model(const std::vector<std::vector<double>>& points,
                                           const std::stop_token& stop) const;
  std::vector<search::Candidate> search_twin(const std::stop_token& stop);
  search::Candidate needed_of(search::Candidate of_twin);
  search::Trial run(const search::Candidate& of_twin, std::uint64_t repeat);
  std::optional<double> expected_of_twin(const search::Candidate& of_twin);
  void tell(std::string_view what, int done, int of) const;

  const Twin& twin_;
  const search::Policy& policy_;
  GuideOptions options_;
  TwinReport report_;
  std::vector<double> values_;
  std::array<bool, search::kObjectives> measured_{};
  std::unique_ptr<TwinPlant> plant_;  // fitted
  std::unique_ptr<search::Scorer> scorer_;
  std::map<search::Candidate, std::optional<double>> expected_;  // of the twin's space
};

}  // namespace rocetune::twin
