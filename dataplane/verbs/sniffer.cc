#include "dataplane/verbs/sniffer.h"

#include <sys/mman.h>

#include <cerrno>

#include "dataplane/verbs/sniffer_queue.h"

namespace rocetune::verbs {
namespace {

// As many frames as arrive in half a millisecond at 100 Gb/s of 1 KiB each; jumbo frames fit a slot.
constexpr std::uint32_t kSlots = 4096;
constexpr std::uint32_t kSlotSize = 9728;
constexpr std::size_t kMemory = std::size_t{kSlots} * kSlotSize;

template <class T, int (*kDestroy)(T*)>
struct Destroy {
  void operator()(T* object) const { kDestroy(object); }
};
struct CloseContext {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
};
struct DestroyFlow {
  void operator()(ibv_flow* flow) const { ibv_destroy_flow(flow); }
};
struct Unmap {
  void operator()(std::byte* memory) const { munmap(memory, kMemory); }
};

// What was made is undone in reverse order, the flow first.
struct Resources {
  std::unique_ptr<ibv_context, CloseContext> context;
  std::unique_ptr<ibv_pd, Destroy<ibv_pd, ibv_dealloc_pd>> domain;
  std::unique_ptr<std::byte, Unmap> memory;
  std::unique_ptr<ibv_mr, Destroy<ibv_mr, ibv_dereg_mr>> region;
  std::unique_ptr<ibv_cq, Destroy<ibv_cq, ibv_destroy_cq>> completions;
  std::unique_ptr<ibv_qp, Destroy<ibv_qp, ibv_destroy_qp>> pair;
  std::unique_ptr<ibv_flow, DestroyFlow> flow;
  std::optional<BitRate> link_speed;
};

class PortSniffer final : public Sniffer {
 public:
  explicit PortSniffer(Resources resources)
      : resources_(std::move(resources)),
        queue_(*resources_.completions, *resources_.pair, {resources_.memory.get(), kMemory}, kSlotSize,
               resources_.region->lkey) {}
  Expected<> start() { return queue_.post_all(); }
  std::size_t receive(std::span<SniffedFrame> in) override { return queue_.receive(in); }
  void release(std::span<const SniffedFrame> done) override { queue_.release(done); }
  std::optional<BitRate> link_speed() const override { return resources_.link_speed; }
  const SnifferCounters& counters() const override { return queue_.counters(); }
  ibv_qp& pair() { return *resources_.pair; }
  void keep(ibv_flow* flow) { resources_.flow.reset(flow); }

 private:
  Resources resources_;
  SnifferQueue queue_;
};

Expected<> look_at_port(Resources& r, const SniffRequest& request) {
  ibv_port_attr port{};
  if (const int error = ibv_query_port(r.context.get(), request.port, &port); error != 0)
    return fail_os(error, "{} has no port {}", request.device, request.port);
  if (port.link_layer != IBV_LINK_LAYER_ETHERNET) {
    return fail(ErrorKind::unsupported, "{} port {} is no Ethernet link: there are no RoCE packets",
                request.device, request.port);
  }
  r.link_speed = link_rate(port.active_width, port.active_speed);
  return {};
}

Expected<> make_memory(Resources& r, const SniffRequest& request) {
  r.domain.reset(ibv_alloc_pd(r.context.get()));
  if (r.domain == nullptr) return fail_os(errno, "{}: ibv_alloc_pd", request.device);
  void* memory =
      mmap(nullptr, kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return fail_os(errno, "{} bytes to sniff into", kMemory);
  r.memory.reset(static_cast<std::byte*>(memory));
  r.region.reset(ibv_reg_mr(r.domain.get(), memory, kMemory, IBV_ACCESS_LOCAL_WRITE));
  if (r.region == nullptr) {
    return fail_os(errno, "{}: {} bytes cannot be registered (limit of locked memory: ulimit -l)",
                   request.device, kMemory);
  }
  return {};
}

Expected<> make_queue(Resources& r, const SniffRequest& request) {
  r.completions.reset(ibv_create_cq(r.context.get(), kSlots, nullptr, nullptr, 0));
  if (r.completions == nullptr) return fail_os(errno, "{}: ibv_create_cq", request.device);
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = r.completions.get();
  wanted.cap.max_recv_wr = kSlots;
  wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_RAW_PACKET;
  r.pair.reset(ibv_create_qp(r.domain.get(), &wanted));
  if (r.pair == nullptr) {
    const int error = errno;
    if (error == EPERM || error == EACCES)
      return fail_os(error, "{}: a raw packet queue pair needs CAP_NET_RAW", request.device);
    return fail(ErrorKind::unsupported,
                "{} has no raw packet queue pairs ({}): only --pcap and --dpdk work here", request.device,
                errno_text(error));
  }
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = request.port;
  if (const int error = ibv_modify_qp(r.pair.get(), &attributes, IBV_QP_STATE | IBV_QP_PORT); error != 0)
    return fail_os(error, "{}: ibv_modify_qp to INIT", request.device);
  return {};
}

Expected<> mirror(PortSniffer& sniffer, const SniffRequest& request) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  if (const int error = ibv_modify_qp(&sniffer.pair(), &attributes, IBV_QP_STATE); error != 0)
    return fail_os(error, "{}: ibv_modify_qp to RTR", request.device);
  ibv_flow_attr flow{};
  flow.type = IBV_FLOW_ATTR_SNIFFER;
  flow.size = sizeof flow;
  flow.port = request.port;
  errno = 0;
  ibv_flow* made = ibv_create_flow(&sniffer.pair(), &flow);
  if (made == nullptr) {
    const int error = errno;
    if (error == EPERM || error == EACCES)
      return fail_os(error, "{}: mirroring needs CAP_NET_RAW", request.device);
    return fail(ErrorKind::unsupported, "{} does not mirror its own RoCE packets ({})", request.device,
                errno_text(error));
  }
  sniffer.keep(made);
  return {};
}

}  // namespace

std::optional<BitRate> link_rate(std::uint8_t active_width, std::uint8_t active_speed) {
  std::int64_t lanes = 0;
  switch (active_width) {
    case 1:
      lanes = 1;
      break;
    case 2:
      lanes = 4;
      break;
    case 4:
      lanes = 8;
      break;
    case 8:
      lanes = 12;
      break;
    case 16:
      lanes = 2;
      break;
    default:
      return std::nullopt;
  }
  // Per lane, in Mb/s: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR.
  switch (active_speed) {
    case 1:
      return BitRate(lanes * 2'500'000'000);
    case 2:
      return BitRate(lanes * 5'000'000'000);
    case 4:
    case 8:
      return BitRate(lanes * 10'000'000'000);
    case 16:
      return BitRate(lanes * 14'000'000'000);
    case 32:
      return BitRate(lanes * 25'000'000'000);
    case 64:
      return BitRate(lanes * 50'000'000'000);
    case 128:
      return BitRate(lanes * 100'000'000'000);
    default:
      return std::nullopt;
  }
}

Expected<std::unique_ptr<Sniffer>> open_sniffer(ibv_context* context, const SniffRequest& request) {
  Resources resources;
  resources.context.reset(context);
  for (const auto step : {look_at_port, make_memory, make_queue}) {
    if (auto done = step(resources, request); !done) return tl::unexpected(done.error());
  }
  auto sniffer = std::make_unique<PortSniffer>(std::move(resources));
  if (auto posted = sniffer->start(); !posted) return tl::unexpected(posted.error());
  if (auto mirrored = mirror(*sniffer, request); !mirrored) return tl::unexpected(mirrored.error());
  return sniffer;
}

}  // namespace rocetune::verbs
