// SPDX-License-Identifier: GPL-2.0
/*
 * DCQCN parameters in debugfs mlx5/<BDF>/cc_params, as mlx5's cong.c: no range
 * check, only the register's field widths cut a value. Defaults are those of
 * mlxconfig and of dumps of real ports.
 */
#include <linux/debugfs.h>

#include "testnic.h"

static const struct {
	const char	*name;
	u32		initial;
	u8		bits;
} tn_params[TN_CC_PARAMS] = {
	{ "rp_clamp_tgt_rate", 0, 1 },
	{ "rp_clamp_tgt_rate_ati", 1, 1 },
	{ "rp_time_reset", 300, 32 },
	{ "rp_byte_reset", 32767, 32 },
	{ "rp_threshold", 1, 32 },
	{ "rp_ai_rate", 5, 32 },
	{ "rp_max_rate", 0, 32 },
	{ "rp_hai_rate", 50, 32 },
	{ "rp_min_dec_fac", 50, 32 },
	{ "rp_min_rate", 1, 32 },
	{ "rp_rate_to_set_on_first_cnp", 0, 32 },
	{ "rp_dce_tcp_g", 1019, 32 },
	{ "rp_dce_tcp_rtt", 1, 32 },
	{ "rp_rate_reduce_monitor_period", 4, 32 },
	{ "rp_initial_alpha_value", 1023, 32 },
	{ "rp_gd", 11, 32 },
	{ "np_min_time_between_cnps", 4, 32 },
	{ "np_cnp_dscp", 48, 6 },
#define TN_NP_CNP_PRIO_MODE 18
	{ "np_cnp_prio_mode", 1, 1 },
#define TN_NP_CNP_PRIO 19
	{ "np_cnp_prio", 6, 3 },
#define TN_RTT_RESP_DSCP_VALID 20
	{ "rtt_resp_dscp_valid", 0, 1 },
#define TN_RTT_RESP_DSCP 21
	{ "rtt_resp_dscp", 0, 6 },
};

static u32 tn_field(unsigned int index, u32 value)
{
	return value & GENMASK(tn_params[index].bits - 1, 0);
}

/* Two files reach into their neighbour's field, as in mlx5. */
static void tn_set_param(struct tn_cc_param *param, u32 value)
{
	struct tn_cc_param *all = param->nic->cc_params;

	if (param->index == TN_NP_CNP_PRIO)
		WRITE_ONCE(all[TN_NP_CNP_PRIO_MODE].value, 0);
	if (param->index == TN_RTT_RESP_DSCP)
		WRITE_ONCE(all[TN_RTT_RESP_DSCP_VALID].value, 1);
	WRITE_ONCE(param->value, tn_field(param->index, value));
}

static ssize_t tn_param_read(struct file *file, char __user *buf, size_t count,
			     loff_t *pos)
{
	struct tn_cc_param *param = file->private_data;
	char text[12];
	int len;

	len = scnprintf(text, sizeof(text), "%u\n", READ_ONCE(param->value));
	return simple_read_from_buffer(buf, count, pos, text, len);
}

static ssize_t tn_param_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *pos)
{
	struct tn_cc_param *param = file->private_data;
	struct tn_write w;
	u32 value;
	int err;

	err = kstrtou32_from_user(buf, count, 0, &value);
	if (err)
		return err;
	err = tn_write_begin(param->nic, TN_KNOB_CC_PARAM, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? count : err;
	tn_set_param(param, value);
	tn_write_end(&w);
	return count;
}

static const struct file_operations tn_param_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= tn_param_read,
	.write	= tn_param_write,
};

void tn_cc_params_default(struct tn_dev *nic)
{
	unsigned int i;

	for (i = 0; i < TN_CC_PARAMS; i++)
		WRITE_ONCE(nic->cc_params[i].value, tn_params[i].initial);
}

void tn_cc_params_init(struct tn_dev *nic)
{
	struct dentry *dir = debugfs_create_dir("cc_params", nic->mlx5_dir);
	unsigned int i;

	tn_cc_params_default(nic);
	for (i = 0; i < TN_CC_PARAMS; i++) {
		nic->cc_params[i].nic = nic;
		nic->cc_params[i].index = i;
		debugfs_create_file(tn_params[i].name, 0600, dir,
				    &nic->cc_params[i], &tn_param_fops);
	}
}
