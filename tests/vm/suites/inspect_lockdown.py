"""`inspect` under kernel lockdown: debugfs is denied with the reason, everything else is read."""

import lab
from lab import expect, expect_equal

LOCKDOWN = "integrity"


def test_lockdown_denies_and_says_so():
  host = lab.rocetune("inspect", "--json").json()
  expect_equal(host["lockdown"], "integrity", "lockdown")
  port = next(p for p in host["ports"] if p["name"] == "eth0")
  expect_equal(port["cc_params"]["unavailable"], "denied", "congestion-control parameters")
  expect("lockdown (integrity)" in port["cc_params"]["why"], f"the reason: {port['cc_params']['why']}")
  expect_equal(port["congestion_control"]["unavailable"], "denied", "congestion control in force")


def test_netlink_and_ethtool_stay_readable():
  host = lab.rocetune("inspect", "--json").json()
  port = next(p for p in host["ports"] if p["name"] == "eth0")
  expect_equal(port["dcb"]["pfc"]["capable"], 8, "PFC")
  expect_equal(port["pause"]["receive"], True, "global pause")
  expect_equal(port["rdma"]["device"], "mlx5_0", "RDMA device")
