#include "agent/tune/limits.h"

namespace rocetune::tune {

Expected<Limits> load_limits(const ConfigFiles& files, const host::NicTable& nics) {
  const auto soak = files.read("tune/soak.toml");
  if (!soak) return tl::unexpected(soak.error());
  const auto owners = files.read("tune/owners.toml");
  if (!owners) return tl::unexpected(owners.error());
  auto limits = soak_limits_from_toml(soak->text, soak->name);
  if (!limits) return tl::unexpected(limits.error());
  auto table = owners_from_toml(owners->text, owners->name);
  if (!table) return tl::unexpected(table.error());
  return Limits{std::move(*limits), std::move(*table), nics};
}

}  // namespace rocetune::tune
