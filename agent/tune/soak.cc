#include "agent/tune/soak.h"

#include "dataplane/base/toml_reader.h"

namespace rocetune::tune {
namespace {

std::string subject(const std::string& port, std::optional<Priority> priority) {
  return priority ? fmt::format("{} priority {}", port, priority->value()) : port;
}

std::optional<double> rate(const counters::PortDelta* delta, const SoakRule& rule,
                           std::optional<Priority> priority) {
  if (delta == nullptr || delta->elapsed <= Duration()) return std::nullopt;
  const auto increment = delta->increment(rule.counter, priority);
  if (!increment) return std::nullopt;
  return static_cast<double>(*increment) / delta->elapsed.seconds();
}

// Empty: no regression by this rule.
std::string judge(const SoakRule& rule, const counters::PortDelta* before, const counters::PortDelta& during,
                  std::optional<Priority> priority) {
  if (rule.share_of_time) {
    const auto share = during.share_of_time(rule.counter, priority);
    if (!share || *share < *rule.share_of_time) return "";
    // As bad before the change: not its doing.
    const auto share_before =
        before == nullptr ? std::nullopt : before->share_of_time(rule.counter, priority);
    if (share_before && *share_before >= *rule.share_of_time) return "";
    return fmt::format("{}: {}, {} {:.1f} % of the time", subject(during.port, priority), rule.meaning,
                       rule.counter, share->percent());
  }
  const auto now = rate(&during, rule, priority);
  if (!now || *now <= rule.per_second.value_or(0)) return "";
  const auto then = rate(before, rule, priority);
  if (then && *now <= *then * rule.times_before) return "";
  return fmt::format("{}: {}, {} {:.1f}/s{}", subject(during.port, priority), rule.meaning, rule.counter,
                     *now, then ? fmt::format(" (before: {:.1f}/s)", *then) : "");
}

}  // namespace

Expected<SoakLimits> soak_limits_from_toml(std::string_view text, const std::string& file) {
  SoakLimits out;
  return read_toml(text, file,
                   [&](TableReader& t) {
                     t.required_array_of_tables("rule", [&](TableReader& row) {
                       SoakRule rule;
                       row.required("name", rule.name, not_empty());
                       row.required("counter", rule.counter, not_empty());
                       row.optional("per_priority", rule.per_priority);
                       row.optional("share_of_time", rule.share_of_time, more_than(Ratio()));
                       row.optional("per_second", rule.per_second, at_least(0.0));
                       row.optional("times_before", rule.times_before, at_least(1.0));
                       row.required("meaning", rule.meaning, not_empty());
                       row.ignore("origin");
                       if (rule.share_of_time.has_value() == rule.per_second.has_value()) {
                         row.reject("", "share_of_time or per_second, one of the two");
                       }
                       out.rules.push_back(std::move(rule));
                     });
                   })
      .map([&] { return std::move(out); });
}

std::vector<std::string> regressions(const Observed<counters::Interval>& before,
                                     const counters::Interval& during, const std::vector<std::string>& ports,
                                     const SoakLimits& limits) {
  std::vector<std::string> out;
  for (const std::string& port : ports) {
    const counters::PortDelta* now = during.find_port(port);
    if (now == nullptr) continue;
    const counters::PortDelta* then = before ? before->find_port(port) : nullptr;
    for (const SoakRule& rule : limits.rules) {
      if (!rule.per_priority) {
        if (std::string line = judge(rule, then, *now, std::nullopt); !line.empty())
          out.push_back(std::move(line));
        continue;
      }
      for (int p = 0; p < Priority::kCount; ++p) {
        if (std::string line = judge(rule, then, *now, Priority(p)); !line.empty())
          out.push_back(std::move(line));
      }
    }
  }
  return out;
}

}  // namespace rocetune::tune
