// SPDX-License-Identifier: GPL-2.0
/*
 * All counters of a NIC under mlx5's names. A counter has a base that traffic
 * and tests move, and a rate that a test may give it: a value that runs by
 * itself, as in a storm.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "testnic.h"

struct tn_counter_info {
	char			name[ETH_GSTRING_LEN];
	enum tn_counter_set	set;
	enum tn_visibility	show;
	u8			prio;
};

#define TN_NOT_LIVE (-1)

struct tn_named {
	const char	*name;
	int		live;	/* enum tn_live_counter or TN_NOT_LIVE */
};

/* In mlx5's order: software, queues, vport, 802.3, PHY, PCIe. */
static const struct tn_named tn_head[] = {
	{ "rx_packets", TN_RX_PACKETS },
	{ "rx_bytes", TN_RX_BYTES },
	{ "tx_packets", TN_TX_PACKETS },
	{ "tx_bytes", TN_TX_BYTES },
	{ "rx_ecn_mark", TN_NOT_LIVE },
	{ "rx_out_of_buffer", TN_NOT_LIVE },
	{ "rx_if_down_packets", TN_NOT_LIVE },
	{ "rx_steer_missed_packets", TN_NOT_LIVE },
	{ "dev_internal_queue_oob", TN_NOT_LIVE },
	{ "dev_out_of_buffer", TN_NOT_LIVE },
	{ "rx_vport_rdma_unicast_packets", TN_RX_VPORT_RDMA_PACKETS },
	{ "rx_vport_rdma_unicast_bytes", TN_RX_VPORT_RDMA_BYTES },
	{ "tx_vport_rdma_unicast_packets", TN_TX_VPORT_RDMA_PACKETS },
	{ "tx_vport_rdma_unicast_bytes", TN_TX_VPORT_RDMA_BYTES },
	{ "tx_packets_phy", TN_TX_PACKETS_PHY },
	{ "rx_packets_phy", TN_RX_PACKETS_PHY },
	{ "rx_crc_errors_phy", TN_RX_CRC_ERRORS },
	{ "tx_bytes_phy", TN_TX_BYTES_PHY },
	{ "rx_bytes_phy", TN_RX_BYTES_PHY },
	{ "rx_in_range_len_errors_phy", TN_NOT_LIVE },
	{ "rx_out_of_range_len_phy", TN_NOT_LIVE },
	{ "rx_oversize_pkts_phy", TN_RX_OVERSIZE },
	{ "rx_symbol_err_phy", TN_NOT_LIVE },
	{ "rx_unsupported_op_phy", TN_NOT_LIVE },
	{ "rx_pause_ctrl_phy", TN_RX_PAUSE_CTRL },
	{ "tx_pause_ctrl_phy", TN_TX_PAUSE_CTRL },
	{ "rx_discards_phy", TN_RX_DISCARDS },
	{ "tx_discards_phy", TN_TX_DISCARDS },
	{ "tx_errors_phy", TN_NOT_LIVE },
	{ "rx_undersize_pkts_phy", TN_NOT_LIVE },
	{ "rx_fragments_phy", TN_NOT_LIVE },
	{ "rx_jabbers_phy", TN_NOT_LIVE },
	{ "link_down_events_phy", TN_LINK_DOWN_EVENTS },
	{ "rx_pcs_symbol_err_phy", TN_NOT_LIVE },
	{ "rx_corrected_bits_phy", TN_NOT_LIVE },
	{ "rx_err_lane_0_phy", TN_NOT_LIVE },
	{ "rx_err_lane_1_phy", TN_NOT_LIVE },
	{ "rx_err_lane_2_phy", TN_NOT_LIVE },
	{ "rx_err_lane_3_phy", TN_NOT_LIVE },
	{ "rx_buffer_passed_thres_phy", TN_NOT_LIVE },
	{ "rx_pci_signal_integrity", TN_NOT_LIVE },
	{ "tx_pci_signal_integrity", TN_NOT_LIVE },
	{ "outbound_pci_stalled_rd", TN_NOT_LIVE },
	{ "outbound_pci_stalled_wr", TN_NOT_LIVE },
	{ "outbound_pci_stalled_rd_events", TN_NOT_LIVE },
	{ "outbound_pci_stalled_wr_events", TN_NOT_LIVE },
	{ "outbound_pci_buffer_overflow", TN_NOT_LIVE },
};

