#include "agent/tune/search/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dataplane/base/toml_reader.h"

namespace rocetune::search {

Expected<Policy> load_policy(const ConfigFiles& files) {
  const auto file = files.read("tune/objectives.toml");
  if (!file) return tl::unexpected(file.error());
  Policy out;
  return read_toml(file->text, file->name,
                   [&](TableReader& t) {
                     t.required("loss_weight", out.loss_weight, between(1.0, 100.0));
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

Expected<Policy> with_objectives(Policy policy, const std::vector<std::string>& objectives,
                                 const std::string& flag) {
  if (objectives.empty()) return policy;
  policy.weights.fill(0);
  for (const std::string& text : objectives) {
    const std::string name = text.substr(0, text.find('='));
    double weight = 1;
    const ObjectiveKind* const kind = find_objective(name);
    bool is_good = kind != nullptr;
    if (name.size() < text.size()) {
      const char* const end = text.data() + text.size();
      const auto read = std::from_chars(text.data() + name.size() + 1, end, weight);
      is_good = is_good && read.ec == std::errc() && read.ptr == end && weight > 0 && weight <= 1000;
    }
    if (!is_good) {
      const std::vector<std::string> names = objective_names();
      return tl::unexpected(
          bad_input({{.place = {},
                      .key = flag,
                      .found = text,
                      .allowed = fmt::format("{}, each alone or with =WEIGHT above 0, up to 1000",
                                             fmt::join(names, ", ")),
                      .nearest = nearest_name(name, names)}}));
    }
    policy.weights[static_cast<std::size_t>(kind->objective)] = weight;
  }
  return policy;
}

}  // namespace rocetune::search
