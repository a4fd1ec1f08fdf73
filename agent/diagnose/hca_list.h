// The list of devices that a library is told to use.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "agent/evidence/line.h"

namespace rocetune::diagnose {

// NCCL_IB_HCA: "^" excludes, "=" is exact, else prefixes; each may have a port.
struct HcaList {
  bool excludes = false, is_exact = false;
  std::vector<std::string> entries;

  bool takes(std::string_view device) const {
    if (entries.empty()) return true;
    const bool named = std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
      return is_exact ? device == entry : device.starts_with(entry);
    });
    return named != excludes;
  }
};

inline HcaList hca_list_of(std::string_view text) {
  HcaList out;
  while (!text.empty() && (text.front() == '^' || text.front() == '=')) {
    (text.front() == '^' ? out.excludes : out.is_exact) = true;
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view entry = evidence::trimmed(text.substr(0, comma));
    entry = entry.substr(0, entry.find_first_of(":/"));
    if (!entry.empty()) out.entries.emplace_back(entry);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

}  // namespace rocetune::diagnose