static const struct {
	const char		*format;
	enum tn_visibility	show;
} tn_prio_rows[TN_PRIO_COUNTERS] = {
	[TN_PRIO_RX_BYTES]		= { "rx_prio%u_bytes" },
	[TN_PRIO_RX_PACKETS]		= { "rx_prio%u_packets" },
	[TN_PRIO_RX_DISCARDS]		= { "rx_prio%u_discards" },
	[TN_PRIO_TX_BYTES]		= { "tx_prio%u_bytes" },
	[TN_PRIO_TX_PACKETS]		= { "tx_prio%u_packets" },
	[TN_PRIO_RX_PAUSE]		= { "rx_prio%u_pause", TN_SHOW_PFC },
	[TN_PRIO_RX_PAUSE_DURATION]	= { "rx_prio%u_pause_duration", TN_SHOW_PFC },
	[TN_PRIO_TX_PAUSE]		= { "tx_prio%u_pause", TN_SHOW_PFC },
	[TN_PRIO_TX_PAUSE_DURATION]	= { "tx_prio%u_pause_duration", TN_SHOW_PFC },
	[TN_PRIO_RX_PAUSE_TRANSITION]	= { "rx_prio%u_pause_transition", TN_SHOW_PFC },
	[TN_PRIO_RX_BUF_DISCARD]	= { "rx_prio%u_buf_discard" },
	[TN_PRIO_RX_CONG_DISCARD]	= { "rx_prio%u_cong_discard" },
	[TN_PRIO_RX_MARKED]		= { "rx_prio%u_marked" },
};

static const char * const tn_global_pause[] = {
	"rx_global_pause", "rx_global_pause_duration",
	"tx_global_pause", "tx_global_pause_duration",
	"rx_global_pause_transition",
};

static const struct tn_named tn_tail[] = {
	{ "tx_pause_storm_warning_events", TN_NOT_LIVE },
	{ "tx_pause_storm_error_events", TN_NOT_LIVE },
	{ "module_unplug", TN_NOT_LIVE },
	{ "module_bus_stuck", TN_NOT_LIVE },
	{ "module_high_temp", TN_NOT_LIVE },
	{ "module_bad_shorted", TN_NOT_LIVE },
	{ "rx0_ecn_mark", TN_RX_ECN_MARK },
};

static const char * const tn_queue[] = {
	"rx_write_requests", "rx_read_requests", "rx_atomic_requests",
	"rx_dct_connect", "out_of_buffer", "out_of_sequence",
	"duplicate_request", "rnr_nak_retry_err", "packet_seq_err",
	"implied_nak_seq_err", "local_ack_timeout_err",
	"resp_local_length_error", "resp_cqe_error", "req_cqe_error",
	"req_remote_invalid_request", "req_remote_access_errors",
	"resp_remote_access_errors", "resp_cqe_flush_error",
	"req_cqe_flush_error", "req_transport_retries_exceeded",
	"req_rnr_retries_exceeded", "roce_adp_retrans", "roce_adp_retrans_to",
	"roce_slow_restart", "roce_slow_restart_cnps",
	"roce_slow_restart_trans",
};

static const struct tn_named tn_congestion[] = {
	{ "rp_cnp_ignored", TN_NOT_LIVE },
	{ "rp_cnp_handled", TN_NOT_LIVE },
	{ "np_ecn_marked_roce_packets", TN_NP_ECN_MARKED },
	{ "np_cnp_sent", TN_NOT_LIVE },
	{ "rx_icrc_encapsulated", TN_NOT_LIVE },
};

