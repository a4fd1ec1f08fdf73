"""`inspect` against Debian's own tools on the same kernel: DCB, ethtool, RDMA, devlink, addresses, namespaces, bonds."""

import contextlib
import pathlib

import lab
import lab_dcb
from lab import expect, expect_equal, run

NICS = 2
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def inspect(*arguments):
  return lab.rocetune("inspect", "--json", *arguments).json()


def port_of(host, netdev):
  ports = [p for p in host["ports"] if p["name"] == netdev]
  expect_equal(len(ports), 1, f"ports called {netdev}")
  return ports[0]


def interface_of(host, netdev, name):
  return next(i for i in host["interfaces"] if i["port"] == netdev and i["name"] == name)


# ---- agreement with the tools ----

def test_pfc_agrees_with_dcb():
  nic = lab.nic(0)
  nic.set_pfc(3, 5)
  nic.dcb("pfc", "set", "delay", "30")
  theirs = nic.dcb("pfc").json()
  ours = port_of(inspect(), nic.netdev)["dcb"]["pfc"]
  expect_equal(ours["enabled"], [p for p in lab.PRIORITIES if theirs["prio_pfc"][p]], "priorities")
  expect_equal(ours["delay"], theirs["delay"], "delay")
  expect_equal(ours["capable"], theirs["pfc_cap"], "capable")


def test_ets_agrees_with_dcb():
  nic = lab.nic(0)
  lab_dcb.set_ets(nic.netdev, list(range(8)), [2] * 6 + [0, 2], [10, 10, 10, 40, 10, 10, 0, 10])
  theirs = nic.dcb("ets").json()
  ours = port_of(inspect(), nic.netdev)["dcb"]["ets"]
  expect_equal(ours["tx_share_percent_of_tc"], theirs["tc_bw"], "shares")
  expect_equal(ours["tsa_of_tc"], theirs["tc_tsa"], "algorithms")
  expect_equal(ours["tc_of_priority"], theirs["prio_tc"], "traffic classes")


def test_app_and_trust_agree_with_dcb():
  nic = lab.nic(0)
  expect_equal(port_of(inspect(), nic.netdev)["dcb"]["trust"], "pcp", "trust without a DSCP entry")
  nic.dcb("app", "add", "dscp-prio", "26:3", "48:6")
  ours = port_of(inspect(), nic.netdev)["dcb"]
  expect_equal(ours["trust"], nic.trust, "trust")
  theirs = nic.dcb("app").json()
  shown = {(e["protocol"], e["priority"]) for e in ours["app"] if e["selector"] == "dscp"}
  expect_equal(shown, {tuple(entry) for entry in theirs["dscp_prio"]}, "DSCP entries")


def test_buffers_and_rate_limits_agree_with_dcb():
  nic = lab.nic(0)
  lab_dcb.set_maxrate(nic.netdev, [0, 0, 10**7, 0, 0, 0, 0, 0])
  ours = port_of(inspect(), nic.netdev)["dcb"]
  buffer = nic.dcb("buffer").json()
  expect_equal(ours["buffers"]["size_bytes"], buffer["buffer_size"], "sizes")
  expect_equal(ours["buffers"]["buffer_of_priority"], buffer["prio_buffer"], "buffers of priorities")
  expect_equal(ours["buffers"]["total_bytes"], buffer["total_size"], "total")
  expect_equal(ours["max_rate_bps_of_tc"][2], 10 * 10**9, "rate limit of TC 2")


def test_dcbx_mode_and_its_loss():
  nic = lab.nic(0)
  expect(port_of(inspect(), nic.netdev)["dcb"]["dcbx"]["host"], "the host owns DCBX after loading")
  nic.dcbx_to_firmware()
  expect(not port_of(inspect(), nic.netdev)["dcb"]["dcbx"]["host"], "firmware owns DCBX after SDCBX(0)")


def test_pause_and_watchdog_agree_with_ethtool():
  nic = lab.nic(0)
  run(["ethtool", "-A", nic.netdev, "rx", "off", "tx", "on"])
  run(["ethtool", "--set-tunable", nic.netdev, "pfc-prevention-tout", "200"])
  ours = port_of(inspect(), nic.netdev)
  shown = [ours["pause"][key] for key in ("autonegotiate", "receive", "transmit")]
  expect_equal(shown, [bool(value) for value in lab.pause(nic.netdev)], "global pause")
  expect_equal(shown, [False, False, True], "what was set")
  expect_equal(ours["pfc_prevention_ms"], 200, "watchdog")


def test_link_agrees_with_ethtool():
  nic = lab.nic(0)
  nic.put("speed_mbps", 200000)
  link = port_of(inspect(), nic.netdev)["link"]
  expect_equal((link["speed_bps"], link["carrier"], link["fec"]), (200 * 10**9, True, "RS"), "link")
  text = run(["ethtool", nic.netdev]).stdout
  if "Lanes:" in text:
    expect_equal(link["lanes"], int(text.split("Lanes:")[1].split()[0]), "lanes")
  nic.set_link(False)
  down = port_of(inspect(), nic.netdev)["link"]
  expect(not down["carrier"], "carrier of a pulled cable")
  expect("speed_bps" not in down, "a link that is down has no speed, not a speed of 0")


