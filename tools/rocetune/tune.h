// `rocetune tune`: measure, change, load, measure again, on a virtual fabric or on hosts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/tune/search/tuner.h"
#include "dataplane/base/terminal.h"
#include "tools/rocetune/command_line.h"

namespace rocetune::cli {

// Hosts and the command that loads them.
struct TunedHosts {
  std::vector<std::string> workloads;  // shell commands; not empty unless there is a fabric
  std::vector<std::string> held_out;
  std::vector<std::string> metrics;  // OBJECTIVE=SOURCE
  std::vector<std::string> hosts;    // over ssh; empty: this host
  std::string ssh = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5";
  std::string remote_rocetune = "rocetune";
  std::vector<std::string> ports;  // empty: every physical RoCE port of a known NIC
  std::vector<std::string> varied;
  std::vector<std::string> allow;
  std::string profile;  // what doctor takes the hosts to be meant to be; empty: what they show
  Duration workload_limit = seconds(600);
  Duration interval = milliseconds(500);
  bool commit = false;
  bool yes = false;
  std::string twin;             // a fabric that stands for the hosts: a file, or a shipped name; empty: none
  int twin_budget = 120;        // trials on it
  std::string output;           // file for the plan
  std::string root;             // host root; empty: /
  std::string state_directory;  // empty: the usual one
};

struct TuneCommand {
  TunedHosts hosts;
  std::string fabric;                   // a file, or a name below configs/fabrics or configs/scenarios
  std::string budget = "60";            // trials, or a time with its unit
  std::uint64_t seed = 1;               // of the search, and of what differs from repeat to repeat
  std::vector<std::string> settings;    // KEY=VALUE, put over the file
  std::vector<std::string> objectives;  // NAME or NAME=WEIGHT
  std::vector<std::string> only;        // knobs
  std::vector<std::string> without;
  std::string log;     // write every trial down here
  std::string resume;  // go on with such a log
  bool dry_run = false;
  std::uint32_t threads = 0;  // 0: as many as cores
  bool series = false;        // in the JSON: what changes over time
  bool json = false;
  std::string html;  // a file that gets the page; empty: none
  ColourChoice colour = ColourChoice::automatic;
};

// "60": trials; "90s", "2min": time. Error: a UnitError that says so.
Parsed<search::Budget> parse_budget(std::string_view text);

// fine: change and no_change. bad_input: refused, too. failed_undone: interrupted; nothing is ever left
// behind on a virtual fabric.
ExitCode run_tune(const TuneCommand& command);

}  // namespace rocetune::cli
