#include "agent/tune/soak.h"

#include <algorithm>

#include "dataplane/base/toml_reader.h"

namespace rocetune::tune {
namespace {

std::string subject(const std::string& port, std::optional<Priority> priority) {
  return priority ? fmt::format("{} priority {}", port, priority->value()) : port;
}

// What the counter says; nothing if it was not read. Shares of time in percent, else events per second.
std::optional<double> reading(const SoakRule& rule, const counters::PortDelta* delta,
                              std::optional<Priority> priority) {
  if (delta == nullptr) return std::nullopt;
  if (!rule.share_of_time) return delta->per_second(rule.counter, priority);
  const auto share = delta->share_of_time(rule.counter, priority);
  return share ? std::optional(share->percent()) : std::nullopt;
}

// Empty: no regression by this rule. `now`: what the counter says.
std::string judge(const SoakRule& rule, const counters::PortDelta* before, const counters::PortDelta& during,
                  std::optional<Priority> priority, double now) {
  const auto then = reading(rule, before, priority);
  if (rule.share_of_time) {
    const double limit = rule.share_of_time->percent();
    // As bad before the change: not its doing.
    if (now < limit || (then && *then >= limit)) return "";
    return fmt::format("{}: {}, {} {:.1f} % of the time", subject(during.port, priority), rule.meaning,
                       rule.counter, now);
  }
  if (now <= rule.per_second.value_or(0)) return "";
  if (then && now <= *then * rule.times_before) return "";
  return fmt::format("{}: {}, {} {:.1f}/s{}", subject(during.port, priority), rule.meaning, rule.counter, now,
                     then ? fmt::format(" (before: {:.1f}/s)", *then) : "");
}

std::vector<std::optional<Priority>> places_of(const SoakRule& rule) {
  if (!rule.per_priority) return {std::nullopt};
  std::vector<std::optional<Priority>> out;
  for (int p = 0; p < Priority::kCount; ++p) out.emplace_back(Priority(p));
  return out;
}

void judge_rule(const SoakRule& rule, const counters::PortDelta* before, const counters::PortDelta& during,
                SoakJudgement& out) {
  bool seen = false;
  std::string why;
  for (const std::optional<Priority> priority : places_of(rule)) {
    const auto now = reading(rule, &during, priority);
    if (!now) {
      const auto reason = during.why_absent(rule.counter, priority);
      if (why.empty()) why = reason ? reason->why : rule.counter + " was not read";
      continue;
    }
    seen = true;
    if (std::string line = judge(rule, before, during, priority, *now); !line.empty())
      out.regressions.push_back(std::move(line));
  }
  auto& list = seen ? out.evidence.judged : out.evidence.not_judged;
  list.push_back({during.port, rule.name, seen ? "" : why});
}

const RuleOnPort* find(const std::vector<RuleOnPort>& list, const RuleOnPort& wanted) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const RuleOnPort& entry) {
    return entry.port == wanted.port && entry.rule == wanted.rule;
  });
  return found == list.end() ? nullptr : &*found;
}

std::string rules_of(const std::vector<RuleOnPort>& list, const std::string& port) {
  std::string out;
  for (const RuleOnPort& entry : list) {
    if (entry.port == port) out += (out.empty() ? "" : ", ") + entry.rule;
  }
  return out;
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

void SoakEvidence::add(const SoakEvidence& other) {
  for (const RuleOnPort& entry : other.judged) {
    if (find(judged, entry) == nullptr) judged.push_back(entry);
    std::erase_if(not_judged, [&](const RuleOnPort& mine) { return find({entry}, mine) != nullptr; });
  }
  for (const RuleOnPort& entry : other.not_judged) {
    if (find(judged, entry) == nullptr && find(not_judged, entry) == nullptr) not_judged.push_back(entry);
  }
}

std::vector<std::string> evidence_lines(const SoakEvidence& evidence) {
  std::vector<std::string> ports, out;
  for (const auto* list : {&evidence.judged, &evidence.not_judged}) {
    for (const RuleOnPort& entry : *list) {
      if (std::find(ports.begin(), ports.end(), entry.port) == ports.end()) ports.push_back(entry.port);
    }
  }
  if (evidence.is_empty()) {
    out.push_back(fmt::format("THE SOAK PROVED NOTHING: no rule could be judged{}",
                              evidence.not_judged.empty() ? "" : ": " + evidence.not_judged.front().why));
  }
  for (const std::string& port : ports) {
    const std::string judged = rules_of(evidence.judged, port), other = rules_of(evidence.not_judged, port);
    out.push_back(fmt::format("soak of {}: judged {}{}", port, judged.empty() ? "nothing" : judged,
                              other.empty() ? "" : "; NOT judged " + other));
  }
  return out;
}

SoakJudgement judge_soak(const Observed<counters::Interval>& before, const counters::Interval& during,
                         const std::vector<std::string>& ports, const SoakLimits& limits) {
  SoakJudgement out;
  for (const std::string& port : ports) {
    const counters::PortDelta* now = during.find_port(port);
    const counters::PortDelta* then = before ? before->find_port(port) : nullptr;
    for (const SoakRule& rule : limits.rules) {
      if (now != nullptr) {
        judge_rule(rule, then, *now, out);
      } else {
        out.evidence.not_judged.push_back({port, rule.name, "no counter of this port was read"});
      }
    }
  }
  return out;
}

}  // namespace rocetune::tune
