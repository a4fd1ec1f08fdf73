#include "agent/tune/search/policy.h"

#include <algorithm>

#include "dataplane/base/toml_reader.h"

namespace rocetune::search {

Expected<Policy> load_policy(const ConfigFiles& files) {
  const auto file = files.read("tune/objectives.toml");
  if (!file) return tl::unexpected(file.error());
  Policy out;
  return read_toml(file->text, file->name,
                   [&](TableReader& t) {
                     t.required("worst_share", out.worst_share, between(0.0, 1.0));
                     t.required("minimum_gain_percent", out.minimum_gain_percent, between(0.0, 100.0));
                     t.required("confidence_percent", out.confidence_percent, between(50.0, 99.9));
                     t.required_table("weight", [&](TableReader& weight) {
                       for (const ObjectiveKind& kind : objective_kinds()) {
                         const auto at = static_cast<std::size_t>(kind.objective);
                         weight.required(kind.name, out.weights[at], between(0.0, 1000.0));
                       }
                       if (std::ranges::all_of(out.weights, [](double w) { return w == 0; }))
                         weight.reject({}, "at least one weight above 0");
                     });
                   })
      .map([&] { return out; });
}

}  // namespace rocetune::search
