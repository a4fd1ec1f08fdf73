#include "tools/rocetune/intent.h"

namespace rocetune::cli {

diagnose::Intent intent_of(const tune::Profile& profile) {
  diagnose::Intent out;
  bool data_seen = false;
  for (const tune::ClassSpec& spec : profile.classes) {
    const std::optional<Dscp> dscp = spec.dscp.empty() ? std::nullopt : std::optional(spec.dscp.front());
    if (spec.name == "cnp") {
      out.cnp_dscp = dscp;
      out.cnp_priority = spec.priority;
    } else if (!data_seen) {
      data_seen = true;
      out.dscp = dscp;
      out.priority = spec.priority;
    }
  }
  out.lossless = profile.lossless();
  out.lossy = out.lossless->is_empty();
  out.trust = profile.trust;
  out.origin = "profile " + profile.name;
  return out;
}

diagnose::Intent completed(const diagnose::Intent& stated, const diagnose::Intent& base) {
  diagnose::Intent out = base;
  const auto take = [](auto& into, const auto& from) {
    if (from) into = from;
  };
  take(out.dscp, stated.dscp);
  take(out.priority, stated.priority);
  take(out.cnp_dscp, stated.cnp_dscp);
  take(out.cnp_priority, stated.cnp_priority);
  take(out.lossless, stated.lossless);
  take(out.trust, stated.trust);
  out.lossy = out.lossy || stated.lossy;
  // A priority or "no PFC" given by hand replaces the profile's set of priorities with PFC.
  if ((stated.priority || stated.lossy) && !stated.lossless) out.lossless.reset();
  if (!stated.origin.empty()) out.origin = stated.origin + " over " + base.origin;
  return out;
}

}  // namespace rocetune::cli
