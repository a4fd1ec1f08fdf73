#include "tools/rocetune/env.h"

#include "dataplane/base/json_writer.h"
#include "dataplane/base/reflect_json.h"
#include "tools/rocetune/switch_class.h"

namespace rocetune::cli {
namespace {

std::string env_json(const EnvCommand& command, const std::string& host,
                     const diagnose::DerivedEnvironment& environment) {
  JsonWriter out;
  out.begin_object();
  out.key("schema_version");
  out.value(1);
  out.key("library");
  out.value(enum_name(command.library));
  out.key("host");
  out.value(host);
  out.key("class_map");
  out.value(environment.class_map);
  out.key("set");
  to_json(out, environment.set);
  out.key("leave_unset");
  to_json(out, environment.leave_unset);
  out.key("not_known");
  to_json(out, environment.not_known);
  out.end_object();
  return out.take() + "\n";
}

}  // namespace

ExitCode run_env(const EnvCommand& command) {
  const auto tables = load_class_tables(command.config_directory);
  if (!tables) return complain(tables.error());
  const auto host = host_of({command.common.root, command.from, &command.fabric}, tables->nics);
  if (!host) return complain(host.error());
  const auto environment = diagnose::environment_for(command.library, *host, tables->policy);
  if (!environment) return complain(environment.error());
  const ExitCode printed =
      print_report("env", command.common.json ? env_json(command, host->name, *environment)
                                              : environment_text(*environment, command.library, host->name));
  if (printed != ExitCode::fine) return printed;
  return environment->class_map.empty() ? ExitCode::findings : ExitCode::fine;
}

}  // namespace rocetune::cli
