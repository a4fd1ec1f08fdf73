#include "agent/counters/reading.h"

#include <fmt/core.h>

#include <string_view>
#include <unordered_map>

namespace rocetune::counters {
namespace {

// "rx_prio{p}_pause", 3 -> "rx_prio3_pause".
std::string expand(std::string_view pattern, const std::optional<Priority>& priority) {
  constexpr std::string_view kPlaceholder = "{p}";
  std::string out(pattern);
  if (!priority) return out;
  const auto at = out.find(kPlaceholder);
  if (at != std::string::npos) out.replace(at, kPlaceholder.size(), std::to_string(priority->value()));
  return out;
}

using NameIndex = std::unordered_map<std::string_view, std::int32_t>;

NameIndex index_names(const NameList* list) {
  NameIndex index;
  if (list == nullptr) return index;
  index.reserve(list->names.size());
  // The first of equal names counts, as in `ethtool -S` output read top to bottom.
  for (std::size_t i = 0; i < list->names.size(); ++i) {
    std::string_view name = list->names[i];
    // "tx_pause_storm_warning_events " is how older mlx5 drivers spell it.
    while (name.ends_with(' ')) name.remove_suffix(1);
    index.emplace(name, static_cast<std::int32_t>(i));
  }
  return index;
}

Layout::Place find_place(const VendorTable& table, const VendorCounter& row,
                         const std::optional<Priority>& priority,
                         const std::array<NameIndex, kSourceCount>& indexes) {
  for (const Source source : kSources) {
    const NameIndex& index = indexes[index_of(source)];
    if (index.empty()) continue;
    for (const std::string& pattern : row.names[index_of(source)]) {
      const std::string name = expand(pattern, priority);
      if (const auto found = index.find(name); found != index.end()) return {source, found->second, &row};
      if (source != Source::rdma) continue;
      for (const std::string& prefix : table.rdma_prefixes) {
        const auto prefixed = index.find(prefix + name);
        if (prefixed != index.end()) return {source, prefixed->second, &row};
      }
    }
  }
  return {Source::ethtool, -1, &row};
}

}  // namespace

Layout::Layout(const Schema& schema, const std::string& nic,
               const std::array<std::shared_ptr<const NameList>, kSourceCount>& names)
    : schema_(&schema), nic_(nic), names_(names), places_(schema.slots().size()) {
  const VendorTable* table = schema.vendor(nic);
  if (table == nullptr) return;
  std::array<NameIndex, kSourceCount> indexes;
  for (const Source source : kSources) indexes[index_of(source)] = index_names(names[index_of(source)].get());
  for (std::size_t slot = 0; slot < places_.size(); ++slot) {
    const auto& [id, definition] = schema.slots()[slot];
    const auto row = table->rows.find(id.name);
    if (row != table->rows.end()) places_[slot] = find_place(*table, row->second, id.priority, indexes);
  }
}

std::string Layout::vendor_name(std::size_t slot) const {
  const Place& place = places_[slot];
  if (place.index >= 0) {
    return names_[index_of(place.source)]->names[static_cast<std::size_t>(place.index)];
  }
  if (place.row == nullptr) return "";
  for (const auto& patterns : place.row->names) {
    if (!patterns.empty()) return expand(patterns.front(), schema_->slots()[slot].id.priority);
  }
  return "";
}

Unavailable Layout::why_absent(std::size_t slot,
                               const std::array<Observed<Block>, kSourceCount>& blocks) const {
  const Place& place = places_[slot];
  const std::string& name = schema_->slots()[slot].id.name;
  const auto because = [](std::string why) { return Unavailable{Unavailable::Kind::absent, std::move(why)}; };
  if (place.row == nullptr) {
    if (schema_->vendor(nic_) == nullptr)
      return because(fmt::format("no counter table for NIC \"{}\"", nic_));
    return because(fmt::format("the counter table for NIC \"{}\" has no row {}", nic_, name));
  }
  if (!place.row->absent.empty()) return because(place.row->absent);
  // A source that should have it and could not be read is the better reason than a missing name.
  for (const Source source : kSources) {
    const auto& block = blocks[index_of(source)];
    if (!place.row->names[index_of(source)].empty() && !block) return block.error();
  }
  if (place.row->exists_when == "always") return because(vendor_name(slot) + " is not there");
  return because(fmt::format("{} is not there; it exists {}", vendor_name(slot), place.row->exists_when));
}

Observed<std::uint64_t> PortReading::value(std::size_t slot) const {
  ROCETUNE_ASSERT(layout != nullptr);
  const Layout::Place& place = layout->place(slot);
  if (place.index < 0) return tl::unexpected(layout->why_absent(slot, blocks));
  const auto& block = blocks[index_of(place.source)];
  ROCETUNE_ASSERT(block.has_value() && static_cast<std::size_t>(place.index) < block->values.size());
  return block->values[static_cast<std::size_t>(place.index)] /
         static_cast<std::uint64_t>(place.row->divide_by);
}

std::array<std::shared_ptr<const NameList>, kSourceCount> PortReading::names() const {
  std::array<std::shared_ptr<const NameList>, kSourceCount> out;
  for (std::size_t i = 0; i < kSourceCount; ++i) {
    if (blocks[i]) out[i] = blocks[i]->names;
  }
  return out;
}

void lay_out(const Schema& schema, PortReading& port) {
  const auto names = port.names();
  if (port.layout != nullptr && port.layout->is_for(names)) return;
  port.layout = std::make_shared<const Layout>(schema, port.nic, names);
}

PortSample to_sample(const Schema& schema, const PortReading& reading) {
  PortSample out;
  out.port = reading.port;
  out.nic = reading.nic;
  out.speed = reading.speed;
  for (const Source source : kSources) {
    const auto& block = reading.blocks[index_of(source)];
    if (!block) {
      out.unread.emplace(source, block.error());
      continue;
    }
    auto& raw = out.raw(source);
    for (std::size_t i = 0; i < block->values.size(); ++i)
      raw.emplace(block->names->names[i], block->values[i]);
    out.at(source) = block->at;
    if (source == Source::rdma) out.rdma_resolution = block->resolution;
  }
  for (std::size_t slot = 0; slot < schema.slots().size(); ++slot) {
    out.values.emplace(schema.slots()[slot].id, reading.value(slot));
  }
  return out;
}

Sample to_sample(const Schema& schema, const Reading& reading) {
  Sample out{reading.taken_unix_ns, reading.at, reading.read_time, {}};
  for (const PortReading& port : reading.ports) out.ports.push_back(to_sample(schema, port));
  return out;
}

PortReading to_reading(const Schema& schema, const PortSample& sample) {
  PortReading out;
  out.port = sample.port;
  out.nic = sample.nic;
  out.speed = sample.speed;
  for (const Source source : kSources) {
    auto& block = out.blocks[index_of(source)];
    const auto unread = sample.unread.find(source);
    if (unread != sample.unread.end()) {
      block = tl::unexpected(unread->second);
      continue;
    }
    const auto& raw = sample.raw(source);
    // A sample put together by hand (a pasted dump) says nothing about a source it does not have.
    if (raw.empty() && sample.at(source) == Instant()) continue;
    auto names = std::make_shared<NameList>();
    Block filled;
    for (const auto& [name, value] : raw) {
      names->names.push_back(name);
      filled.values.push_back(value);
    }
    filled.names = std::move(names);
    filled.at = sample.at(source);
    if (source == Source::rdma) filled.resolution = sample.rdma_resolution;
    block = std::move(filled);
  }
  lay_out(schema, out);
  return out;
}

Reading to_reading(const Schema& schema, const Sample& sample) {
  Reading out{sample.taken_unix_ns, sample.at, sample.read_time, {}, {}};
  for (const PortSample& port : sample.ports) out.ports.push_back(to_reading(schema, port));
  return out;
}

void apply_schema(const Schema& schema, PortSample& sample) {
  const PortReading reading = to_reading(schema, sample);
  sample.values.clear();
  for (std::size_t slot = 0; slot < schema.slots().size(); ++slot) {
    sample.values.emplace(schema.slots()[slot].id, reading.value(slot));
  }
}

}  // namespace rocetune::counters
