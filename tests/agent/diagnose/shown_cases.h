// Texts of RDMA tools, PCIe, kernel, links and firmware, each with what one rule says of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/agent/diagnose/text_fixtures.h"

namespace rocetune::diagnose {

enum class ShownAs { info, warning, critical, passed, not_checked };
inline constexpr auto kInfo = ShownAs::info;
inline constexpr auto kWarning = ShownAs::warning;
inline constexpr auto kCritical = ShownAs::critical;
inline constexpr auto kPassed = ShownAs::passed;
inline constexpr auto kNotChecked = ShownAs::not_checked;

struct ShownCase {
  const char* what;
  // File name and content; a content that begins with '@' is a fixture: "@ibstat/one-down.txt".
  std::vector<std::pair<std::string, std::string>> texts;
  const char* rule;
  ShownAs as;              // the worst finding, or none
  const char* names = "";  // part of cause, evidence or fix
};

std::vector<TextFile> files_of(const ShownCase& shown);

std::vector<ShownCase> shown_gid_cases();
std::vector<ShownCase> shown_end_cases();
std::vector<ShownCase> shown_machine_cases();
std::vector<ShownCase> shown_link_cases();

// A block of ibstat.
inline std::string ibstat_text(const std::string& device, int rate, const std::string& more = "") {
  return "CA '" + device + "'\n\tCA type: MT4129\n" + more +
         "\tPort 1:\n\t\tState: Active\n\t\tRate: " + std::to_string(rate) + "\n\t\tLink layer: Ethernet\n";
}

}  // namespace rocetune::diagnose
