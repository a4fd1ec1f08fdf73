"""The lab proves itself: traffic counted by class, devices on top of the NICs, injected faults."""

import errno
import pathlib

import lab
import lab_dcb
from lab import expect, expect_equal, expect_errno, run, run_fails


def _moved(nic, before, prefix):
  after = nic.counters()
  return {p: after[f"{prefix}_prio{p}_packets"] - before[f"{prefix}_prio{p}_packets"] for p in lab.PRIORITIES
          if after[f"{prefix}_prio{p}_packets"] != before[f"{prefix}_prio{p}_packets"]}


# ---- traffic ----

def test_classification_by_dscp():
  a, b = lab.nic(0), lab.nic(1)
  a.dcb("app", "add", "dscp-prio", "26:3")
  b.dcb("app", "add", "dscp-prio", "26:5")
  before_a, before_b = a.counters(), b.counters()
  a.send(10, dscp=26, pcp=6)
  expect_equal(_moved(a, before_a, "tx").get(3), 10, "sent by the sender's map")
  expect_equal(_moved(b, before_b, "rx").get(5), 10, "received by the receiver's map")


def test_classification_by_pcp():
  a, b = lab.nic(0), lab.nic(1)
  before_a, before_b = a.counters(), b.counters()
  a.send(10, dscp=26, pcp=6)
  expect_equal(_moved(a, before_a, "tx").get(6), 10, "by PCP")
  expect_equal(_moved(b, before_b, "rx").get(6), 10, "by PCP")


def test_ce_on_roce_and_on_other_traffic():
  a, b = lab.nic(0), lab.nic(1)
  a.send(4, ecn=3, roce=True)
  a.send(3, ecn=3)
  expect_equal((b.counter("np_ecn_marked_roce_packets"), b.counter("rx0_ecn_mark")), (4, 3),
               "RoCE's CE marks are the NIC's, others the kernel's")


def test_rewiring():
  a, b = lab.nic(0), lab.nic(1)
  try:
    a.put("peer", "none")
    a.send(5, dscp=1)
    expect_equal(b.counter("rx_packets"), 0, "no wire")
    expect_equal(b.get("peer"), "none", "both ends are loose")
  finally:
    a.put("peer", b.netdev)
  expect_equal(b.get("peer"), a.bdf, "wired again")


def test_rxe_write_bw_moves_the_priority():
  a, b = lab.nic(0), lab.nic(1)
  for nic in (a, b):
    nic.dcb("app", "add", "dscp-prio", "26:3")
  with lab.rxe_pair(a, b) as (_, peer):
    before_a = a.counters()
    before_b = b.counters()
    options = "-F -x 1 --tclass=106 -s 65536 -n 50 -q 1".split()
    with lab.background(["ib_write_bw", "-d", "rxe1", *options]):
      lab.wait_until(lambda: ":18515" in run(["ss", "-ltn"]).stdout, "the server listens")
      run(["ib_write_bw", "-d", "rxe0", *options, peer])
    sent, received = _moved(a, before_a, "tx"), _moved(b, before_b, "rx")
    expect(sent.get(3, 0) >= 50 * 65536 // 4096, f"tx by priority: {sent}")
    expect_equal(received.get(3), sent[3], "received on the same priority")
    expect(b.counter("rx_vport_rdma_unicast_packets") >= sent[3], "counted as RDMA")


# ---- devices on top ----

def test_vlan_sets_pcp():
  a, b = lab.nic(0), lab.nic(1)
  lab.ip(f"link add link {a.netdev} name vlan0 type vlan id 100 egress 0:5\nlink set vlan0 up\n"
         "addr add 198.18.9.1/24 dev vlan0\nneigh add 198.18.9.2 lladdr 02:00:00:00:00:02 dev vlan0\n")
  before = a.counters()
  run(["python3", "-S", "-c", "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM);"
       "[s.sendto(b'x', ('198.18.9.2', 9)) for _ in range(7)]"])
  expect(_moved(a, before, "tx").get(5, 0) >= 7, "tagged frames counted by their PCP")
  expect(b.counter("rx_prio5_packets") >= 7, "and received so")


def test_bond():
  a, b = lab.nic(0), lab.nic(1)
  lab.ip("link add bond0 type bond mode active-backup miimon 10\n"
         f"link set {a.netdev} down\nlink set {b.netdev} down\n"
         f"link set {a.netdev} master bond0\nlink set {b.netdev} master bond0\nlink set bond0 up\n")
  active = pathlib.Path("/sys/class/net/bond0/bonding/active_slave")
  with lab.LinkEvents() as events:
    events.wait(lambda: active.read_text().strip() == a.netdev, "first NIC active")
    a.put("link", 0)
    events.wait(lambda: active.read_text().strip() == b.netdev, "failover to the second NIC")


def test_bridge():
  a, b = lab.nic(0), lab.nic(1)
  lab.ip("link add br0 type bridge\nlink add v0 type veth peer name v1\n"
         f"link set {b.netdev} master br0\nlink set v0 master br0\n"
         "link set br0 up\nlink set v0 up\nlink set v1 up\n")
  v1 = pathlib.Path("/sys/class/net/v1/statistics/rx_packets")
  state = pathlib.Path(f"/sys/class/net/{b.netdev}/brport/state")
  lab.wait_until(lambda: state.read_text().strip() == "3", "port forwarding")
  before = int(v1.read_text())
  a.send(20, dscp=26)
  lab.wait_until(lambda: int(v1.read_text()) >= before + 20, "frames through the bridge")


# ---- injected faults ----

def test_injected_errors():
  nic = lab.nic(0)
  nic.inject("pfc 2 error 5")
  lab_dcb.set_pfc(nic.netdev, 8)
  expect_errno(errno.EIO, lab_dcb.set_pfc, nic.netdev, 0)
  lab_dcb.set_pfc(nic.netdev, 0)
  expect_equal(nic.writes()["pfc"], 3, "writes counted")
  nic.inject("ets 0 silent")
  lab_dcb.set_ets(nic.netdev, list(lab.PRIORITIES), [255] * 8, [0] * 8)
  expect_equal(nic.dcb("ets").json()["prio_tc"][0], 1, "a silent write changes nothing")
  lab.inject("mtu 1 error 16")
  run_fails(["ip", "link", "set", lab.nic(1).netdev, "mtu", "9000"], "busy")
  nic.inject("cc_param 1 error 1")
  try:
    nic.set_cc_param("rp_ai_rate", 7)
    raise lab.Failure("cc_param write succeeded")
  except PermissionError:
    pass


def test_injected_kill():
  nic = lab.nic(0)
  for when, want in (("kill_before", False), ("kill_after", True)):
    lab.inject(f"any 1 {when}")
    done = nic.dcb("pfc", "set", "prio-pfc", "3:on", check=False)
    expect_equal(done.code, -9, f"{when}: killed")
    expect_equal(nic.dcb("pfc").json()["prio_pfc"][3], want, when)
