// Who would lose something if a port bounced: the default route, ssh sessions, network storage.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/host_files.h"
#include "agent/host/kernel_answers.h"
#include "agent/host/model.h"

namespace rocetune::host {

// One established TCP connection of /proc/net/tcp or tcp6 (net/ipv4/tcp_ipv4.c, get_tcp4_sock).
struct TcpConnection {
  std::string local_address, remote_address;  // "10.0.0.1", "fe80::1"; mapped IPv4 as IPv4
  std::uint16_t local_port = 0, remote_port = 0;
  bool is_established = false;
  bool is_listening = false;
  bool operator==(const TcpConnection&) const = default;
};
// Lines that make no sense are left out; little-endian hosts only, as all RoCE hosts are.
std::vector<TcpConnection> parse_tcp_table(std::string_view text);

// The link index a packet to `address` leaves by, longest prefix first, then metric. Nothing for names, for
// link-local addresses, which are on every link, and where no route matches.
std::optional<int> route_to(const std::vector<RouteEntry>& routes, const std::string& address);

struct AttachmentSurvey {
  std::map<int, Attachments> by_link;  // by link index
  Attachments anywhere;                // only what is not known: it may hang on every link
};
// Ports on which the sshd listens are found from the sockets; with none visible it is port 22. Unavailable
// without the kernel's routes.
Observed<AttachmentSurvey> read_attachments(const HostFiles& files, const KernelAnswers& kernel);

}  // namespace rocetune::host
