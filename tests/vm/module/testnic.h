/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A NIC for tests that behaves as mlx5 does where a host tool can see it:
 * DCB netlink, ethtool, RDMA counters and GIDs, cc_params in debugfs.
 *
 * Statements about mlx5 are about Linux 6.1's drivers/net/ethernet/mellanox
 * and drivers/infiniband/hw/mlx5; what the firmware decides is marked so.
 */
#ifndef TESTNIC_H
#define TESTNIC_H

#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <net/dcbnl.h>
#include <net/devlink.h>

#define TN_PRIOS		8
#define TN_DSCPS		64
#define TN_TCS			8
#define TN_BUFFERS		8
#define TN_MAX_NICS		16

#define TN_DRIVER_NAME		"mlx5_core"
#define TN_FW_VERSION		"22.39.1002"
#define TN_PSID			"MT_0000000359"
#define TN_MAX_MTU		9978

/* mlx5: MINIMUM_MAX_MTU, MLX5E_DEFAULT_CABLE_LEN, MLX5E_MAX_CABLE_LENGTH */
#define TN_MIN_MAX_MTU		9216
#define TN_DEFAULT_CABLE_M	7
#define TN_CABLE_LIMIT_M	1000

struct tn_dev;

/* ---- counters.c ---- */

enum tn_counter_set {
	TN_SET_ETHTOOL,		/* 64 bits, ethtool -S */
	TN_SET_QUEUE,		/* hw_counters from q_counters: 32 bits, wrap */
	TN_SET_CONGESTION,	/* hw_counters from the congestion block: 64 bits */
	TN_SET_OPTIONAL,	/* hw_counters that are off until asked for */
	TN_SET_PORT,		/* the classic ports/N/counters */
};

/* When an ethtool row exists. */
enum tn_visibility {
	TN_SHOW_ALWAYS,
	TN_SHOW_PFC,		/* only while PFC is on for the row's priority */
	TN_SHOW_GLOBAL_PAUSE,	/* only while 802.3x is on in some direction */
};

/* Counters that traffic or the link moves; all others only tests do. */
enum tn_live_counter {
	TN_RX_PACKETS, TN_RX_BYTES, TN_TX_PACKETS, TN_TX_BYTES,
	TN_RX_PACKETS_PHY, TN_RX_BYTES_PHY, TN_TX_PACKETS_PHY, TN_TX_BYTES_PHY,
	TN_RX_VPORT_RDMA_PACKETS, TN_RX_VPORT_RDMA_BYTES,
	TN_TX_VPORT_RDMA_PACKETS, TN_TX_VPORT_RDMA_BYTES,
	TN_RX_OVERSIZE, TN_TX_DISCARDS, TN_RX_DISCARDS, TN_LINK_DOWN_EVENTS,
	TN_RX_PAUSE_CTRL, TN_TX_PAUSE_CTRL, TN_RX_CRC_ERRORS, TN_RX_ECN_MARK,
	TN_NP_ECN_MARKED,
	TN_PORT_XMIT_DATA, TN_PORT_RCV_DATA,
	TN_PORT_XMIT_PACKETS, TN_PORT_RCV_PACKETS,
	TN_LIVE_COUNTERS,
};

/* Rows of one priority, in the order of the counter table. */
enum tn_prio_counter {
	TN_PRIO_RX_BYTES, TN_PRIO_RX_PACKETS, TN_PRIO_RX_DISCARDS,
	TN_PRIO_TX_BYTES, TN_PRIO_TX_PACKETS,
	TN_PRIO_RX_PAUSE, TN_PRIO_RX_PAUSE_DURATION,
	TN_PRIO_TX_PAUSE, TN_PRIO_TX_PAUSE_DURATION,
	TN_PRIO_RX_PAUSE_TRANSITION,
	TN_PRIO_RX_BUF_DISCARD, TN_PRIO_RX_CONG_DISCARD, TN_PRIO_RX_MARKED,
	TN_PRIO_COUNTERS,
};

struct tn_counter {
	atomic64_t	base;
	u64		rate;		/* per second, since `since_ns` */
	u64		since_ns;
};

