// What `doctor --from` was given: a folder or one file of anything that people hand over.
#pragma once

#include <map>
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

struct HandedHost {
  host::Host host;
  std::optional<counters::Interval> interval;
  std::string origin;        // of its facts: the file of a saved host, the name of one that was looked at
  bool is_told = false;      // put together from texts
  diagnose::ToldBy told_by;  // then: the files behind its sources
};

// A line that nothing was read from.
struct UnreadLine {
  int number;
  std::string text;  // printable, its beginning
};

struct HandedOver {
  std::vector<HandedHost> hosts;  // those that were looked at or saved, then those from texts
  std::vector<diagnose::Capture> captures;
  evidence::Dossier dossier;
  std::vector<diagnose::Input> inputs;
  std::vector<diagnose::CountedPort> counted;             // the counters in the texts
  std::map<std::string, std::vector<UnreadLine>> unread;  // by name of the text; empty: not asked for

  // A host and what it was read from, which takes its name.
  void add(HandedHost handed, diagnose::Input input);
};

struct HandedFiles {
  std::string from;  // a folder or a file of anything; empty: none
  // These must be what they are given as.
  std::vector<std::string> captures;  // captures, or reports of `tap --json`
  std::string recording;              // of `watch --record`; empty: none
  bool keep_unread = false;           // for explain_inputs
};

// Adds every file below `from` and the others to what is there already: a host that was looked at. A file
// that nothing can read is an input of format "notes". A recording belongs to the host that it names, or to
// the only one. Errors: no such path, an empty folder, a capture or a file of rocetune's own that is damaged.
Expected<HandedOver> read_handed_over(HandedOver there, const HandedFiles& files,
                                      const tap::ObserverOptions& options, const counters::Schema& schema);

// For `--explain-inputs`: what was recognised where, and the lines that nothing was read from.
std::string explain_inputs(const HandedOver& handed);

}  // namespace rocetune::cli
