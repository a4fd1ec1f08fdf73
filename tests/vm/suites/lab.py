"""The lab proves itself: every peculiarity of mlx5 that the test NIC copies, seen with Debian's own tools."""

import errno
import pathlib
import re

import lab
import lab_dcb
from lab import expect, expect_equal, expect_errno, run, run_fails


# ---- what it looks like ----

def test_names_and_bus():
  nic = lab.nic(0)
  text = run(["ethtool", "-i", nic.netdev]).stdout
  for line in ("driver: mlx5_core", "firmware-version: 22.39.1002 (MT_0000000359)", f"bus-info: {nic.bdf}"):
    expect(line in text, f"ethtool -i lacks {line!r}")
  driver = pathlib.Path(f"/sys/class/net/{nic.netdev}/device/driver").resolve().name
  expect_equal(driver, "mlx5_core", "driver in sysfs")
  details = run(["ip", "-j", "-d", "link", "show", nic.netdev]).json()[0]
  expect_equal((details["min_mtu"], details["max_mtu"]), (68, 9978), "MTU limits")
  permanent = run(["ethtool", "-P", nic.netdev]).stdout.split()[-1]
  expect_equal(permanent, "b8:ce:f6:00:00:01", "permanent address")


def test_pci_link_in_config_space():
  device = pathlib.Path("/sys/bus/pci/devices") / lab.nic(0).bdf
  expect_equal((device / "vendor").read_text().strip(), "0x8086", "vendor stays the emulated one's")
  expect("GT/s" in (device / "current_link_speed").read_text(), "PCIe link speed readable")
  expect(int((device / "current_link_width").read_text()) >= 1, "PCIe link width readable")


def test_devlink():
  nic = lab.nic(0)
  info = run(["devlink", "-j", "dev", "info", f"pci/{nic.bdf}"]).json()["info"][f"pci/{nic.bdf}"]
  expect_equal(info["driver"], "mlx5_core", "driver")
  expect_equal(info["versions"]["fixed"]["fw.psid"], "MT_0000000359", "PSID")
  expect("enable_roce" in run(["devlink", "dev", "param"]).stdout, "no enable_roce parameter")
  nic.put("health", "tx")
  health = run(["devlink", "health", "show", f"pci/{nic.bdf}", "reporter", "tx"]).stdout
  expect(re.search(r"error [1-9]", health), f"a reported error is not counted: {health}")


def test_link_settings_and_speed():
  nic = lab.nic(0)
  for speed, rate in ((25000, "25 Gb/sec (1X EDR)"), (100000, "100 Gb/sec (4X EDR)"), (200000, "200 Gb/sec (4X HDR)"),
                      (400000, "400 Gb/sec (4X NDR)")):
    nic.put("speed_mbps", speed)
    expect(f"Speed: {speed}Mb/s" in run(["ethtool", nic.netdev]).stdout, f"ethtool does not say {speed}")
    shown = pathlib.Path(f"/sys/class/infiniband/{nic.rdma}/ports/1/rate").read_text().strip()
    expect_equal(shown, rate, "RDMA rate")
  expect("Active FEC encoding: RS" in run(["ethtool", "--show-fec", nic.netdev]).stdout, "no FEC shown")


def test_link_down():
  nic = lab.nic(0)
  nic.set_link(False)
  expect("Link detected: no" in run(["ethtool", nic.netdev]).stdout, "ethtool still sees a link")
  shown = run(["rdma", "-j", "link", "show", f"{nic.rdma}/1"]).json()[0]
  expect_equal((shown["state"], shown["physical_state"]), ("DOWN", "DISABLED"), "RDMA port")
  expect_equal(nic.counter("link_down_events_phy"), 1, "link_down_events_phy")
  nic.set_link(True)


# ---- PFC ----

