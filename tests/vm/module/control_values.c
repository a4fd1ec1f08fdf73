// SPDX-License-Identifier: GPL-2.0
/*
 * The control files that hold one number each, and those that do something
 * when a number is written.
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>

#include "testnic.h"

struct tn_value_file {
	const char	*name;
	umode_t		mode;
	u64		(*get)(struct tn_dev *nic);
	int		(*set)(struct tn_dev *nic, u64 value);
};

struct tn_value_handle {
	const struct tn_value_file	*file;
	struct tn_dev			*nic;
};

static u64 tn_get_link(struct tn_dev *nic)
{
	return nic->link_admin;
}

static int tn_set_link(struct tn_dev *nic, u64 value)
{
	tn_link_set(nic, value);
	return 0;
}

static u64 tn_get_speed(struct tn_dev *nic)
{
	return nic->speed_mbps;
}

/* mlx5 recomputes headroom when the port comes up at another speed. */
static void tn_speed_changed(struct tn_dev *nic)
{
	if (nic->buffers.manual)
		tn_buffers_configure(nic, 0, nic->netdev->mtu, nic->pfc_en,
				     NULL, NULL);
	else
		tn_buffers_follow_firmware(nic);
}

static int tn_set_speed(struct tn_dev *nic, u64 value)
{
	if (!value || value > 1600000)
		return -EINVAL;
	rtnl_lock();
	nic->speed_mbps = value;
	tn_speed_changed(nic);
	rtnl_unlock();
	return 0;
}

static u64 tn_get_bounce_ms(struct tn_dev *nic)
{
	return nic->bounce_ms;
}

static int tn_set_bounce_ms(struct tn_dev *nic, u64 value)
{
	nic->bounce_ms = value;
	return 0;
}

static u64 tn_get_stays_down(struct tn_dev *nic)
{
	return nic->bounce_stays_down;
}

static int tn_set_stays_down(struct tn_dev *nic, u64 value)
{
	nic->bounce_stays_down = value;
	return 0;
}

static u64 tn_get_total(struct tn_dev *nic)
{
	return nic->buffers.total;
}

static int tn_set_total(struct tn_dev *nic, u64 value)
{
	if (value < nic->buffers.cell || value > (64 << 20))
		return -EINVAL;
	rtnl_lock();
	nic->buffers.total = value;
	tn_buffers_follow_firmware(nic);
	rtnl_unlock();
	return 0;
}

static u64 tn_get_manual(struct tn_dev *nic)
{
	return nic->buffers.manual;
}

/* No host can do this on mlx5 short of a driver reload. */
static int tn_set_manual(struct tn_dev *nic, u64 value)
{
	rtnl_lock();
	nic->buffers.manual = value;
	tn_buffers_follow_firmware(nic);
	rtnl_unlock();
	return 0;
}

static u64 tn_get_willing(struct tn_dev *nic)
{
	return nic->fw_dcbx.willing;
}

static int tn_set_willing(struct tn_dev *nic, u64 value)
{
	rtnl_lock();
	nic->fw_dcbx.willing = value;
	if (value) {
		nic->dcbx_cap &= ~DCB_CAP_DCBX_HOST;
		tn_fw_dcbx_capture(nic);
	}
	rtnl_unlock();
	return 0;
}

static u64 tn_get_fw_delay(struct tn_dev *nic)
{
	return nic->fw_dcbx.delay_ms;
}

static int tn_set_fw_delay(struct tn_dev *nic, u64 value)
{
	nic->fw_dcbx.delay_ms = value;
	return 0;
}

static u64 tn_get_fw_pfc(struct tn_dev *nic)
{
	return nic->fw_dcbx.pfc_en;
}

static int tn_set_fw_pfc(struct tn_dev *nic, u64 value)
{
	if (value > 0xff)
		return -EINVAL;
	nic->fw_dcbx.pfc_en = value;
	return 0;
}

static int tn_do_fw_capture(struct tn_dev *nic, u64 value)
{
	rtnl_lock();
	tn_fw_dcbx_capture(nic);
	rtnl_unlock();
	return 0;
}

static int tn_do_fw_push(struct tn_dev *nic, u64 value)
{
	rtnl_lock();
	tn_fw_dcbx_push(nic);
	rtnl_unlock();
	return 0;
}

/* As after loading, but for addresses, wiring and whether the netdev is up. */
static int tn_do_reset(struct tn_dev *nic, u64 value)
{
	static const struct tn_app_map empty;

	cancel_delayed_work_sync(&nic->fw_dcbx.work);
	rtnl_lock();
	nic->fw_dcbx.willing = false;
	nic->fw_dcbx.delay_ms = 500;
	tn_app_replace(nic, &empty);
	nic->speed_mbps = SPEED_100000;
	nic->bounce_ms = 300;
	nic->bounce_stays_down = false;
	tn_injector_reset(&nic->injector);
	dev_set_mtu(nic->netdev, ETH_DATA_LEN);
	tn_dcb_reset(nic);
	tn_cc_params_default(nic);
	rtnl_unlock();
	cancel_delayed_work_sync(&nic->bounce_work);
	tn_link_set(nic, true);
	tn_injector_reset(&nic->injector);
	tn_counters_clear(nic);
	return 0;
}

static const struct tn_value_file tn_value_files[] = {
	{ "link", 0600, tn_get_link, tn_set_link },
	{ "speed_mbps", 0600, tn_get_speed, tn_set_speed },
	{ "bounce_ms", 0600, tn_get_bounce_ms, tn_set_bounce_ms },
	{ "bounce_stays_down", 0600, tn_get_stays_down, tn_set_stays_down },
	{ "buffer_total", 0600, tn_get_total, tn_set_total },
	{ "buffer_manual", 0600, tn_get_manual, tn_set_manual },
	{ "fw_dcbx_willing", 0600, tn_get_willing, tn_set_willing },
	{ "fw_dcbx_delay_ms", 0600, tn_get_fw_delay, tn_set_fw_delay },
	{ "fw_dcbx_pfc", 0600, tn_get_fw_pfc, tn_set_fw_pfc },
	{ "fw_dcbx_capture", 0200, NULL, tn_do_fw_capture },
	{ "fw_dcbx_push", 0200, NULL, tn_do_fw_push },
	{ "reset", 0200, NULL, tn_do_reset },
};

static int tn_value_get(void *data, u64 *value)
{
	struct tn_value_handle *handle = data;

	if (!handle->file->get)
		return -EACCES;
	*value = handle->file->get(handle->nic);
	return 0;
}

static int tn_value_set(void *data, u64 value)
{
	struct tn_value_handle *handle = data;

	return handle->file->set(handle->nic, value);
}
DEFINE_DEBUGFS_ATTRIBUTE(tn_value_fops, tn_value_get, tn_value_set, "%llu\n");

void tn_control_values_create(struct tn_dev *nic)
{
	struct tn_value_handle *handles;
	int i;

	handles = devm_kcalloc(&nic->pdev->dev, ARRAY_SIZE(tn_value_files),
			       sizeof(*handles), GFP_KERNEL);
	if (!handles)
		return;
	for (i = 0; i < ARRAY_SIZE(tn_value_files); i++) {
		handles[i].file = &tn_value_files[i];
		handles[i].nic = nic;
		debugfs_create_file(tn_value_files[i].name,
				    tn_value_files[i].mode, nic->control_dir,
				    &handles[i], &tn_value_fops);
	}
}
