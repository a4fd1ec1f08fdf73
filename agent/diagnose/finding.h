// What a diagnosis says: findings with their evidence and fix, what was not checked and why, what passed.
// A judgement without evidence cannot be made: see Outcome.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/host/knob.h"
#include "dataplane/base/json_writer.h"
#include "dataplane/base/reflect.h"

namespace rocetune::diagnose {

enum class Severity {
  info,      // worth knowing; nothing has to be done
  warning,   // costs throughput, or will hurt under load
  critical,  // traffic is lost, stopped, or unprotected now
};
enum class Confidence { low, medium, high };

// One counter or setting that a judgement rests on, with where it was read.
struct Evidence {
  std::string name;    // "DSCP 26", "rx_pause_duration_us of priority 3"
  std::string value;   // as a person reads it, without unit: "2", "1990000", "{3,4}"
  std::string unit;    // "us", "B", "packets"; empty for names and codes
  std::string source;  // "DCB application table", "ethtool statistics over 2.0 s"
  bool operator==(const Evidence&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("name", self.name...);
    visit("value", self.value...);
    visit("unit", self.unit...);
    visit("source", self.source...);
  }
};

// One knob, the value it has and the value it should have.
struct Change {
  host::Knob knob;
  host::KnobValue before;
  host::KnobValue after;
};

struct Fix {
  std::string text;                   // what to do, in words; never empty
  std::vector<Change> changes;        // the same as changes rocetune can make; empty if it is no setting
  std::vector<std::string> commands;  // the same by dcb, ethtool, ip: one shell line each
};

struct Finding {
  std::string rule;  // an id of docs/rules.md
  Severity severity = Severity::warning;
  std::string subject;  // "eth0", "eth0 priority 3", "host", "receiver.pcap priority 3"
  std::vector<Evidence> evidence;
  std::string cause;  // one sentence
  Fix fix;
  Confidence confidence = Confidence::high;
};

struct NotChecked {
  std::string rule;
  std::string subject;
  std::string reason;
  bool operator==(const NotChecked&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("rule", self.rule...);
    visit("subject", self.subject...);
    visit("reason", self.reason...);
  }
};

struct Passed {
  std::string rule;
  std::string subject;
  std::vector<Evidence> evidence;
};

// A port that no rule applies to: not a RoCE port, or not one that was asked for.
struct Skipped {
  std::string subject;
  std::string reason;
};

// What one rule says about one subject: exactly one of the three. There is no other way to make a verdict
// than with evidence, and no other way to abstain than with a reason; both assert.
class Outcome {
 public:
  static Outcome found(Finding finding);
  // At least one. Rule and subject are filled in by the engine; a judge may put a detail ("priority 3") into
  // `subject`, which then follows the name of the port.
  static Outcome found(std::vector<Finding> findings);
  static Outcome passed(std::vector<Evidence> evidence);
  static Outcome not_checked(std::string reason);
  // What was found; else what was seen to be fine; else, with neither, not checked for `reason`.
  static Outcome of(std::vector<Finding> findings, std::vector<Evidence> good, std::string reason);

  using Value = std::variant<std::vector<Finding>, std::vector<Evidence>, std::string>;
  const Value& value() const { return value_; }
  Value& value() { return value_; }

 private:
  explicit Outcome(Value value) : value_(std::move(value)) {}
  Value value_;
};

struct Report {
  std::string host;                   // empty without one, or if it has no name
  std::vector<std::string> classes;   // one line per port: which RoCE class it was judged against, and why
  std::vector<std::string> captures;  // one line each: what is in it
  std::vector<std::string> texts;     // one line each: what was recognised in it
  std::vector<Finding> findings;      // worst first; within a severity in the order of causes
  std::vector<NotChecked> not_checked;
  std::vector<Passed> passed;
  std::vector<Skipped> skipped;

  // The worst severity found, if anything was.
  bool has_finding_at_least(Severity severity) const;
  // The first thing to do, in one line.
  std::string first_step() const;
};

}  // namespace rocetune::diagnose

namespace rocetune {
ROCETUNE_ENUM(diagnose::Severity, P{E::info, "info"}, P{E::warning, "warning"}, P{E::critical, "critical"});
ROCETUNE_ENUM(diagnose::Confidence, P{E::low, "low"}, P{E::medium, "medium"}, P{E::high, "high"});
}  // namespace rocetune
