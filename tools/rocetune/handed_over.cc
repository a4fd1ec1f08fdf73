#include "tools/rocetune/handed_over.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <set>

#include "agent/counters/record.h"
#include "agent/counters/snapshot.h"
#include "agent/evidence/assembly.h"
#include "agent/evidence/catalogue/catalogue.h"
#include "dataplane/base/file.h"
#include "dataplane/base/utf8.h"
#include "dataplane/tap/capture_analysis.h"
#include "dataplane/tap/capture_reader.h"
#include "dataplane/tap/report.h"

namespace rocetune::cli {
namespace {

constexpr int kDeepestFolder = 8;
constexpr std::size_t kMostFiles = 100000;
// A text of which more lines than this share were not understood is somebody's notes as well.
constexpr double kNotesShare = 0.5;
// Of the lines of one text that nothing was read from.
constexpr std::size_t kShownLines = 40, kShownWidth = 100;

struct FoundFile {
  std::string path;       // to open it
  std::string name;       // relative
  bool is_alone = false;  // no folder was given
};

// Every regular file below `path`, by name. A link to a folder is not followed.
Expected<> list_files(const std::string& path, const std::string& prefix, int depth,
                      std::vector<FoundFile>& out) {
  const auto names = list_directory(path);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    const std::string full = path + "/" + name;
    struct stat status {};
    if (::lstat(full.c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode)) {
      if (depth >= kDeepestFolder) continue;
      if (auto below = list_files(full, prefix + name + "/", depth + 1, out); !below) return below;
    } else if (S_ISREG(status.st_mode) ||
               (S_ISLNK(status.st_mode) && ::stat(full.c_str(), &status) == 0 && S_ISREG(status.st_mode))) {
      if (out.size() >= kMostFiles) {
        return fail(ErrorKind::bad_input, "{}: found more than {} files, allowed: at most so many", path,
                    kMostFiles);
      }
      out.push_back({full, prefix + name});
    }
  }
  return {};
}

Expected<std::vector<FoundFile>> files_below(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail_os(errno, "--from: {}", path);
  std::vector<FoundFile> out;
  if (!S_ISDIR(status.st_mode)) {
    out.push_back({path, std::string(file_name_of(path)), true});
    return out;
  }
  if (auto listed = list_files(path, "", 0, out); !listed)
    return tl::unexpected(listed.error().within("--from"));
  if (out.empty())
    return fail(ErrorKind::bad_input, "--from: {}: found no file in it, allowed: one or more", path);
  return out;
}

// The lines of a text by number, from 1 at index 0.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<UnreadLine> unread_in(std::string_view text, const std::vector<evidence::UnreadLines>& ranges) {
  std::vector<UnreadLine> out;
  if (ranges.empty()) return out;
  const std::vector<std::string_view> lines = lines_of(text);
  for (const evidence::UnreadLines& range : ranges) {
    const int last = std::min(range.last, static_cast<int>(lines.size()));
    for (int number = range.first; number <= last && out.size() < kShownLines; ++number) {
      const std::string_view line = lines[static_cast<std::size_t>(number) - 1];
      out.push_back({number, printable(line.substr(0, kShownWidth))});
    }
  }
  return out;
}

