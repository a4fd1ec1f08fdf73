// What a profile asks of a host, as a plan. Pure: the same host and profile give the same plan.
#pragma once

#include <string>
#include <vector>

#include "agent/host/nic_row.h"
#include "agent/tune/plan.h"
#include "agent/tune/profile.h"

namespace rocetune::tune {

// Room for everything that is not lossless: one frame of the largest size. Origin: mlx5's MLX5E_MAX_PORT_MTU,
// 9216 B, and the jumbo MTU of switches.
constexpr Bytes kLargestFrame{9216};

// `ports`: which to plan for; a bond stands for its members. Empty: every physical port of a known NIC whose
// RDMA device, its own or its bond's, is on Ethernet; what is left out is a remark that says why. What the
// profile wants and the host cannot have is a remark, not an error. A plan without
// steps: the host is as the profile wants it. Errors: bad_input for a port that is not there, with the
// nearest name, and for one whose `nic` (a file's host may say anything) is no row of `nics`; absent if no
// port qualifies.
Expected<Plan> make_plan(const host::Host& host, const Profile& profile, const host::NicTable& nics,
                         const std::vector<std::string>& ports, std::int64_t now_unix_ns);

// The ports that make_plan plans for, with its errors; what is left out goes to `remarks`.
Expected<std::vector<std::string>> chosen_ports(const host::Host& host, const std::vector<std::string>& names,
                                                const host::NicTable& nics,
                                                std::vector<std::string>& remarks);

// What one port should show, also what it shows already (a change from a value to the same); nothing where
// the profile leaves the knob alone or the port cannot have it, which is then said in `remarks`.
std::vector<Change> desired_changes(const host::Host& host, const host::Port& port, const Profile& profile,
                                    const host::NicRow& traits, std::vector<std::string>& remarks);

// What a bond itself should show beside its members: the default of the RDMA device that hangs on it.
std::vector<Change> desired_bond_changes(const host::Host& host, const host::Port& bond,
                                         const Profile& profile, const host::NicRow& traits,
                                         std::vector<std::string>& remarks);

// The smallest receive buffer in which the port's lossless traffic is safe (PFC-3); nothing if the speed is
// not known or the NIC sizes buffers by a rule of its own.
std::optional<Bytes> lossless_buffer_for(const host::Port& port, const Profile& profile,
                                         const host::NicRow& traits);

// Receive buffers with one for each lossless priority and the rest in buffer 0, as large as `total` allows.
// The sum exceeds `total` if even the least needed does.
host::BufferSetting buffers_for(PrioritySet lossless, Bytes minimum, Bytes total, Bytes cell = Bytes(128));

}  // namespace rocetune::tune
