// What several rules over texts look for: settings of libraries, signs in logs, runs of benchmarks, tables of
// GIDs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/diagnose/facts.h"
#include "agent/diagnose/shown_ports.h"
#include "agent/evidence/benchmarks/nccl_tests.h"
#include "agent/evidence/benchmarks/perftest.h"
#include "agent/evidence/logs/command_lines.h"
#include "agent/evidence/logs/nccl_log.h"
#include "agent/evidence/logs/settings.h"
#include "agent/evidence/signs.h"

namespace rocetune::diagnose {

// Every variable of environments, command lines and logs, in the order of documents.
std::vector<ShownSetting> all_settings(const DossierFacts& facts);
// Whose environment it is: the host that a line or the file names, else the file.
std::string environment_of(const ShownSetting& seen);
// The same where two phases of one file are one: the later one counts.
std::string launch_place_of(const ShownSetting& seen);

// The signs that a document's content carries; nullptr for a format without.
const evidence::Signs* signs_of(const evidence::Document& document);
struct SignsSeen {
  const evidence::Document* document;
  const evidence::Signs* signs;
};
std::vector<SignsSeen> signs_in(const evidence::Dossier& dossier);
// The line itself, with its place.
Evidence quoted(const std::string& name, const evidence::Quote& quote, const evidence::Document& document);

struct RunSeen {
  const evidence::Document* document;
  const evidence::PerftestRun* run;
};
std::vector<RunSeen> perftest_runs_in(const evidence::Dossier& dossier);

struct CommandSeen {
  const evidence::Document* document;
  const evidence::CommandLine* command;
};
std::vector<CommandSeen> commands_in(const evidence::Dossier& dossier);

// An RDMA port that a document describes, with the host it belongs to.
struct PortSeen {
  const evidence::Document* document;
  const host::RdmaPort* port;
  std::string owner;  // the host, else the file
};
std::vector<PortSeen> rdma_ports_in(const evidence::Dossier& dossier);

// Whether anything says that the links are InfiniBand, or that they are Ethernet.
struct LinkKinds {
  bool ethernet = false;
  bool infiniband = false;
  bool only_infiniband() const { return infiniband && !ethernet; }
};
LinkKinds link_kinds(const DossierFacts& facts);

// "a, b and 3 more".
std::string listed(const std::vector<std::string>& names, std::size_t most = 4);

}  // namespace rocetune::diagnose
