// Profiles of any content: loaded or refused with bad_input. A profile that loads plans or refuses on any
// host.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "agent/tune/planner.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rocetune;
  static const host::NicTable nics = *host::NicTable::load(ConfigFiles());
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto profile = tune::profile_from_toml(text, "fuzz.toml", nics);
  if (!profile) {
    if (profile.error().kind() != ErrorKind::bad_input) std::abort();
    return 0;
  }
  host::Host host;
  host::Port port;
  port.name = "eth0";
  port.nic = "mlx5";
  port.mtu = Bytes(1500);
  port.link = host::Link{.carrier = true, .speed = gigabits_per_second(400)};
  port.dcb.pfc = host::Pfc{.capable = 8, .delay = 7};
  port.dcb.ets = host::Ets{};
  port.dcb.app = std::vector<host::AppEntry>{};
  port.dcb.buffers = host::PortBuffers{.total = Bytes(1 << 20)};
  port.cc_params = std::map<std::string, std::int64_t>{{"np_cnp_dscp", 1}};
  port.rdma = host::RdmaPort{.device = "mlx5_0"};
  host.ports.push_back(port);
  const auto plan = tune::make_plan(host, *profile, nics, {"eth0"}, 0);
  if (!plan) std::abort();
  // What is planned can be kept in a file.
  const auto again = tune::plan_from_json(tune::to_json_text(*plan), "plan.json");
  if (!again || !(*again == *plan)) std::abort();
  return 0;
}
