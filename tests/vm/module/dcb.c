// SPDX-License-Identifier: GPL-2.0
/*
 * DCB netlink as mlx5's en_dcbnl.c: PFC, ETS, rate limits, DCBX ownership.
 * No apptrust, no rewrite, no peer objects. All under RTNL.
 */
#include <linux/math64.h>

#include "testnic.h"

#define TN_MAX_BW		100
#define TN_GROUP_VENDOR		7
#define TN_GROUP_LOWEST		0

/* PQPTS-style units of the rate limiter. */
#define TN_UNIT_NONE		0
#define TN_UNIT_100MBPS		3
#define TN_UNIT_GBPS		4
#define TN_KBPS_100MB		100000
#define TN_KBPS_1GB		1000000

static int tn_ieee_getpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	int i;

	pfc->pfc_cap = TN_TCS;
	pfc->pfc_en = nic->pfc_en;
	pfc->delay = nic->cable_m;
	for (i = 0; i < TN_PRIOS; i++) {
		pfc->requests[i] = tn_prio_read(nic, i, TN_PRIO_TX_PAUSE);
		pfc->indications[i] = tn_prio_read(nic, i, TN_PRIO_RX_PAUSE);
	}
	return 0;
}

/*
 * A changed mask is applied and bounces the link before the buffers are looked
 * at: an error from them leaves the new mask in place. `delay` is the cable's
 * length in metres; zero and what is too long are ignored without a word.
 */
static int tn_apply_pfc(struct tn_dev *nic, const struct ieee_pfc *pfc)
{
	u32 old_cable = nic->cable_m;
	u32 change = 0;
	int err = 0;

	if (pfc->pfc_en != nic->pfc_en) {
		nic->pfc_en = pfc->pfc_en;
		/* the register write clears the 802.3x bits beside the mask */
		nic->rx_pause = false;
		nic->tx_pause = false;
		tn_link_bounce(nic);
		change |= TN_CHANGE_PFC;
	}
	if (pfc->delay && pfc->delay < TN_CABLE_LIMIT_M &&
	    pfc->delay != nic->cable_m) {
		nic->cable_m = pfc->delay;
		change |= TN_CHANGE_CABLE;
	}
	if (nic->buffers.manual)
		err = tn_buffers_configure(nic, change, nic->netdev->mtu,
					   nic->pfc_en, NULL, NULL);
	else
		tn_buffers_follow_firmware(nic);
	if (err && (change & TN_CHANGE_CABLE))
		nic->cable_m = old_cable;
	return err;
}

static int tn_ieee_setpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	err = tn_write_begin(nic, TN_KNOB_PFC, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	err = tn_apply_pfc(nic, pfc);
	tn_fw_dcbx_wrote(nic);
	tn_write_end(&w);
	return err;
}

/* What QETCR holds back into what the driver reports. */
static int tn_ieee_getets(struct net_device *netdev, struct ieee_ets *out)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_ets *ets = &nic->ets;
	bool group_6_used = false;
	bool zero_bw_ets = false;
	int i;

	out->ets_cap = TN_TCS;
	memcpy(out->prio_tc, ets->prio_tc, sizeof(out->prio_tc));
	memcpy(out->tc_tx_bw, ets->tc_bw, sizeof(out->tc_tx_bw));
	for (i = 0; i < TN_TCS; i++) {
		if (ets->tc_bw[i] < TN_MAX_BW &&
		    ets->tc_group[i] == TN_GROUP_LOWEST + 1)
			zero_bw_ets = true;
		if (ets->tc_group[i] == TN_GROUP_VENDOR - 1)
			group_6_used = true;
	}
	for (i = 0; i < TN_TCS; i++) {
		if (zero_bw_ets && ets->tc_group[i] == TN_GROUP_LOWEST)
			out->tc_tx_bw[i] = 0;
		if (out->tc_tx_bw[i] < TN_MAX_BW)
			ets->tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
		else if (ets->tc_group[i] == TN_GROUP_VENDOR && !group_6_used)
			ets->tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
	}
	memcpy(out->tc_tsa, ets->tc_tsa, sizeof(out->tc_tsa));
	return 0;
}

