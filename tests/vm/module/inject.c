// SPDX-License-Identifier: GPL-2.0
/*
 * Faults and sudden ends at a chosen write.
 *
 * Each NIC has an injector and there is one for all NICs together (the file
 * beside the NICs' directories). A line in `inject` sets the rule of a knob:
 *
 *	KNOB N error ERRNO	the N-th next write fails with -ERRNO
 *	KNOB N silent		it reports success and changes nothing
 *	KNOB N delay MS		it takes MS longer
 *	KNOB N kill_before	its process gets SIGKILL instead of the write
 *	KNOB N kill_after	its process gets SIGKILL, the write is done
 *	KNOB N reset_before	the machine is reset instead of the write
 *	KNOB N reset_after	the machine is reset, the write is done
 *	KNOB off
 *	off			every rule of this injector
 *	reset			the same, and the counts of writes start again
 *
 * N counts from 1, is of writes of that knob from now on; with 0 the rule
 * holds for every write until it is set to off. The knob `any` counts all.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/reboot.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "testnic.h"

static const char * const tn_knob_names[TN_KNOBS] = {
	[TN_KNOB_PFC]		= "pfc",
	[TN_KNOB_ETS]		= "ets",
	[TN_KNOB_APP]		= "app",
	[TN_KNOB_BUFFER]	= "buffer",
	[TN_KNOB_MAXRATE]	= "maxrate",
	[TN_KNOB_DCBX]		= "dcbx",
	[TN_KNOB_PAUSE]		= "pause",
	[TN_KNOB_MTU]		= "mtu",
	[TN_KNOB_TUNABLE]	= "tunable",
	[TN_KNOB_CC_PARAM]	= "cc_param",
	[TN_KNOB_ANY]		= "any",
};

static const char * const tn_action_names[] = {
	[TN_ACT_NONE]		= "none",
	[TN_ACT_ERROR]		= "error",
	[TN_ACT_SILENT]		= "silent",
	[TN_ACT_DELAY]		= "delay",
	[TN_ACT_KILL_BEFORE]	= "kill_before",
	[TN_ACT_KILL_AFTER]	= "kill_after",
	[TN_ACT_RESET_BEFORE]	= "reset_before",
	[TN_ACT_RESET_AFTER]	= "reset_after",
};

struct tn_injector tn_global_injector;

void tn_injector_init(struct tn_injector *injector)
{
	memset(injector, 0, sizeof(*injector));
	spin_lock_init(&injector->lock);
}

void tn_injector_reset(struct tn_injector *injector)
{
	spin_lock(&injector->lock);
	memset(injector->rules, 0, sizeof(injector->rules));
	memset(injector->writes, 0, sizeof(injector->writes));
	spin_unlock(&injector->lock);
}

/* Counts the write and takes the rule that is due, if any. */
static struct tn_rule tn_due(struct tn_injector *injector, enum tn_knob knob)
{
	enum tn_knob scopes[] = { knob, TN_KNOB_ANY };
	struct tn_rule due = { };
	int i;

	spin_lock(&injector->lock);
	for (i = 0; i < ARRAY_SIZE(scopes); i++) {
		struct tn_rule *rule = &injector->rules[scopes[i]];

		injector->writes[scopes[i]]++;
		if (rule->action == TN_ACT_NONE)
			continue;
		if (rule->once && --rule->countdown)
			continue;
		if (due.action == TN_ACT_NONE)
			due = *rule;
		if (rule->once)
			rule->action = TN_ACT_NONE;
	}
	spin_unlock(&injector->lock);
	return due;
}

static int tn_act_before(const struct tn_rule *rule)
{
	switch (rule->action) {
	case TN_ACT_ERROR:
		return -(int)rule->argument;
	case TN_ACT_SILENT:
		return TN_WRITE_IGNORED;
	case TN_ACT_DELAY:
		msleep(rule->argument);
		return 0;
	case TN_ACT_KILL_BEFORE:
		send_sig(SIGKILL, current, 1);
		return -EINTR;
	case TN_ACT_RESET_BEFORE:
		emergency_restart();
		return -EIO;
	default:
		return 0;
	}
}