def test_pfc_bounces_the_link():
  nic = lab.nic(0)
  with lab.LinkEvents() as events:
    nic.dcb("pfc", "set", "prio-pfc", "3:on")
    expect(not nic.carrier, "carrier still on right after the PFC change")
    events.wait(lambda: nic.carrier, "carrier back")
  expect_equal(nic.counter("link_down_events_phy"), 1, "one bounce")
  nic.dcb("pfc", "set", "prio-pfc", "3:on")
  expect(nic.carrier, "a write that changes nothing bounced the link")
  shown = nic.dcb("pfc").json()
  expect_equal((shown["pfc_cap"], shown["prio_pfc"].index(True)), (8, 3), "PFC read back")


def test_bounce_that_stays_down():
  nic = lab.nic(0)
  nic.put("bounce_ms", 1)
  nic.put("bounce_stays_down", 1)
  nic.dcb("pfc", "set", "prio-pfc", "3:on")
  expect(not nic.carrier, "carrier on")
  nic.set_link(True)


def test_pfc_delay_is_metres():
  nic = lab.nic(0)
  expect_equal(nic.dcb("pfc").json()["delay"], 7, "default cable length")
  nic.dcb("pfc", "set", "delay", "30")
  expect_equal(nic.dcb("pfc").json()["delay"], 30, "set to 30")
  nic.dcb("pfc", "set", "delay", "1000")
  expect_equal(nic.dcb("pfc").json()["delay"], 30, "1000 m is ignored without an error")
  expect(nic.carrier, "a delay alone bounced the link")


def test_pause_rows_follow_pfc():
  nic = lab.nic(0)
  expect("rx_global_pause" in nic.ethtool_stats(), "802.3x is on at first and has its rows")
  nic.set_pfc(3)
  stats = nic.ethtool_stats()
  rows = {n for n in stats if re.fullmatch(r"[rt]x_prio\d_pause.*", n)}
  want = {"rx_prio3_pause", "rx_prio3_pause_duration", "tx_prio3_pause", "tx_prio3_pause_duration",
          "rx_prio3_pause_transition"}
  expect_equal(rows, want, "pause rows with PFC on 3")
  expect(not [n for n in stats if "global_pause" in n], "global pause rows while PFC is on")
  nic.set_pfc()
  stats = nic.ethtool_stats()
  expect(not [n for n in stats if re.fullmatch(r"[rt]x_(prio\d|global)_pause.*", n)], "rows without pause")


def test_pfc_requests_and_indications():
  nic = lab.nic(0)
  nic.set_counters(tx_prio3_pause=11, rx_prio3_pause=22)
  shown = run(["dcb", "-j", "-s", "pfc", "show", "dev", nic.netdev]).json()
  expect_equal((shown["requests"][3], shown["indications"][3]), (11, 22), "pause counts by DCB")


# ---- 802.3x ----

def test_global_pause_excludes_pfc():
  nic = lab.nic(0)

  def pause():
    return re.findall(r"^[RT]X:\s+(on|off)", run(["ethtool", "-a", nic.netdev]).stdout, re.M)

  expect_equal(pause(), ["on", "on"], "on after loading")
  run_fails(["ethtool", "-A", nic.netdev, "autoneg", "on"])
  run(["ethtool", "-A", nic.netdev, "rx", "off", "tx", "on"])
  expect_equal(pause(), ["off", "on"], "set apart")
  nic.set_pfc(3)
  expect_equal(pause(), ["off", "off"], "PFC switches it off")
  run_fails(["ethtool", "-A", nic.netdev, "rx", "on"])


def test_pause_statistics():
  nic = lab.nic(0)
  nic.set_counters(tx_pause_ctrl_phy=5, rx_pause_ctrl_phy=6)
  text = run(["ethtool", "-I", "-a", nic.netdev]).stdout
  expect("tx_pause_frames: 5" in text and "rx_pause_frames: 6" in text, f"pause statistics: {text}")


