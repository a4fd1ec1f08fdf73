#include "dataplane/port/dpdk/ethdev_port.h"

#include <net/if.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "dataplane/base/file.h"
#include "dataplane/port/dpdk/broken_pipe.h"
#include "dataplane/port/dpdk/eal_arguments.h"
#include "dataplane/port/dpdk/environment.h"
#include "dataplane/port/dpdk/ethdev_queue.h"
#include "dataplane/port/dpdk/roce_ownership.h"

namespace rocetune::dpdk {
namespace {

constexpr std::uint16_t kRingSize = 1024;    // descriptors asked for; the device rounds
constexpr unsigned kTransmitBuffers = 2048;  // lent at most, besides what lies in the ring
constexpr unsigned kPoolCache = 256;         // of each core
constexpr std::uint16_t kEthernetHeader = 14;
// Besides the frame, for what a driver wants in a buffer too: af_packet refuses buffers smaller than its
// slots, and a slot holds up to 96 bytes of the kernel's in front of a frame (linux/if_packet.h); XDP keeps
// XDP_PACKET_HEADROOM in front of it (linux/bpf.h).
constexpr std::int64_t kDriverRoom = 256;
// net_af_xdp lends the kernel the pool's objects as they are, and takes none larger than a page
// (xdp_umem_reg, net/xdp/xdp_umem.c). A pool makes its objects an odd number of cache lines: 63 of them.
constexpr std::int64_t kLargestXdpFrame = 63 * RTE_CACHE_LINE_SIZE - RTE_CACHE_LINE_SIZE -
                                          std::int64_t{sizeof(rte_mbuf)} - RTE_PKTMBUF_HEADROOM - kDriverRoom;

using PortHandle = std::unique_ptr<Port, void (*)(Port*)>;

std::string name_of(std::uint16_t port) {
  char name[RTE_ETH_NAME_MAX_LEN] = "";
  return rte_eth_dev_get_name_by_port(port, name) == 0 ? name : std::to_string(port);
}

// The port asked for, or the only one, or all of them.
Expected<std::vector<std::uint16_t>> choose_ports(const std::string& wanted) {
  std::vector<std::string> names;
  std::vector<std::uint16_t> ids;
  for (std::uint16_t port = 0; port < RTE_MAX_ETHPORTS; ++port) {
    if (rte_eth_dev_is_valid_port(port) == 0) continue;
    names.push_back(name_of(port));
    ids.push_back(port);
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (names.empty()) {
    return fail(ErrorKind::bad_input,
                "DPDK found no port; allowed: a device bound to DPDK (-a 0000:03:00.0) or a virtual one "
                "(--vdev=net_memif0,role=client,…){}",
                environment_complaints());
  }
  if (wanted == "all" || (wanted.empty() && ids.size() == 1)) return ids;
  if (wanted.empty()) {
    return fail(ErrorKind::bad_input, "DPDK found several ports and none was chosen; allowed: all, {}", list);
  }
  const auto at = std::find(names.begin(), names.end(), wanted);
  if (at != names.end()) return std::vector{ids[static_cast<std::size_t>(at - names.begin())]};
  const std::string nearest = nearest_name(wanted, names);
  return fail(ErrorKind::bad_input, "found port {}, allowed: all, {}{}", wanted, list,
              nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

bool link_is_up(std::uint16_t id) {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

// While it lives, a driver does not complain about what is tried again anyway, or about an end that went
// first.
class QuietLog {
 public:
  explicit QuietLog(const char* type) : type_(rte_log_register(type)) {
    if (type_ < 0) return;
    level_ = rte_log_get_level(static_cast<std::uint32_t>(type_));
    rte_log_set_level(static_cast<std::uint32_t>(type_), RTE_LOG_CRIT);
  }
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
  ~QuietLog() {
    if (type_ >= 0) rte_log_set_level(static_cast<std::uint32_t>(type_), static_cast<std::uint32_t>(level_));
  }

 private:
  int type_;
  int level_ = 0;
};

// One device.
class EthdevPort {
 public:
  // `largest_buffered`: frame that a buffer holds, whatever the wire carries.
  EthdevPort(std::uint16_t id, port::Capabilities capabilities, Bytes largest_buffered)
      : id_(id), capabilities_(std::move(capabilities)), largest_buffered_(largest_buffered) {}

  EthdevQueue& queue(unsigned index) { return *queues_.at(index); }
  bool is_link_up() const { return link_is_up(id_); }
  void close() {
    // memif's stop races with its own interrupt thread when the other end goes away at the same time. The
    // kernel closes what it has open.
    if (capabilities_.name.starts_with("net_memif")) return;
    const NoBrokenPipeSignal no_signal;
    const QuietLog quiet_driver("pmd.net.virtio.driver"), quiet_start("pmd.net.virtio.init");
    rte_eth_dev_stop(id_);
    rte_eth_dev_close(id_);
  }

  Expected<> start(const PortRequest& request, const rte_eth_dev_info& info);

 private:
  Expected<> add_queue(std::uint16_t index, const rte_eth_dev_info& info);
  Expected<rte_mempool*> make_pool(const std::string& purpose, std::uint16_t queue, unsigned buffers);

  std::uint16_t id_;
  port::Capabilities capabilities_;
  Bytes largest_buffered_;
  std::vector<std::unique_ptr<EthdevQueue>> queues_;
  std::uint16_t receive_ring_ = kRingSize;
  std::uint16_t transmit_ring_ = kRingSize;
};

tl::unexpected<Error> refused(int status, const std::string& port, std::string_view what) {
  return fail_os(-status, "{}: {}", port, what);
}

Expected<rte_mempool*> EthdevPort::make_pool(const std::string& purpose, std::uint16_t queue,
                                             unsigned buffers) {
  const auto room = static_cast<std::uint16_t>((largest_buffered_.count() + kDriverRoom + 63) / 64 * 64 +
                                               RTE_PKTMBUF_HEADROOM);
  const std::string name = fmt::format("{}{}-{}", purpose, id_, queue);
  rte_mempool* pool = rte_pktmbuf_pool_create(name.c_str(), buffers, kPoolCache, 0, room, SOCKET_ID_ANY);
  if (pool == nullptr) {
    return fail(ErrorKind::io,
                "{}: no memory for {} buffers of {} bytes ({}); give EAL more (-m), or free huge pages",
                capabilities_.name, buffers, room, errno_text(rte_errno));
  }
  return pool;
}

Expected<> EthdevPort::add_queue(std::uint16_t index, const rte_eth_dev_info& info) {
  const auto receive_pool = make_pool("rx", index, receive_ring_ + 4 * kPoolCache + 2 * port::kMaxBurst - 1);
  if (!receive_pool) return tl::unexpected(receive_pool.error());
  const auto transmit_pool = make_pool("tx", index, transmit_ring_ + kTransmitBuffers + 2 * kPoolCache - 1);
  if (!transmit_pool) return tl::unexpected(transmit_pool.error());
  rte_eth_rxconf receive = info.default_rxconf;
  receive.offloads = 0;
  if (const int status =
          rte_eth_rx_queue_setup(id_, index, receive_ring_, SOCKET_ID_ANY, &receive, *receive_pool)) {
    return refused(status, capabilities_.name, fmt::format("receive queue {}", index));
  }
  rte_eth_txconf transmit = info.default_txconf;
  transmit.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  if (const int status = rte_eth_tx_queue_setup(id_, index, transmit_ring_, SOCKET_ID_ANY, &transmit)) {
    return refused(status, capabilities_.name, fmt::format("transmit queue {}", index));
  }
  queues_.push_back(std::make_unique<EthdevQueue>(id_, index, *transmit_pool, capabilities_));
  return {};
}

// Queue pairs spread by their UDP source port, where the device can.
rte_eth_conf configuration(const PortRequest& request, const rte_eth_dev_info& info) {
  rte_eth_conf configuration{};
  configuration.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  const std::uint64_t hash =
      info.flow_type_rss_offloads & (RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
  if (request.queues > 1 && hash != 0) {
    configuration.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    configuration.rx_adv_conf.rss_conf.rss_hf = hash;
  }
  return configuration;
}

// A device of our own gets the MTU the frames need. A virtual one carries what its buffers hold whatever its
// MTU says (memif refuses to be told), or its kernel interface is not ours to change.
Expected<> raise_mtu(std::uint16_t id, const std::string& name, const PortRequest& request) {
  if (name.starts_with("net_")) return {};
  const auto needed = static_cast<std::uint16_t>(request.largest_frame.count() - kEthernetHeader);
  std::uint16_t mtu = 0;
  if (rte_eth_dev_get_mtu(id, &mtu) == 0 && mtu >= needed) return {};
  if (const int status = rte_eth_dev_set_mtu(id, needed)) {
    return refused(status, name, fmt::format("its MTU is {} and cannot be made {}", mtu, needed));
  }
  return {};
}

// A client of memif does not start while nobody listens at its socket, and one that came while the server was
// still starting was sent away and does not try again by itself: it is started anew until its link is up.
int start_memif_client(std::uint16_t id) {
  constexpr int kTries = 20;
  constexpr unsigned kLooks = 25, kLookUs = 10'000;
  int status = 0;
  const QuietLog quiet("pmd.net.memif");
  for (int i = 0; i < kTries; ++i) {
    status = rte_eth_dev_start(id);
    for (unsigned look = 0; look < kLooks && !link_is_up(id); ++look) rte_delay_us_sleep(kLookUs);
    if (link_is_up(id)) return 0;
    if (status == 0) rte_eth_dev_stop(id);
  }
  return status == 0 ? -ETIMEDOUT : status;
}

Expected<> EthdevPort::start(const PortRequest& request, const rte_eth_dev_info& info) {
  const rte_eth_conf wanted = configuration(request, info);
  const auto count = static_cast<std::uint16_t>(request.queues);
  if (const int status = rte_eth_dev_configure(id_, count, count, &wanted)) {
    return refused(status, capabilities_.name, fmt::format("{} queues", count));
  }
  if (auto raised = raise_mtu(id_, capabilities_.name, request); !raised) return raised;
  rte_eth_dev_adjust_nb_rx_tx_desc(id_, &receive_ring_, &transmit_ring_);
  for (std::uint16_t index = 0; index < count; ++index) {
    if (auto added = add_queue(index, info); !added) return added;
  }
  const bool is_client = is_memif_client(request.eal_arguments, capabilities_.name);
  if (const int status = is_client ? start_memif_client(id_) : rte_eth_dev_start(id_)) {
    return refused(status, capabilities_.name, is_client ? "no memif server answers" : "it does not start");
  }
  // Devices without a say in it (memif, ring) refuse; they see every frame anyway.
  if (request.promiscuous) (void)rte_eth_promiscuous_enable(id_);
  return {};
}

// The devices as one port.
class EthdevPorts final : public Port {
 public:
  EthdevPorts(std::vector<std::unique_ptr<EthdevPort>> devices, unsigned queues)
      : devices_(std::move(devices)), queues_(queues) {
    for (unsigned queue = 0; queue < queues && devices_.size() > 1; ++queue) {
      std::vector<GroupMember*> members;
      for (const auto& device : devices_) members.push_back(&device->queue(queue));
      groups_.push_back(std::make_unique<QueueGroup>(std::move(members)));
    }
  }
  unsigned queues() const override { return queues_; }
  Queue& queue(unsigned index) override {
    if (groups_.empty()) return devices_.front()->queue(index);
    return *groups_.at(index);
  }
  bool is_link_up() const override {
    return std::all_of(devices_.begin(), devices_.end(),
                       [](const auto& device) { return device->is_link_up(); });
  }
  void run(void (*body)(void* argument, unsigned queue), void* argument) override;
  void close() override {
    for (const auto& device : devices_) device->close();
    remove_runtime_folder();
  }

 private:
  std::vector<std::unique_ptr<EthdevPort>> devices_;
  std::vector<std::unique_ptr<QueueGroup>> groups_;  // by queue; empty with one device
  unsigned queues_;
};

void EthdevPorts::run(void (*body)(void* argument, unsigned queue), void* argument) {
  struct Shard {
    void (*body)(void*, unsigned);
    void* argument;
    unsigned queue;
  };
  std::vector<Shard> shards;
  for (unsigned queue = 0; queue < queues(); ++queue) shards.push_back({body, argument, queue});
  unsigned next = 1, lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) {
    if (next == queues()) break;
    rte_eal_remote_launch(
        [](void* shard) {
          const auto* self = static_cast<const Shard*>(shard);
          self->body(self->argument, self->queue);
          return 0;
        },
        &shards[next++], lcore);
  }
  body(argument, 0);
  rte_eal_mp_wait_lcore();
}

Bytes largest_buffered_frame(const PortRequest& request, const rte_eth_dev_info& info) {
  const bool is_xdp = std::string_view(info.driver_name) == "net_af_xdp";
  return is_xdp ? std::min(request.largest_frame, Bytes(kLargestXdpFrame)) : request.largest_frame;
}

// The kernel's interfaces under a virtual device; net_pcap tells their index only sometimes.
std::vector<std::string> interfaces_under(const rte_eth_dev_info& info) {
  const rte_devargs* devargs = info.device == nullptr ? nullptr : rte_dev_devargs(info.device);
  if (std::string_view(info.driver_name) == "net_pcap" && devargs != nullptr && devargs->args != nullptr) {
    return pcap_interfaces(devargs->args);
  }
  char name[IF_NAMESIZE] = "";
  if (info.if_index == 0 || if_indextoname(info.if_index, name) == nullptr) return {};
  return {name};
}

// The longest frame that all of them take: what is longer vanishes or is refused, as the driver likes. Empty:
// there are none, or they do not say.
std::optional<Bytes> largest_interface_frame(const PortRequest& request, const rte_eth_dev_info& info) {
  std::optional<Bytes> least;
  for (const std::string& name : interfaces_under(info)) {
    const auto text = read_attribute(RootedPath(request.root)(fmt::format("/sys/class/net/{}/mtu", name)));
    std::int64_t mtu = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), mtu).ec != std::errc()) continue;
    least = std::min(least.value_or(Bytes(INT64_MAX)), Bytes(mtu + kEthernetHeader));
  }
  return least;
}

port::Capabilities capabilities_of(std::uint16_t id, const PortRequest& request,
                                   const rte_eth_dev_info& info) {
  port::Capabilities capabilities{.name = name_of(id),
                                  .driver = info.driver_name,
                                  .largest_frame = largest_buffered_frame(request, info),
                                  .transmit_buffers = kTransmitBuffers};
  if (const auto most = largest_interface_frame(request, info)) {
    capabilities.largest_frame = std::min(capabilities.largest_frame, *most);
  }
  rte_ether_addr mac{};
  if (rte_eth_macaddr_get(id, &mac) == 0) std::memcpy(capabilities.mac.octets.data(), mac.addr_bytes, 6);
  // What a virtual device says about its speed is a constant in its driver.
  rte_eth_link link{};
  const bool is_virtual = capabilities.name.starts_with("net_");
  if (!is_virtual && rte_eth_link_get_nowait(id, &link) == 0 &&
      link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN && link.link_speed != RTE_ETH_SPEED_NUM_NONE) {
    capabilities.link_speed = megabits_per_second(link.link_speed);
  }
  return capabilities;
}

Expected<std::unique_ptr<EthdevPort>> start_device(std::uint16_t id, const PortRequest& request) {
  const std::string name = name_of(id);
  rte_eth_dev_info info{};
  if (const int status = rte_eth_dev_info_get(id, &info)) return refused(status, name, "no information");
  if (request.wants_roce && has_own_roce_transport(info.driver_name)) {
    const auto device = roce_device_of(RootedPath(request.root), name);
    if (device) return fail(ErrorKind::unsupported, "{}", roce_owns_port_text(name, *device));
  }
  if (info.max_rx_queues < request.queues || info.max_tx_queues < request.queues) {
    return fail(ErrorKind::unsupported, "{} has {} receive and {} transmit queues, and {} are wanted", name,
                info.max_rx_queues, info.max_tx_queues, request.queues);
  }
  auto port = std::make_unique<EthdevPort>(id, capabilities_of(id, request, info),
                                           largest_buffered_frame(request, info));
  if (auto started = port->start(request, info); !started) return tl::unexpected(started.error());
  return port;
}

}  // namespace

Expected<PortHandle> start_port(const PortRequest& request) {
  if (rte_lcore_count() < request.queues) {
    return fail(ErrorKind::bad_input, "{} queues need {} cores, and EAL has {}; give it more (-l 0-{})",
                request.queues, request.queues, rte_lcore_count(), request.queues - 1);
  }
  const auto ids = choose_ports(request.port);
  if (!ids) return tl::unexpected(ids.error());
  const NoBrokenPipeSignal no_signal;
  std::vector<std::unique_ptr<EthdevPort>> devices;
  for (const std::uint16_t id : *ids) {
    auto device = start_device(id, request);
    if (!device) return tl::unexpected(device.error());
    devices.push_back(std::move(*device));
  }
  auto* ports = new EthdevPorts(std::move(devices), request.queues);
  return PortHandle(ports, [](Port* port) { delete static_cast<EthdevPorts*>(port); });
}

}  // namespace rocetune::dpdk