/* Zero: do the write and call tn_write_end(). Else what to answer. */
int tn_write_begin(struct tn_dev *nic, enum tn_knob knob, struct tn_write *w)
{
	struct tn_rule rules[] = {
		tn_due(&nic->injector, knob),
		tn_due(&tn_global_injector, knob),
	};
	int i, err;

	w->after = TN_ACT_NONE;
	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		err = tn_act_before(&rules[i]);
		if (err)
			return err;
		if (rules[i].action == TN_ACT_KILL_AFTER ||
		    rules[i].action == TN_ACT_RESET_AFTER)
			w->after = rules[i].action;
	}
	return 0;
}

void tn_write_end(struct tn_write *w)
{
	if (w->after == TN_ACT_KILL_AFTER)
		send_sig(SIGKILL, current, 1);
	else if (w->after == TN_ACT_RESET_AFTER)
		emergency_restart();
}

static int tn_parse_rule(struct tn_injector *injector, char *line)
{
	char knob_name[16], action_name[16];
	struct tn_rule rule = { };
	int words, knob, action;
	u32 n;

	if (!strcmp(line, "off")) {
		spin_lock(&injector->lock);
		memset(injector->rules, 0, sizeof(injector->rules));
		spin_unlock(&injector->lock);
		return 0;
	}
	if (!strcmp(line, "reset")) {
		tn_injector_reset(injector);
		return 0;
	}
	words = sscanf(line, "%15s %15s", knob_name, action_name);
	if (words == 2 && !strcmp(action_name, "off")) {
		rule.action = TN_ACT_NONE;
	} else {
		words = sscanf(line, "%15s %u %15s %u", knob_name, &n,
			       action_name, &rule.argument);
		if (words < 3)
			return -EINVAL;
		action = match_string(tn_action_names,
				      ARRAY_SIZE(tn_action_names), action_name);
		if (action <= TN_ACT_NONE)
			return -EINVAL;
		if ((action == TN_ACT_ERROR || action == TN_ACT_DELAY) &&
		    (words < 4 || !rule.argument))
			return -EINVAL;
		if (action == TN_ACT_ERROR && rule.argument > MAX_ERRNO)
			return -EINVAL;
		rule.action = action;
		rule.countdown = n;
		rule.once = n > 0;
	}
	knob = match_string(tn_knob_names, TN_KNOBS, knob_name);
	if (knob < 0)
		return -EINVAL;
	spin_lock(&injector->lock);
	injector->rules[knob] = rule;
	spin_unlock(&injector->lock);
	return 0;
}

static ssize_t tn_inject_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *pos)
{
	struct tn_injector *injector = file_inode(file)->i_private;
	char *text, *rest, *line;
	int err = 0;

	if (count > PAGE_SIZE)
		return -E2BIG;
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rest = text;
	while (!err && (line = strsep(&rest, "\n"))) {
		line = strim(line);
		if (*line)
			err = tn_parse_rule(injector, line);
	}
	kfree(text);
	return err ?: count;
}

static int tn_inject_show(struct seq_file *seq, void *unused)
{
	struct tn_injector *injector = seq->private;
	int i;

	for (i = 0; i < TN_KNOBS; i++) {
		struct tn_rule rule;

		spin_lock(&injector->lock);
		rule = injector->rules[i];
		spin_unlock(&injector->lock);
		if (rule.action != TN_ACT_NONE)
			seq_printf(seq, "%s %u %s %u\n", tn_knob_names[i],
				   rule.countdown, tn_action_names[rule.action],
				   rule.argument);
	}
	return 0;
}

static int tn_inject_open(struct inode *inode, struct file *file)
{
	return single_open(file, tn_inject_show, inode->i_private);
}

const struct file_operations tn_inject_fops = {
	.owner		= THIS_MODULE,
	.open		= tn_inject_open,
	.read		= seq_read,
	.write		= tn_inject_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int tn_writes_show(struct seq_file *seq, void *unused)
{
	struct tn_injector *injector = seq->private;
	int i;

	for (i = 0; i < TN_KNOBS; i++)
		seq_printf(seq, "%s %llu\n", tn_knob_names[i],
			   READ_ONCE(injector->writes[i]));
	return 0;
}

static int tn_writes_open(struct inode *inode, struct file *file)
{
	return single_open(file, tn_writes_show, inode->i_private);
}

const struct file_operations tn_writes_fops = {
	.owner		= THIS_MODULE,
	.open		= tn_writes_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};
