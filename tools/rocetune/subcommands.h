// How the command line finds its subcommands: one function each, in a file of its own.
#pragma once

#include <functional>

#include "dataplane/base/error.h"

namespace CLI {
class App;
}

namespace rocetune::cli {

// What a subcommand declares itself with: it adds its flags to `app` and, when it was chosen, sets `action`.
struct Dispatch {
  CLI::App& app;
  std::function<ExitCode()>& action;
};

void add_apply(const Dispatch& dispatch);
void add_bench(const Dispatch& dispatch);
void add_confirm(const Dispatch& dispatch);
void add_deadman(const Dispatch& dispatch);
void add_doctor(const Dispatch& dispatch);
void add_history(const Dispatch& dispatch);
void add_inspect(const Dispatch& dispatch);
void add_persist(const Dispatch& dispatch);
void add_plan(const Dispatch& dispatch);
void add_recover(const Dispatch& dispatch);
void add_rollback(const Dispatch& dispatch);
void add_sim(const Dispatch& dispatch);
void add_snapshot(const Dispatch& dispatch);
void add_tap(const Dispatch& dispatch);
void add_tune(const Dispatch& dispatch);
void add_watch(const Dispatch& dispatch);

}  // namespace rocetune::cli
