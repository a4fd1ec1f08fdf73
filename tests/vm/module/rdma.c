// SPDX-License-Identifier: GPL-2.0
/*
 * The RDMA device mlx5_N: port attributes, GIDs kept by the core from the
 * netdev's addresses, hw_counters and port counters.
 */
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "testnic.h"

struct tn_ib_device {
	struct ib_device	ibdev;
	struct tn_dev		*nic;
	struct rdma_stat_desc	*descs;
	unsigned int		*desc_counter;	/* index in the counter table */
	unsigned int		num_descs;
};

#define TN_GIDS 255

static struct tn_ib_device *to_tn(struct ib_device *ibdev)
{
	return container_of(ibdev, struct tn_ib_device, ibdev);
}

static int tn_query_device(struct ib_device *ibdev,
			   struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct tn_dev *nic = to_tn(ibdev)->nic;

	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = 22ULL << 32 | 39 << 16 | 1002;
	attr->sys_image_guid = ibdev->node_guid;
	attr->max_mr_size = ~0ULL;
	attr->page_size_cap = 0xfffff000;
	attr->vendor_id = nic->pdev->vendor;
	attr->vendor_part_id = nic->pdev->device;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	attr->max_qp = 1024;
	attr->max_qp_wr = 1024;
	attr->max_send_sge = 8;
	attr->max_recv_sge = 8;
	attr->max_cq = 1024;
	attr->max_cqe = 4096;
	attr->max_mr = 1024;
	attr->max_pd = 1024;
	attr->max_ah = 1024;
	attr->max_pkeys = 1;
	return 0;
}

static void tn_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, TN_FW_VERSION, IB_FW_VERSION_NAME_MAX);
}

static void tn_port_speed(u32 mbps, u16 *speed, u8 *width)
{
	static const struct {
		u32	mbps;
		u16	speed;
		u8	width;
	} table[] = {
		{ SPEED_10000, IB_SPEED_FDR10, IB_WIDTH_1X },
		{ SPEED_25000, IB_SPEED_EDR, IB_WIDTH_1X },
		{ SPEED_40000, IB_SPEED_QDR, IB_WIDTH_4X },
		{ SPEED_50000, IB_SPEED_HDR, IB_WIDTH_1X },
		{ SPEED_100000, IB_SPEED_EDR, IB_WIDTH_4X },
		{ SPEED_200000, IB_SPEED_HDR, IB_WIDTH_4X },
		{ SPEED_400000, IB_SPEED_NDR, IB_WIDTH_4X },
	};
	int i;

	*speed = IB_SPEED_SDR;
	*width = IB_WIDTH_1X;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		if (mbps >= table[i].mbps) {
			*speed = table[i].speed;
			*width = table[i].width;
		}
	}
}

static int tn_query_port(struct ib_device *ibdev, u32 port,
			 struct ib_port_attr *attr)
{
	struct tn_dev *nic = to_tn(ibdev)->nic;
	bool up = netif_running(nic->netdev) && netif_carrier_ok(nic->netdev);

	/* props being zeroed by the caller, avoid zeroing it here */
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(nic->netdev->mtu);
	attr->gid_tbl_len = TN_GIDS;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = 1U << 30;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	tn_port_speed(nic->speed_mbps, &attr->active_speed,
		      &attr->active_width);
	return 0;
}

static int tn_get_port_immutable(struct ib_device *ibdev, u32 port,
				 struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = TN_GIDS;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE |
				    RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer tn_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static int tn_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			 u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

/* The core keeps the table; the port has nothing to program. */
static int tn_add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int tn_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static struct rdma_hw_stats *tn_alloc_hw_port_stats(struct ib_device *ibdev,
						    u32 port)
{
	struct tn_ib_device *ib = to_tn(ibdev);
	struct rdma_hw_stats *stats;
	unsigned int i;

	stats = rdma_alloc_hw_stats_struct(ib->descs, ib->num_descs,
					   RDMA_HW_STATS_DEFAULT_LIFESPAN);
	if (!stats)
		return NULL;
	for (i = 0; i < ib->num_descs; i++)
		if (ib->descs[i].flags & IB_STAT_FLAG_OPTIONAL)
			set_bit(i, stats->is_disabled);
	return stats;
}

static int tn_get_hw_stats(struct ib_device *ibdev,
			   struct rdma_hw_stats *stats, u32 port, int index)
{
	struct tn_ib_device *ib = to_tn(ibdev);
	unsigned int i;

	for (i = 0; i < ib->num_descs; i++)
		stats->value[i] = tn_counter_read(ib->nic, ib->desc_counter[i]);
	return ib->num_descs;
}

/* An optional counter counts from the moment it is switched on. */
static int tn_modify_hw_stat(struct ib_device *ibdev, u32 port,
			     unsigned int index, bool enable)
{
	struct tn_ib_device *ib = to_tn(ibdev);

	if (index >= ib->num_descs ||
	    !(ib->descs[index].flags & IB_STAT_FLAG_OPTIONAL))
		return -EINVAL;
	if (enable)
		tn_counter_set(ib->nic, ib->desc_counter[index], 0);
	return 0;
}

static int tn_process_mad(struct ib_device *ibdev, int flags, u32 port,
			  const struct ib_wc *in_wc, const struct ib_grh *in_grh,
			  const struct ib_mad *in, struct ib_mad *out,
			  size_t *out_size, u16 *out_pkey_index)
{
	return tn_answer_pma(to_tn(ibdev)->nic, in, out);
}

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "MT4125\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *device,
			   struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, TN_PSID "\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *tn_attributes[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL,
};

