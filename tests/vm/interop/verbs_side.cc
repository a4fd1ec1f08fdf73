// The kernel's side: queue pairs of an RDMA device through libibverbs.
//
// usage: interop-verbs RDMA-DEVICE

#include <arpa/inet.h>
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "dataplane/wire/ip.h"
#include "tests/vm/interop/side.h"

namespace rocetune::interop {
namespace {

constexpr std::uint8_t kPort = 1;
constexpr std::uint32_t kSends = 128;
constexpr std::uint32_t kReceives = 4096;
constexpr std::uint8_t kReads = 16;     // READs and atomics in flight
constexpr std::uint8_t kRnrTimer = 12;  // 0.64 ms
constexpr int kAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

// Linux' rxe_resp.c puts the kernel's IB_WC_WITH_INVALIDATE (rdma/ib_verbs.h) into completions for user
// space, where this bit has another meaning (IBV_WC_IP_CSUM_OK, which rxe never sets) and IBV_WC_WITH_INV is
// the next.
constexpr unsigned kRxeWithInvalidate = 1U << 2;

// The engine's word for it.
std::string status_of(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "success";
    case IBV_WC_LOC_LEN_ERR:
      return "local_length_error";
    case IBV_WC_LOC_PROT_ERR:
      return "local_protection_error";
    case IBV_WC_REM_INV_REQ_ERR:
      return "remote_invalid_request";
    case IBV_WC_REM_ACCESS_ERR:
      return "remote_access_error";
    case IBV_WC_REM_OP_ERR:
      return "remote_operational_error";
    case IBV_WC_RETRY_EXC_ERR:
      return "retries_exceeded";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "rnr_retries_exceeded";
    case IBV_WC_WR_FLUSH_ERR:
      return "flushed";
    default:
      return ibv_wc_status_str(status);
  }
}

ibv_wr_opcode opcode_of(Operation operation) {
  switch (operation) {
    case Operation::send:
      return IBV_WR_SEND;
    case Operation::send_immediate:
      return IBV_WR_SEND_WITH_IMM;
    case Operation::send_invalidate:
      return IBV_WR_SEND_WITH_INV;
    case Operation::write:
      return IBV_WR_RDMA_WRITE;
    case Operation::write_immediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Operation::read:
      return IBV_WR_RDMA_READ;
    case Operation::compare_swap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Operation::fetch_add:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
  return IBV_WR_SEND;
}

ibv_mtu mtu_of(std::uint32_t bytes) {
  int code = IBV_MTU_256;
  while (code < IBV_MTU_4096 && 128U << code < bytes) ++code;
  return static_cast<ibv_mtu>(code);
}

ibv_gid gid_of(const wire::IpAddress& address) {
  ibv_gid gid{};
  std::memcpy(gid.raw, address.octets.data(), sizeof gid.raw);
  return gid;
}

class VerbsSide final : public Side {
 public:
  Expected<> start(const std::string& device);
  Expected<Address> open(const Command& command) override;
  Expected<> connect(const Command& command) override;
  Expected<std::uint32_t> open_window() override;
  Expected<> post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length) override;
  Expected<> post(const Request& request) override;
  Expected<> turn(std::vector<Done>& done) override;
  Expected<> close() override;
  std::span<std::byte> memory() override { return memory_; }
  // The device's are in sysfs, where the suite reads them.
  std::map<std::string, std::uint64_t> counters() override { return {}; }

 private:
  // The place in the GID table of RoCE v2 with this address.
  Expected<std::uint8_t> gid_index(const wire::IpAddress& address);
  ibv_sge piece(std::uint64_t offset, std::uint32_t length) {
    return {reinterpret_cast<std::uintptr_t>(memory_.data()) + offset, length, region_->lkey};
  }

  alignas(4096) std::array<std::byte, kMemory> memory_{};
  ibv_context* context_ = nullptr;
  ibv_pd* domain_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_qp* pair_ = nullptr;
  std::uint8_t gid_index_ = 0;
  Address peer_;
  std::vector<ibv_mw*> windows_;
};

Expected<> VerbsSide::start(const std::string& name) {
  ibv_device** list = ibv_get_device_list(nullptr);
  for (ibv_device** at = list; at != nullptr && *at != nullptr; ++at) {
    if (ibv_get_device_name(*at) == name) context_ = ibv_open_device(*at);
  }
  if (list != nullptr) ibv_free_device_list(list);
  if (context_ == nullptr) return fail_os(errno, "{}: cannot be opened", name);
  domain_ = ibv_alloc_pd(context_);
  if (domain_ != nullptr)
    region_ = ibv_reg_mr(domain_, memory_.data(), memory_.size(), kAccess | IBV_ACCESS_MW_BIND);
  if (region_ == nullptr) return fail_os(errno, "{}: no memory region", name);
  completions_ = ibv_create_cq(context_, kSends + kReceives, nullptr, nullptr, 0);
  if (completions_ == nullptr) return fail_os(errno, "{}: no completion queue", name);
  return {};
}

Expected<std::uint8_t> VerbsSide::gid_index(const wire::IpAddress& address) {
  const ibv_gid wanted = gid_of(address);
  for (std::uint8_t index = 0; index < 255; ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context_, kPort, index, &entry, 0) != 0) continue;
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && std::memcmp(&entry.gid, &wanted, sizeof wanted) == 0)
      return index;
  }
  return fail(ErrorKind::absent, "no GID {} of RoCE v2", to_text(address));
}

