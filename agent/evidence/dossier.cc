#include "agent/evidence/dossier.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

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

// Facts that hold only where all of a file says the same, and of which a file says several.
std::set<std::string> contradicted_facts(const std::vector<Document>& documents) {
  std::map<std::string, double> said;
  std::set<std::string> out;
  for (const Document& document : documents) {
    for (const Fact& fact : document.facts) {
      if (!fact.name.starts_with("mtu.")) continue;
      const std::string name = fact.name + "@" + document.file;
      if (said.emplace(name, fact.value).first->second != fact.value) out.insert(name);
    }
  }
  return out;
}

// Document::find_counter for many: texts may have 200 000.
class CounterIndex {
 public:
  explicit CounterIndex(const Document& document) {
    for (const Counter& counter : document.counters) {
      of_any_device_.try_emplace(counter.name, &counter);
      of_device_.try_emplace({counter.name, counter.device}, &counter);
    }
  }
  const Counter* find(std::string_view name, std::string_view device) const {
    if (!device.empty()) return found(of_device_, {name, device});
    return found(of_any_device_, name);
  }

 private:
  template <class Map>
  static const Counter* found(const Map& map, const typename Map::key_type& key) {
    const auto at = map.find(key);
    return at == map.end() ? nullptr : at->second;
  }

  std::unordered_map<std::string_view, const Counter*> of_any_device_;
  std::map<std::pair<std::string_view, std::string_view>, const Counter*> of_device_;
};

// Nothing if one is not there or it went backwards.
std::optional<std::uint64_t> delta_of(const Counter* before, const Counter* after) {
  if (before == nullptr || after == nullptr || after->value < before->value) return std::nullopt;
  return after->value - before->value;
}

}  // namespace

std::optional<std::uint64_t> Pair::delta(std::string_view name, std::string_view device) const {
  return delta_of(before->find_counter(name, device), after->find_counter(name, device));
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
  const std::set<std::string> contradicted = contradicted_facts(documents_);
  for (const Document& document : documents_) {
    for (const Fact& fact : document.facts) {
      const std::string name = fact.name + "@" + document.file;
      if (!contradicted.contains(name)) add(name, fact.value);
    }
    for (const Counter& counter : document.counters) {
      add(named("counter.", counter, document.file), static_cast<double>(counter.value));
    }
  }
  for (const Pair& pair : pairs_) {
    const CounterIndex before(*pair.before), after(*pair.after);
    for (const Counter& counter : pair.after->counters) {
      const auto delta =
          delta_of(before.find(counter.name, counter.device), after.find(counter.name, counter.device));
      if (delta) add(named("delta.", counter, pair.after->file), static_cast<double>(*delta));
    }
  }
  return out;
}

}  // namespace rocetune::evidence
