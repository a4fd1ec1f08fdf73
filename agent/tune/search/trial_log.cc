#include "agent/tune/search/trial_log.h"

#include <utility>

#include "dataplane/base/file.h"
#include "dataplane/base/reflect_json.h"

namespace rocetune::search {
namespace {

// Traces of a few trials and figures of thousands: far below this.
constexpr Bytes kLogLimit{256 << 20};

template <class T>
std::string line_of(const T& value) {
  JsonWriter out(JsonWriter::Style::compact);
  to_json(out, value);
  return out.take() + "\n";
}

template <class T>
Expected<T> read_line(std::string_view line, const std::string& path, std::size_t number) {
  const std::string name = fmt::format("{}:{}", path, number);
  const auto json = parse_json(line, name);
  if (!json) return tl::unexpected(json.error());
  return from_json<T>(*json, JsonPath(name));
}

struct ReadLog {
  RecordedRun run;
  std::size_t whole_bytes = 0;  // up to the last whole line
};

Expected<ReadLog> read_log(const std::string& path) {
  const auto text = read_file(path, kLogLimit);
  if (!text) return tl::unexpected(text.error());
  ReadLog out;
  std::size_t number = 0;
  for (std::size_t at = 0;;) {
    const std::size_t end = text->find('\n', at);
    if (end == std::string::npos) break;  // a torn last line was never acted on
    const std::string_view line = std::string_view(*text).substr(at, end - at);
    ++number;
    if (number == 1) {
      auto head = read_line<LogHead>(line, path, number);
      if (!head) return tl::unexpected(head.error());
      if (head->schema_version != LogHead().schema_version) {
        return fail(ErrorKind::bad_input, "{}:1: schema_version: found {}, allowed: {}", path,
                    head->schema_version, LogHead().schema_version);
      }
      out.run.head = std::move(*head);
    } else {
      auto entry = read_line<LogEntry>(line, path, number);
      if (!entry) return tl::unexpected(entry.error());
      out.run.entries.push_back(std::move(*entry));
    }
    at = out.whole_bytes = end + 1;
  }
  if (number == 0) return fail(ErrorKind::bad_input, "{}: no trial log: its first line is missing", path);
  return out;
}

std::string difference(const LogHead& found, const LogHead& here) {
  if (found.identity != here.identity || found.plant != here.plant)
    return found.plant != here.plant
               ? fmt::format("is of plant {}, this is {}", found.plant, here.plant)
               : fmt::format(
                     "is of {} as it was made then: the file, or what was put over it, the seed, or "
                     "the commands are others now",
                     found.plant);
  if (found.space_sha256 != here.space_sha256)
    return "is of other knobs or start values than the plant has now";
  if (found.seed != here.seed) return fmt::format("is of seed {}, this run has {}", found.seed, here.seed);
  if (found.guide != here.guide) {
    return found.guide && here.guide ? "is of a run with another twin"
           : found.guide             ? "is of a run with a twin, and this one has none"
                                     : "is of a run without a twin";
  }
  return "is of a run with another budget, which would have tried other things";
}

}  // namespace

LogHead head_for(const Plant& plant, const TuneOptions& options) {
  LogHead out;
  out.plant = plant.traits().name;
  out.identity = plant.traits().identity;
  out.space_sha256 = plant.space().sha256();
  out.seed = options.seed;
  out.budget_trials = options.budget.trials;
  if (options.budget.time) out.budget_time_ns = *options.budget.time / nanoseconds(1);
  if (options.guide != nullptr) out.guide = options.guide->identity();
  return out;
}

TuneOptions options_of(const LogHead& head) {
  TuneOptions out;
  out.seed = head.seed;
  out.budget.trials = head.budget_trials;
  if (head.budget_time_ns) out.budget.time = nanoseconds(*head.budget_time_ns);
  return out;
}

Expected<RecordedRun> read_trial_log(const std::string& path) {
  return read_log(path).map([](ReadLog log) { return std::move(log.run); });
}

Expected<std::unique_ptr<RecordedPlant>> RecordedPlant::start(Plant& plant, const std::string& path,
                                                              const TuneOptions& options) {
  if (path_exists(path)) return fail(ErrorKind::conflict, "{}: there is a trial log already", path);
  auto file = AppendFile::open(path, 0644);
  if (!file) return tl::unexpected(file.error());
  if (auto status = file->append(line_of(head_for(plant, options))); !status)
    return tl::unexpected(status.error());
  return std::unique_ptr<RecordedPlant>(new RecordedPlant(plant, std::move(*file), {}));
}

Expected<std::unique_ptr<RecordedPlant>> RecordedPlant::resume(Plant& plant, const std::string& path,
                                                               const TuneOptions& options) {
  auto log = read_log(path);
  if (!log) return tl::unexpected(log.error());
  const LogHead here = head_for(plant, options);
  if (!(log->run.head == here))
    return fail(ErrorKind::conflict, "{}: {}", path, difference(log->run.head, here));
  // Cut a torn last line off, so that what follows begins on a line of its own.
  const auto text = read_file(path, kLogLimit);
  if (!text) return tl::unexpected(text.error());
  if (text->size() > log->whole_bytes) {
    const auto status = write_atomically(path, std::string_view(*text).substr(0, log->whole_bytes));
    if (!status) return tl::unexpected(status.error());
  }
  auto file = AppendFile::open(path, 0644);
  if (!file) return tl::unexpected(file.error());
  return std::unique_ptr<RecordedPlant>(
      new RecordedPlant(plant, std::move(*file), std::move(log->run.entries)));
}

Expected<Observation> RecordedPlant::observe(const Request& request, std::stop_token stop) {
  return std::move(observe_all({request}, stop).front());
}

std::vector<Expected<Observation>> RecordedPlant::observe_all(const std::vector<Request>& requests,
                                                              const std::stop_token& stop) {
  std::vector<Expected<Observation>> out;
  std::vector<Request> rest;
  for (const Request& request : requests) {
    if (played_ == recorded_.size()) {
      rest.push_back(request);
      continue;
    }
    const LogEntry& entry = recorded_[played_];
    if (entry.candidate != request.candidate.values || entry.repeat != request.repeat ||
        entry.workload != workloads()[request.workload].name) {
      const Error error(
          ErrorKind::conflict,
          fmt::format("{}: answer {} of the trial log is to another question than this run asks: "
                      "another version of the program wrote it",
                      log_.path(), played_ + 1));
      out.resize(requests.size(), tl::unexpected(error));
      return out;
    }
    out.emplace_back(entry.observation);
    ++played_;
  }
  if (rest.empty()) return out;
  bool is_whole = true;
  for (Expected<Observation>& answer : plant_.observe_all(rest, stop)) {
    const Request& request = rest[out.size() - (requests.size() - rest.size())];
    // The log has answers in the order of the questions, without a hole: what was answered behind one that
    // was stopped is asked again.
    is_whole = is_whole && answer.has_value();
    if (is_whole) {
      const LogEntry entry{request.candidate.values, workloads()[request.workload].name, request.repeat,
                           request.with_series, *answer};
      if (auto status = log_.append(line_of(entry)); !status) answer = tl::unexpected(status.error());
    }
    out.push_back(std::move(answer));
  }
  return out;
}

}  // namespace rocetune::search