Expected<Address> VerbsSide::open(const Command& command) {
  const auto own = wire::parse_ip_address(command.gid);
  if (!own) return fail(ErrorKind::bad_input, "gid {}", command.gid);
  const auto index = gid_index(*own);
  if (!index) return tl::unexpected(index.error());
  gid_index_ = *index;
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_;
  wanted.cap = {.max_send_wr = kSends, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1};
  wanted.qp_type = IBV_QPT_RC;
  wanted.sq_sig_all = 1;
  pair_ = ibv_create_qp(domain_, &wanted);
  if (pair_ == nullptr) return fail_os(errno, "no queue pair");
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = kPort;
  attributes.qp_access_flags = kAccess;
  if (const int status = ibv_modify_qp(pair_, &attributes,
                                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
    return fail_os(status, "queue pair to INIT");
  return Address{pair_->qp_num, command.psn, command.gid, region_->rkey,
                 reinterpret_cast<std::uintptr_t>(memory_.data())};
}

Expected<> VerbsSide::connect(const Command& command) {
  peer_ = command.peer;
  const auto gid = wire::parse_ip_address(peer_.gid);
  if (!gid) return fail(ErrorKind::bad_input, "peer's gid {}", peer_.gid);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtu_of(command.mtu);
  attributes.dest_qp_num = peer_.qpn;
  attributes.rq_psn = peer_.psn;
  attributes.max_dest_rd_atomic = kReads;
  attributes.min_rnr_timer = kRnrTimer;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = kPort;
  attributes.ah_attr.grh.dgid = gid_of(*gid);
  attributes.ah_attr.grh.sgid_index = gid_index_;
  attributes.ah_attr.grh.hop_limit = 64;
  if (const int status = ibv_modify_qp(pair_, &attributes,
                                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
    return fail_os(status, "queue pair to RTR");
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = static_cast<std::uint8_t>(command.ack_timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(command.retry_count);
  attributes.rnr_retry = static_cast<std::uint8_t>(command.rnr_retry);
  attributes.sq_psn = command.psn;
  attributes.max_rd_atomic = kReads;
  if (const int status = ibv_modify_qp(pair_, &attributes,
                                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
    return fail_os(status, "queue pair to RTS");
  return {};
}

// A memory window of type 2, which is what a peer may invalidate: its key's last byte is the binder's choice.
Expected<std::uint32_t> VerbsSide::open_window() {
  ibv_mw* window = ibv_alloc_mw(domain_, IBV_MW_TYPE_2);
  if (window == nullptr) return fail_os(errno, "no memory window");
  windows_.push_back(window);
  ibv_send_wr bind{};
  bind.opcode = IBV_WR_BIND_MW;
  bind.bind_mw.mw = window;
  bind.bind_mw.rkey = ibv_inc_rkey(window->rkey);
  bind.bind_mw.bind_info = {.mr = region_,
                            .addr = reinterpret_cast<std::uintptr_t>(memory_.data()),
                            .length = memory_.size(),
                            .mw_access_flags = kAccess & ~IBV_ACCESS_LOCAL_WRITE};
  ibv_send_wr* bad = nullptr;
  if (const int status = ibv_post_send(pair_, &bind, &bad)) return fail_os(status, "memory window");
  ibv_wc completion{};
  int count = 0;
  while (count == 0) count = ibv_poll_cq(completions_, 1, &completion);
  if (count < 0 || completion.status != IBV_WC_SUCCESS) {
    return fail(ErrorKind::io, "binding a memory window: {}",
                count < 0 ? "no answer" : status_of(completion.status));
  }
  return bind.bind_mw.rkey;
}

Expected<> VerbsSide::post_receive(std::uint64_t id, std::uint64_t offset, std::uint32_t length) {
  ibv_sge place = piece(offset, length);
  ibv_recv_wr request{.wr_id = id, .next = nullptr, .sg_list = &place, .num_sge = 1};
  ibv_recv_wr* bad = nullptr;
  if (const int status = ibv_post_recv(pair_, &request, &bad)) return fail_os(status, "receive {}", id);
  return {};
}

Expected<> VerbsSide::post(const Request& request) {
  ibv_sge place = piece(request.local, request.length);
  ibv_send_wr send{};
  send.wr_id = request.id;
  send.sg_list = &place;
  send.num_sge = 1;
  send.opcode = opcode_of(request.operation);
  if (request.operation == Operation::send_invalidate) {
    send.invalidate_rkey = request.key;
  } else {
    send.imm_data = htonl(request.immediate);
  }
  if (request.operation == Operation::compare_swap || request.operation == Operation::fetch_add) {
    send.wr.atomic.remote_addr = peer_.memory + request.remote;
    send.wr.atomic.rkey = request.key;
    const bool swaps = request.operation == Operation::compare_swap;
    send.wr.atomic.compare_add = swaps ? request.compare : request.swap_or_add;
    send.wr.atomic.swap = request.swap_or_add;
  } else {
    send.wr.rdma.remote_addr = peer_.memory + request.remote;
    send.wr.rdma.rkey = request.key;
  }
  ibv_send_wr* bad = nullptr;
  if (const int status = ibv_post_send(pair_, &send, &bad)) return fail_os(status, "request {}", request.id);
  return {};
}

Expected<> VerbsSide::turn(std::vector<Done>& done) {
  std::array<ibv_wc, 32> polled;
  const int count = ibv_poll_cq(completions_, static_cast<int>(polled.size()), polled.data());
  if (count < 0) return fail(ErrorKind::io, "ibv_poll_cq fails");
  for (int i = 0; i < count; ++i) {
    const ibv_wc& completion = polled[static_cast<std::size_t>(i)];
    Done& one = done.emplace_back();
    one.id = completion.wr_id;
    // After an error only wr_id, status and qp_num mean anything; a failed receive is not told from a failed
    // request, and both end the case.
    one.status = status_of(completion.status);
    if (completion.status != IBV_WC_SUCCESS) continue;
    one.is_receive = (completion.opcode & IBV_WC_RECV) != 0;
    one.length = one.is_receive ? completion.byte_len : 0;
    if ((completion.wc_flags & IBV_WC_WITH_IMM) != 0) one.immediate = ntohl(completion.imm_data);
    if ((completion.wc_flags & (IBV_WC_WITH_INV | kRxeWithInvalidate)) != 0)
      one.invalidated = completion.invalidated_rkey;
  }
  if (count == 0) {
    const timespec moment{.tv_nsec = 100'000};  // the CPU is the other side's, and the kernel's
    nanosleep(&moment, nullptr);
  }
  return {};
}

Expected<> VerbsSide::close() {
  for (ibv_mw* window : windows_) {  // first: a bound one holds its queue pair
    if (const int status = ibv_dealloc_mw(window)) return fail_os(status, "memory window");
  }
  windows_.clear();
  if (const int status = ibv_destroy_qp(pair_)) return fail_os(status, "queue pair");
  pair_ = nullptr;
  return {};
}

}  // namespace
}  // namespace rocetune::interop

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: interop-verbs RDMA-DEVICE\n", stderr);
    return 2;
  }
  const auto side = std::make_unique<rocetune::interop::VerbsSide>();
  if (const auto started = side->start(argv[1]); !started) {
    std::fprintf(stderr, "%s\n", started.error().text().c_str());
    return 1;
  }
  return rocetune::interop::serve(*side);
}
