// SPDX-License-Identifier: GPL-2.0
/*
 * The network device: a wire to its peer, packets counted by priority as the
 * NIC's port counters do, and a link that bounces.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "testnic.h"

#define TN_ROCE_PORT 4791

struct tn_class {
	u8	prio;
	bool	roce;
	bool	ce;
};

/* Where the network header is, and the outermost tag's PCP. */
static __be16 tn_parse_l2(const struct sk_buff *skb, int *offset, u8 *pcp)
{
	const struct vlan_hdr *tag;
	struct vlan_hdr tag_copy;
	const struct ethhdr *eth;
	bool tagged = false;
	struct ethhdr copy;
	__be16 proto;

	*pcp = 0;
	if (skb_vlan_tag_present(skb)) {
		*pcp = skb_vlan_tag_get_prio(skb);
		tagged = true;
	}
	eth = skb_header_pointer(skb, 0, sizeof(copy), &copy);
	if (!eth)
		return 0;
	proto = eth->h_proto;
	*offset = ETH_HLEN;
	while (eth_type_vlan(proto)) {
		tag = skb_header_pointer(skb, *offset, sizeof(tag_copy),
					 &tag_copy);
		if (!tag)
			return 0;
		if (!tagged)
			*pcp = ntohs(tag->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
		tagged = true;
		proto = tag->h_vlan_encapsulated_proto;
		*offset += VLAN_HLEN;
	}
	return proto;
}

static bool tn_is_roce(const struct sk_buff *skb, int offset, u8 protocol)
{
	const struct udphdr *udp;
	struct udphdr copy;

	if (protocol != IPPROTO_UDP)
		return false;
	udp = skb_header_pointer(skb, offset, sizeof(copy), &copy);
	return udp && udp->dest == htons(TN_ROCE_PORT);
}

/*
 * The port's classification: by DSCP for IP packets when it trusts DSCP, by
 * the VLAN tag's PCP when it trusts PCP, priority 0 for what carries neither.
 * The packet starts at its Ethernet header.
 */
static struct tn_class tn_classify(struct tn_dev *nic, const struct sk_buff *skb)
{
	const struct ipv6hdr *ip6;
	const struct iphdr *ip4;
	struct tn_class class = { };
	struct ipv6hdr copy6;
	struct iphdr copy4;
	bool is_ip = false;
	int offset = 0;
	u8 dsfield = 0;
	__be16 proto;
	u8 pcp;

	proto = tn_parse_l2(skb, &offset, &pcp);
	if (proto == htons(ETH_P_IP)) {
		ip4 = skb_header_pointer(skb, offset, sizeof(copy4), &copy4);
		if (ip4) {
			is_ip = true;
			dsfield = ip4->tos;
			class.roce = tn_is_roce(skb, offset + ip4->ihl * 4,
						ip4->protocol);
		}
	} else if (proto == htons(ETH_P_IPV6)) {
		ip6 = skb_header_pointer(skb, offset, sizeof(copy6), &copy6);
		if (ip6) {
			is_ip = true;
			dsfield = ipv6_get_dsfield(ip6);
			class.roce = tn_is_roce(skb, offset + sizeof(*ip6),
						ip6->nexthdr);
		}
	}
	class.ce = is_ip && INET_ECN_is_ce(dsfield);
	if (READ_ONCE(nic->app.trust) == TN_TRUST_PCP)
		class.prio = pcp;
	else if (is_ip)
		class.prio = READ_ONCE(nic->app.dscp2prio[dsfield >> 2]);
	return class;
}

static void tn_count_tx(struct tn_dev *nic, const struct sk_buff *skb)
{
	struct tn_class class = tn_classify(nic, skb);

	tn_live_add(nic, TN_TX_PACKETS, 1);
	tn_live_add(nic, TN_TX_BYTES, skb->len);
	tn_live_add(nic, TN_TX_PACKETS_PHY, 1);
	tn_live_add(nic, TN_TX_BYTES_PHY, skb->len + ETH_FCS_LEN);
	tn_prio_add(nic, class.prio, TN_PRIO_TX_PACKETS, 1);
	tn_prio_add(nic, class.prio, TN_PRIO_TX_BYTES, skb->len + ETH_FCS_LEN);
	if (!class.roce)
		return;
	tn_live_add(nic, TN_TX_VPORT_RDMA_PACKETS, 1);
	tn_live_add(nic, TN_TX_VPORT_RDMA_BYTES, skb->len);
	tn_live_add(nic, TN_PORT_XMIT_PACKETS, 1);
	tn_live_add(nic, TN_PORT_XMIT_DATA, skb->len / 4);
}

static void tn_count_rx(struct tn_dev *nic, const struct sk_buff *skb)
{
	struct tn_class class = tn_classify(nic, skb);

	tn_live_add(nic, TN_RX_PACKETS, 1);
	tn_live_add(nic, TN_RX_BYTES, skb->len);
	tn_live_add(nic, TN_RX_PACKETS_PHY, 1);
	tn_live_add(nic, TN_RX_BYTES_PHY, skb->len + ETH_FCS_LEN);
	tn_prio_add(nic, class.prio, TN_PRIO_RX_PACKETS, 1);
	tn_prio_add(nic, class.prio, TN_PRIO_RX_BYTES, skb->len + ETH_FCS_LEN);
	if (!class.roce) {
		/* the kernel's own traffic; RoCE bypasses this counter */
		if (class.ce)
			tn_live_add(nic, TN_RX_ECN_MARK, 1);
		return;
	}
	if (class.ce)
		tn_live_add(nic, TN_NP_ECN_MARKED, 1);
	tn_live_add(nic, TN_RX_VPORT_RDMA_PACKETS, 1);
	tn_live_add(nic, TN_RX_VPORT_RDMA_BYTES, skb->len);
	tn_live_add(nic, TN_PORT_RCV_PACKETS, 1);
	tn_live_add(nic, TN_PORT_RCV_DATA, skb->len / 4);
}

static void tn_receive(struct tn_dev *nic, struct sk_buff *skb)
{
	unsigned int limit = nic->netdev->mtu + ETH_HLEN + VLAN_HLEN;

	if (!netif_running(nic->netdev) || !netif_carrier_ok(nic->netdev)) {
		dev_kfree_skb_any(skb);
		return;
	}
	if (skb->len > limit) {
		tn_live_add(nic, TN_RX_OVERSIZE, 1);
		dev_kfree_skb_any(skb);
		return;
	}
	tn_count_rx(nic, skb);
	if (dev_forward_skb(nic->netdev, skb) != NET_RX_SUCCESS)
		tn_live_add(nic, TN_RX_DISCARDS, 1);
}

static netdev_tx_t tn_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_dev *peer;

	if (!netif_carrier_ok(netdev)) {
		tn_live_add(nic, TN_TX_DISCARDS, 1);
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	tn_count_tx(nic, skb);
	skb_tx_timestamp(skb);
	rcu_read_lock();
	peer = rcu_dereference(nic->peer);
	if (peer)
		tn_receive(peer, skb);
	else
		dev_kfree_skb_any(skb);
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

/* Under tn_nics_lock. */
void tn_unwire(struct tn_dev *nic)
{
	struct tn_dev *peer;

	peer = rcu_dereference_protected(nic->peer,
					 lockdep_is_held(&tn_nics_lock));
	RCU_INIT_POINTER(nic->peer, NULL);
	if (peer)
		RCU_INIT_POINTER(peer->peer, NULL);
	synchronize_net();
}

/* Under tn_nics_lock. A NIC wired to itself is a loopback plug. */
void tn_wire(struct tn_dev *a, struct tn_dev *b)
{
	tn_unwire(a);
	tn_unwire(b);
	rcu_assign_pointer(a->peer, b);
	rcu_assign_pointer(b->peer, a);
}

void tn_link_update(struct tn_dev *nic)
{
	bool was, up;

	spin_lock_bh(&nic->link_lock);
	up = nic->link_admin && !nic->bouncing && netif_running(nic->netdev);
	was = netif_carrier_ok(nic->netdev);
	if (up)
		netif_carrier_on(nic->netdev);
	else
		netif_carrier_off(nic->netdev);
	spin_unlock_bh(&nic->link_lock);
	if (was && !up)
		tn_live_add(nic, TN_LINK_DOWN_EVENTS, 1);
	if (was != up)
		tn_rdma_link_event(nic, up);
}

static void tn_bounce_ended(struct work_struct *work)
{
	struct tn_dev *nic = container_of(to_delayed_work(work), struct tn_dev,
					  bounce_work);

	spin_lock_bh(&nic->link_lock);
	nic->bouncing = nic->bounce_stays_down;
	spin_unlock_bh(&nic->link_lock);
	tn_link_update(nic);
}

/* mlx5_toggle_port_link(): down and up again, the way up takes its time. */
void tn_link_bounce(struct tn_dev *nic)
{
	spin_lock_bh(&nic->link_lock);
	nic->bouncing = true;
	spin_unlock_bh(&nic->link_lock);
	tn_link_update(nic);
	mod_delayed_work(system_wq, &nic->bounce_work,
			 msecs_to_jiffies(nic->bounce_ms));
}

/* The cable: plugging it in also ends a bounce, be it one that is to stay down
 * and whose end is still to come. May sleep.
 */
void tn_link_set(struct tn_dev *nic, bool up)
{
	if (up)
		cancel_delayed_work_sync(&nic->bounce_work);
	spin_lock_bh(&nic->link_lock);
	nic->link_admin = up;
	if (up)
		nic->bouncing = false;
	spin_unlock_bh(&nic->link_lock);
	tn_link_update(nic);
}

static int tn_open(struct net_device *netdev)
{
	netif_start_queue(netdev);
	tn_link_update(tn_from_netdev(netdev));
	return 0;
}

static int tn_stop(struct net_device *netdev)
{
	netif_stop_queue(netdev);
	tn_link_update(tn_from_netdev(netdev));
	return 0;
}

/* mlx5 recomputes headroom for the new MTU, but only for manual buffers. */
static int tn_change_mtu(struct net_device *netdev, int mtu)
{
	struct tn_dev *nic = tn_from_netdev(netdev);
	struct tn_write w;
	int err;

	err = tn_write_begin(nic, TN_KNOB_MTU, &w);
	if (err == TN_WRITE_IGNORED)
		return 0;
	if (err)
		return err;
	WRITE_ONCE(netdev->mtu, mtu);
	if (nic->buffers.manual)
		tn_buffers_configure(nic, 0, mtu, nic->pfc_en, NULL, NULL);
	else
		tn_buffers_follow_firmware(nic);
	tn_write_end(&w);
	return 0;
}

static void tn_get_stats64(struct net_device *netdev,
			   struct rtnl_link_stats64 *stats)
{
	struct tn_dev *nic = tn_from_netdev(netdev);

	stats->rx_packets = tn_live_read(nic, TN_RX_PACKETS);
	stats->rx_bytes = tn_live_read(nic, TN_RX_BYTES);
	stats->tx_packets = tn_live_read(nic, TN_TX_PACKETS);
	stats->tx_bytes = tn_live_read(nic, TN_TX_BYTES);
	stats->rx_crc_errors = tn_live_read(nic, TN_RX_CRC_ERRORS);
	stats->tx_dropped = tn_live_read(nic, TN_TX_DISCARDS);
}

static void tn_set_rx_mode(struct net_device *netdev)
{
	/* everything on the wire is received */
}

static struct devlink_port *tn_get_devlink_port(struct net_device *netdev)
{
	return &tn_from_netdev(netdev)->devlink_port;
}

static const struct net_device_ops tn_netdev_ops = {
	.ndo_open		= tn_open,
	.ndo_stop		= tn_stop,
	.ndo_start_xmit		= tn_xmit,
	.ndo_change_mtu		= tn_change_mtu,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	.ndo_get_stats64	= tn_get_stats64,
	.ndo_set_rx_mode	= tn_set_rx_mode,
	.ndo_get_devlink_port	= tn_get_devlink_port,
};

int tn_netdev_create(struct tn_dev *nic)
{
	u8 mac[ETH_ALEN] = { 0xb8, 0xce, 0xf6, 0x00, 0x00, 0x00 };
	struct net_device *netdev;
	int err;

	netdev = alloc_etherdev(sizeof(struct tn_netdev_priv));
	if (!netdev)
		return -ENOMEM;
	nic->netdev = netdev;
	((struct tn_netdev_priv *)netdev_priv(netdev))->nic = nic;
	SET_NETDEV_DEV(netdev, &nic->pdev->dev);
	netdev->netdev_ops = &tn_netdev_ops;
	netdev->ethtool_ops = &tn_ethtool_ops;
	netdev->dcbnl_ops = &tn_dcbnl_ops;
	netdev->max_mtu = TN_MAX_MTU;
	netdev->min_mtu = ETH_MIN_MTU;
	/* No segmentation offload: what is counted is what is on the wire. */
	netdev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM |
			      NETIF_F_HIGHDMA;
	netdev->features = netdev->hw_features | NETIF_F_LLTX;
	netdev->vlan_features = netdev->hw_features;
	netdev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	mac[5] = nic->index + 1;
	eth_hw_addr_set(netdev, mac);
	memcpy(netdev->perm_addr, mac, ETH_ALEN);
	netif_carrier_off(netdev);
	INIT_DELAYED_WORK(&nic->bounce_work, tn_bounce_ended);
	tn_dcb_init(nic);

	err = register_netdev(netdev);
	if (err)
		free_netdev(netdev);
	return err;
}

void tn_netdev_destroy(struct tn_dev *nic)
{
	unregister_netdev(nic->netdev);
	/* nothing can start these again */
	cancel_delayed_work_sync(&nic->fw_dcbx.work);
	cancel_delayed_work_sync(&nic->bounce_work);
	free_netdev(nic->netdev);
}
