#include "agent/diagnose/counted.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "agent/counters/deltas.h"
#include "agent/diagnose/counted_names.h"

namespace rocetune::diagnose {
namespace {

using counters::CounterId;
using counters::Source;

struct Meaning {
  CounterId id;
  counters::Kind kind = counters::Kind::counter;
  int width_bits = 64;
  std::uint64_t divide_by = 1;
};

// What a printed name means, over all vendors: their names differ, so that the vendor need not be known.
class Meanings {
 public:
  explicit Meanings(const counters::Schema& schema) : schema_(schema) {
    // mlx5 first: where two vendors use one name, it is the likelier.
    if (const counters::VendorTable* mlx5 = schema.vendor("mlx5")) add(*mlx5);
    for (const auto& [nic, table] : schema.vendors()) {
      if (nic != "mlx5" && nic != "fabric") add(table);
    }
    for (const OtherName& other : kOtherNames)
      add_name(Source::ethtool, std::string(other.printed), other.name, {});
  }

  const std::vector<Meaning>& of(Source source, std::string_view printed) const {
    static const std::vector<Meaning> kNone;
    const auto& names = names_[counters::index_of(source)];
    auto found = names.find(std::string(printed));
    if (found == names.end() && printed.starts_with("vport_"))
      found = names.find(std::string(printed.substr(6)));
    return found == names.end() ? kNone : found->second;
  }

 private:
  void add(const counters::VendorTable& table) {
    for (const auto& [name, row] : table.rows) {
      for (const Source source : counters::kSources) {
        for (const std::string& pattern : row.names[counters::index_of(source)]) {
          add_name(source, pattern, name, &row);
        }
      }
    }
  }

  void add_name(Source source, const std::string& pattern, std::string_view name,
                const counters::VendorCounter* row) {
    const counters::Definition* definition = schema_.find(name);
    if (definition == nullptr) return;
    const auto at = pattern.find("{p}");
    for (int p = 0; p < (at == std::string::npos ? 1 : Priority::kCount); ++p) {
      std::string printed = pattern;
      Meaning meaning{{std::string(name), {}}, definition->kind, 64, 1};
      if (at != std::string::npos) {
        printed.replace(at, 3, std::to_string(p));
        meaning.id.priority = Priority(p);
      } else if (definition->per_priority) {
        return;
      }
      if (row != nullptr) {
        meaning.width_bits = row->width_bits;
        meaning.divide_by = static_cast<std::uint64_t>(std::max(row->divide_by, 1));
      }
      std::vector<Meaning>& known = names_[counters::index_of(source)][printed];
      const bool is_there =
          std::any_of(known.begin(), known.end(), [&](const Meaning& m) { return m.id == meaning.id; });
      if (!is_there) known.push_back(std::move(meaning));
    }
  }

