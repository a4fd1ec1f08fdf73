// SPDX-License-Identifier: GPL-2.0
/*
 * DSCP app entries and the trust mode that hangs on them: the first entry
 * switches the port to trust DSCP, deleting the last one back to PCP. Entries
 * of other selectors are refused.
 */
#include "testnic.h"

static bool tn_app_supported(const struct dcb_app *app)
{
	return app->selector == IEEE_8021QAZ_APP_SEL_DSCP &&
	       app->protocol < TN_DSCPS && app->priority < TN_PRIOS;
}

static struct dcb_app tn_dscp_entry(struct tn_dev *nic, unsigned int dscp)
{
	return (struct dcb_app) {
		.selector = IEEE_8021QAZ_APP_SEL_DSCP,
		.protocol = dscp,
		.priority = nic->app.dscp2prio[dscp],
	};
}

/* One mapping per DSCP: a new entry replaces the old one. */
static int tn_app_set(struct tn_dev *nic, struct dcb_app *app)
{
	struct dcb_app old = tn_dscp_entry(nic, app->protocol);
	int err;

	WRITE_ONCE(nic->app.trust, TN_TRUST_DSCP);
	WRITE_ONCE(nic->app.dscp2prio[app->protocol], app->priority);
	dcb_ieee_delapp(nic->netdev, &old);
	err = dcb_ieee_setapp(nic->netdev, app);
	if (!err)
		nic->app.present |= BIT_ULL(app->protocol);
	return err;
}

static int tn_app_delete(struct tn_dev *nic, struct dcb_app *app)
{
	int err;

	if (!nic->app.present ||
	    app->priority != nic->app.dscp2prio[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(nic->netdev, app);
	if (err)
		return err;
	WRITE_ONCE(nic->app.dscp2prio[app->protocol], 0);
	nic->app.present &= ~BIT_ULL(app->protocol);
	if (!nic->app.present)
		WRITE_ONCE(nic->app.trust, TN_TRUST_PCP);
	return 0;
}

int tn_ieee_setapp(struct net_device *netdev, struct dcb_app *app)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	if (!tn_app_supported(app))
		return -EINVAL;
	err = tn_write_begin(nic, TN_KNOB_APP, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	err = tn_app_set(nic, app);
	tn_fw_dcbx_wrote(nic);
	tn_write_end(&w);
	return err;
}

int tn_ieee_delapp(struct net_device *netdev, struct dcb_app *app)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	if (!tn_app_supported(app))
		return -EINVAL;
	err = tn_write_begin(nic, TN_KNOB_APP, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	err = tn_app_delete(nic, app);
	tn_fw_dcbx_wrote(nic);
	tn_write_end(&w);
	return err;
}

/* Firmware's doing: the table becomes `map`. Under RTNL. */
void tn_app_replace(struct tn_dev *nic, const struct tn_app_map *map)
{
	unsigned int dscp;

	for (dscp = 0; dscp < TN_DSCPS; dscp++) {
		struct dcb_app entry = tn_dscp_entry(nic, dscp);
		bool want = map->present & BIT_ULL(dscp);

		if (want) {
			entry.priority = map->dscp2prio[dscp];
			tn_app_set(nic, &entry);
		} else if (nic->app.present & BIT_ULL(dscp)) {
			tn_app_delete(nic, &entry);
		}
	}
}
