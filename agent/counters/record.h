// Readings in a file, one JSON object per line, to be looked at later or elsewhere (`watch --record`,
// `--replay`). Format in docs/metrics.md:
//
//   {"rocetune_counters":1,"host":"h1","kernel":"6.1.0","started_unix_ns":...}
//   {"names":0,"of":["rx_prio0_bytes",...]}
//   {"at_ps":...,"taken_unix_ns":...,"read_time_ps":...,"ports":[{"port":"eth0","nic":"mlx5","speed_bps":...,
//    "ethtool":{"names":0,"at_ps":...,"values":[...]},"dcb":{"unavailable":"absent","why":"..."}}]}
//
// A list of names stands once, before its first use, and again under a new number when the names change.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/counters/reading.h"
#include "agent/counters/schema.h"
#include "dataplane/base/error.h"
#include "dataplane/base/reflect.h"

namespace rocetune::counters {

struct RecordHeader {
  static constexpr int kVersion = 1;
  int version = kVersion;
  std::string host;
  std::string kernel;
  std::int64_t started_unix_ns = 0;
  bool operator==(const RecordHeader&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("rocetune_counters", self.version...);
    visit("host", self.host...);
    visit("kernel", self.kernel...);
    visit("started_unix_ns", self.started_unix_ns...);
  }
};

// Readings in, lines out.
class RecordEncoder {
 public:
  static std::string header_line(const RecordHeader& header);
  // The lines of one reading, each with its newline: names that were not told yet, then the values.
  std::string lines(const Reading& reading);

 private:
  std::size_t number_of(const std::shared_ptr<const NameList>& list, std::string& text);

  // Owning keys: an address must not be used again for other names while it stands here.
  std::map<std::shared_ptr<const NameList>, std::size_t> numbers_;
  std::vector<std::shared_ptr<const NameList>> told_;
};

// Lines in, readings out. Every line stands for itself, so a damaged one loses only itself (and, if it held
// names, the readings that need them).
class RecordDecoder {
 public:
  // The schema must outlive the decoder and its readings. `file` names it in errors.
  RecordDecoder(const Schema& schema, std::string file) : schema_(schema), file_(std::move(file)) {}

  // Takes the next line, without its newline. A reading, or nothing for the header, names and blank lines.
  // Errors: bad_input with file and line.
  Expected<std::optional<Reading>> line(std::string_view text);
  // A line that is somebody else's: only its number counts.
  void skip_line() { ++line_; }
  const std::optional<RecordHeader>& header() const { return header_; }
  int line_number() const { return line_; }

 private:
  const Schema& schema_;
  std::string file_;
  int line_ = 0;
  std::optional<RecordHeader> header_;
  std::map<std::uint64_t, std::shared_ptr<const NameList>> names_;
  std::map<std::string, std::shared_ptr<const Layout>> layouts_;  // by port: the latest
};

// Appends readings to a file of its own, a line at a time.
class RecordFile {
 public:
  // Error: the file cannot be made, or is there already (a record is never overwritten).
  static Expected<RecordFile> create(const std::string& path, const RecordHeader& header);
  // Errors: disk full and its like.
  Expected<> write(const Reading& reading);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  RecordFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  Expected<> put(std::string_view lines);

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
  RecordEncoder encoder_;
};

// What came of reading a record to its end.
struct RecordOutcome {
  RecordHeader header;
  std::size_t readings = 0;
  std::size_t damaged_lines = 0;  // left out
  std::vector<Error> damaged;     // the first of them, each with file and line
  static constexpr std::size_t kDamagedKept = 20;
  bool is_cut_short = false;  // the last line has no newline: the writer was stopped in the middle of it
};

// Reads the file line by line (a record, or the record of a snapshot) and hands every good reading to `take`,
// which returns false to stop. Errors: the file cannot be read, or its first line is no header of a known
// version.
Expected<RecordOutcome> read_record(const std::string& path, const Schema& schema,
                                    const std::function<bool(const Reading&)>& take);

}  // namespace rocetune::counters
