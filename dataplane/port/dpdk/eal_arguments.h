// The arguments of DPDK's environment (EAL) as a person types them, and what rocetune adds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataplane/base/error.h"

namespace rocetune::dpdk {

// Splits at blanks; '…' and "…" hold blanks together. Error (bad_input): a quote without its end. `source`:
// the flag they came from.
Expected<std::vector<std::string>> split_arguments(std::string_view text, const std::string& source);

// What the environment is started with: the program's name, what the user gave, and for what the user did not
// say: memory (512 MiB without huge pages), a file prefix of this process (several processes of one host get
// along), no telemetry thread, no running commentary of net_vhost, and the cores that this process may use
// (`cpus`, "0-1") for one thread. `unique` makes the file prefix.
std::vector<std::string> environment_arguments(const std::vector<std::string>& given,
                                               const std::string& unique, const std::string& cpus);

// Whether the port called `name` is a memif that connects to another process (role=client, memif's default)
// rather than wait for one. `text`: the arguments as given.
bool is_memif_client(std::string_view text, std::string_view name);

// Paths of the sockets that the devices of these arguments will listen at (net_memif, net_vhost,
// net_virtio_user as a server), those outside the abstract namespace.
std::vector<std::string> server_sockets(const std::vector<std::string>& arguments);

// The kernel's interfaces that a net_pcap receives from or sends to. `options`: "rx_iface=a,tx_iface=b", with
// or without the device's name in front. One may be named twice.
std::vector<std::string> pcap_interfaces(std::string_view options);

// Whether `arguments` has the option, as "--name", "--name=value" or "-n".
bool has_option(const std::vector<std::string>& arguments, std::string_view name);

}  // namespace rocetune::dpdk
