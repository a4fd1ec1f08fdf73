// A driver's ethtool statistics in memory, written into the caller's buffer as the kernel does it: all values
// it has, whatever the caller expected.
#pragma once

#include <linux/ethtool.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "agent/host/ethtool_ioctl.h"

namespace rocetune::counters::testing {

struct FakeDriver {
  std::vector<std::string> names;
  std::vector<std::uint64_t> values;
  int error = 0;                        // errno of every command, 0: none
  std::function<void()> before_values;  // runs before each ETHTOOL_GSTATS
  int name_reads = 0;
  int value_reads = 0;

  int control(void* command) {
    if (error != 0) return error;
    std::uint32_t number = 0;
    std::memcpy(&number, command, sizeof number);
    const auto count = static_cast<std::uint32_t>(names.size());
    switch (number) {
      case ETHTOOL_GSSET_INFO:
        std::memcpy(static_cast<ethtool_sset_info*>(command)->data, &count, sizeof count);
        return 0;
      case ETHTOOL_GSTRINGS: {
        ++name_reads;
        auto* wire = static_cast<ethtool_gstrings*>(command);
        wire->len = count;
        auto* text = reinterpret_cast<char*>(wire->data);
        for (const std::string& name : names) {
          std::memset(text, 0, ETH_GSTRING_LEN);
          std::memcpy(text, name.data(), std::min<std::size_t>(name.size(), ETH_GSTRING_LEN - 1));
          text += ETH_GSTRING_LEN;
        }
        return 0;
      }
      case ETHTOOL_GSTATS: {
        ++value_reads;
        if (before_values) before_values();
        auto* wire = static_cast<ethtool_stats*>(command);
        wire->n_stats = static_cast<std::uint32_t>(values.size());
        std::memcpy(wire->data, values.data(), values.size() * sizeof values[0]);
        return 0;
      }
      default:
        return EOPNOTSUPP;
    }
  }
  host::EthtoolSocket socket() {
    return host::EthtoolSocket([this](const std::string&, void* command) { return control(command); });
  }
};

}  // namespace rocetune::counters::testing
