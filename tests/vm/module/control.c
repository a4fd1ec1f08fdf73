// SPDX-License-Identifier: GPL-2.0
/*
 * What tests steer a NIC with: /sys/kernel/debug/mlx5_testnic/<BDF>/, also
 * reachable by the netdev's first name. docs/vm-lab.md lists the files.
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "testnic.h"

/* ---- plain numbers ---- */

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

/* ---- counters and rates: lines of "NAME VALUE" ---- */

static int tn_each_line(const char __user *buf, size_t count,
			int (*act)(struct tn_dev *nic, char *line),
			struct tn_dev *nic)
{
	char *text, *rest, *line;
	int err = 0;

	if (count > 16 * PAGE_SIZE)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while (!err && (line = strsep(&rest, "\n"))) {
		line = strim(line);
		if (*line)
			err = act(nic, line);
	}
	kfree(text);
	return err;
}

static int tn_parse_counter(char *line, u64 *value)
{
	char name[ETH_GSTRING_LEN];

	if (sscanf(line, "%31s %llu", name, value) != 2)
		return -EINVAL;
	return tn_counter_find(name);
}

static int tn_set_counter_line(struct tn_dev *nic, char *line)
{
	u64 value;
	int index = tn_parse_counter(line, &value);

	if (index < 0)
		return index;
	tn_counter_set(nic, index, value);
	return 0;
}

static int tn_set_rate_line(struct tn_dev *nic, char *line)
{
	u64 value;
	int index = tn_parse_counter(line, &value);

	if (index < 0)
		return index;
	tn_counter_set_rate(nic, index, value);
	return 0;
}

static int tn_counters_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	for (i = 0; i < tn_counter_count(); i++)
		seq_printf(seq, "%s %llu\n", tn_counter_name(i),
			   tn_counter_read(seq->private, i));
	return 0;
}

static int tn_rates_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	for (i = 0; i < tn_counter_count(); i++)
		if (tn_counter_rate(seq->private, i))
			seq_printf(seq, "%s %llu\n", tn_counter_name(i),
				   tn_counter_rate(seq->private, i));
	return 0;
}

static ssize_t tn_counters_write(struct file *file, const char __user *buf,
				 size_t count, loff_t *pos)
{
	return tn_each_line(buf, count, tn_set_counter_line,
			    file_inode(file)->i_private) ?: count;
}

static ssize_t tn_rates_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *pos)
{
	return tn_each_line(buf, count, tn_set_rate_line,
			    file_inode(file)->i_private) ?: count;
}

/* ---- the wire, the port's classification, the buffers, health ---- */

static struct tn_dev *tn_find(const char *name)
{
	int i;

	for (i = 0; i < TN_MAX_NICS; i++) {
		struct tn_dev *nic = tn_nics[i];

		if (nic && (!strcmp(pci_name(nic->pdev), name) ||
			    !strcmp(netdev_name(nic->netdev), name)))
			return nic;
	}
	return NULL;
}

static int tn_set_peer_line(struct tn_dev *nic, char *line)
{
	struct tn_dev *other;
	int err = 0;

	mutex_lock(&tn_nics_lock);
	if (!strcmp(line, "none")) {
		tn_unwire(nic);
	} else {
		other = tn_find(line);
		if (other)
			tn_wire(nic, other);
		else
			err = -ENODEV;
	}
	mutex_unlock(&tn_nics_lock);
	return err;
}

static int tn_peer_show(struct seq_file *seq, void *unused)
{
	struct tn_dev *nic = seq->private;
	struct tn_dev *peer;

	mutex_lock(&tn_nics_lock);
	peer = rcu_dereference_protected(nic->peer,
					 lockdep_is_held(&tn_nics_lock));
	seq_printf(seq, "%s\n", peer ? pci_name(peer->pdev) : "none");
	mutex_unlock(&tn_nics_lock);
	return 0;
}

static ssize_t tn_peer_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return tn_each_line(buf, count, tn_set_peer_line,
			    file_inode(file)->i_private) ?: count;
}

static int tn_trust_show(struct seq_file *seq, void *unused)
{
	struct tn_dev *nic = seq->private;

	seq_puts(seq, nic->app.trust == TN_TRUST_DSCP ? "dscp\n" : "pcp\n");
	return 0;
}

