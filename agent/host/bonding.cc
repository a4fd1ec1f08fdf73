#include "agent/host/bonding.h"

#include <algorithm>
#include <optional>

namespace rocetune::host {
namespace {

constexpr std::string_view kFolder = "/proc/net/bonding";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

struct Member {
  std::string name;
  bool is_up = false;
  std::string aggregator;
};

// The driver's words for a mode, as the name that sysfs and ip use.
std::string mode_name(std::string_view words) {
  if (words.starts_with("IEEE 802.3ad")) return "802.3ad";
  if (words.starts_with("fault-tolerance (active-backup)")) return "active-backup";
  if (words.starts_with("load balancing (round-robin)")) return "balance-rr";
  if (words.starts_with("load balancing (xor)")) return "balance-xor";
  if (words.starts_with("fault-tolerance (broadcast)")) return "broadcast";
  if (words.starts_with("transmit load balancing")) return "balance-tlb";
  if (words.starts_with("adaptive load balancing")) return "balance-alb";
  return std::string(words);
}

struct Parsed {
  Bond bond;
  std::vector<Member> members;
  std::string active_aggregator;
  std::string active_member;
};

void read_line(std::string_view key, std::string_view value, Parsed& out) {
  const bool in_member = !out.members.empty();
  if (key == "Slave Interface") {
    out.members.push_back({std::string(value)});
  } else if (in_member && key == "MII Status") {
    out.members.back().is_up = value == "up";
  } else if (in_member && key == "Aggregator ID") {
    out.members.back().aggregator = value;
  } else if (in_member) {
    return;  // the members' own LACP details repeat keys of the bond
  } else if (key == "Bonding Mode") {
    out.bond.mode = mode_name(value);
  } else if (key == "Transmit Hash Policy") {
    out.bond.transmit_hash_policy = value.substr(0, value.find(' '));  // "layer3+4 (1)"
  } else if (key == "Aggregator ID") {
    out.active_aggregator = value;
  } else if (key == "Partner Mac Address") {
    out.bond.partner_mac = std::string(value);
  } else if (key == "Currently Active Slave") {
    out.active_member = value;
  }
}

bool is_active(const Parsed& parsed, const Member& member) {
  if (!member.is_up) return false;
  if (parsed.bond.mode == "802.3ad") {
    // Without CAP_NET_ADMIN the kernel leaves aggregators out; then a member that is up counts.
    return parsed.active_aggregator.empty() || member.aggregator == parsed.active_aggregator;
  }
  if (parsed.bond.mode == "active-backup") return member.name == parsed.active_member;
  return true;
}

}  // namespace

Expected<Bond> parse_bond(const std::string& name, std::string_view text) {
  Parsed parsed;
  parsed.bond.name = name;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text = text.substr(std::min(end + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      read_line(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)), parsed);
  }
  if (parsed.bond.mode.empty()) return fail(ErrorKind::io, "{}/{}: no bonding mode", kFolder, name);
  for (const Member& member : parsed.members) {
    parsed.bond.members.push_back(member.name);
    if (is_active(parsed, member)) parsed.bond.active_members.push_back(member.name);
  }
  return parsed.bond;
}

std::vector<Bond> read_bonds(const HostFiles& files) {
  std::vector<Bond> out;
  const auto names = files.names(kFolder);
  if (!names) return out;
  for (const std::string& name : *names) {
    const auto bond = files.text(fmt::format("{}/{}", kFolder, name)).and_then([&](const std::string& text) {
      return parse_bond(name, text);
    });
    if (bond) out.push_back(*bond);
  }
  return out;
}

}  // namespace rocetune::host