std::string_view first_word(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

class Reader {
 public:
  Reader(const tap::ObserverOptions& options, const counters::Schema& schema, bool keep_unread,
         HandedOver so_far)
      : options_(options), schema_(schema), keep_unread_(keep_unread), out_(std::move(so_far)) {}

  Expected<> read(const FoundFile& file) {
    auto mapped = tap::MappedFile::open(file.path);
    if (!mapped) {
      if (mapped.error().kind() != ErrorKind::denied) return tl::unexpected(mapped.error().within("--from"));
      note_unreadable(file.name, mapped.error().text());
      return {};
    }
    const wire::ConstBytes bytes = mapped->bytes();
    if (tap::CaptureReader::is_capture(bytes))
      return add_capture(file, tap::analyse_capture(bytes, file.name, options_));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (first_word(text).starts_with('{')) {
      if (counters::is_snapshot(text)) return add_snapshot(file, text);
      const std::string_view head = text.substr(0, 4096);
      if (head.find("\"rocetune_counters\"") != std::string_view::npos) return read_recording(file);
      if (head.find("\"schema_version\"") != std::string_view::npos) {
        if (head.find("\"boot_id\"") != std::string_view::npos) return add_saved_host(file, text);
        if (head.find("\"capture\"") != std::string_view::npos) {
          return add_capture(file, tap::facts_from_report(text, file.name), "rocetune-tap");
        }
      }
    }
    return add_text(file, text);
  }

  // A capture, or what `tap --json` printed of one or of a port; nothing else.
  Expected<> read_capture(const FoundFile& file) {
    const auto mapped = tap::MappedFile::open(file.path);
    if (!mapped) return tl::unexpected(mapped.error());
    const wire::ConstBytes bytes = mapped->bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (first_word(text).starts_with('{')) {
      return add_capture(file, tap::facts_from_report(text, file.path), "rocetune-tap");
    }
    return add_capture(file, tap::analyse_capture(bytes, file.path, options_));
  }

  // From the first to the last reading of `watch --record`.
  Expected<> read_recording(const FoundFile& file) {
    Recording recording;
    std::optional<counters::Reading> first, last;
    const auto outcome = counters::read_record(file.path, schema_, [&](const counters::Reading& reading) {
      (first ? last : first) = reading;
      return true;
    });
    if (!outcome) return tl::unexpected(outcome.error());
    if (!last) {
      return fail(ErrorKind::bad_input, "{}: found fewer than two readings, allowed: two or more", file.path);
    }
    recording.host = outcome->header.host;
    recording.interval = counters::interval_between(schema_, *first, *last);
    out_.inputs.push_back({file.name, "rocetune-counters", recording.host, std::nullopt});
    recordings_.push_back(std::move(recording));
    return {};
  }

  HandedOver take() {
    if (!reports_.empty()) {
      out_.dossier = evidence::Dossier(std::move(reports_), std::move(documents_));
      for (evidence::AssembledHost& assembled : evidence::assemble_hosts(out_.dossier)) {
        out_.hosts.push_back({.host = std::move(assembled.host),
                              .interval = {},
                              .origin = "",
                              .is_told = true,
                              .told_by = diagnose::told_by(assembled.documents)});
      }
      out_.counted = diagnose::counted_ports(out_.dossier, schema_);
    }
    place_recordings();
    return std::move(out_);
  }

 private:
  Expected<> add_capture(const FoundFile& file, Expected<tap::TapFacts> facts,
                         const char* format = "capture") {
    if (!facts) return tl::unexpected(facts.error());
    out_.captures.push_back({file.name, std::move(*facts)});
    out_.inputs.push_back({file.name, format, std::nullopt, std::nullopt});
    return {};
  }

  Expected<> add_saved_host(const FoundFile& file, std::string_view text) {
    auto host = host::host_from_json(text, file.name);
    if (!host) return tl::unexpected(host.error());
    out_.add({.host = std::move(*host), .interval = {}, .origin = file.name, .told_by = {}},
             {file.name, "rocetune-host", {}, {}});
    return {};
  }

  Expected<> add_snapshot(const FoundFile& file, std::string_view text) {
    auto snapshot = counters::read_snapshot(text, file.name, schema_);
    if (!snapshot) return tl::unexpected(snapshot.error());
    HandedHost handed{.host = std::move(snapshot->host), .interval = {}, .origin = file.name, .told_by = {}};
    const std::vector<counters::Reading>& readings = snapshot->readings;
    if (readings.size() > 1) {
      handed.interval = counters::interval_between(schema_, readings.front(), readings.back());
    }
    out_.add(std::move(handed), {file.name, "rocetune-snapshot", {}, {}});
    for (const counters::SavedText& saved : snapshot->texts) {
      if (auto added = add_text({file.path, file.name + "/" + saved.name}, saved.content); !added)
        return added;
    }
    if (!snapshot->remarks.empty()) {
      evidence::FileReport report;
      report.name = file.name;
      report.remarks = std::move(snapshot->remarks);
      reports_.push_back(std::move(report));
    }
    return {};
  }

  Expected<> add_text(const FoundFile& file, std::string_view text) {
    evidence::TextReading reading = evidence::read_text(text, file.name, evidence::all_formats());
    // One file of JSON that nothing else is: it was meant to be a host.
    if (file.is_alone && reading.documents.empty() && first_word(text).starts_with('{')) {
      auto host = host::host_from_json(text, file.path);
      if (!host) return tl::unexpected(host.error());
      return fail(ErrorKind::bad_input,
                  "{}: found JSON without a host, allowed: what rocetune inspect --json prints", file.path);
    }
    int lines_read = 0;
    std::set<std::string> tools, dcb_objects;
    for (const evidence::Document& document : reading.documents) {
      out_.inputs.push_back({file.name, document.format, document.host,
                             document.phase ? std::optional(document.phase->text) : std::nullopt,
                             document.first_line, document.last_line});
      lines_read += document.last_line - document.first_line + 1;
      const bool is_dcb = document.format.starts_with("dcb");
      if (is_dcb) dcb_objects.insert(document.format);
      if (document.format != "command") tools.insert(is_dcb ? "dcb" : document.format);
    }
    // What the file is as a whole, beside what is in it.
    if (dcb_objects.size() > 1) out_.inputs.push_back({file.name, "dcb", std::nullopt, std::nullopt});
    if (tools.size() > 1) out_.inputs.push_back({file.name, "mixed", std::nullopt, std::nullopt});
    const bool is_mostly_notes =
        reading.documents.empty() ||
        reading.report.unread > kNotesShare * static_cast<double>(reading.report.unread + lines_read);
    if (is_mostly_notes) out_.inputs.push_back({file.name, "notes", std::nullopt, std::nullopt});
    if (keep_unread_) out_.unread[file.name] = unread_in(text, reading.report.unread_lines);
    reports_.push_back(std::move(reading.report));
    std::move(reading.documents.begin(), reading.documents.end(), std::back_inserter(documents_));
    return {};
  }

  void note_unreadable(const std::string& name, std::string why) {
    evidence::FileReport report;
    report.name = name;
    report.remarks.push_back("not readable: " + std::move(why));
    reports_.push_back(std::move(report));
    out_.inputs.push_back({name, "notes", std::nullopt, std::nullopt});
  }

  // A recording belongs to the host of its name; one alone to the only host.
  void place_recordings() {
    for (Recording& recording : recordings_) {
      if (!recording.interval) continue;
      for (HandedHost& handed : out_.hosts) {
        if (handed.host.name != recording.host && out_.hosts.size() > 1) continue;
        handed.interval = std::move(recording.interval);
        break;
      }
    }
  }

  struct Recording {
    std::string host;
    std::optional<counters::Interval> interval;
  };

  const tap::ObserverOptions& options_;
  const counters::Schema& schema_;
  const bool keep_unread_;
  std::vector<evidence::FileReport> reports_;
  std::vector<evidence::Document> documents_;
  std::vector<Recording> recordings_;
  HandedOver out_;
};

}  // namespace

