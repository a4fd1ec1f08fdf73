// A twin of what was tuned, in words and figures that are ready to be shown.
#pragma once

#include <string>
#include <vector>

namespace rocetune::report {

struct TuneTwin {
  std::string name;  // "my-fabric.toml (fabric my-fabric)"
  std::string says;  // whether it may be believed, one sentence
  bool is_believed = false;
  std::string counted;  // trials of the plant, and runs of the twin

  struct Parameter {
    std::string name, of_file, fitted, between;
    bool is_told = false;  // by what was observed
  };
  std::vector<Parameter> parameters;
  struct Seen {
    std::string what, observed, before, fitted, remark;
  };
  std::vector<Seen> seen;
  struct Prediction {
    std::string changes, predicted, measured;
  };
  std::vector<Prediction> predictions;
  struct Unknown {
    std::string what, why;
  };
  std::vector<Unknown> unknown;  // not fitted, not foretold, not taken over
};

// A section of the page.
std::string tune_twin_section(const TuneTwin& twin);

}  // namespace rocetune::report
