"""Kernel lockdown (Secure Boot): debugfs is closed, DCB and ethtool stay open."""

import pathlib

import lab
import lab_dcb
from lab import expect, run, run_fails

LOCKDOWN = "integrity"


def _bdf():
  return pathlib.Path("/sys/class/net/eth0/device").resolve().name  # the harness' NICs read debugfs


def test_lockdown_is_on():
  text = pathlib.Path("/sys/kernel/security/lockdown").read_text()
  expect("[integrity]" in text, f"lockdown: {text}")


def test_debugfs_reads_fail():
  path = lab.DEBUGFS / "mlx5" / _bdf() / "cc_params" / "rp_ai_rate"
  expect(path.exists(), "the file is listed: denied, not absent")
  try:
    path.read_text()
  except PermissionError:
    return
  raise lab.Failure(f"{path} can be read")


def test_debugfs_writes_fail():
  path = lab.DEBUGFS / "mlx5" / _bdf() / "cc_params" / "rp_ai_rate"
  run_fails(f"echo 7 > {path}", "Operation not permitted")


def test_dcb_and_ethtool_work():
  lab_dcb.set_pfc("eth0", 8)
  expect(run(["dcb", "-j", "pfc", "show", "dev", "eth0"]).json()["prio_pfc"][3], "PFC set under lockdown")
  expect("rx_prio3_pause" in run(["ethtool", "-S", "eth0"]).stdout, "statistics")


