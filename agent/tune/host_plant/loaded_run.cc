#include "agent/tune/host_plant/loaded_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "dataplane/base/clock.h"

namespace rocetune::tune {
namespace {

constexpr Duration kLook = milliseconds(20);
// An ssh login and the first two readings of a NIC with many counters.
constexpr Duration kFirstLook = seconds(30);
// A host that shows nothing for so long, and for four intervals, is not watched any more.
constexpr Duration kSilence = seconds(5);

std::string last_words(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ')) rest.remove_suffix(1);
  const auto at = rest.rfind('\n');
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  return std::string(rest.substr(0, 200));
}

// The eyes on all hosts.
class Watchers {
 public:
  Watchers(const LoadedRun& run, const std::vector<HostControl>& hosts, const RatesBefore& before,
           Watching& watching, LoadedResult& result)
      : run_(run), before_(before), watching_(watching), result_(result) {
    for (std::size_t h = 0; h < hosts.size() && !result_.failure; ++h) {
      auto process = hosts[h].watch(run.ports[h], run.interval);
      if (!process) {
        lose(process.error().text());
        return;
      }
      eyes_.push_back({hosts[h].name(), std::move(*process), 0, clock_.now()});
    }
  }

  // Takes what has come in. False: harm was seen, or a host is seen no more.
  bool look(Duration silence) {
    for (Eye& eye : eyes_) {
      const bool is_alive = eye.process.poll(Duration(0));
      for (const std::string& line : eye.process.take_lines()) {
        ++eye.frames;
        eye.seen = clock_.now();
        if (!is_loaded_) continue;
        auto breach = watching_.take(eye.host, line, before_);
        if (breach && !run_.forgives) result_.breaches.push_back(std::move(*breach));
      }
      if (!is_alive) {
        lose(fmt::format("{}: watch ended with {}: {}", eye.host, eye.process.status(),
                         last_words(eye.process.err())));
      } else if (clock_.now() - eye.seen > silence) {
        lose(fmt::format("{}: no counters for {}: nobody would see harm", eye.host, to_text(silence)));
      }
    }
    return result_.breaches.empty() && !result_.failure;
  }

  // From now on what they see is the workload's.
  void load() { is_loaded_ = true; }

  // Waits until every host was seen once more. False as above, or stopped.
  bool wait_for_all(Duration silence, const std::stop_token& stop) {
    std::vector<int> wanted;
    for (Eye& eye : eyes_) {
      wanted.push_back(eye.frames + 1);
      eye.seen = clock_.now();
    }
    for (;;) {
      if (!look(silence)) return false;
      bool all = true;
      for (std::size_t i = 0; i < eyes_.size(); ++i) all &= eyes_[i].frames >= wanted[i];
      if (all) return true;
      if (stop.stop_requested()) {
        result_.stopped = true;
        return false;
      }
      clock_.sleep_for(kLook);
    }
  }

 private:
  struct Eye {
    std::string host;
    Process process;
    int frames = 0;
    Instant seen;
  };
  void lose(std::string why) {
    if (!result_.failure) {
      result_.failure = search::Failure{search::FailureKind::counters_vanished, std::move(why)};
    }
  }

  const LoadedRun& run_;
  const RatesBefore& before_;
  Watching& watching_;
  LoadedResult& result_;
  SystemClock clock_;
  std::vector<Eye> eyes_;
  bool is_loaded_ = false;
};

}  // namespace

LoadedResult run_loaded(const LoadedRun& run, const std::vector<HostControl>& hosts,
                        const RatesBefore& before, Watching& watching, const std::stop_token& stop) {
  ROCETUNE_ASSERT(run.ports.size() == hosts.size() && !run.words.empty());
  LoadedResult out;
  Watchers watchers(run, hosts, before, watching, out);
  if (out.failure || !watchers.wait_for_all(kFirstLook + run.interval, stop)) return out;
  auto workload = Process::start(run.words);
  if (!workload) {
    out.failure = search::Failure{search::FailureKind::workload_failed, workload.error().text()};
    return out;
  }
  watchers.load();
  const SystemClock clock;
  const Instant deadline = clock.now() + run.limit;
  const Duration silence = std::max(kSilence, run.interval * 4);
  bool is_hung = false;
  while (workload->poll(kLook)) {
    out.stopped = stop.stop_requested();
    is_hung = clock.now() >= deadline;
    if (!watchers.look(silence) || out.stopped || is_hung) workload->end();
  }
  out.status = workload->status();
  out.out = workload->out();
  out.err = workload->err();
  if (out.stopped || out.failure || !out.breaches.empty()) return out;
  if (is_hung) {
    out.failure = search::Failure{search::FailureKind::hung, "no end within " + to_text(run.limit)};
    return out;
  }
  if (!watchers.wait_for_all(silence, stop)) return out;
  if (out.status != 0) {
    out.failure = search::Failure{
        search::FailureKind::workload_failed,
        fmt::format("ended with {}: {}", out.status, last_words(out.err.empty() ? out.out : out.err))};
  }
  return out;
}

}  // namespace rocetune::tune
