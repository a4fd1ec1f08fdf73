// SPDX-License-Identifier: GPL-2.0
/*
 * Firmware DCBX in willing mode. While the host does not own DCBX, a write is
 * accepted and some time later replaced by what the switch has said. The
 * switch's words are the NIC's settings at the moment `fw_dcbx_willing` was
 * set, or captured again by `fw_dcbx_capture`; `fw_dcbx_pfc` changes one.
 */
#include <linux/rtnetlink.h>

#include "testnic.h"

static bool tn_firmware_owns(const struct tn_dev *nic)
{
	return nic->fw_dcbx.willing && !(nic->dcbx_cap & DCB_CAP_DCBX_HOST);
}

void tn_fw_dcbx_push(struct tn_dev *nic)
{
	struct tn_fw_dcbx *fw = &nic->fw_dcbx;

	ASSERT_RTNL();
	if (!tn_firmware_owns(nic))
		return;
	nic->pfc_en = fw->pfc_en;
	nic->ets = fw->ets;
	tn_app_replace(nic, &fw->app);
	if (nic->buffers.manual)
		tn_buffers_configure(nic, TN_CHANGE_PFC, nic->netdev->mtu,
				     nic->pfc_en, NULL, NULL);
	else
		tn_buffers_follow_firmware(nic);
}

static void tn_fw_dcbx_work(struct work_struct *work)
{
	struct tn_dev *nic = container_of(to_delayed_work(work), struct tn_dev,
					  fw_dcbx.work);

	rtnl_lock();
	tn_fw_dcbx_push(nic);
	rtnl_unlock();
}

void tn_fw_dcbx_wrote(struct tn_dev *nic)
{
	if (tn_firmware_owns(nic))
		mod_delayed_work(system_wq, &nic->fw_dcbx.work,
				 msecs_to_jiffies(nic->fw_dcbx.delay_ms));
}

void tn_fw_dcbx_capture(struct tn_dev *nic)
{
	ASSERT_RTNL();
	nic->fw_dcbx.pfc_en = nic->pfc_en;
	nic->fw_dcbx.ets = nic->ets;
	nic->fw_dcbx.app = nic->app;
}

void tn_fw_dcbx_init(struct tn_dev *nic)
{
	nic->fw_dcbx.delay_ms = 500;
	INIT_DELAYED_WORK(&nic->fw_dcbx.work, tn_fw_dcbx_work);
}
