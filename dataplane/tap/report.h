// A tap's facts for people and programs.
#pragma once

#include <string>
#include <string_view>

#include "dataplane/base/text_table.h"
#include "dataplane/tap/facts.h"

namespace rocetune::tap {

// Tables; the busiest kMaxRows queue pairs.
constexpr std::size_t kMaxRows = 40;
std::string text_report(const TapFacts& facts, const std::string& name, const TextTable::Look& look);

// {"schema_version", "file", "facts": the flat vocabulary, "capture": everything}.
constexpr int kTapSchemaVersion = 1;
std::string json_report(const TapFacts& facts, const std::string& name);

// What json_report() printed, read back. Error: bad_input (not JSON, not such a report, a value out of
// range).
Expected<TapFacts> facts_from_report(std::string_view text, const std::string& name);

// One self-contained page: the timeline of traffic, retransmission, NAK, CE and CNP, a lane per paused
// priority, the queue pairs. No script, no network.
std::string html_report(const TapFacts& facts, const std::string& name);

}  // namespace rocetune::tap