int tn_counter_table_init(void);
void tn_counter_table_exit(void);
int tn_counters_alloc(struct tn_dev *nic);
unsigned int tn_counter_count(void);
const char *tn_counter_name(unsigned int index);
enum tn_counter_set tn_counter_set_of(unsigned int index);
bool tn_counter_shown(struct tn_dev *nic, unsigned int index);
u64 tn_counter_read(struct tn_dev *nic, unsigned int index);
u64 tn_counter_rate(struct tn_dev *nic, unsigned int index);
void tn_counter_set(struct tn_dev *nic, unsigned int index, u64 value);
void tn_counters_clear(struct tn_dev *nic);
void tn_counter_set_rate(struct tn_dev *nic, unsigned int index, u64 rate);
int tn_counter_find(const char *name);
u64 tn_live_read(struct tn_dev *nic, enum tn_live_counter which);
void tn_live_add(struct tn_dev *nic, enum tn_live_counter which, u64 n);
void tn_prio_add(struct tn_dev *nic, unsigned int prio,
		 enum tn_prio_counter which, u64 n);
u64 tn_prio_read(struct tn_dev *nic, unsigned int prio,
		 enum tn_prio_counter which);

/* ---- inject.c: faults and sudden ends at the n-th write ---- */

enum tn_knob {
	TN_KNOB_PFC, TN_KNOB_ETS, TN_KNOB_APP, TN_KNOB_BUFFER, TN_KNOB_MAXRATE,
	TN_KNOB_DCBX, TN_KNOB_PAUSE, TN_KNOB_MTU, TN_KNOB_TUNABLE,
	TN_KNOB_CC_PARAM,
	TN_KNOB_ANY,		/* counts every write */
	TN_KNOBS,
};

enum tn_action {
	TN_ACT_NONE, TN_ACT_ERROR, TN_ACT_SILENT, TN_ACT_DELAY,
	TN_ACT_KILL_BEFORE, TN_ACT_KILL_AFTER,
	TN_ACT_RESET_BEFORE, TN_ACT_RESET_AFTER,
};

struct tn_rule {
	enum tn_action	action;
	u32		countdown;	/* writes until it acts; 0: on every one */
	u32		argument;	/* errno or milliseconds */
	bool		once;		/* used up when it has acted */
};

struct tn_injector {
	spinlock_t	lock;		/* rules and counts */
	struct tn_rule	rules[TN_KNOBS];
	u64		writes[TN_KNOBS];
};

/* Every write of a knob stands between these two. */
struct tn_write {
	enum tn_action	after;
};

#define TN_WRITE_IGNORED 1	/* report success, change nothing */

extern struct tn_injector tn_global_injector;

void tn_injector_init(struct tn_injector *injector);
void tn_injector_reset(struct tn_injector *injector);
int tn_write_begin(struct tn_dev *nic, enum tn_knob knob, struct tn_write *w);
void tn_write_end(struct tn_write *w);
extern const struct file_operations tn_inject_fops;
extern const struct file_operations tn_writes_fops;

/* ---- state ---- */

struct tn_buffer {
	u32	size;
	u32	xoff;
	u32	xon;
	bool	lossy;
};

struct tn_port_buffers {
	struct tn_buffer buffer[TN_BUFFERS];
	u8	prio2buffer[TN_PRIOS];
	u32	total;		/* bytes the headroom buffers may share */
	u32	cell;		/* bytes; sizes are whole cells */
	u32	xoff;		/* the last computed headroom */
	bool	manual;		/* sticky, as mlx5's dcbx.manual_buffer */
};

struct tn_ets {
	u8	prio_tc[TN_PRIOS];
	u8	tc_group[TN_TCS];	/* QETCR's group: 7 vendor, 0 lowest */
	u8	tc_bw[TN_TCS];		/* QETCR's percentage */
	u8	tc_tsa[TN_TCS];		/* what the driver remembers */
	u8	max_bw_value[TN_TCS];
	u8	max_bw_unit[TN_TCS];
};

#define TN_TRUST_PCP	1
#define TN_TRUST_DSCP	2

struct tn_app_map {
	u8	dscp2prio[TN_DSCPS];
	u64	present;		/* bit d: an app entry exists for DSCP d */
	u8	trust;
};

struct tn_fw_dcbx {
	struct delayed_work work;
	bool	willing;
	u32	delay_ms;
	u8	pfc_en;			/* what the switch says */
	struct tn_ets ets;
	struct tn_app_map app;
};

#define TN_CC_PARAMS 22

struct tn_cc_param {
	struct tn_dev	*nic;
	u32		value;
	u8		index;
};

struct tn_dev {
	struct pci_dev		*pdev;
	struct net_device	*netdev;
	int			index;
	struct tn_counter	*counters;
	spinlock_t		counter_lock;

	/* wire */
	struct tn_dev __rcu	*peer;

	/* link; link_lock protects the flags */
	spinlock_t		link_lock;
	struct delayed_work	bounce_work;
	bool			link_admin;	/* the cable, set by tests */
	bool			bouncing;
	bool			bounce_stays_down;
	u32			bounce_ms;
	u32			speed_mbps;

