// SPDX-License-Identifier: GPL-2.0
/*
 * PCI side: bind to QEMU's e1000e functions, make one NIC of each, wire them
 * in pairs. The functions' own registers are not used: they lend a real BDF,
 * a config space and a place in the PCI tree.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "testnic.h"

DEFINE_MUTEX(tn_nics_lock);	/* tn_nics, wiring */
struct tn_dev *tn_nics[TN_MAX_NICS];
struct dentry *tn_control_root;
struct dentry *tn_mlx5_root;

/* NIC 0<->1, 2<->3, ...; control.c's `peer` changes it. */
static void tn_wire_default(struct tn_dev *nic)
{
	struct tn_dev *other = tn_nics[nic->index ^ 1];

	if (other && !rcu_access_pointer(other->peer))
		tn_wire(nic, other);
}

static int tn_index_take(struct tn_dev *nic)
{
	int i;

	for (i = 0; i < TN_MAX_NICS; i++) {
		if (!tn_nics[i]) {
			tn_nics[i] = nic;
			nic->index = i;
			return 0;
		}
	}
	return -ENOSPC;
}

static int tn_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct tn_dev *nic;
	int err;

	nic = kzalloc(sizeof(*nic), GFP_KERNEL);
	if (!nic)
		return -ENOMEM;
	nic->pdev = pdev;
	spin_lock_init(&nic->counter_lock);
	spin_lock_init(&nic->link_lock);
	tn_injector_init(&nic->injector);
	nic->link_admin = true;
	nic->bounce_ms = 300;
	nic->speed_mbps = SPEED_100000;
	pci_set_drvdata(pdev, nic);

	mutex_lock(&tn_nics_lock);
	err = tn_index_take(nic);
	mutex_unlock(&tn_nics_lock);
	if (err)
		goto free_nic;
	err = pci_enable_device(pdev);
	if (err)
		goto free_index;
	err = tn_counters_alloc(nic);
	if (err)
		goto disable;
	err = tn_devlink_create(nic);
	if (err)
		goto free_counters;
	err = tn_netdev_create(nic);
	if (err)
		goto destroy_devlink;
	nic->mlx5_dir = debugfs_create_dir(pci_name(pdev), tn_mlx5_root);
	tn_cc_params_init(nic);
	err = tn_rdma_create(nic);
	if (err)
		goto destroy_netdev;
	tn_devlink_publish(nic);
	tn_control_create(nic);

	mutex_lock(&tn_nics_lock);
	tn_wire_default(nic);
	mutex_unlock(&tn_nics_lock);
	return 0;

destroy_netdev:
	debugfs_remove_recursive(nic->mlx5_dir);
	tn_netdev_destroy(nic);
destroy_devlink:
	tn_devlink_destroy(nic);
free_counters:
	kfree(nic->counters);
disable:
	pci_disable_device(pdev);
free_index:
	mutex_lock(&tn_nics_lock);
	tn_nics[nic->index] = NULL;
	mutex_unlock(&tn_nics_lock);
free_nic:
	kfree(nic);
	return err;
}

static void tn_remove(struct pci_dev *pdev)
{
	struct tn_dev *nic = pci_get_drvdata(pdev);

	tn_control_destroy(nic);
	tn_devlink_withdraw(nic);
	mutex_lock(&tn_nics_lock);
	tn_unwire(nic);
	tn_nics[nic->index] = NULL;
	mutex_unlock(&tn_nics_lock);
	tn_rdma_destroy(nic);
	debugfs_remove_recursive(nic->mlx5_dir);
	tn_netdev_destroy(nic);
	tn_devlink_destroy(nic);
	kfree(nic->counters);
	pci_disable_device(pdev);
	kfree(nic);
}

static const struct pci_device_id tn_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_INTEL, 0x10d3) },	/* 82574L: e1000e */
	{ }
};
MODULE_DEVICE_TABLE(pci, tn_ids);

static struct pci_driver tn_driver = {
	.name		= TN_DRIVER_NAME,
	.id_table	= tn_ids,
	.probe		= tn_probe,
	.remove		= tn_remove,
};

static int __init tn_init(void)
{
	int err;

	err = tn_counter_table_init();
	if (err)
		return err;
	tn_injector_init(&tn_global_injector);
	tn_control_root = debugfs_create_dir("mlx5_testnic", NULL);
	tn_mlx5_root = debugfs_create_dir("mlx5", NULL);
	debugfs_create_file("inject", 0600, tn_control_root,
			    &tn_global_injector, &tn_inject_fops);
	debugfs_create_file("writes", 0400, tn_control_root,
			    &tn_global_injector, &tn_writes_fops);
	err = pci_register_driver(&tn_driver);
	if (err) {
		debugfs_remove_recursive(tn_mlx5_root);
		debugfs_remove_recursive(tn_control_root);
		tn_counter_table_exit();
	}
	return err;
}

static void __exit tn_exit(void)
{
	pci_unregister_driver(&tn_driver);
	debugfs_remove_recursive(tn_mlx5_root);
	debugfs_remove_recursive(tn_control_root);
	tn_counter_table_exit();
}

module_init(tn_init);
module_exit(tn_exit);
MODULE_DESCRIPTION("NIC for tests that behaves as mlx5 does towards host tools");
MODULE_LICENSE("GPL");
