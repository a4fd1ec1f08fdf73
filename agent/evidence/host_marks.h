// Whose output a part of a text is, where no prompt says it: what pdsh, clush and ansible put in front of
// lines or between them, and headings that people write by hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rocetune::evidence {

// The host that a heading names: "node3 | CHANGED | rc=0 >>" (ansible), "==> node3 <==", "=== node3 ===",
// "### gpu-07". Nothing for any other line, and for headings that name a device, a step or a tool.
std::optional<std::string_view> heading_host(std::string_view line);

// "node3" alone in its line, as dshbak puts it between two rules of dashes.
bool is_bare_host(std::string_view line);

// The lines of one host, without what stood in front of them.
struct HostLines {
  std::string host;
  std::string text;
  std::vector<int> numbers;  // of each line, in the file, from 1
};

// Of a text whose every line begins "node1: " (pdsh, clush): its hosts, in the order of first mention. Empty
// if the text is not of that kind: a line without, or "name: value" lines that look alike.
std::vector<HostLines> split_by_host(std::string_view text);

}  // namespace rocetune::evidence