  const counters::Schema& schema_;
  std::array<std::unordered_map<std::string, std::vector<Meaning>>, counters::kSourceCount> names_;
};

std::optional<Source> source_of(const evidence::Document& document) {
  if (document.format == "ethtool-stats" || document.format == "ethtool-pause") return Source::ethtool;
  if (document.format == "hw-counters" || document.format == "rdma-statistic") return Source::rdma;
  if (document.format.starts_with("dcb")) return Source::dcb;
  return std::nullopt;
}

// "pfc_requests_prio3" of a dcb document is "pfc_requests_3" to the schema.
std::string printed_for(Source source, const std::string& name) {
  const auto at = name.find("_prio");
  return source == Source::dcb && at != std::string::npos ? name.substr(0, at) + "_" + name.substr(at + 5)
                                                          : name;
}

// A dump, or a pair of dumps.
struct Dump {
  const evidence::Document* before = nullptr;
  const evidence::Document* document = nullptr;
  Source source = Source::ethtool;
};

// Dumps that may belong to one port: of one host, at the same moments.
std::string moment_of(const Dump& dump) {
  const auto text = [](const evidence::Document* document) {
    return document == nullptr || !document->phase ? std::string() : document->phase->text;
  };
  return dump.document->host.value_or("") + "\n" + text(dump.before) + "\n" + text(dump.document) + "\n" +
         (dump.before == nullptr ? "total" : "");
}

// `later` is another dump of what `earlier` shows, in the same file: the same counters of the same device,
// and none of them fell.
bool goes_on(const evidence::Document& earlier, const evidence::Document& later) {
  if (earlier.file != later.file || earlier.format != later.format || earlier.host != later.host)
    return false;
  if (earlier.counters.size() != later.counters.size() || earlier.phase) return false;
  for (std::size_t i = 0; i < later.counters.size(); ++i) {
    const evidence::Counter &a = earlier.counters[i], &b = later.counters[i];
    if (a.name != b.name || a.device != b.device || b.value < a.value) return false;
  }
  return true;
}

std::vector<Dump> dumps_of(const evidence::Dossier& dossier) {
  std::set<const evidence::Document*> paired;
  std::vector<Dump> out;
  for (const evidence::Pair& pair : dossier.pairs()) {
    const auto source = source_of(*pair.after);
    if (!source || pair.after->counters.empty()) continue;
    paired.insert(pair.before);
    paired.insert(pair.after);
    out.push_back({pair.before, pair.after, *source});
  }
  // The latest dump of each thing that is in no pair: one that goes on from an earlier one in the same file
  // makes a pair with it.
  std::vector<Dump> single;
  for (const evidence::Document& document : dossier.documents()) {
    const auto source = source_of(document);
    if (!source || document.counters.empty() || paired.contains(&document)) continue;
    const auto earlier = std::find_if(single.rbegin(), single.rend(),
                                      [&](const Dump& dump) { return goes_on(*dump.document, document); });
    if (earlier == single.rend()) {
      single.push_back({nullptr, &document, *source});
    } else {
      *earlier = {earlier->document, &document, *source};
    }
  }
  out.insert(out.end(), single.begin(), single.end());
  return out;
}

// Devices of one kind that the dumps name; "mlx5_0/1" is mlx5_0.
std::set<std::string> devices_of(const std::vector<const Dump*>& dumps, bool rdma) {
  std::set<std::string> out;
  for (const Dump* dump : dumps) {
    if ((dump->source == Source::rdma) != rdma) continue;
    for (const evidence::Counter& counter : dump->document->counters) {
      if (!counter.device.empty()) out.insert(counter.device.substr(0, counter.device.find('/')));
    }
  }
  return out;
}

std::optional<Duration> elapsed_between(const Dump& dump) {
  if (dump.before == nullptr || !dump.document->phase) return std::nullopt;
  const auto length = [](const evidence::Document& document) -> std::optional<Duration> {
    if (!document.phase || !document.phase->elapsed) return std::nullopt;
    // "after-1s": the dash separates.
    const Duration elapsed = *document.phase->elapsed;
    return elapsed < Duration(0) ? Duration(0) - elapsed : elapsed;
  };
  const auto until = length(*dump.document);
  if (!until) return std::nullopt;
  const Duration out = *until - length(*dump.before).value_or(Duration(0));
  return out > Duration(0) ? std::optional(out) : std::nullopt;
}

class Counting {
 public:
  explicit Counting(const counters::Schema& schema) : meanings_(schema) {}

  void add(const Dump& dump, const std::string& device, CountedPort& port) const {
    for (const evidence::Counter& counter : dump.document->counters) {
      if (!device.empty() && counter.device != device) continue;
      for (const Meaning& meaning : meanings_.of(dump.source, printed_for(dump.source, counter.name))) {
        if (port.delta.increments.contains(meaning.id) || port.delta.levels.contains(meaning.id)) continue;
        if (meaning.kind == counters::Kind::level) {
          port.delta.levels.emplace(meaning.id, counter.value);
        } else if (const auto value = grown(dump, counter, meaning)) {
          port.delta.increments.emplace(meaning.id, *value / meaning.divide_by);
        } else {
          continue;
        }
        port.delta.sources[meaning.id.name] = dump.source;
        port.places.emplace(meaning.id, CountedAt{dump.document, counter.line, counter.name});
      }
    }
    add_rings(dump, device, port);
    if (port.document == nullptr) port.document = dump.document;
    port.is_total = dump.before == nullptr;
    if (dump.before != nullptr) {
      port.since = dump.before->file;
      if (dump.before->file == dump.document->file) port.since = dump.before->place(dump.before->first_line);
    }
    if (!port.elapsed) port.elapsed = elapsed_between(dump);
    if (port.elapsed) port.delta.elapsed = port.delta.rdma_elapsed = port.delta.dcb_elapsed = *port.elapsed;
  }

 private:
  // "[0]: rx_discards", "[1]: rx_discards": a row per ring (bnxt, bnx2x), where no row tells the sum.
  void add_rings(const Dump& dump, const std::string& device, CountedPort& port) const {
    constexpr std::string_view kDiscards = "]: rx_discards";
    std::optional<std::uint64_t> sum;
    std::size_t rings = 0;
    int line = 0;
    for (const evidence::Counter& counter : dump.document->counters) {
      if (!counter.name.starts_with('[') || !counter.name.ends_with(kDiscards)) continue;
      if (!device.empty() && counter.device != device) continue;
      if (const auto value = grown(dump, counter, {})) {
        sum = sum.value_or(0) + *value;
        ++rings;
        if (line == 0 || *value > 0) line = counter.line;
      }
    }
    const CounterId id{"rx_discards_phy", {}};
    if (!sum || port.delta.increments.contains(id)) return;
    port.delta.increments.emplace(id, *sum);
    port.delta.sources[id.name] = dump.source;
    port.places.emplace(
        id, CountedAt{dump.document, line, fmt::format("rx_discards of {} rings together", rings)});
  }

