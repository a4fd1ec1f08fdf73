// SPDX-License-Identifier: GPL-2.0
/*
 * The performance management agent that the core asks for ports/N/counters.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "testnic.h"

static u64 tn_port_counter(struct tn_dev *nic, const char *name)
{
	int index = tn_counter_find(name);

	return index < 0 ? 0 : tn_counter_read(nic, index);
}

static u32 tn_saturated(u64 value, u32 limit)
{
	return min_t(u64, value, limit);
}

static void tn_fill_port_counters(struct tn_dev *nic,
				  struct ib_pma_portcounters *out)
{
	out->link_downed_counter =
		tn_saturated(tn_port_counter(nic, "link_downed"), 0xff);
	out->port_rcv_errors = cpu_to_be16(
		tn_saturated(tn_port_counter(nic, "port_rcv_errors"), 0xffff));
	out->port_xmit_discards = cpu_to_be16(
		tn_saturated(tn_port_counter(nic, "port_xmit_discards"),
			     0xffff));
	out->port_xmit_wait = cpu_to_be32(
		tn_saturated(tn_port_counter(nic, "port_xmit_wait"), U32_MAX));
}

static void tn_fill_port_counters_ext(struct tn_dev *nic,
				      struct ib_pma_portcounters_ext *out)
{
	u64 sent = tn_live_read(nic, TN_PORT_XMIT_PACKETS);
	u64 received = tn_live_read(nic, TN_PORT_RCV_PACKETS);

	out->port_xmit_data = cpu_to_be64(tn_live_read(nic, TN_PORT_XMIT_DATA));
	out->port_rcv_data = cpu_to_be64(tn_live_read(nic, TN_PORT_RCV_DATA));
	out->port_xmit_packets = cpu_to_be64(sent);
	out->port_rcv_packets = cpu_to_be64(received);
	out->port_unicast_xmit_packets = cpu_to_be64(sent);
	out->port_unicast_rcv_packets = cpu_to_be64(received);
}

int tn_answer_pma(struct tn_dev *nic, const struct ib_mad *in,
		  struct ib_mad *out)
{
	void *data = out->data + 40;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_SUCCESS;
	memset(out->data, 0, sizeof(out->data));
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO) {
		((struct ib_class_port_info *)data)->capability_mask =
			IB_PMA_CLASS_CAP_EXT_WIDTH;
	} else if (in->mad_hdr.attr_id == IB_PMA_PORT_COUNTERS_EXT) {
		tn_fill_port_counters_ext(nic, data);
	} else {
		tn_fill_port_counters(nic, data);
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
