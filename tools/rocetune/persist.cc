#include "tools/rocetune/persist.h"

#include "agent/tune/boot_unit.h"
#include "dataplane/base/json_writer.h"
#include "tools/rocetune/confirmed_state.h"

namespace rocetune::cli {
namespace {

using tune::Verdict;

Expected<std::string> install(const ChangeSession& session) {
  return tune::program_path().and_then([&](const std::string& program) {
    return tune::install_boot_unit(session.options().common.root, program, session.state().path(),
                                   session.tables().files);
  });
}

// `unit`: empty where it was removed.
std::string persist_json(const std::string& unit, bool confirmed) {
  JsonWriter out;
  out.begin_object().member("schema_version", 1).member("installed", !unit.empty());
  if (!unit.empty()) out.member("boot_unit", unit).member("state_confirmed", confirmed);
  out.end_object();
  return out.take();
}

std::string persist_text(const std::string& unit, bool confirmed) {
  if (unit.empty()) return "The boot unit is removed: settings last until the next reboot.\n";
  return fmt::format("{} is installed: {}.\n", unit,
                     confirmed ? "the last confirmed state comes back at boot"
                               : "no state is confirmed yet, once one is it comes back at boot");
}

}  // namespace

Expected<> can_persist(const ChangeSession& session) {
  return tune::program_path()
      .and_then([&](const std::string& program) {
        return tune::boot_unit_text(session.options().common.root, program, session.state().path(),
                                    session.tables().files);
      })
      .map([](const std::string&) {});
}

ExitCode persist_after(const ChangeSession& session, const tune::Result& result, ExitCode code) {
  if (result.verdict == Verdict::nothing_to_do) {
    const auto confirmed = holds_confirmed_state(session.state());
    if (!confirmed) return complain(confirmed.error());
    if (!*confirmed) {
      complain("--persist: the profile asks for nothing that can be brought back here: no boot unit");
      return ExitCode::bad_input;
    }
  } else if (result.verdict != Verdict::committed && result.verdict != Verdict::waiting &&
             result.verdict != Verdict::adopted) {
    return code;
  }
  const auto unit = install(session);
  if (!unit) {
    complain(
        fmt::format("what was applied stays, but the boot unit could not be installed: {}; try: rocetune "
                    "persist",
                    unit.error().text()));
    return ExitCode::failed_not_undone;
  }
  fmt::print(stderr, "boot unit: {}\n", *unit);
  return code;
}

ExitCode run_persist(const PersistCommand& command) {
  const ChangeOptions& options = command.change;
  std::string unit;
  bool confirmed = false;
  if (command.remove) {
    if (auto status = tune::remove_boot_unit(options.common.root); !status) return complain(status.error());
  } else {
    const auto tables = Tables::load(options.config_directory);
    if (!tables) return complain(tables.error());
    const auto state = holds_confirmed_state(tune::StateDirectory(options.state_directory));
    if (!state) return complain(state.error());
    const auto program = tune::program_path();
    if (!program) return complain(program.error());
    const auto installed =
        tune::install_boot_unit(options.common.root, *program, options.state_directory, tables->files);
    if (!installed) return complain(installed.error());
    unit = *installed;
    confirmed = *state;
  }
  print(options.common.json ? persist_json(unit, confirmed) : persist_text(unit, confirmed));
  return ExitCode::fine;
}

}  // namespace rocetune::cli
