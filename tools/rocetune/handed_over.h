// What `doctor --from` was given: a folder or one file of anything that people hand over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/counters/deltas.h"
#include "agent/counters/schema.h"
#include "agent/diagnose/facts.h"
#include "agent/diagnose/report_json.h"
#include "agent/evidence/dossier.h"
#include "agent/host/model.h"
#include "dataplane/tap/observer.h"

namespace rocetune::cli {

struct HandedOver {
  // Hosts that rocetune saved, then those that were put together from texts.
  std::vector<host::Host> hosts;
  std::vector<std::optional<counters::Interval>> intervals;  // of each of them
  std::vector<std::string> host_origins;                     // file of a saved host; empty: from texts
  std::vector<diagnose::Capture> captures;
  evidence::Dossier dossier;
  std::vector<diagnose::Input> inputs;
  std::size_t told_hosts = 0;                  // of the hosts, the last ones: put together from texts
  std::vector<diagnose::CountedPort> counted;  // the counters in the texts
};

// Files that must be what they are given as.
struct Beside {
  std::vector<std::string> captures;  // captures, or reports of `tap --json`
  std::string recording;              // of `watch --record`; empty: none
};

// Adds every file below `from`, or the file (empty: nothing), and the files of `more`, to what is there
// already: a host that was looked at. A file that nothing can read is an input of format "notes". A recording
// belongs to the host that it names, or to the only one. Errors: no such path, an empty folder, a capture or
// a file of rocetune's own that is damaged.
Expected<HandedOver> read_handed_over(HandedOver there, const std::string& from, const Beside& beside,
                                      const tap::ObserverOptions& options, const counters::Schema& schema);

// For `--explain-inputs`: what was recognised where, and the lines that nothing was read from.
std::string explain_inputs(const HandedOver& handed, const std::string& path);

}  // namespace rocetune::cli
