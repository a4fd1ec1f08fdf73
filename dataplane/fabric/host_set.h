// Some of a fabric's hosts in an order, as ranges: a tenant's, a plane's, a rail's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/toml_value.h"
#include "dataplane/fabric/packet.h"

namespace rocetune::fabric {

// first, first + step, ... up to last at most.
struct HostRange {
  NodeId first = 0;
  NodeId last = 0;
  std::uint32_t step = 1;
  std::uint32_t size() const { return (last - first) / step + 1; }
};

class HostSet {
 public:
  // Hosts below this can be named.
  static constexpr std::uint32_t kLimit = 1U << 16;

  HostSet() = default;
  static HostSet all(std::uint32_t hosts) {
    HostSet out;
    if (hosts > 0) out.add({0, hosts - 1, 1});
    return out;
  }
  // Ranges in order, separated by commas: "0-63", "5", "0-62/2, 1" (every second of 0 to 62, then 1). Error:
  // a host of kLimit or more, one named twice, no host, anything else.
  static Parsed<HostSet> parse(std::string_view text);

  // `range` begins with no host that is in the set already; its step is not 0.
  void add(const HostRange& range);
  std::uint32_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  // The index-th; index < size().
  NodeId operator[](std::uint32_t index) const;
  const std::vector<HostRange>& ranges() const { return ranges_; }
  // Of all; 0 for an empty set.
  NodeId largest() const;

 private:
  std::vector<HostRange> ranges_;
  std::vector<std::uint32_t> ends_;  // by range: hosts up to its end
};

}  // namespace rocetune::fabric

namespace rocetune::toml_detail {

// hosts = "0-63", hosts = [0, 5, 9], hosts = 3
template <>
struct TomlForm<fabric::HostSet> {
  static std::string allowed();
  static bool read(const Cursor& at, fabric::HostSet& out);
};

}  // namespace rocetune::toml_detail
