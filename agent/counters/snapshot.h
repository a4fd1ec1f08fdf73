// A snapshot: one file with everything that `inspect`, `watch` and `doctor` need, to be looked at anywhere. A
// JSON object per line, so that a file that was cut off still says what stands before:
//
//   {"rocetune_snapshot":1,"rocetune":"0.1.0","taken_unix_ns":...,"anonymous":false}
//   {"rocetune_host":{...}}                      what inspect --json prints
//   {"rocetune_text":"dmesg","content":"..."}    outputs of other programs, as they are
//   {"rocetune_counters":1,...}                  and what follows it: a record, see record.h
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/counters/record.h"
#include "agent/host/model.h"

namespace rocetune::counters {

struct SnapshotHeader {
  static constexpr int kVersion = 1;
  int version = kVersion;
  std::string rocetune;
  std::int64_t taken_unix_ns = 0;
  bool anonymous = false;
  bool operator==(const SnapshotHeader&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("rocetune_snapshot", self.version...);
    visit("rocetune", self.rocetune...);
    visit("taken_unix_ns", self.taken_unix_ns...);
    visit("anonymous", self.anonymous...);
  }
};

// The output of another program, or a file.
struct SavedText {
  std::string name;  // "dmesg"
  std::string content;
};

struct Snapshot {
  SnapshotHeader header;
  host::Host host;
  std::vector<SavedText> texts;
  std::vector<Reading> readings;
  std::vector<std::string> remarks;  // of reading: "line 7: damaged, left out"
};

std::string to_text(const Snapshot& snapshot);

// Whether the text begins as a snapshot does.
bool is_snapshot(std::string_view text);
// Whether a line of a snapshot is none of its record.
bool is_snapshot_line(std::string_view line);

// `schema` must outlive the readings. Errors: bad_input with file and line for a header of another version
// and a host that cannot be read; a snapshot that ends early has remarks.
Expected<Snapshot> read_snapshot(std::string_view text, const std::string& file, const Schema& schema);

// The host alone. Errors: as above.
Expected<host::Host> host_of_snapshot(std::string_view text, const std::string& file);

}  // namespace rocetune::counters