static const struct attribute_group tn_attribute_group = {
	.attrs = tn_attributes,
};

static const struct ib_device_ops tn_ib_ops = {
	.owner			= THIS_MODULE,
	/*
	 * Not RDMA_DRIVER_MLX5: with it libibverbs' mlx5 provider would try to
	 * talk its own ABI to this device.
	 */
	.driver_id		= RDMA_DRIVER_UNKNOWN,
	.device_group		= &tn_attribute_group,

	.query_device		= tn_query_device,
	.get_dev_fw_str		= tn_get_dev_fw_str,
	.query_port		= tn_query_port,
	.get_port_immutable	= tn_get_port_immutable,
	.get_link_layer		= tn_get_link_layer,
	.query_pkey		= tn_query_pkey,
	.add_gid		= tn_add_gid,
	.del_gid		= tn_del_gid,
	.process_mad		= tn_process_mad,
	.alloc_hw_port_stats	= tn_alloc_hw_port_stats,
	.get_hw_stats		= tn_get_hw_stats,
	.modify_hw_stat		= tn_modify_hw_stat,
};

static bool tn_is_hw_counter(unsigned int index)
{
	enum tn_counter_set set = tn_counter_set_of(index);

	return set == TN_SET_QUEUE || set == TN_SET_CONGESTION ||
	       set == TN_SET_OPTIONAL;
}

static int tn_build_descs(struct tn_ib_device *ib)
{
	unsigned int i, n = 0;

	for (i = 0; i < tn_counter_count(); i++)
		n += tn_is_hw_counter(i);
	ib->descs = kcalloc(n, sizeof(*ib->descs), GFP_KERNEL);
	ib->desc_counter = kcalloc(n, sizeof(*ib->desc_counter), GFP_KERNEL);
	if (!ib->descs || !ib->desc_counter)
		return -ENOMEM;
	for (i = 0; i < tn_counter_count(); i++) {
		if (!tn_is_hw_counter(i))
			continue;
		ib->descs[ib->num_descs].name = tn_counter_name(i);
		if (tn_counter_set_of(i) == TN_SET_OPTIONAL)
			ib->descs[ib->num_descs].flags = IB_STAT_FLAG_OPTIONAL;
		ib->desc_counter[ib->num_descs++] = i;
	}
	return 0;
}

/* link_lock keeps the device from going while its event is being queued. */
void tn_rdma_link_event(struct tn_dev *nic, bool up)
{
	struct ib_event event = { };

	spin_lock_bh(&nic->link_lock);
	if (nic->ib) {
		event.device = &nic->ib->ibdev;
		event.element.port_num = 1;
		event.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
		ib_dispatch_event(&event);
	}
	spin_unlock_bh(&nic->link_lock);
}

static void tn_publish(struct tn_dev *nic, struct tn_ib_device *ib)
{
	spin_lock_bh(&nic->link_lock);
	nic->ib = ib;
	spin_unlock_bh(&nic->link_lock);
}

static void tn_free(struct tn_ib_device *ib)
{
	kfree(ib->descs);
	kfree(ib->desc_counter);
	ib_dealloc_device(&ib->ibdev);
}

int tn_rdma_create(struct tn_dev *nic)
{
	struct tn_ib_device *ib;
	int err;

	ib = ib_alloc_device(tn_ib_device, ibdev);
	if (!ib)
		return -ENOMEM;
	ib->nic = nic;
	err = tn_build_descs(ib);
	if (err)
		goto free;
	ib->ibdev.node_type = RDMA_NODE_IB_CA;
	ib->ibdev.phys_port_cnt = 1;
	ib->ibdev.num_comp_vectors = 1;
	addrconf_addr_eui48((u8 *)&ib->ibdev.node_guid, nic->netdev->perm_addr);
	ib_set_device_ops(&ib->ibdev, &tn_ib_ops);
	ib_set_device_ops(&ib->ibdev, &tn_verbs_ops);
	err = ib_device_set_netdev(&ib->ibdev, nic->netdev, 1);
	if (err)
		goto free;
	err = ib_register_device(&ib->ibdev, "mlx5_%d", &nic->pdev->dev);
	if (err)
		goto free;
	tn_publish(nic, ib);
	return 0;
free:
	tn_free(ib);
	return err;
}

void tn_rdma_destroy(struct tn_dev *nic)
{
	struct tn_ib_device *ib = nic->ib;

	tn_publish(nic, NULL);
	ib_unregister_device(&ib->ibdev);
	tn_free(ib);
}
