#include "agent/evidence/host_tools/rdma_counter_names.h"

#include <algorithm>
#include <array>

namespace rocetune::evidence {
namespace {

constexpr auto kRdmaNames = std::to_array<std::string_view>(
    {// mlx5
     "cc_rx_ce_pkts", "cc_rx_cnp_pkts", "cc_tx_cnp_pkts", "duplicate_request", "implied_nak_seq_err",
     "local_ack_timeout_err", "np_cnp_sent", "np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence",
     "packet_seq_err", "req_cqe_error", "req_cqe_flush_error", "req_remote_access_errors",
     "req_remote_invalid_request", "req_rnr_retries_exceeded", "req_transport_retries_exceeded",
     "resp_cqe_error", "resp_cqe_flush_error", "resp_local_length_error", "resp_remote_access_errors",
     "rnr_nak_retry_err", "roce_adp_retrans", "roce_adp_retrans_to", "roce_slow_restart",
     "roce_slow_restart_cnps", "roce_slow_restart_trans", "rp_cnp_handled", "rp_cnp_ignored",
     "rx_atomic_requests", "rx_dct_connect", "rx_icrc_encapsulated", "rx_read_requests", "rx_write_requests",
     "rdma_rx_bytes", "rdma_rx_packets", "rdma_tx_bytes", "rdma_tx_packets", "lifespan",
     // rxe
     "ack_deferred", "completer_retry_err", "out_of_seq_request", "rcvd_pkts", "rcvd_rnr_err", "rcvd_seq_err",
     "rdma_recvs", "rdma_sends", "retry_exceeded_err", "retry_rnr_exceeded_err", "send_err", "send_rnr_err",
     "sent_pkts", "link_downed",
     // bnxt_re
     "active_ahs", "active_cqs", "active_mrs", "active_mws", "active_pds", "active_qps", "active_rc_qps",
     "active_srqs", "active_ud_qps", "bad_resp_err", "dup_req", "local_protection_err", "local_qp_op_err",
     "max_retry_exceeded", "mem_mgmt_op_err", "missing_resp", "oos_drop_count", "recoverable_errors",
     "remote_access_err", "remote_invalid_req_err", "remote_op_err", "res_cmp_err", "res_oos_drop_count",
     "rnr_naks_rcvd", "rnr_naks_max", "rx_atomic_req", "rx_cnp_pkts", "rx_ecn_marked_pkts",
     "rx_out_of_buffer_pkts", "rx_out_of_sequence_pkts", "rx_read_req", "rx_read_resp", "rx_roce_discards",
     "rx_roce_error_pkts", "rx_roce_errors", "rx_roce_good_bytes", "rx_roce_good_pkts", "rx_roce_only_bytes",
     "rx_roce_only_pkts", "rx_send_req", "rx_write_req", "seq_err_naks_rcvd", "to_retransmits",
     "tx_atomic_req", "tx_cnp_pkts", "tx_read_req", "tx_read_resp", "tx_roce_discards", "tx_roce_errors",
     "tx_roce_only_bytes", "tx_roce_only_pkts", "tx_send_req", "tx_write_req", "unrecoverable_err",
     "watermark_ahs",
     // irdma
     "cnpHandled", "cnpIgnored", "cnpSent", "InRdmaReads", "InRdmaSends", "InRdmaWrites", "OutRdmaReads",
     "OutRdmaSends", "OutRdmaWrites", "RxECNMrkd", "RxUDP", "TxUDP", "rxVlanErrors", "tcpRetransSegs",
     // port counters of every driver
     "excessive_buffer_overrun_errors", "link_error_recovery", "local_link_integrity_errors",
     "multicast_rcv_packets", "multicast_xmit_packets", "port_rcv_constraint_errors", "port_rcv_data",
     "port_rcv_errors", "port_rcv_packets", "port_rcv_remote_physical_errors", "port_rcv_switch_relay_errors",
     "port_xmit_constraint_errors", "port_xmit_data", "port_xmit_discards", "port_xmit_packets",
     "port_xmit_wait", "symbol_error", "unicast_rcv_packets", "unicast_xmit_packets", "VL15_dropped"});

constexpr auto sorted() {
  auto names = kRdmaNames;
  std::sort(names.begin(), names.end());
  return names;
}
constexpr auto kSortedRdmaNames = sorted();

}  // namespace

bool is_rdma_counter(std::string_view name) {
  if (name.starts_with("vport_")) name.remove_prefix(6);  // of a switchdev representor
  // ionic, and irdma's counters of the first version.
  for (const std::string_view prefix : {"req_rx_", "req_tx_", "resp_rx_", "resp_tx_", "rx_rdma_", "tx_rdma_",
                                        "iwInRdma", "iwOutRdma", "ip4In", "ip4Out"}) {
    if (name.starts_with(prefix)) return true;
  }
  return std::binary_search(kSortedRdmaNames.begin(), kSortedRdmaNames.end(), name);
}

}  // namespace rocetune::evidence