static int tn_validate_ets(const struct ieee_ets *in)
{
	bool have_ets = false;
	int sum = 0;
	int i;

	for (i = 0; i < TN_TCS; i++) {
		if (in->prio_tc[i] >= TN_PRIOS)
			return -EINVAL;
		switch (in->tc_tsa[i]) {
		case IEEE_8021QAZ_TSA_ETS:
			have_ets = true;
			sum += in->tc_tx_bw[i];
			break;
		case IEEE_8021QAZ_TSA_STRICT:
		case IEEE_8021QAZ_TSA_VENDOR:
			break;
		default:
			/*
			 * mlx5 does not look: a credit-based shaper sends an
			 * undefined group to the firmware. Here it is refused.
			 */
			return -EOPNOTSUPP;
		}
	}
	return have_ets && sum != TN_MAX_BW ? -EINVAL : 0;
}

/*
 * Groups: vendor 7; ETS classes 0 (or, when some have a share of zero, the
 * zero ones 0 and the others 1); strict classes above those, in TC order.
 */
static void tn_program_ets(struct tn_ets *ets, const struct ieee_ets *in)
{
	int zero_count = 0, last_zero = -1, strict_group = TN_GROUP_LOWEST;
	bool have_ets = false;
	int i;

	for (i = 0; i < TN_TCS; i++) {
		if (in->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			continue;
		have_ets = true;
		if (!in->tc_tx_bw[i]) {
			zero_count++;
			last_zero = i;
		}
	}
	strict_group += have_ets + (zero_count > 0);
	memcpy(ets->prio_tc, in->prio_tc, sizeof(ets->prio_tc));
	memcpy(ets->tc_tsa, in->tc_tsa, sizeof(ets->tc_tsa));
	for (i = 0; i < TN_TCS; i++) {
		ets->tc_bw[i] = TN_MAX_BW;
		if (in->tc_tsa[i] == IEEE_8021QAZ_TSA_VENDOR) {
			ets->tc_group[i] = TN_GROUP_VENDOR;
		} else if (in->tc_tsa[i] == IEEE_8021QAZ_TSA_STRICT) {
			ets->tc_group[i] = strict_group++;
		} else if (in->tc_tx_bw[i]) {
			ets->tc_group[i] = TN_GROUP_LOWEST + (zero_count > 0);
			ets->tc_bw[i] = in->tc_tx_bw[i];
		} else {
			ets->tc_group[i] = TN_GROUP_LOWEST;
			ets->tc_bw[i] = TN_MAX_BW / zero_count;
		}
	}
	if (last_zero >= 0)
		ets->tc_bw[last_zero] += TN_MAX_BW % zero_count;
}

static int tn_ieee_setets(struct net_device *netdev, struct ieee_ets *in)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	err = tn_validate_ets(in);
	if (err)
		return err;
	err = tn_write_begin(nic, TN_KNOB_ETS, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	tn_program_ets(&nic->ets, in);
	tn_fw_dcbx_wrote(nic);
	tn_write_end(&w);
	return 0;
}

/* mlx5e_ets_init(): all vendor, priorities 0 and 1 crossed. */
void tn_ets_default(struct tn_ets *ets)
{
	struct ieee_ets in = { };
	int i;

	for (i = 0; i < TN_TCS; i++) {
		in.tc_tx_bw[i] = TN_MAX_BW;
		in.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		in.prio_tc[i] = i;
	}
	in.prio_tc[0] = 1;
	in.prio_tc[1] = 0;
	tn_program_ets(ets, &in);
}

static int tn_ieee_getmaxrate(struct net_device *netdev,
			      struct ieee_maxrate *out)
{
	struct tn_ets *ets = &tn_from_netdev(netdev)->ets;
	int i;

	for (i = 0; i < TN_TCS; i++) {
		u64 unit = 0;

		if (ets->max_bw_unit[i] == TN_UNIT_100MBPS)
			unit = TN_KBPS_100MB;
		else if (ets->max_bw_unit[i] == TN_UNIT_GBPS)
			unit = TN_KBPS_1GB;
		out->tc_maxrate[i] = ets->max_bw_value[i] * unit;
	}
	return 0;
}

/* Eight bits in units of 100 Mb/s, beyond 25.5 Gb/s of 1 Gb/s. */
static int tn_ieee_setmaxrate(struct net_device *netdev,
			      struct ieee_maxrate *in)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	u8 value[TN_TCS] = { }, unit[TN_TCS] = { };
	struct tn_write w;
	int i, err;

	for (i = 0; i < TN_TCS; i++) {
		u64 kbps = in->tc_maxrate[i];

		if (!kbps)
			continue;
		if (kbps <= 255ULL * TN_KBPS_100MB) {
			value[i] = max_t(u64, div_u64(kbps, TN_KBPS_100MB), 1);
			unit[i] = TN_UNIT_100MBPS;
		} else if (kbps <= 255ULL * TN_KBPS_1GB) {
			value[i] = div_u64(kbps, TN_KBPS_1GB);
			unit[i] = TN_UNIT_GBPS;
		} else {
			return -EINVAL;
		}
	}
	err = tn_write_begin(nic, TN_KNOB_MAXRATE, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	memcpy(nic->ets.max_bw_value, value, sizeof(value));
	memcpy(nic->ets.max_bw_unit, unit, sizeof(unit));
	tn_write_end(&w);
	return 0;
}

static u8 tn_getdcbx(struct net_device *netdev)
{
	return tn_from_netdev(netdev)->dcbx_cap;
}

/* Zero hands DCBX to the firmware, the HOST bit takes it; else refused. */
static u8 tn_setdcbx(struct net_device *netdev, u8 mode)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (mode && !(mode & DCB_CAP_DCBX_HOST))
		return 1;
	err = tn_write_begin(nic, TN_KNOB_DCBX, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : 1;
	if (mode)
		nic->dcbx_cap = mode;
	else
		nic->dcbx_cap &= ~DCB_CAP_DCBX_HOST;
	tn_fw_dcbx_wrote(nic);
	tn_write_end(&w);
	return 0;
}

static u8 tn_getstate(struct net_device *netdev)
{
	return 1;
}

static u8 tn_getcap(struct net_device *netdev, int capid, u8 *cap)
{
	switch (capid) {
	case DCB_CAP_ATTR_PG:
	case DCB_CAP_ATTR_PFC:
		*cap = true;
		return 0;
	case DCB_CAP_ATTR_PG_TCS:
	case DCB_CAP_ATTR_PFC_TCS:
		*cap = 1 << (TN_TCS - 1);
		return 0;
	case DCB_CAP_ATTR_UP2TC:
	case DCB_CAP_ATTR_GSP:
	case DCB_CAP_ATTR_BCN:
		*cap = false;
		return 0;
	case DCB_CAP_ATTR_DCBX:
		*cap = tn_getdcbx(netdev) | DCB_CAP_DCBX_VER_CEE |
		       DCB_CAP_DCBX_VER_IEEE;
		return 0;
	default:
		*cap = 0;
		return 1;
	}
}

const struct dcbnl_rtnl_ops tn_dcbnl_ops = {
	.ieee_getets		= tn_ieee_getets,
	.ieee_setets		= tn_ieee_setets,
	.ieee_getmaxrate	= tn_ieee_getmaxrate,
	.ieee_setmaxrate	= tn_ieee_setmaxrate,
	.ieee_getpfc		= tn_ieee_getpfc,
	.ieee_setpfc		= tn_ieee_setpfc,
	.ieee_setapp		= tn_ieee_setapp,
	.ieee_delapp		= tn_ieee_delapp,
	.getdcbx		= tn_getdcbx,
	.setdcbx		= tn_setdcbx,
	.getstate		= tn_getstate,
	.getcap			= tn_getcap,
	.dcbnl_getbuffer	= tn_getbuffer,
	.dcbnl_setbuffer	= tn_setbuffer,
};

/* Everything as after probe; the link does not bounce. Under RTNL once the
 * netdev is registered.
 */
void tn_dcb_reset(struct tn_dev *nic)
{
	nic->dcbx_cap = DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE |
			DCB_CAP_DCBX_HOST;
	nic->cable_m = TN_DEFAULT_CABLE_M;
	nic->pfc_en = 0;
	nic->rx_pause = true;		/* as the firmware comes up */
	nic->tx_pause = true;
	nic->stall_critical_ms = 8000;
	memset(&nic->ets, 0, sizeof(nic->ets));
	tn_ets_default(&nic->ets);
	tn_buffers_init(nic);
}

void tn_dcb_init(struct tn_dev *nic)
{
	nic->app.trust = TN_TRUST_PCP;
	tn_dcb_reset(nic);
	tn_fw_dcbx_init(nic);
}