static int tn_buffers_show(struct seq_file *seq, void *unused)
{
	struct tn_port_buffers b;
	struct tn_dev *nic = seq->private;
	int i;

	rtnl_lock();
	b = nic->buffers;
	rtnl_unlock();
	seq_printf(seq, "manual %u cell %u total %u headroom %u\n", b.manual,
		   b.cell, b.total, b.xoff);
	for (i = 0; i < TN_BUFFERS; i++)
		seq_printf(seq, "buffer %d size %u xoff %u xon %u %s\n", i,
			   b.buffer[i].size, b.buffer[i].xoff, b.buffer[i].xon,
			   b.buffer[i].lossy ? "lossy" : "lossless");
	return 0;
}

static int tn_names_show(struct seq_file *seq, void *unused)
{
	struct tn_dev *nic = seq->private;

	seq_printf(seq, "%s mlx5_%d\n", netdev_name(nic->netdev), nic->index);
	return 0;
}

static int tn_health_line(struct tn_dev *nic, char *line)
{
	return tn_devlink_report(nic, line);
}

static int tn_health_show(struct seq_file *seq, void *unused)
{
	seq_puts(seq, "fw fw_fatal tx rx\n");
	return 0;
}

static ssize_t tn_health_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *pos)
{
	return tn_each_line(buf, count, tn_health_line,
			    file_inode(file)->i_private) ?: count;
}

#define TN_TEXT_FILE(_name, _write)					\
static int _name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, _name##_show, inode->i_private);	\
}									\
static const struct file_operations _name##_fops = {			\
	.owner		= THIS_MODULE,					\
	.open		= _name##_open,					\
	.read		= seq_read,					\
	.write		= _write,					\
	.llseek		= seq_lseek,					\
	.release	= single_release,				\
}

TN_TEXT_FILE(tn_counters, tn_counters_write);
TN_TEXT_FILE(tn_rates, tn_rates_write);
TN_TEXT_FILE(tn_peer, tn_peer_write);
TN_TEXT_FILE(tn_health, tn_health_write);
TN_TEXT_FILE(tn_trust, NULL);
TN_TEXT_FILE(tn_buffers, NULL);
TN_TEXT_FILE(tn_names, NULL);

void tn_control_create(struct tn_dev *nic)
{
	struct dentry *dir = debugfs_create_dir(pci_name(nic->pdev),
						tn_control_root);
	struct tn_value_handle *handles;
	int i;

	nic->control_dir = dir;
	nic->control_link = debugfs_create_symlink(netdev_name(nic->netdev),
						   tn_control_root,
						   pci_name(nic->pdev));
	debugfs_create_file("counters", 0600, dir, nic, &tn_counters_fops);
	debugfs_create_file("rates", 0600, dir, nic, &tn_rates_fops);
	debugfs_create_file("peer", 0600, dir, nic, &tn_peer_fops);
	debugfs_create_file("health", 0600, dir, nic, &tn_health_fops);
	debugfs_create_file("trust", 0400, dir, nic, &tn_trust_fops);
	debugfs_create_file("buffers", 0400, dir, nic, &tn_buffers_fops);
	debugfs_create_file("names", 0400, dir, nic, &tn_names_fops);
	debugfs_create_file("inject", 0600, dir, &nic->injector,
			    &tn_inject_fops);
	debugfs_create_file("writes", 0400, dir, &nic->injector,
			    &tn_writes_fops);
	handles = devm_kcalloc(&nic->pdev->dev, ARRAY_SIZE(tn_value_files),
			       sizeof(*handles), GFP_KERNEL);
	if (!handles)
		return;
	for (i = 0; i < ARRAY_SIZE(tn_value_files); i++) {
		handles[i].file = &tn_value_files[i];
		handles[i].nic = nic;
		debugfs_create_file(tn_value_files[i].name,
				    tn_value_files[i].mode, dir, &handles[i],
				    &tn_value_fops);
	}
}

void tn_control_destroy(struct tn_dev *nic)
{
	debugfs_remove(nic->control_link);
	debugfs_remove_recursive(nic->control_dir);
}