def test_mtu_and_addresses_agree_with_ip():
  nic = lab.nic(0)
  lab.ip(f"addr add 192.0.2.7/24 dev {nic.netdev}\nlink set {nic.netdev} mtu 4200\n")
  port = port_of(inspect(), nic.netdev)
  theirs = run(["ip", "-j", "-d", "addr", "show", "dev", nic.netdev]).json()[0]
  expect_equal((port["mtu_bytes"], port["max_mtu_bytes"]), (theirs["mtu"], theirs["max_mtu"]), "MTU")
  shown = {f"{a['local']}/{a['prefixlen']}" for a in theirs["addr_info"]}
  expect_equal(set(port["addresses"]), shown, "addresses")
  expect_equal(port["rdma"]["active_mtu_bytes"], 4096, "RDMA MTU over 4200 B")


def test_rdma_agrees_with_rdma_and_sysfs():
  nic = lab.nic(0)
  lab.ip(f"addr add 192.0.2.7/24 dev {nic.netdev}\n")
  rdma = port_of(inspect(), nic.netdev)["rdma"]
  theirs = run(["rdma", "-j", "link", "show", f"{nic.rdma}/1"]).json()[0]
  expect_equal((rdma["device"], rdma["state"]), (theirs["ifname"], theirs["state"]), "device and state")
  kinds = {"RoCE v2": "roce_v2", "IB/RoCE v1": "roce_v1"}
  expect_equal([(g["index"], g["address"], g["type"], g["netdev"]) for g in rdma["gids"]],
               [(i, gid, kinds[kind], netdev) for i, gid, kind, netdev in nic.gids()], "GIDs")


def test_devlink_agrees():
  nic = lab.nic(0)
  port = port_of(inspect(), nic.netdev)
  info = run(["devlink", "-j", "dev", "info", f"pci/{nic.bdf}"]).json()["info"][f"pci/{nic.bdf}"]
  expect_equal(port["psid"], info["versions"]["fixed"]["fw.psid"], "PSID")
  params = run(["devlink", "-j", "dev", "param", "show"]).json()["param"][f"pci/{nic.bdf}"]
  expect_equal(set(port["devlink_params"]), {p["name"] for p in params}, "parameters")


def test_pcie_agrees_with_sysfs():
  nic = lab.nic(0)
  pcie = port_of(inspect(), nic.netdev)["pcie"]
  device = pathlib.Path("/sys/bus/pci/devices") / nic.bdf
  expect_equal(pcie["width_lanes"], int((device / "current_link_width").read_text()), "width")
  expect_equal(f"{pcie['speed_gt_per_s']}", (device / "current_link_speed").read_text().split()[0], "speed")
  expect(isinstance(pcie["max_read_request_bytes"], int), "MaxReadReq is readable for root")


def test_cc_params_are_read():
  nic = lab.nic(0)
  nic.set_cc_param("np_cnp_dscp", 46)
  port = port_of(inspect(), nic.netdev)
  expect_equal(port["cc_params"]["np_cnp_dscp"], 46, "np_cnp_dscp")
  files = {f.name for f in nic.cc_dir.iterdir()}
  expect_equal(set(port["cc_params"]), files, "parameters read")
  expect_equal(port["congestion_control"], "dcqcn", "congestion control")


def test_configfs_is_not_made_by_looking():
  nic = lab.nic(0)
  host = inspect()
  state = interface_of(host, nic.netdev, "configfs: rdma_cm default ToS")
  expect_equal(state["state"], "absent", "default ToS")
  folder = pathlib.Path("/sys/kernel/config/rdma_cm")
  expect(not folder.exists() or not list(folder.iterdir()), "inspect made a directory in configfs")


# ---- what is not ours to see ----

def test_without_root_things_are_denied_not_absent():
  nic = lab.nic(0)
  nic.set_pfc(3)
  host = run([*UNPRIVILEGED, lab.BUILD / "rocetune", "inspect", "--json"]).json()
  expect_equal(port_of(host, nic.netdev)["dcb"]["pfc"]["enabled"], [3], "DCB is readable by anyone")
  for name in ("congestion-control parameters", "PCIe config space", "devlink: eswitch mode"):
    expect_equal(interface_of(host, nic.netdev, name)["state"], "denied", name)
  why = interface_of(host, nic.netdev, "congestion-control parameters")["why"]
  expect("permission" in why, f"the reason is said: {why}")


# ---- namespaces ----

def test_a_nic_in_another_namespace_is_found():
  nic = lab.nic(1)
  with lab.namespace("pod", nic) as inside:
    run([*inside, "ip", "link", "set", nic.netdev, "up"])
    run([*inside, "ip", "addr", "add", "192.0.2.9/24", "dev", nic.netdev])
    host = inspect()
    port = port_of(host, nic.netdev)
    expect_equal(port["network_namespace"], "pod", "namespace")
    expect("192.0.2.9/24" in port["addresses"], "its address there")
    expect_equal(port["rdma"]["device"], nic.rdma, "its RDMA device, shared by all namespaces")
    expect_equal(port["cc_params"]["np_cnp_dscp"], 48, "its parameters")
    only = inspect("--netns", "pod")
    expect_equal([p["name"] for p in only["ports"]], [nic.netdev], "ports of the namespace alone")
  expect_equal(port_of(inspect(), nic.netdev)["network_namespace"], "", "namespace after it is back")


