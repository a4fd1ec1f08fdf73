// SPDX-License-Identifier: GPL-2.0
/*
 * Receive buffers of the port as mlx5's en/port_buffer.c: the host's manual
 * mode with its headroom check, and the firmware's own arrangement before it.
 */
#include <linux/math.h>

#include "testnic.h"

#define TN_DEFAULT_TOTAL	262016
#define TN_DEFAULT_CELL		128

/* xoff = (301 + 2.16 * metres) * Gb/s + 2.72 * MTU, from 40 Gb/s up. */
static u32 tn_xoff(const struct tn_dev *nic, u32 cable_m, unsigned int mtu)
{
	u32 speed = max_t(u32, nic->speed_mbps, SPEED_40000);

	return (301 + 216 * cable_m / 100) * speed / 1000 + 272 * mtu / 100;
}

static u32 tn_max_mtu(const struct tn_dev *nic)
{
	return max_t(u32, nic->netdev->max_mtu, TN_MIN_MAX_MTU);
}

static u32 tn_lossless_minimum(const struct tn_dev *nic, u32 xoff)
{
	return xoff + tn_max_mtu(nic) + nic->buffers.cell;
}

static void tn_thresholds(const struct tn_dev *nic, struct tn_buffer *buffer,
			  u32 xoff)
{
	if (buffer->lossy) {
		buffer->xoff = 0;
		buffer->xon = 0;
	} else {
		buffer->xoff = buffer->size - xoff;
		buffer->xon = buffer->xoff - tn_max_mtu(nic);
	}
}

/* Fails with ENOMEM, as mlx5, when a lossless buffer has no headroom. */
static int tn_update_thresholds(const struct tn_dev *nic,
				struct tn_port_buffers *next, u32 xoff)
{
	int i;

	for (i = 0; i < TN_BUFFERS; i++) {
		struct tn_buffer *buffer = &next->buffer[i];

		if (!buffer->lossy &&
		    buffer->size < tn_lossless_minimum(nic, xoff))
			return -ENOMEM;
		tn_thresholds(nic, buffer, xoff);
	}
	return 0;
}

/* A buffer is lossless when PFC is on for any priority that is mapped to it. */
static int tn_update_lossy(const struct tn_dev *nic,
			   struct tn_port_buffers *next, u8 pfc_en,
			   const u8 *prio2buffer, u32 xoff, bool *changed)
{
	bool any = false;
	int i, prio;

	for (i = 0; i < TN_BUFFERS; i++) {
		bool lossy = true;

		for (prio = 0; prio < TN_PRIOS; prio++)
			if (prio2buffer[prio] == i && (pfc_en & BIT(prio)))
				lossy = false;
		any |= lossy != next->buffer[i].lossy;
		next->buffer[i].lossy = lossy;
	}
	if (!any)
		return 0;
	*changed = true;
	return tn_update_thresholds(nic, next, xoff);
}

static int tn_update_sizes(const struct tn_dev *nic,
			   struct tn_port_buffers *next, const u32 *sizes,
			   u32 xoff)
{
	u64 requested = 0;
	int i;

	for (i = 0; i < TN_BUFFERS; i++) {
		if (!next->buffer[i].lossy && !sizes[i])
			return -EINVAL;
		requested += sizes[i];
	}
	if (requested > next->total)
		return -EINVAL;
	for (i = 0; i < TN_BUFFERS; i++)
		next->buffer[i].size = sizes[i];
	return tn_update_thresholds(nic, next, xoff);
}

/*
 * The host's configuration: all of `change`, or none of it. With no change
 * given it still follows an xoff that another MTU or speed has moved.
 */
