// What a port showed, in the compact form that sampling many times a second wants: one array of numbers per
// source, the names shared between readings. PortSample (model.h) is the same for people and files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/counters/model.h"
#include "agent/counters/schema.h"

namespace rocetune::counters {

// The names of one source of one port, in the order of its values. Shared by all readings made with it; a
// source that sees its names change makes a new one.
struct NameList {
  std::vector<std::string> names;
};

// One source of one port, read once.
struct Block {
  std::shared_ptr<const NameList> names;  // never null
  std::vector<std::uint64_t> values;      // as many as names
  Instant at;                             // middle of the read
  Duration resolution;                    // values may be older than `at` by this much (hw_counters lifespan)
};

// Where each slot of a schema stands in a port's blocks.
class Layout {
 public:
  struct Place {
    Source source = Source::ethtool;
    std::int32_t index = -1;             // into the block's values; -1: absent
    const VendorCounter* row = nullptr;  // null: the NIC's table has no such row
    bool operator==(const Place&) const = default;
  };
  // `names[source]` may be null: that source was not read. The schema must outlive the layout.
  Layout(const Schema& schema, const std::string& nic,
         const std::array<std::shared_ptr<const NameList>, kSourceCount>& names);

  bool is_for(const std::array<std::shared_ptr<const NameList>, kSourceCount>& names) const {
    return names == names_;
  }
  const Place& place(std::size_t slot) const { return places_[slot]; }
  // The vendor's name that slot was found under, or the one looked for first.
  std::string vendor_name(std::size_t slot) const;
  // Why the slot is absent, given what happened to the port's sources.
  Unavailable why_absent(std::size_t slot, const std::array<Observed<Block>, kSourceCount>& blocks) const;

 private:
  const Schema* schema_;
  std::string nic_;
  std::array<std::shared_ptr<const NameList>, kSourceCount> names_;
  std::vector<Place> places_;
};

struct PortReading {
  std::string port;
  std::string nic;
  std::optional<BitRate> speed;
  std::array<Observed<Block>, kSourceCount> blocks{not_read(), not_read(), not_read()};
  std::shared_ptr<const Layout> layout;  // of these blocks

  // The counter in slot `slot`, in the schema's unit.
  Observed<std::uint64_t> value(std::size_t slot) const;
  std::array<std::shared_ptr<const NameList>, kSourceCount> names() const;
};

struct Reading {
  std::int64_t taken_unix_ns = 0;
  Instant at;
  Duration read_time;
  std::vector<PortReading> ports;
  // Median of this and the sampler's last few read times; 0 in a record. One reading that had to wait for the
  // kernel's RTNL lock says nothing about what reading costs.
  Duration typical_read_time;
};

// Makes port.layout fit port.blocks; keeps it if it does already.
void lay_out(const Schema& schema, PortReading& port);

PortSample to_sample(const Schema& schema, const PortReading& reading);
Sample to_sample(const Schema& schema, const Reading& reading);
// From the raw maps of a sample; its `values` are not looked at.
PortReading to_reading(const Schema& schema, const PortSample& sample);
Reading to_reading(const Schema& schema, const Sample& sample);

// Fills sample.values from its raw maps: how a pasted or recorded dump gets the schema's names.
void apply_schema(const Schema& schema, PortSample& sample);

}  // namespace rocetune::counters