  static std::optional<std::uint64_t> grown(const Dump& dump, const evidence::Counter& counter,
                                            const Meaning& meaning) {
    if (dump.before == nullptr) return counter.value;
    const evidence::Counter* then = dump.before->find_counter(counter.name, counter.device);
    if (then == nullptr) return std::nullopt;
    const auto increase = counters::increase(then->value, counter.value, meaning.width_bits, std::nullopt);
    return increase ? std::optional(*increase) : std::nullopt;
  }

  Meanings meanings_;
};

}  // namespace

std::string CountedPort::subject() const {
  if (!host.empty() && !device.empty()) return host + " " + device;
  if (!device.empty()) return device;
  return !host.empty() ? host : document->file;
}

std::optional<std::uint64_t> CountedPort::sum(std::string_view name) const {
  std::optional<std::uint64_t> out;
  for (int p = 0; p < Priority::kCount; ++p) {
    if (const auto one = count(name, Priority(p))) out = out.value_or(0) + *one;
  }
  return out;
}

Evidence CountedPort::evidence(std::string_view name, std::optional<Priority> priority) const {
  const CountedAt& at = places.at({std::string(name), priority});
  std::string where = at.document->place(at.line);
  where += is_total ? ", since boot or reset" : ", since " + since;
  std::string unit = name.ends_with("_us") ? "us" : "";
  if (unit.empty() && name.find("pause") != std::string_view::npos) unit = "frames";
  if (unit.empty() && name.ends_with("packets")) unit = "packets";
  const auto value = delta.increment(name, priority);
  return {at.name, fmt::format("{}", value ? *value : delta.levels.at({std::string(name), priority})), unit,
          std::move(where)};
}

std::vector<Evidence> CountedPort::all(const std::vector<std::string_view>& names) const {
  std::vector<Evidence> out;
  for (const std::string_view name : names) {
    if (count(name)) out.push_back(evidence(name));
    for (int p = 0; p < Priority::kCount; ++p) {
      if (known(name, Priority(p)) > 0) out.push_back(evidence(name, Priority(p)));
    }
  }
  return out;
}

std::string CountedPort::span() const {
  if (is_total) return "since boot or reset";
  return elapsed ? fmt::format("in {:.3g} s", elapsed->seconds()) : "between the two dumps";
}

namespace {

// May be the same port: nothing says otherwise.
bool may_be_same(const CountedPort& a, const CountedPort& b) {
  return a.host == b.host && (a.device == b.device || a.device.empty() || b.device.empty());
}

// A total says nothing beside the increase of the same counter.
void drop_what_pairs_say(std::vector<CountedPort>& ports) {
  for (CountedPort& total : ports) {
    if (!total.is_total) continue;
    for (const CountedPort& pair : ports) {
      if (pair.is_total || !may_be_same(total, pair)) continue;
      for (const auto& [id, place] : pair.places) {
        total.places.erase(id);
        total.delta.increments.erase(id);
        total.delta.levels.erase(id);
      }
    }
  }
  std::erase_if(ports, [](const CountedPort& port) { return port.places.empty(); });
}

}  // namespace

std::vector<CountedPort> counted_ports(const evidence::Dossier& dossier, const counters::Schema& schema) {
  const std::vector<Dump> dumps = dumps_of(dossier);
  if (dumps.empty()) return {};
  const Counting counting(schema);
  // In the order of first mention.
  std::vector<std::pair<std::string, std::vector<const Dump*>>> moments;
  for (const Dump& dump : dumps) {
    const std::string moment = moment_of(dump);
    auto at =
        std::find_if(moments.begin(), moments.end(), [&](const auto& one) { return one.first == moment; });
    if (at == moments.end()) at = moments.insert(moments.end(), {moment, {}});
    at->second.push_back(&dump);
  }
  std::vector<CountedPort> out;
  for (const auto& [moment, members] : moments) {
    const std::set<std::string> netdevs = devices_of(members, false), rdma = devices_of(members, true);
    const std::string host = members.front()->document->host.value_or("");
    if (netdevs.size() <= 1 && rdma.size() <= 1) {
      CountedPort port;
      port.host = host;
      port.device = !netdevs.empty() ? *netdevs.begin() : !rdma.empty() ? *rdma.begin() : "";
      for (const Dump* dump : members) counting.add(*dump, "", port);
      if (!port.places.empty()) out.push_back(std::move(port));
      continue;
    }
    for (const Dump* dump : members) {
      std::vector<std::string> devices;
      for (const evidence::Counter& counter : dump->document->counters) {
        if (std::find(devices.begin(), devices.end(), counter.device) == devices.end())
          devices.push_back(counter.device);
      }
      for (const std::string& device : devices) {
        CountedPort port;
        port.host = host;
        port.device = device;
        counting.add(*dump, device, port);
        if (!port.places.empty()) out.push_back(std::move(port));
      }
    }
  }
  drop_what_pairs_say(out);
  return out;
}

}  // namespace rocetune::diagnose