int tn_buffers_configure(struct tn_dev *nic, u32 change, unsigned int mtu,
			 u8 pfc_en, const u32 *sizes, const u8 *prio2buffer)
{
	struct tn_port_buffers next = nic->buffers;
	u32 xoff = tn_xoff(nic, nic->cable_m, mtu);
	bool update = false;
	int i, err;

	if (change & TN_CHANGE_CABLE) {
		update = true;
		err = tn_update_thresholds(nic, &next, xoff);
		if (err)
			return err;
	}
	if (change & TN_CHANGE_PFC) {
		err = tn_update_lossy(nic, &next, pfc_en, next.prio2buffer,
				      xoff, &update);
		if (err)
			return err;
	}
	if (change & TN_CHANGE_PRIO2BUFFER) {
		u8 lossless = nic->rx_pause || nic->tx_pause ? 0xff : pfc_en;

		for (i = 0; i < TN_PRIOS; i++)
			if (prio2buffer[i] >= TN_BUFFERS)
				return -EINVAL;	/* the firmware's refusal */
		err = tn_update_lossy(nic, &next, lossless, prio2buffer, xoff,
				      &update);
		if (err)
			return err;
		memcpy(next.prio2buffer, prio2buffer, TN_PRIOS);
	}
	if (change & TN_CHANGE_SIZE) {
		update = true;
		err = tn_update_sizes(nic, &next, sizes, xoff);
		if (err)
			return err;
	}
	if (!update && xoff != next.xoff) {
		err = tn_update_thresholds(nic, &next, xoff);
		if (err)
			return err;
	}
	next.xoff = xoff;
	for (i = 0; i < TN_BUFFERS; i++)
		next.buffer[i].size = rounddown(next.buffer[i].size, next.cell);
	nic->buffers = next;
	return 0;
}

/*
 * Before the host takes the buffers the firmware arranges them (as dumps of
 * real ports show): everything in buffer 0, or half of it in a lossless
 * buffer 1 for the priorities with PFC, more when their headroom asks for it.
 * The firmware does not know the cable: `delay` has no effect here.
 */
void tn_buffers_follow_firmware(struct tn_dev *nic)
{
	struct tn_port_buffers *b = &nic->buffers;
	u32 xoff = tn_xoff(nic, TN_DEFAULT_CABLE_M, nic->netdev->mtu);
	bool paused = nic->rx_pause || nic->tx_pause;
	u32 lossless;
	int i;

	if (b->manual)
		return;
	memset(b->buffer, 0, sizeof(b->buffer));
	for (i = 0; i < TN_BUFFERS; i++)
		b->buffer[i].lossy = true;
	for (i = 0; i < TN_PRIOS; i++)
		b->prio2buffer[i] = !!(nic->pfc_en & BIT(i));
	b->buffer[0].size = b->total;
	b->xoff = xoff;
	if (nic->pfc_en) {
		lossless = max(b->total / 2, tn_lossless_minimum(nic, xoff));
		lossless = min(rounddown(lossless, b->cell), b->total);
		b->buffer[1].size = lossless;
		b->buffer[1].lossy = false;
		b->buffer[0].size = min(lossless, b->total - lossless);
		b->buffer[0].size = rounddown(b->buffer[0].size, b->cell);
		tn_thresholds(nic, &b->buffer[1], xoff);
	} else if (paused) {
		b->buffer[0].lossy = false;
		tn_thresholds(nic, &b->buffer[0], xoff);
	}
}

void tn_buffers_init(struct tn_dev *nic)
{
	memset(&nic->buffers, 0, sizeof(nic->buffers));
	nic->buffers.total = TN_DEFAULT_TOTAL;
	nic->buffers.cell = TN_DEFAULT_CELL;
	tn_buffers_follow_firmware(nic);
}

int tn_getbuffer(struct net_device *netdev, struct dcbnl_buffer *out)
{
	struct tn_port_buffers *b = &tn_from_netdev(netdev)->buffers;
	int i;

	for (i = 0; i < TN_PRIOS; i++)
		out->prio2buffer[i] = b->prio2buffer[i];
	for (i = 0; i < TN_BUFFERS; i++)
		out->buffer_size[i] = b->buffer[i].size;
	out->total_size = b->total;
	return 0;
}

/* The first real change takes the buffers for good, even when it fails. */
int tn_setbuffer(struct net_device *netdev, struct dcbnl_buffer *in)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_port_buffers *b = &nic->buffers;
	struct tn_write w;
	u32 change = 0;
	int i, err;

	for (i = 0; i < TN_PRIOS; i++)
		if (in->prio2buffer[i] != b->prio2buffer[i])
			change |= TN_CHANGE_PRIO2BUFFER;
	for (i = 0; i < TN_BUFFERS; i++)
		if (in->buffer_size[i] != b->buffer[i].size)
			change |= TN_CHANGE_SIZE;
	err = tn_write_begin(nic, TN_KNOB_BUFFER, &w);
	if (err)
		return err == TN_WRITE_IGNORED ? 0 : err;
	if (change) {
		b->manual = true;
		err = tn_buffers_configure(nic, change, netdev->mtu,
					   nic->pfc_en, in->buffer_size,
					   in->prio2buffer);
	}
	tn_write_end(&w);
	return err;
}
