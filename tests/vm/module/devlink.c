// SPDX-License-Identifier: GPL-2.0
/*
 * devlink: versions, the physical port, the enable_roce parameter and health
 * reporters under mlx5's names. Nothing is reloaded.
 */
#include <net/devlink.h>

#include "testnic.h"

struct tn_devlink_priv {
	struct tn_dev *nic;
};

static int tn_info_get(struct devlink *devlink, struct devlink_info_req *req,
		       struct netlink_ext_ack *extack)
{
	int err;

	err = devlink_info_driver_name_put(req, TN_DRIVER_NAME);
	if (err)
		return err;
	err = devlink_info_version_fixed_put(req, "fw.psid", TN_PSID);
	if (err)
		return err;
	err = devlink_info_version_running_put(req, "fw.version", TN_FW_VERSION);
	if (err)
		return err;
	err = devlink_info_version_running_put(req,
					       DEVLINK_INFO_VERSION_GENERIC_FW,
					       TN_FW_VERSION);
	if (err)
		return err;
	err = devlink_info_version_stored_put(req, "fw.version", TN_FW_VERSION);
	if (err)
		return err;
	return devlink_info_version_stored_put(req,
					       DEVLINK_INFO_VERSION_GENERIC_FW,
					       TN_FW_VERSION);
}

static const struct devlink_ops tn_devlink_ops = {
	.info_get = tn_info_get,
};

static const struct devlink_param tn_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT),
			      NULL, NULL, NULL),
};

static int tn_recover(struct devlink_health_reporter *reporter, void *ctx,
		      struct netlink_ext_ack *extack)
{
	return 0;
}

static const struct devlink_health_reporter_ops tn_reporters[] = {
	{ .name = "fw" },
	{ .name = "fw_fatal", .recover = tn_recover },
	{ .name = "tx", .recover = tn_recover },
	{ .name = "rx", .recover = tn_recover },
};

/* An error as the hardware would report it; counted, and recovered if it can. */
int tn_devlink_report(struct tn_dev *nic, const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tn_reporters); i++) {
		if (!strcmp(tn_reporters[i].name, name)) {
			devlink_health_report(nic->reporters[i], "by a test",
					      NULL);
			return 0;
		}
	}
	return -ENOENT;
}

static void tn_reporters_destroy(struct tn_dev *nic)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tn_reporters); i++)
		if (!IS_ERR_OR_NULL(nic->reporters[i]))
			devlink_health_reporter_destroy(nic->reporters[i]);
}

int tn_devlink_create(struct tn_dev *nic)
{
	union devlink_param_value enabled = { .vbool = true };
	struct devlink_port_attrs attrs = { };
	int i, err;

	BUILD_BUG_ON(ARRAY_SIZE(tn_reporters) != ARRAY_SIZE(nic->reporters));
	nic->devlink = devlink_alloc(&tn_devlink_ops,
				     sizeof(struct tn_devlink_priv),
				     &nic->pdev->dev);
	if (!nic->devlink)
		return -ENOMEM;
	((struct tn_devlink_priv *)devlink_priv(nic->devlink))->nic = nic;
	err = devlink_params_register(nic->devlink, tn_params,
				      ARRAY_SIZE(tn_params));
	if (err)
		goto free;
	devlink_param_driverinit_value_set(nic->devlink,
					   DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE,
					   enabled);
	for (i = 0; i < ARRAY_SIZE(tn_reporters); i++)
		nic->reporters[i] =
			devlink_health_reporter_create(nic->devlink,
						       &tn_reporters[i], 0,
						       nic);
	attrs.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL;
	attrs.phys.port_number = 0;
	devlink_port_attrs_set(&nic->devlink_port, &attrs);
	err = devlink_port_register(nic->devlink, &nic->devlink_port, 0);
	if (err)
		goto unregister_params;
	return 0;

unregister_params:
	tn_reporters_destroy(nic);
	devlink_params_unregister(nic->devlink, tn_params,
				  ARRAY_SIZE(tn_params));
free:
	devlink_free(nic->devlink);
	return err;
}

/* Once the netdev exists. */
void tn_devlink_publish(struct tn_dev *nic)
{
	devlink_port_type_eth_set(&nic->devlink_port, nic->netdev);
	devlink_register(nic->devlink);
}

/* Before the netdev goes. */
void tn_devlink_withdraw(struct tn_dev *nic)
{
	devlink_unregister(nic->devlink);
	devlink_port_type_clear(&nic->devlink_port);
}

void tn_devlink_destroy(struct tn_dev *nic)
{
	devlink_port_unregister(&nic->devlink_port);
	tn_reporters_destroy(nic);
	devlink_params_unregister(nic->devlink, tn_params,
				  ARRAY_SIZE(tn_params));
	devlink_free(nic->devlink);
}
