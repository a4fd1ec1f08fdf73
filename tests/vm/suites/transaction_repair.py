"""Faults planted on a good host, singly and in pairs: doctor sees them, plan and apply put them right and nothing
else, doctor is content, rollback brings them back."""

import itertools
import json

import lab
from lab import expect, expect_equal, expect_same_state, run, wait_until
from lab_transaction import (ALONE, COMMITTED, LONG, PROFILE, apply, forget, plan, rollback, state,
                             without_buffer_mode)

NICS = 2
TIMEOUT_S = 3000


def plant_dscp_on_lossy(one):
  one.dcb("app", "add", "dscp-prio", "26:0")


def plant_pfc_none(one):
  one.set_pfc()


def plant_pfc_two(one):
  one.set_pfc(3, 4)


def plant_pfc_on_cnp(one):
  one.set_pfc(6)


def plant_global_pause(one):
  run(["ethtool", "-A", one.netdev, "rx", "on", "tx", "on"], check=False)


def plant_mtu_1500(one):
  lab.ip(f"link set dev {one.netdev} mtu 1500\n")


def plant_trust_pcp(one):
  for dscp, priority in ((26, 3), (48, 6)):
    one.dcb("app", "del", "dscp-prio", f"{dscp}:{priority}", check=False)


def plant_small_buffer(one):
  one.set_pfc()
  run(["dcb", "buffer", "set", "dev", one.netdev, "prio-buffer", "all:0", "3:1",
       "buffer-size", "0:131072", "1:20480", "2:0", "3:0", "4:0", "5:0", "6:0", "7:0"], check=False)


def plant_cnp_dscp(one):
  one.set_cc_param("np_cnp_dscp", 26)


def plant_cc_out_of_range(one):
  one.set_cc_param("rp_dce_tcp_g", 5000)


def plant_watchdog_off(one):
  run(["ethtool", "--set-tunable", one.netdev, "pfc-prevention-tout", "0"])


def plant_dcbx_willing(one):
  one.put("fw_dcbx_willing", 1)


FAULTS = {f.__name__[len("plant_"):]: f for f in (
    plant_dscp_on_lossy, plant_pfc_none, plant_pfc_two, plant_pfc_on_cnp, plant_global_pause, plant_mtu_1500,
    plant_trust_pcp, plant_small_buffer, plant_cnp_dscp, plant_cc_out_of_range, plant_watchdog_off,
    plant_dcbx_willing)}


def good_host():
  """A host that was set up well by somebody else: only the planted fault is wrong with it."""
  lab.reset_all()
  forget()
  for index, one in enumerate(lab.nics()):
    lab.ip(f"addr replace 10.0.{index}.1/24 dev {one.netdev}\n")
  apply(*ALONE)
  forget()
  expect_equal(alarms(), set(), "what doctor says of the good host")


def alarms():
  """What doctor finds above info: (rule, subject)."""
  done = lab.rocetune("doctor", "--json", "--profile", PROFILE, "--watch-for", "0", check=False)
  expect(done.code in (0, 1), f"doctor: {done.code} {done.stderr}")
  return {(f["rule"], f["subject"]) for f in json.loads(done.stdout)["findings"] if f["severity"] != "info"}


def check_repair(names):
  """Planted on one of two good NICs: apply puts it right, rollback brings it back."""
  one = lab.nic(0)
  for name in names:
    FAULTS[name](one)
  wait_until(lambda: one.carrier, "link back", timeout=20)
  before = state()
  expect(alarms(), f"{names}: doctor finds nothing")
  wanted = plan()
  expect(wanted["steps"], f"{names}: nothing planned")
  expect(all(step["port"] == one.netdev for step in wanted["steps"]), f"{names}: planned for a good NIC")
  done = apply(*ALONE, check=False)
  expect_equal(done.code, COMMITTED, f"{names}: {done.stdout}{done.stderr}")
  expect_equal(plan()["steps"], [], f"{names}: what is left to plan")
  expect_equal(alarms(), set(), f"{names}: what doctor says after the repair")
  rollback()
  after = state()
  writes_buffers = any(change["knob"]["kind"] == "buffers" for step in wanted["steps"] for change in step["changes"])
  if writes_buffers:
    before, after = without_buffer_mode(before), without_buffer_mode(after)
  expect_same_state(before, after)


def test_each_planted_fault_is_repaired_and_restored():
  for name in FAULTS:
    good_host()
    check_repair([name])


def compatible(first, second):
  """Not two values for one setting."""
  pfc = {"pfc_none", "pfc_two", "pfc_on_cnp", "small_buffer"}
  return not {first, second} <= pfc and {first, second} != {"dscp_on_lossy", "trust_pcp"}


def test_pairs_of_planted_faults_are_repaired_and_restored():
  pairs = [pair for pair in itertools.combinations(FAULTS, 2) if compatible(*pair)]
  if not LONG:
    pairs = pairs[::6]
  for pair in pairs:
    good_host()
    check_repair(list(pair))