def test_exclusive_rdma_namespaces_are_seen():
  nic = lab.nic(1)
  expect_equal(inspect()["rdma_namespaces_exclusive"], False, "mode after boot")
  run(["rdma", "system", "set", "netns", "exclusive"])
  try:
    expect_equal(inspect()["rdma_namespaces_exclusive"], True, "mode")
    with lab.namespace("pod", nic):
      port = port_of(inspect(), nic.netdev)
      expect_equal(port["network_namespace"], "pod", "the netdev is found")
      expect_equal(port["rdma"]["unavailable"], "absent", "its RDMA device stayed behind in the first namespace")
  finally:
    run(["rdma", "system", "set", "netns", "shared"])


def test_a_namespace_that_is_not_there_is_bad_input():
  with lab.namespace("pod"):
    done = lab.rocetune("inspect", "--netns", "pot", check=False)
  expect_equal(done.code, 2, "exit code")
  expect("did you mean pod?" in done.stderr, f"the nearest name: {done.stderr}")


# ---- what stands on NICs ----

@contextlib.contextmanager
def bond_over(*members):
  names = [m.netdev for m in members]
  lab.ip("link add bond0 type bond mode active-backup\n" +
         "".join(f"link set {n} down\nlink set {n} master bond0\n" for n in names) + "link set bond0 up\n")
  try:
    yield
  finally:
    lab.ip("".join(f"link set {n} nomaster\n" for n in names) + "link del bond0\n")


def test_a_bond_and_its_members():
  with bond_over(lab.nic(0), lab.nic(1)):
    lab.wait_until(lambda: "Currently Active Slave: eth" in pathlib.Path("/proc/net/bonding/bond0").read_text(),
                   "an active member")
    host = inspect()
    expect_equal([(b["name"], b["mode"]) for b in host["bonds"]], [("bond0", "active-backup")], "bonds")
    expect_equal(host["bonds"][0]["members"], [lab.nic(0).netdev, lab.nic(1).netdev], "members")
    expect_equal(len(host["bonds"][0]["active_members"]), 1, "active members")
    expect_equal(port_of(host, "bond0")["role"], "bond", "role")
    for nic, mac in ((lab.nic(0), "b8:ce:f6:00:00:01"), (lab.nic(1), "b8:ce:f6:00:00:02")):
      port = port_of(host, nic.netdev)
      expect_equal((port["bond"], port["mac"]), ("bond0", mac), "member keeps its own address")
      expect_equal(port["rdma"].get("device"), nic.rdma, "its own RDMA device, whichever member is active")


def test_what_hangs_on_a_vlan_hangs_on_its_port():
  nic = lab.nic(0)
  lab.ip(f"link add link {nic.netdev} name storage type vlan id 7\nlink set storage up\n"
         "addr add 198.51.100.1/24 dev storage\nroute add default via 198.51.100.254 dev storage\n")
  try:
    port = port_of(inspect(), nic.netdev)
    expect_equal(port["uppers"], ["storage"], "uppers")
    expect(port["attachments"]["carries_default_route"], "the default route leaves by this port")
  finally:
    lab.ip("link del storage\n")


def test_software_rdma_beside_the_nics_own():
  nic = lab.nic(0)
  run(["rdma", "link", "add", "rxe9", "type", "rxe", "netdev", nic.netdev])
  try:
    expect_equal(port_of(inspect(), nic.netdev)["rdma"]["device"], nic.rdma, "the NIC's own device is shown")
  finally:
    run(["rdma", "link", "del", "rxe9"])


def test_software_rdma_on_a_veth():
  lab.ip("link add v0 type veth peer name v1\nlink set v0 up\nlink set v1 up\n")
  run(["rdma", "link", "add", "rxe9", "type", "rxe", "netdev", "v0"])
  try:
    host = inspect()
    port = port_of(host, "v0")
    expect_equal((port["role"], port["nic"], port["rdma"]["driver"]), ("software", "rxe", "rdma_rxe"), "software RoCE")
    expect("v1" not in [p["name"] for p in host["ports"]], "the other end carries nothing and is no port")
  finally:
    run(["rdma", "link", "del", "rxe9"])
    lab.ip("link del v0\n")


# ---- for people ----

def test_the_page_fits_and_names_every_nic():
  text = lab.rocetune("inspect").stdout
  for nic in lab.nics():
    expect(f"\n{nic.netdev}  " in text, f"a section for {nic.netdev}")
  too_long = [line for line in text.splitlines() if len(line) > 100]
  expect(not too_long, f"lines over 100 columns: {too_long}")


def test_looking_changes_nothing():
  before = lab.capture()
  lab.rocetune("inspect")
  lab.expect_same_state(before, lab.capture())
