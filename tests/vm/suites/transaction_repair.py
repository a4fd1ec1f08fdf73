"""Faults planted on a good host, singly and in pairs: doctor sees them, plan and apply put them right and nothing
else, doctor is content, rollback brings them back."""

import itertools
import json

import lab
import lab_dcb
from lab import expect, expect_equal, expect_same_state, run, wait_until
from lab_transaction import (ALONE, COMMITTED, LONG, PROFILE, apply, cm_directory, forget, plan, reset_all, rollback, state,
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
  one.set_pfc()  # mlx5 refuses the one while the other is on
  run(["ethtool", "-A", one.netdev, "rx", "on", "tx", "on"])


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
  """A host that was set up well by somebody else: only what is planted is wrong with it."""
  reset_all()
  forget()
  for index, one in enumerate(lab.nics()):
    run(["ethtool", "-A", one.netdev, "rx", "off", "tx", "off"], check=False)  # 1 where it was off already
    lab_dcb.set_ets(one.netdev, [0, 0, 0, 3, 0, 0, 6, 0], [2, 0, 0, 2, 0, 0, 0, 0], [50, 0, 0, 50, 0, 0, 0, 0])
    one.dcb("app", "add", "dscp-prio", "26:3", "48:6")
    one.set_pfc(3)
    run(["ethtool", "--set-tunable", one.netdev, "pfc-prevention-tout", "100"])
    cm_directory(one).mkdir(exist_ok=True)
    (cm_directory(one) / "ports" / "1" / "default_roce_tos").write_text("106")
    lab.ip(f"link set dev {one.netdev} mtu 9000\naddr replace 10.0.{index}.1/24 dev {one.netdev}\n")
  wait_until(lambda: all(one.carrier for one in lab.nics()), "links up", timeout=20)


def test_the_good_host_is_good():
  good_host()
  expect_equal(plan()["steps"], [], "what is planned for it")
  expect_equal(alarms(), set(), "what doctor says of it")


def alarms():
  """What doctor finds above info: (rule, subject)."""
  done = lab.rocetune("doctor", "--json", "--profile", PROFILE, "--watch-for", "0", check=False)
  expect(done.code in (0, 1), f"doctor: {done.code} {done.stderr}")
  return {(f["rule"], f["subject"]) for f in json.loads(done.stdout)["findings"] if f["severity"] != "info"}


def check_repair(*planted):
  """planted: names of faults, one tuple per NIC from the first on. apply puts them right, rollback brings them back."""
  good_host()
  for one, names in zip(lab.nics(), planted):
    for name in names:
      FAULTS[name](one)
  wait_until(lambda: all(one.carrier for one in lab.nics()), "links back", timeout=20)
  before = state()
  found = {subject.split()[0] for _, subject in alarms()}
  wanted = plan()
  faulty = {one.netdev for one, names in zip(lab.nics(), planted) if names}
  expect(faulty <= found, f"{planted}: doctor finds something on {sorted(found)} only")
  expect_equal({step["port"] for step in wanted["steps"]}, faulty, f"{planted}: ports with something planned")
  done = apply(*ALONE, check=False)
  expect_equal(done.code, COMMITTED, f"{planted}: {done.stdout}{done.stderr}")
  expect_equal(plan()["steps"], [], f"{planted}: what is left to plan")
  expect_equal(alarms(), set(), f"{planted}: what doctor says after the repair")
  rollback()
  after = state()
  if any(change["knob"]["kind"] == "buffers" for step in wanted["steps"] for change in step["changes"]):
    before, after = without_buffer_mode(before), without_buffer_mode(after)
  expect_same_state(before, after)


def test_a_fault_on_either_nic_is_repaired_and_restored():
  check_repair(["dscp_on_lossy"], ["pfc_two"])


@lab.thorough
def test_each_planted_fault_is_repaired_and_restored():
  """Two NICs, so two at a time; in a long run also each beside a good NIC."""
  for first, second in zip(list(FAULTS)[::2], list(FAULTS)[1::2]):
    check_repair([first], [second])
  for name in FAULTS if LONG else ("pfc_two",):
    check_repair([name], [])


def compatible(first, second):
  """Not two values for one setting."""
  pfc = {"pfc_none", "pfc_two", "pfc_on_cnp", "small_buffer", "global_pause"}
  return not {first, second} <= pfc and {first, second} != {"dscp_on_lossy", "trust_pcp"}


@lab.thorough
def test_pairs_of_planted_faults_are_repaired_and_restored():
  pairs = [pair for pair in itertools.combinations(FAULTS, 2) if compatible(*pair)]
  if not LONG:
    pairs = pairs[::7]
  for first, second in itertools.zip_longest(pairs[::2], pairs[1::2], fillvalue=()):
    check_repair(first, second)