void HandedOver::add(HandedHost handed, diagnose::Input input) {
  if (!handed.host.name.empty()) input.host = handed.host.name;
  inputs.push_back(std::move(input));
  hosts.push_back(std::move(handed));
}

Expected<HandedOver> read_handed_over(HandedOver there, const HandedFiles& files,
                                      const tap::ObserverOptions& options, const counters::Schema& schema) {
  Reader reader(options, schema, files.keep_unread, std::move(there));
  if (!files.from.empty()) {
    const auto below = files_below(files.from);
    if (!below) return tl::unexpected(below.error());
    for (const FoundFile& file : *below) {
      if (auto read = reader.read(file); !read) return tl::unexpected(read.error());
    }
  }
  const auto found = [](const std::string& path) { return FoundFile{path, std::string(file_name_of(path))}; };
  for (const std::string& path : files.captures) {
    if (auto read = reader.read_capture(found(path)); !read) return tl::unexpected(read.error());
  }
  if (!files.recording.empty()) {
    if (auto read = reader.read_recording(found(files.recording)); !read) return tl::unexpected(read.error());
  }
  return reader.take();
}

std::string explain_inputs(const HandedOver& handed) {
  std::string out;
  for (const evidence::FileReport& report : handed.dossier.files()) {
    out += fmt::format("{}: {} lines, {} not understood\n", report.name, report.lines, report.unread);
    for (const diagnose::Input& input : handed.inputs) {
      if (input.file != report.name || input.first_line == 0) continue;
      out += fmt::format("  lines {}-{}: {}{}{}\n", input.first_line, input.last_line, input.format,
                         input.host ? ", host " + *input.host : "", input.phase ? ", " + *input.phase : "");
    }
    for (const std::string& remark : report.remarks) out += fmt::format("  {}\n", remark);
    const auto unread = handed.unread.find(report.name);
    if (unread == handed.unread.end()) continue;
    for (const UnreadLine& line : unread->second) {
      out += fmt::format("  line {} not understood: {}\n", line.number, line.text);
    }
    const std::size_t shown = unread->second.size();
    if (static_cast<std::size_t>(report.unread) > shown) {
      out += fmt::format("  and {} more lines\n", static_cast<std::size_t>(report.unread) - shown);
    }
  }
  return out;
}

}  // namespace rocetune::cli