	/* DCB and pause, under RTNL */
	u8			pfc_en;
	u32			cable_m;
	bool			rx_pause;
	bool			tx_pause;
	u8			dcbx_cap;
	struct tn_port_buffers	buffers;
	struct tn_ets		ets;
	struct tn_app_map	app;
	struct tn_fw_dcbx	fw_dcbx;
	u16			stall_critical_ms;

	struct tn_cc_param	cc_params[TN_CC_PARAMS];

	struct tn_injector	injector;
	struct tn_ib_device	*ib;
	struct devlink		*devlink;
	struct devlink_port	devlink_port;
	struct devlink_health_reporter *reporters[4];
	struct dentry		*control_dir;
	struct dentry		*control_link;
	struct dentry		*mlx5_dir;
};

struct tn_netdev_priv {
	struct tn_dev *nic;
};

static inline struct tn_dev *tn_from_netdev(struct net_device *netdev)
{
	return ((struct tn_netdev_priv *)netdev_priv(netdev))->nic;
}

/* main.c */
extern struct mutex tn_nics_lock;
extern struct tn_dev *tn_nics[TN_MAX_NICS];
extern struct dentry *tn_control_root;
extern struct dentry *tn_mlx5_root;

/* netdev.c */
int tn_netdev_create(struct tn_dev *nic);
void tn_netdev_destroy(struct tn_dev *nic);
void tn_wire(struct tn_dev *a, struct tn_dev *b);
void tn_unwire(struct tn_dev *nic);
void tn_link_update(struct tn_dev *nic);
void tn_link_bounce(struct tn_dev *nic);
void tn_link_set(struct tn_dev *nic, bool up);

/* dcb.c, dcb_app.c */
extern const struct dcbnl_rtnl_ops tn_dcbnl_ops;
void tn_dcb_init(struct tn_dev *nic);
void tn_dcb_reset(struct tn_dev *nic);
void tn_ets_default(struct tn_ets *ets);
int tn_ieee_setapp(struct net_device *netdev, struct dcb_app *app);
int tn_ieee_delapp(struct net_device *netdev, struct dcb_app *app);
void tn_app_replace(struct tn_dev *nic, const struct tn_app_map *map);

/* buffer.c */
#define TN_CHANGE_CABLE		BIT(0)
#define TN_CHANGE_PFC		BIT(1)
#define TN_CHANGE_PRIO2BUFFER	BIT(2)
#define TN_CHANGE_SIZE		BIT(3)

void tn_buffers_init(struct tn_dev *nic);
void tn_buffers_follow_firmware(struct tn_dev *nic);
int tn_buffers_configure(struct tn_dev *nic, u32 change, unsigned int mtu,
			 u8 pfc_en, const u32 *sizes, const u8 *prio2buffer);
int tn_getbuffer(struct net_device *netdev, struct dcbnl_buffer *out);
int tn_setbuffer(struct net_device *netdev, struct dcbnl_buffer *in);

/* fw_dcbx.c */
void tn_fw_dcbx_init(struct tn_dev *nic);
void tn_fw_dcbx_capture(struct tn_dev *nic);
void tn_fw_dcbx_wrote(struct tn_dev *nic);
void tn_fw_dcbx_push(struct tn_dev *nic);

/* ethtool.c */
extern const struct ethtool_ops tn_ethtool_ops;

/* rdma.c, rdma_pma.c, rdma_verbs.c */
struct ib_mad;
int tn_answer_pma(struct tn_dev *nic, const struct ib_mad *in,
		  struct ib_mad *out);
int tn_rdma_create(struct tn_dev *nic);
void tn_rdma_destroy(struct tn_dev *nic);
void tn_rdma_link_event(struct tn_dev *nic, bool up);
struct ib_device_ops;
extern const struct ib_device_ops tn_verbs_ops;

/* cc_params.c */
void tn_cc_params_init(struct tn_dev *nic);
void tn_cc_params_default(struct tn_dev *nic);

/* devlink.c */
int tn_devlink_create(struct tn_dev *nic);
void tn_devlink_publish(struct tn_dev *nic);
void tn_devlink_withdraw(struct tn_dev *nic);
void tn_devlink_destroy(struct tn_dev *nic);
int tn_devlink_report(struct tn_dev *nic, const char *reporter);

/* control.c, control_values.c */
void tn_control_values_create(struct tn_dev *nic);
void tn_control_create(struct tn_dev *nic);
void tn_control_destroy(struct tn_dev *nic);

#endif