static const char * const tn_optional[] = {
	"cc_rx_ce_pkts", "cc_rx_cnp_pkts", "cc_tx_cnp_pkts",
};

static const struct tn_named tn_port[] = {
	{ "port_xmit_data", TN_PORT_XMIT_DATA },
	{ "port_rcv_data", TN_PORT_RCV_DATA },
	{ "port_xmit_packets", TN_PORT_XMIT_PACKETS },
	{ "port_rcv_packets", TN_PORT_RCV_PACKETS },
	{ "port_xmit_wait", TN_NOT_LIVE },
	{ "port_xmit_discards", TN_NOT_LIVE },
	{ "port_rcv_errors", TN_NOT_LIVE },
	{ "link_downed", TN_NOT_LIVE },
};

static struct tn_counter_info *tn_info;
static unsigned int tn_count;
static unsigned int tn_live_index[TN_LIVE_COUNTERS];
static unsigned int tn_prio_index[TN_PRIOS];

static struct tn_counter_info *tn_new(enum tn_counter_set set)
{
	struct tn_counter_info *info = &tn_info[tn_count++];

	info->set = set;
	return info;
}

static void tn_new_named(enum tn_counter_set set, const struct tn_named *rows,
			 unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (rows[i].live != TN_NOT_LIVE)
			tn_live_index[rows[i].live] = tn_count;
		strscpy(tn_new(set)->name, rows[i].name, ETH_GSTRING_LEN);
	}
}

static void tn_new_plain(enum tn_counter_set set, const char * const *names,
			 unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		strscpy(tn_new(set)->name, names[i], ETH_GSTRING_LEN);
}

static void tn_new_prio_rows(unsigned int prio)
{
	struct tn_counter_info *info;
	unsigned int row;

	tn_prio_index[prio] = tn_count;
	for (row = 0; row < TN_PRIO_COUNTERS; row++) {
		info = tn_new(TN_SET_ETHTOOL);
		info->show = tn_prio_rows[row].show;
		info->prio = prio;
		snprintf(info->name, ETH_GSTRING_LEN, tn_prio_rows[row].format,
			 prio);
	}
}

int tn_counter_table_init(void)
{
	unsigned int i, room;

	room = ARRAY_SIZE(tn_head) + TN_PRIOS * TN_PRIO_COUNTERS +
	       ARRAY_SIZE(tn_global_pause) + ARRAY_SIZE(tn_tail) +
	       ARRAY_SIZE(tn_queue) + ARRAY_SIZE(tn_congestion) +
	       ARRAY_SIZE(tn_optional) + ARRAY_SIZE(tn_port);
	tn_info = kcalloc(room, sizeof(*tn_info), GFP_KERNEL);
	if (!tn_info)
		return -ENOMEM;
	tn_new_named(TN_SET_ETHTOOL, tn_head, ARRAY_SIZE(tn_head));
	for (i = 0; i < TN_PRIOS; i++)
		tn_new_prio_rows(i);
	for (i = 0; i < ARRAY_SIZE(tn_global_pause); i++) {
		struct tn_counter_info *info = tn_new(TN_SET_ETHTOOL);

		info->show = TN_SHOW_GLOBAL_PAUSE;
		strscpy(info->name, tn_global_pause[i], ETH_GSTRING_LEN);
	}
	tn_new_named(TN_SET_ETHTOOL, tn_tail, ARRAY_SIZE(tn_tail));
	tn_new_plain(TN_SET_QUEUE, tn_queue, ARRAY_SIZE(tn_queue));
	tn_new_named(TN_SET_CONGESTION, tn_congestion,
		     ARRAY_SIZE(tn_congestion));
	tn_new_plain(TN_SET_OPTIONAL, tn_optional, ARRAY_SIZE(tn_optional));
	tn_new_named(TN_SET_PORT, tn_port, ARRAY_SIZE(tn_port));
	return 0;
}