def test_pfc_prevention_tout():
  nic = lab.nic(0)

  def tout():
    return int(run(["ethtool", "--get-tunable", nic.netdev, "pfc-prevention-tout"]).stdout.split()[-1])

  def put(value):
    return ["ethtool", "--set-tunable", nic.netdev, "pfc-prevention-tout", str(value)]

  expect_equal(tout(), 8000, "default")
  for good in (80, 8000, 0):
    run(put(good))
    expect_equal(tout(), good, "set")
  run(put(0xFFFF))
  expect_equal(tout(), 100, "auto")
  for bad in (79, 8001):
    run_fails(put(bad))
  expect_equal(tout(), 100, "unchanged by refused values")


# ---- ETS and rate limits ----

def test_ets_default():
  shown = lab.nic(0).dcb("ets").json()
  expect_equal(shown["prio_tc"], [1, 0, 2, 3, 4, 5, 6, 7], "priorities 0 and 1 are crossed")
  expect_equal(set(shown["tc_tsa"]), {"vendor"}, "TSA")
  expect_equal(shown["tc_bw"], [100] * 8, "what QETCR holds for classes without a share")


STRICT, CBS, ETS = 0, 1, 2
IDENTITY = list(lab.PRIORITIES)


def test_ets_shares_must_total_100():
  nic = lab.nic(0)
  tsa = [ETS, STRICT, STRICT, ETS, STRICT, STRICT, STRICT, STRICT]
  nic.dcb("ets", "set", "tc-tsa", "all:strict", "0:ets", "3:ets", "tc-bw", "all:0", "0:40", "3:60")
  shown = nic.dcb("ets").json()
  expect_equal((shown["tc_bw"][0], shown["tc_bw"][3], shown["tc_tsa"][3], shown["tc_tsa"][5]),
               (40, 60, "ets", "strict"), "read back")
  before = lab.capture([nic])
  expect_errno(errno.EINVAL, lab_dcb.set_ets, nic.netdev, IDENTITY, tsa, [40, 0, 0, 50, 0, 0, 0, 0])
  expect_errno(errno.EINVAL, lab_dcb.set_ets, nic.netdev, [8] + IDENTITY[1:], tsa, [40, 0, 0, 60, 0, 0, 0, 0])
  expect_errno(errno.EOPNOTSUPP, lab_dcb.set_ets, nic.netdev, IDENTITY, [CBS] * 8, [0] * 8)
  lab.expect_same_state(before, lab.capture([nic]))


def test_ets_zero_share():
  nic = lab.nic(0)
  nic.dcb("ets", "set", "tc-tsa", "all:ets", "tc-bw", "all:0", "3:60", "5:40")
  shown = nic.dcb("ets").json()
  expect_equal((shown["tc_bw"], set(shown["tc_tsa"])), ([0, 0, 0, 60, 0, 40, 0, 0], {"ets"}), "zero shares stay ETS")
  nic.dcb("ets", "set", "tc-tsa", "all:ets", "tc-bw", "all:0", "3:100")
  expect_equal(nic.dcb("ets").json()["tc_bw"], [14, 14, 14, 100, 14, 14, 14, 16],
               "mlx5 does not recognise zero shares beside one of 100")


def test_dcb_refuses_to_map_priorities_at_first():
  """Vendor classes show 100 %, which dcb's own check of the sum takes offence at; the driver would not mind."""
  nic = lab.nic(0)
  run_fails(["dcb", "ets", "set", "dev", nic.netdev, "prio-tc", "0:0"], "sum to 800%")
  lab_dcb.set_ets(nic.netdev, IDENTITY, [255] * 8, [0] * 8)
  expect_equal(nic.dcb("ets").json()["prio_tc"], IDENTITY, "set by netlink")


def test_dcb_hides_refusals():
  """Debian's dcb ends with 0 though the driver said no: the reason for lab_dcb."""
  nic = lab.nic(0)
  nic.inject("pfc 0 error 5")
  expect_equal(nic.dcb("pfc", "set", "prio-pfc", "3:on", check=False).code, 0, "exit code of dcb")
  expect_equal(nic.dcb("pfc").json()["prio_pfc"], [False] * 8, "PFC unchanged")
  expect_errno(errno.EIO, lab_dcb.set_pfc, nic.netdev, 8)


