// SPDX-License-Identifier: GPL-2.0
/*
 * ethtool as mlx5's en_ethtool.c and en_stats.c: rows of paused priorities
 * come and go with PFC, so the size of the string set changes.
 */
#include <linux/if_vlan.h>

#include "testnic.h"

/* mlx5: MLX5E_PFC_PREVEN_* */
#define TN_STALL_AUTO_MS	100
#define TN_STALL_MIN_MS		80
#define TN_STALL_MAX_MS		8000

static void tn_get_drvinfo(struct net_device *netdev,
			   struct ethtool_drvinfo *info)
{
	struct tn_dev *nic = tn_from_netdev(netdev);

	strscpy(info->driver, TN_DRIVER_NAME, sizeof(info->driver));
	snprintf(info->fw_version, sizeof(info->fw_version), "%s (%s)",
		 TN_FW_VERSION, TN_PSID);
	strscpy(info->bus_info, pci_name(nic->pdev), sizeof(info->bus_info));
}

static bool tn_is_row(struct tn_dev *nic, unsigned int index)
{
	return tn_counter_set_of(index) == TN_SET_ETHTOOL &&
	       tn_counter_shown(nic, index);
}

static int tn_get_sset_count(struct net_device *netdev, int set)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	unsigned int i;
	int rows = 0;

	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	for (i = 0; i < tn_counter_count(); i++)
		rows += tn_is_row(nic, i);
	return rows;
}

static void tn_get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	unsigned int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < tn_counter_count(); i++)
		if (tn_is_row(nic, i))
			ethtool_sprintf(&data, "%s", tn_counter_name(i));
}

static void tn_get_ethtool_stats(struct net_device *netdev,
				 struct ethtool_stats *stats, u64 *data)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	unsigned int i;

	for (i = 0; i < tn_counter_count(); i++)
		if (tn_is_row(nic, i))
			*data++ = tn_counter_read(nic, i);
}

static const struct {
	u32	mbps;
	u32	mode;
} tn_modes[] = {
	{ SPEED_10000, ETHTOOL_LINK_MODE_10000baseCR_Full_BIT },
	{ SPEED_25000, ETHTOOL_LINK_MODE_25000baseCR_Full_BIT },
	{ SPEED_40000, ETHTOOL_LINK_MODE_40000baseCR4_Full_BIT },
	{ SPEED_50000, ETHTOOL_LINK_MODE_50000baseCR_Full_BIT },
	{ SPEED_100000, ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT },
	{ SPEED_200000, ETHTOOL_LINK_MODE_200000baseCR4_Full_BIT },
	{ SPEED_400000, ETHTOOL_LINK_MODE_400000baseCR4_Full_BIT },
};

static int tn_get_link_ksettings(struct net_device *netdev,
				 struct ethtool_link_ksettings *out)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	bool up = netif_carrier_ok(netdev);
	int i;

	ethtool_link_ksettings_zero_link_mode(out, supported);
	ethtool_link_ksettings_zero_link_mode(out, advertising);
	for (i = 0; i < ARRAY_SIZE(tn_modes); i++) {
		__set_bit(tn_modes[i].mode, out->link_modes.supported);
		__set_bit(tn_modes[i].mode, out->link_modes.advertising);
	}
	ethtool_link_ksettings_add_link_mode(out, supported, Autoneg);
	ethtool_link_ksettings_add_link_mode(out, advertising, Autoneg);
	ethtool_link_ksettings_add_link_mode(out, supported, Pause);
	ethtool_link_ksettings_add_link_mode(out, supported, FIBRE);
	ethtool_link_ksettings_add_link_mode(out, supported, FEC_RS);
	ethtool_link_ksettings_add_link_mode(out, advertising, FEC_RS);
	if (nic->rx_pause && nic->tx_pause)
		ethtool_link_ksettings_add_link_mode(out, advertising, Pause);
	out->base.autoneg = AUTONEG_ENABLE;
	out->base.port = PORT_DA;
	out->base.speed = up ? nic->speed_mbps : SPEED_UNKNOWN;
	out->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	return 0;
}

static void tn_get_pauseparam(struct net_device *netdev,
			      struct ethtool_pauseparam *pause)
{
	struct tn_dev *nic = tn_from_netdev(netdev);

	pause->autoneg = 0;
	pause->rx_pause = nic->rx_pause;
	pause->tx_pause = nic->tx_pause;
}

/*
 * PFC and 802.3x exclude each other. A PFC write clears 802.3x (dcb.c); the
 * other way round the driver leaves it to the firmware, which is taken to
 * refuse.
 */
static int tn_set_pauseparam(struct net_device *netdev,
			     struct ethtool_pauseparam *pause)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	if (pause->autoneg)
		return -EINVAL;
	if ((pause->rx_pause || pause->tx_pause) && nic->pfc_en)
		return -EINVAL;
	err = tn_write_begin(nic, TN_KNOB_PAUSE, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	nic->rx_pause = pause->rx_pause;
	nic->tx_pause = pause->tx_pause;
	tn_buffers_follow_firmware(nic);
	tn_write_end(&w);
	return 0;
}

static void tn_get_pause_stats(struct net_device *netdev,
			       struct ethtool_pause_stats *stats)
{
	struct tn_dev *nic = tn_from_netdev(netdev);

	stats->tx_pause_frames = tn_live_read(nic, TN_TX_PAUSE_CTRL);
	stats->rx_pause_frames = tn_live_read(nic, TN_RX_PAUSE_CTRL);
}

static int tn_get_tunable(struct net_device *netdev,
			  const struct ethtool_tunable *tunable, void *data)
{
	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EINVAL;
	*(u16 *)data = tn_from_netdev(netdev)->stall_critical_ms;
	return 0;
}

static int tn_set_tunable(struct net_device *netdev,
			  const struct ethtool_tunable *tunable,
			  const void *data)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	u16 ms;
	int err;

	if (tunable->id != ETHTOOL_PFC_PREVENTION_TOUT)
		return -EINVAL;
	ms = *(const u16 *)data;
	if (ms == PFC_STORM_PREVENTION_AUTO)
		ms = TN_STALL_AUTO_MS;
	if (ms != PFC_STORM_PREVENTION_DISABLE &&
	    (ms < TN_STALL_MIN_MS || ms > TN_STALL_MAX_MS))
		return -EINVAL;
	err = tn_write_begin(nic, TN_KNOB_TUNABLE, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	nic->stall_critical_ms = ms;
	tn_write_end(&w);
	return 0;
}

static int tn_get_fecparam(struct net_device *netdev,
			   struct ethtool_fecparam *fec)
{
	fec->fec = ETHTOOL_FEC_AUTO | ETHTOOL_FEC_RS | ETHTOOL_FEC_BASER |
		   ETHTOOL_FEC_OFF;
	fec->active_fec = netif_carrier_ok(netdev) ? ETHTOOL_FEC_RS : 0;
	return 0;
}

const struct ethtool_ops tn_ethtool_ops = {
	.get_drvinfo		= tn_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_sset_count		= tn_get_sset_count,
	.get_strings		= tn_get_strings,
	.get_ethtool_stats	= tn_get_ethtool_stats,
	.get_link_ksettings	= tn_get_link_ksettings,
	.get_pauseparam		= tn_get_pauseparam,
	.set_pauseparam		= tn_set_pauseparam,
	.get_pause_stats	= tn_get_pause_stats,
	.get_tunable		= tn_get_tunable,
	.set_tunable		= tn_set_tunable,
	.get_fecparam		= tn_get_fecparam,
	.get_ts_info		= ethtool_op_get_ts_info,
};