void tn_counter_table_exit(void)
{
	kfree(tn_info);
}

int tn_counters_alloc(struct tn_dev *nic)
{
	nic->counters = kcalloc(tn_count, sizeof(*nic->counters), GFP_KERNEL);
	return nic->counters ? 0 : -ENOMEM;
}

unsigned int tn_counter_count(void)
{
	return tn_count;
}

const char *tn_counter_name(unsigned int index)
{
	return tn_info[index].name;
}

enum tn_counter_set tn_counter_set_of(unsigned int index)
{
	return tn_info[index].set;
}

bool tn_counter_shown(struct tn_dev *nic, unsigned int index)
{
	switch (tn_info[index].show) {
	case TN_SHOW_PFC:
		return nic->pfc_en & BIT(tn_info[index].prio);
	case TN_SHOW_GLOBAL_PAUSE:
		return nic->rx_pause || nic->tx_pause;
	default:
		return true;
	}
}

static u64 tn_accrued(const struct tn_counter *counter, u64 now)
{
	if (!counter->rate)
		return 0;
	return mul_u64_u64_div_u64(now - counter->since_ns, counter->rate,
				   NSEC_PER_SEC);
}

u64 tn_counter_read(struct tn_dev *nic, unsigned int index)
{
	struct tn_counter *counter = &nic->counters[index];
	u64 value;

	spin_lock_bh(&nic->counter_lock);
	value = atomic64_read(&counter->base) +
		tn_accrued(counter, ktime_get_ns());
	spin_unlock_bh(&nic->counter_lock);
	if (tn_info[index].set == TN_SET_QUEUE)
		value = lower_32_bits(value);
	return value;
}

u64 tn_counter_rate(struct tn_dev *nic, unsigned int index)
{
	return READ_ONCE(nic->counters[index].rate);
}

void tn_counter_set(struct tn_dev *nic, unsigned int index, u64 value)
{
	struct tn_counter *counter = &nic->counters[index];

	spin_lock_bh(&nic->counter_lock);
	atomic64_set(&counter->base, value);
	counter->since_ns = ktime_get_ns();
	spin_unlock_bh(&nic->counter_lock);
}

void tn_counter_set_rate(struct tn_dev *nic, unsigned int index, u64 rate)
{
	struct tn_counter *counter = &nic->counters[index];
	u64 now = ktime_get_ns();

	spin_lock_bh(&nic->counter_lock);
	atomic64_add(tn_accrued(counter, now), &counter->base);
	counter->since_ns = now;
	counter->rate = rate;
	spin_unlock_bh(&nic->counter_lock);
}

void tn_counters_clear(struct tn_dev *nic)
{
	unsigned int i;

	for (i = 0; i < tn_count; i++) {
		tn_counter_set_rate(nic, i, 0);
		tn_counter_set(nic, i, 0);
	}
}

int tn_counter_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < tn_count; i++)
		if (!strcmp(tn_info[i].name, name))
			return i;
	return -ENOENT;
}

u64 tn_live_read(struct tn_dev *nic, enum tn_live_counter which)
{
	return tn_counter_read(nic, tn_live_index[which]);
}

void tn_live_add(struct tn_dev *nic, enum tn_live_counter which, u64 n)
{
	atomic64_add(n, &nic->counters[tn_live_index[which]].base);
}

void tn_prio_add(struct tn_dev *nic, unsigned int prio,
		 enum tn_prio_counter which, u64 n)
{
	atomic64_add(n, &nic->counters[tn_prio_index[prio] + which].base);
}

u64 tn_prio_read(struct tn_dev *nic, unsigned int prio,
		 enum tn_prio_counter which)
{
	return tn_counter_read(nic, tn_prio_index[prio] + which);
}
