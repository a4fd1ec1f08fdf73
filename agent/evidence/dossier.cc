#include "agent/evidence/dossier.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace rocetune::evidence {
namespace {

// Order in time within one run: before, then t0, t1, ..., then after; an elapsed time decides between equals.
std::tuple<int, int, Duration> moment(const Phase& phase) {
  const int kind = phase.kind == Phase::Kind::before ? 0 : phase.kind == Phase::Kind::at ? 1 : 2;
  return {kind, phase.ordinal, phase.elapsed.value_or(Duration(0))};
}

// What the phases of one thing have in common.
using SeriesKey = std::tuple<std::string, std::string, std::string, std::size_t>;

// Neighbours in time of the same series and run are pairs.
std::vector<Pair> pairs_among(const std::vector<Document>& documents) {
  std::map<SeriesKey, std::vector<const Document*>> series;
  std::map<std::pair<std::string, std::string>, std::size_t> seen;  // of one format in one file
  for (const Document& document : documents) {
    if (!document.phase) continue;
    const std::size_t ordinal = seen[{document.file, document.format}]++;
    series[{document.series, document.format, document.host.value_or(""), ordinal}].push_back(&document);
  }
  std::vector<Pair> pairs;
  for (auto& [key, members] : series) {
    std::map<std::string, std::vector<const Document*>> runs;
    for (const Document* member : members) runs[member->phase->run].push_back(member);
    for (auto& [run, moments] : runs) {
      std::stable_sort(moments.begin(), moments.end(), [](const Document* a, const Document* b) {
        return moment(*a->phase) < moment(*b->phase);
      });
      for (std::size_t i = 1; i < moments.size(); ++i) {
        if (moment(*moments[i - 1]->phase) < moment(*moments[i]->phase)) {
          pairs.push_back({moments[i - 1], moments[i]});
        }
      }
    }
  }
  return pairs;
}

// Devices whose counters a file shows.
std::map<std::string, std::set<std::string>> devices_by_file(const std::vector<Document>& documents) {
  std::map<std::string, std::set<std::string>> out;
  for (const Document& document : documents) {
    for (const Counter& counter : document.counters) {
      if (!counter.device.empty()) out[document.file].insert(counter.device);
    }
  }
  return out;
}

}  // namespace

std::optional<std::uint64_t> Pair::delta(std::string_view name, std::string_view device) const {
  const Counter* first = before->find_counter(name, device);
  const Counter* last = after->find_counter(name, device);
  if (first == nullptr || last == nullptr || last->value < first->value) return std::nullopt;
  return last->value - first->value;
}

Dossier::Dossier(std::vector<FileReport> files, std::vector<Document> documents)
    : files_(std::move(files)), documents_(std::move(documents)), pairs_(pairs_among(documents_)) {}

std::vector<const Document*> Dossier::of_format(std::string_view format) const {
  std::vector<const Document*> out;
  for (const Document& document : documents_) {
    if (document.format == format) out.push_back(&document);
  }
  return out;
}

std::vector<const Pair*> Dossier::pairs_of(std::string_view format) const {
  std::vector<const Pair*> out;
  for (const Pair& pair : pairs_) {
    if (pair.after->format == format) out.push_back(&pair);
  }
  return out;
}

std::vector<Fact> Dossier::facts() const {
  const auto devices = devices_by_file(documents_);
  std::set<std::string> known;
  std::vector<Fact> out;
  const auto add = [&](std::string name, double value) {
    if (known.insert(name).second) out.push_back({std::move(name), value});
  };
  const auto named = [&](const char* kind, const Counter& counter, const std::string& file) {
    const auto found = devices.find(file);
    const bool several = found != devices.end() && found->second.size() > 1;
    return std::string(kind) + (several && !counter.device.empty() ? counter.device + "." : "") +
           counter.name + "@" + file;
  };
  for (const Document& document : documents_) {
    for (const Fact& fact : document.facts) add(fact.name + "@" + document.file, fact.value);
    for (const Counter& counter : document.counters) {
      add(named("counter.", counter, document.file), static_cast<double>(counter.value));
    }
  }
  for (const Pair& pair : pairs_) {
    for (const Counter& counter : pair.after->counters) {
      if (const auto delta = pair.delta(counter.name, counter.device)) {
        add(named("delta.", counter, pair.after->file), static_cast<double>(*delta));
      }
    }
  }
  return out;
}

}  // namespace rocetune::evidence
