// Which interfaces of a host can be used, and why the others cannot: a view of what a Host carries.
#pragma once

#include <string>
#include <vector>

#include "agent/host/model.h"

namespace rocetune::host {

struct InterfaceState {
  enum class State { usable, absent, denied, failed, not_read };
  std::string port;  // netdev; "" for the host's own
  std::string name;  // "DCB netlink: PFC"
  State state = State::usable;
  std::string why;  // empty if usable
  bool operator==(const InterfaceState&) const = default;
  static constexpr void fields(auto&& visit, auto&... self) {
    visit("port", self.port...);
    visit("name", self.name...);
    visit("state", self.state...);
    visit("why", self.why...);
  }
};

// The host's own first, then per port in the ports' order; always the same interfaces in the same order.
std::vector<InterfaceState> interfaces_of(const Host& host);

}  // namespace rocetune::host

namespace rocetune {
ROCETUNE_ENUM(host::InterfaceState::State, P{E::usable, "usable"}, P{E::absent, "absent"},
              P{E::denied, "denied"}, P{E::failed, "failed"}, P{E::not_read, "not_read"});
}  // namespace rocetune
