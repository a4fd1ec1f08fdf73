"""apply and rollback over bonds of the test NICs: one member after another, and as before to the byte."""

import contextlib
import pathlib

import lab
import lab_dcb
from lab import expect, expect_equal, expect_same_state, wait_until
from lab_transaction import ALONE, REFUSED, apply, forget, last_outcome, plan, rollback, state

NICS = 4
TIMEOUT_S = 1800

BOND = ("--port", "bond0")


def bonding(name="bond0"):
  return pathlib.Path(f"/proc/net/bonding/{name}").read_text()


def make_bond(name, options, members):
  lab.ip(f"link add {name} type bond miimon 10 {options}\n" +
         "".join(f"link set {n.netdev} down\nlink set {n.netdev} master {name}\n" for n in members) +
         f"link set {name} up\n")


@contextlib.contextmanager
def bond_over_the_first_two(options, peer_is_a_bond=False):
  """bond0 over NICs 0 and 1, wired to NICs 2 and 3, which are a bond too where the mode takes two sides."""
  a, b, c, d = lab.nics()
  a.put("peer", c.netdev)
  b.put("peer", d.netdev)
  names = ["bond0"] + (["bond1"] if peer_is_a_bond else [])
  try:
    make_bond("bond0", options, (a, b))
    if peer_is_a_bond:
      make_bond("bond1", options, (c, d))
    wait_until(lambda: all(n.carrier for n in (a, b, c, d)), "links of all NICs", timeout=20)
    yield a, b
  finally:
    for name in names:
      if pathlib.Path(f"/sys/class/net/{name}").exists():
        lab.ip(f"link del {name}\n")
    a.put("peer", b.netdev)
    c.put("peer", d.netdev)
    lab.ip("".join(f"link set {n.netdev} up\n" for n in (a, b, c, d)))


def expect_applied(members):
  for nic in members:
    expect_equal(lab_dcb.dump(nic.netdev)["pfc"], "cap 8 mask 0x08 mbc 0 delay 7", f"PFC of {nic.netdev}")
    expect_equal(nic.mtu, 9000, f"MTU of {nic.netdev}: its bond's")
  expect_equal(plan(*BOND)["steps"], [], "what is left to plan")


def test_an_active_backup_bond_is_changed_backup_first_and_taken_back():
  forget()
  with bond_over_the_first_two("mode active-backup") as (a, b):
    wait_until(lambda: f"Currently Active Slave: {a.netdev}" in bonding(), "the first NIC active", timeout=20)
    ports = [step["port"] for step in plan(*BOND)["steps"]]
    expect_equal(list(dict.fromkeys(ports)), [b.netdev, a.netdev, "bond0"], "backup, active, bond")
    before = state()
    apply(*BOND, *ALONE)
    expect_applied((a, b))
    # Its active member left for the bounce and it does not go back: that is no fault of the change.
    expect(f"Currently Active Slave: {b.netdev}" in bonding(), f"no failover: {bonding()}")
    rollback()
    expect_same_state(before, state())
    expect_equal(last_outcome(), "committed", "outcome of the undo")


@lab.thorough
def test_an_active_backup_bond_is_taken_back_before_the_confirmation():
  forget()
  with bond_over_the_first_two("mode active-backup") as (a, _):
    wait_until(lambda: f"Currently Active Slave: {a.netdev}" in bonding(), "the first NIC active", timeout=20)
    before = state()
    apply(*BOND, "--confirm-within", "10min")
    rollback()
    expect_same_state(before, state())
    expect_equal(last_outcome(), "rolled_back", "outcome")


def test_an_lacp_bond_waits_for_its_aggregate_and_is_taken_back():
  forget()
  with bond_over_the_first_two("mode 802.3ad lacp_rate fast", peer_is_a_bond=True) as (a, b):
    wait_until(lambda: "Number of ports: 2" in bonding(), "both members in the aggregate", timeout=60)
    # The bond's speed follows a moment later; a plan is of the host as it is.
    speed = pathlib.Path("/sys/class/net/bond0/speed")
    wait_until(lambda: speed.read_text().strip() == "200000", "the speed of both members", timeout=60)
    before = state()
    apply(*BOND, *ALONE)
    expect_applied((a, b))
    expect("Number of ports: 2" in bonding(), f"a member is not back: {bonding()}")
    rollback()
    expect_same_state(before, state())
    expect("Number of ports: 2" in bonding(), f"a member is not back: {bonding()}")


def test_rdma_traffic_of_one_member_guards_the_other():
  forget()
  with bond_over_the_first_two("mode active-backup") as (a, b):
    a.set_rates(rx_vport_rdma_unicast_packets=50000, rx_vport_rdma_unicast_bytes=50000000)
    before = state()
    done = apply(*BOND, *ALONE, check=False)
    a.set_rates(rx_vport_rdma_unicast_packets=0, rx_vport_rdma_unicast_bytes=0)
    expect_equal(done.code, REFUSED, f"exit code: {done.stdout}")
    for nic in (a, b):
      expect(f"{nic.netdev}: RDMA traffic runs on bond0" in done.stdout, done.stdout)
    expect_same_state(before, state())
