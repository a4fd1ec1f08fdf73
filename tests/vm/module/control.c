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
	tn_control_values_create(nic);
}

void tn_control_destroy(struct tn_dev *nic)
{
	debugfs_remove(nic->control_link);
	debugfs_remove_recursive(nic->control_dir);
}
