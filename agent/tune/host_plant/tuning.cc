#include "agent/tune/host_plant/tuning.h"

#include "agent/tune/plan_json.h"
#include "agent/tune/search/outcome_json.h"
#include "agent/tune/search/space_json.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::tune {
namespace {

constexpr int kSchemaVersion = 1;

void write_findings(JsonWriter& out, const HostPlant& plant) {
  out.key("findings").begin_array();
  for (const FoundHost& found : plant.host_space().hosts()) {
    for (const diagnose::Finding& finding : found.findings) {
      out.begin_object().member("rule", finding.rule).member("severity", enum_name(finding.severity));
      out.member("host", found.host.name).member("where", finding.subject);
      out.member("cause", finding.cause).member("fix", finding.fix.text);
      out.key("evidence");
      to_json(out, finding.evidence);
      out.end_object();
    }
  }
  out.end_array();
}

void write_hosts(JsonWriter& out, const HostPlant& plant, const HostTuning* tuning) {
  out.key("hosts").begin_array();
  const std::vector<FoundHost>& hosts = plant.host_space().hosts();
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    out.begin_object().member("name", hosts[h].host.name).key("ports");
    to_json(out, hosts[h].ports);
    if (tuning != nullptr && h < tuning->host_plans.size() && !tuning->host_plans[h].is_empty()) {
      out.key("plan");
      rocetune::to_json(out, tuning->host_plans[h]);
    }
    if (tuning != nullptr && tuning->committed && (*tuning->committed)[h] != 0) {
      out.member("transaction", (*tuning->committed)[h]);
    }
    out.end_object();
  }
  out.end_array();
}

}  // namespace

std::string json_of(const HostTuning& tuning, const HostPlant& plant, bool with_series,
                    const MoreMembers& more) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion).member("command", tuning.command);
  search::write_outcome(out, tuning.outcome, plant, with_series);
  out.key("plan");
  to_json(out, tuning.plan);
  search::write_best_settings(out, plant.space(), tuning.outcome.best);
  out.member("committed", tuning.committed.has_value());
  if (!tuning.commit_error.empty()) out.member("commit_error", tuning.commit_error);
  out.key("undo");
  to_json(out, tuning.undo);
  write_hosts(out, plant, &tuning);
  write_findings(out, plant);
  search::write_space(out, plant, plant.host_space().left_out());
  if (more) more(out);
  out.end_object();
  return out.take() + "\n";
}

std::string space_json(const HostPlant& plant, const MoreMembers& more) {
  JsonWriter out;
  out.begin_object().member("schema_version", kSchemaVersion);
  write_hosts(out, plant, nullptr);
  write_findings(out, plant);
  search::write_space(out, plant, plant.host_space().left_out());
  if (more) more(out);
  out.end_object();
  return out.take() + "\n";
}

}  // namespace rocetune::tune