def test_maxrate_units():
  netdev = lab.nic(0).netdev
  lab_dcb.set_maxrate(netdev, [150_000, 10_000_000, 30_500_000, 50_000, 0, 0, 0, 0])
  expect_equal(lab_dcb.maxrate(netdev), [100_000, 10_000_000, 30_000_000, 100_000, 0, 0, 0, 0],
               "units of 100 Mb/s, above 25.5 Gb/s of 1 Gb/s, kb/s")
  expect_errno(errno.EINVAL, lab_dcb.set_maxrate, netdev, [256_000_000] + [0] * 7)


# ---- APP and trust ----

def test_trust_follows_dscp_entries():
  nic = lab.nic(0)
  expect_equal(nic.trust, "pcp", "trust after loading")
  nic.dcb("app", "add", "dscp-prio", "26:3", "48:6")
  expect_equal(nic.trust, "dscp", "after the first entry")
  nic.dcb("app", "add", "dscp-prio", "26:4")
  expect_equal(sorted(nic.dcb("app").json()["dscp_prio"]), [[26, 4], [48, 6]], "one mapping per DSCP")
  nic.dcb("app", "del", "dscp-prio", "26:4")
  expect_equal(nic.trust, "dscp", "one entry left")
  nic.dcb("app", "del", "dscp-prio", "48:6")
  expect_equal(nic.trust, "pcp", "after the last entry")


def test_app_refusals():
  nic = lab.nic(0)
  run_fails(["dcb", "app", "add", "dev", nic.netdev, "ethtype-prio", "0x8915:3"])
  run_fails(["dcb", "app", "add", "dev", nic.netdev, "dgram-port-prio", "4791:3"])
  nic.dcb("app", "add", "dscp-prio", "26:3")
  run_fails(["dcb", "app", "del", "dev", nic.netdev, "dscp-prio", "26:5"])
  expect_equal(nic.dcb("app").json()["dscp_prio"], [[26, 3]], "entry still there")


def test_no_apptrust():
  run_fails(["dcb", "apptrust", "show", "dev", lab.nic(0).netdev])


# ---- buffers ----

def test_automatic_buffers_follow_pfc():
  nic = lab.nic(0)
  shown = nic.dcb("buffer").json()
  expect_equal((shown["buffer_size"][:2], shown["total_size"]), ([262016, 0], 262016), "no PFC: one buffer")
  nic.set_pfc(3)
  shown = nic.dcb("buffer").json()
  expect_equal((shown["buffer_size"][:3], shown["prio_buffer"]), ([130944, 130944, 0], [0, 0, 0, 1, 0, 0, 0, 0]),
               "PFC on 3: a lossless half")
  nic.set_pfc()
  expect_equal(nic.dcb("buffer").json()["prio_buffer"], [0] * 8, "PFC off again")


def test_headroom_formula():
  nic = lab.nic(0)
  run(["ip", "link", "set", nic.netdev, "mtu", "9000"])
  headroom = int(re.search(r"headroom (\d+)", nic.get("buffers"))[1])
  expect_equal(headroom, (301 + 216 * 7 // 100) * 100 + 272 * 9000 // 100, "xoff at 100G, 7 m, MTU 9000")
  minimum = headroom + 9978 + 128
  expect_equal(minimum, 66186, "the smallest lossless buffer, with the real maximum MTU")
  nic.set_pfc(3)
  nic.dcb("buffer", "set", "buffer-size", "0:60032", "1:66304")
  expect_errno(errno.ENOMEM, lab_dcb.set_buffer, nic.netdev, [0, 0, 0, 1, 0, 0, 0, 0], [60032, 66048] + [0] * 6)
  expect_equal(nic.dcb("buffer").json()["buffer_size"][1], 66304, "too small a lossless buffer is refused")


def test_buffer_total_and_sticky_manual():
  nic = lab.nic(0)
  before = nic.dcb("buffer").json()
  expect_errno(errno.EINVAL, lab_dcb.set_buffer, nic.netdev, [0] * 8, [200064, 100096] + [0] * 6)
  expect_errno(errno.EINVAL, lab_dcb.set_buffer, nic.netdev, [8] * 8, [262016] + [0] * 7)
  expect_equal(nic.dcb("buffer").json(), before, "a refused size changes nothing")
  expect(nic.get("buffers").startswith("manual 1"), "even a refused size makes the buffers manual")
  nic.set_pfc(3)
  expect_equal(nic.dcb("buffer").json()["buffer_size"][:2], [262016, 0], "manual buffers do not follow PFC")


def test_manual_buffers_become_too_small():
  """The fault that can exist: sizes set for one link and MTU, then a longer cable or a faster port."""
  nic = lab.nic(0)
  lab_dcb.set_pfc(nic.netdev, 8)
  lab_dcb.set_buffer(nic.netdev, [0, 0, 0, 1, 0, 0, 0, 0], [100096, 70016] + [0] * 6)
  expect("buffer 1 size 70016" in nic.get("buffers"), nic.get("buffers"))
  nic.put("speed_mbps", 400000)
  expect_equal(nic.dcb("buffer").json()["buffer_size"][1], 70016, "a faster link leaves the size as it is")
  expect_errno(errno.ENOMEM, lab_dcb.set_pfc, nic.netdev, 8, 300)
  expect_equal(nic.dcb("pfc").json()["delay"], 7, "cable length restored")


def test_pfc_error_leaves_the_new_mask():
  nic = lab.nic(0)
  run(["ethtool", "-A", nic.netdev, "rx", "off", "tx", "off"])
  lab_dcb.set_buffer(nic.netdev, [0, 0, 0, 1, 0, 0, 0, 0], [200064, 20096] + [0] * 6)
  expect_errno(errno.ENOMEM, lab_dcb.set_pfc, nic.netdev, 8)
  expect(nic.dcb("pfc").json()["prio_pfc"][3], "mlx5 has set the mask before it looks at the buffers")


# ---- DCBX ----

def test_dcbx_ownership():
  nic = lab.nic(0)

  def flags():
    return sorted(k for k, v in nic.dcb("dcbx").json().items() if v)

  expect_equal(flags(), ["cee", "host", "ieee"], "host owns DCBX after loading")
  run_fails(["dcb", "dcbx", "set", "dev", nic.netdev, "ieee"])
  run_fails(["dcb", "dcbx", "set", "dev", nic.netdev, "host", "lld-managed"])
  nic.dcbx_to_firmware()
  expect_equal(flags(), ["cee", "ieee"], "handed to the firmware")
  nic.dcb("dcbx", "set", "host", "ieee")
  expect_equal(flags(), ["host", "ieee"], "taken back")


def test_willing_firmware_overwrites():
  nic = lab.nic(0)
  nic.put("bounce_ms", 1)
  nic.put("fw_dcbx_delay_ms", 1)
  nic.put("fw_dcbx_willing", 1)
  nic.put("fw_dcbx_pfc", 0x10)
  nic.dcb("app", "add", "dscp-prio", "26:3")
  lab.wait_until(lambda: nic.trust == "pcp", "the app entry overwritten")
  expect_equal(nic.dcb("pfc").json()["prio_pfc"].index(True), 4, "PFC as the switch says")
  nic.dcb("dcbx", "set", "host", "ieee")
  nic.put("fw_dcbx_push", 1)
  nic.set_pfc(3)
  nic.put("fw_dcbx_push", 1)
  expect(nic.dcb("pfc").json()["prio_pfc"][3], "a host that owns DCBX keeps its PFC")


# ---- MTU, DCQCN parameters ----

def test_mtu():
  a, b = lab.nic(0), lab.nic(1)
  run(["ip", "link", "set", a.netdev, "mtu", "9978"])
  run_fails(["ip", "link", "set", a.netdev, "mtu", "9979"])
  expect_equal(a.mtu, 9978, "MTU")
  verbs = run(["cat", f"/sys/class/infiniband/{a.rdma}/ports/1/state"]).stdout
  expect("ACTIVE" in verbs, "port active")
  a.send(1, size=4000)
  expect_equal(b.counter("rx_oversize_pkts_phy"), 1, "the peer's MTU is smaller")


def test_cc_params():
  nic = lab.nic(0)
  expect_equal(len(list(nic.cc_dir.iterdir())), 22, "files")
  expect_equal({oct(p.stat().st_mode & 0o777) for p in nic.cc_dir.iterdir()}, {"0o600"}, "modes")
  for name, value in (("rp_time_reset", 300), ("rp_byte_reset", 32767), ("rp_ai_rate", 5), ("np_cnp_dscp", 48),
                      ("np_cnp_prio", 6), ("rp_dce_tcp_g", 1019), ("np_min_time_between_cnps", 4)):
    expect_equal(nic.cc_param(name), value, name)
  nic.set_cc_param("rp_time_reset", 4000000000)
  expect_equal(nic.cc_param("rp_time_reset"), 4000000000, "no range check")
  nic.set_cc_param("np_cnp_dscp", 64 + 26)
  expect_equal(nic.cc_param("np_cnp_dscp"), 26, "only the field's width cuts")
  expect_equal(nic.cc_param("np_cnp_prio_mode"), 1, "mode before")
  nic.set_cc_param("np_cnp_prio", 5)
  expect_equal((nic.cc_param("np_cnp_prio"), nic.cc_param("np_cnp_prio_mode")), (5, 0), "prio clears its mode")


# ---- counters ----

def test_rates_run():
  nic = lab.nic(0)
  nic.set_pfc(3)
  nic.set_counters(rx_prio3_pause_duration=1000)
  nic.set_rates(rx_prio3_pause_duration=500000)
  first = nic.ethtool_stats()["rx_prio3_pause_duration"]
  lab.wait_until(lambda: nic.ethtool_stats()["rx_prio3_pause_duration"] > first > 1000, "the counter runs")
  nic.set_rates(rx_prio3_pause_duration=0)
  last = nic.counter("rx_prio3_pause_duration")
  expect_equal(nic.counter("rx_prio3_pause_duration"), last, "and stops")


def test_hw_counters():
  nic = lab.nic(0)
  directory = pathlib.Path(f"/sys/class/infiniband/{nic.rdma}/ports/1/hw_counters")
  names = {p.name for p in directory.iterdir()}
  for name in ("np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored", "out_of_sequence",
               "packet_seq_err", "local_ack_timeout_err", "roce_slow_restart_cnps", "rx_icrc_encapsulated", "lifespan"):
    expect(name in names, f"no {name}")
  expect("cc_rx_ce_pkts" not in names, "an optional counter is not in sysfs")
  (directory / "lifespan").write_text("0")
  nic.set_counters(out_of_sequence=2**32 + 5, np_cnp_sent=2**32 + 6)
  expect_equal((nic.hw_counter("out_of_sequence"), nic.hw_counter("np_cnp_sent")), (5, 2**32 + 6),
               "q_counters wrap at 32 bits, congestion counters do not")
  shown = run(["rdma", "-j", "statistic", "show", "link", f"{nic.rdma}/1"]).json()[0]
  expect_equal(shown["np_cnp_sent"], 2**32 + 6, "rdma statistic")


def test_optional_counter():
  nic = lab.nic(0)
  link = f"{nic.rdma}/1"
  expect("cc_rx_ce_pkts" not in run(["rdma", "statistic", "show", "link", link]).stdout, "off at first")
  run(["rdma", "statistic", "set", "link", link, "optional-counters", "cc_rx_ce_pkts"])
  nic.set_counters(cc_rx_ce_pkts=9)
  expect("cc_rx_ce_pkts 9" in run(["rdma", "statistic", "show", "link", link]).stdout, "counts when on")
  run(["rdma", "statistic", "unset", "link", link, "optional-counters"])


def test_port_counters():
  nic = lab.nic(0)
  nic.set_counters(port_xmit_data=1000, port_xmit_wait=77)
  directory = pathlib.Path(f"/sys/class/infiniband/{nic.rdma}/ports/1/counters")
  expect_equal(int((directory / "port_xmit_data").read_text()), 1000, "port_xmit_data")
  expect_equal(int((directory / "port_xmit_wait").read_text()), 77, "port_xmit_wait")


# ---- RDMA device ----

def test_gids_follow_addresses():
  nic = lab.nic(0)
  run(["ip", "addr", "add", "198.18.7.1/24", "dev", nic.netdev])
  wanted = "0000:0000:0000:0000:0000:ffff:c612:0701"
  found = lab.wait_until(lambda: [g for g in nic.gids() if g[1] == wanted][1:] and
                         [g for g in nic.gids() if g[1] == wanted], "GIDs of the address")
  expect_equal({g[2] for g in found}, {"IB/RoCE v1", "RoCE v2"}, "both types")
  expect_equal({g[3] for g in found}, {nic.netdev}, "netdev of the GIDs")
  shown = run(["rdma", "-j", "link", "show", f"{nic.rdma}/1"]).json()[0]
  expect_equal((shown["state"], shown["netdev"]), ("ACTIVE", nic.netdev), "rdma link")


def test_default_roce_tos():
  nic = lab.nic(0)
  expect_equal(lab.roce_tos(nic.rdma), 0, "default")
  lab.set_roce_tos(nic.rdma, 106)
  expect_equal(lab.roce_tos(nic.rdma), 106, "set")


# ---- injected faults ----

def test_injected_errors():
  nic = lab.nic(0)
  nic.inject("pfc 2 error 5")
  lab_dcb.set_pfc(nic.netdev, 8)
  expect_errno(errno.EIO, lab_dcb.set_pfc, nic.netdev, 0)
  lab_dcb.set_pfc(nic.netdev, 0)
  expect_equal(nic.writes()["pfc"], 3, "writes counted")
  nic.inject("ets 0 silent")
  lab_dcb.set_ets(nic.netdev, IDENTITY, [255] * 8, [0] * 8)
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


# ---- traffic ----

def _moved(nic, before, prefix):
  after = nic.counters()
  return {p: after[f"{prefix}_prio{p}_packets"] - before[f"{prefix}_prio{p}_packets"] for p in lab.PRIORITIES
          if after[f"{prefix}_prio{p}_packets"] != before[f"{prefix}_prio{p}_packets"]}


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
      run(["ib_write_bw", "-d", "rxe0", *options, peer], timeout=60)
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
  lab.wait_until(lambda: "forwarding" in run(["bridge", "link", "show", "dev", b.netdev]).stdout, "port forwarding",
                 timeout=40, every=0.5)
  before = int(v1.read_text())
  a.send(20, dscp=26)
  lab.wait_until(lambda: int(v1.read_text()) >= before + 20, "frames through the bridge")


# ---- boots ----

@lab.boots(3)
def test_state_survives_a_hard_power_off(boot):
  journal = lab.STATE_DIR / "journal"
  if boot == 1:
    with open(journal, "w", encoding="ascii") as file:
      file.write("first\n")
      file.flush()
      lab.os.fsync(file.fileno())
    lab.power_off_hard()
  expect_equal(journal.read_text(), "first\n", "what the boot before wrote")
  if boot == 2:
    lab.inject("pfc 1 reset_before")
    lab.expect_death()
    lab.nic(0).dcb("pfc", "set", "prio-pfc", "3:on")
