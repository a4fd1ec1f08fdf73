"""The lab proves itself: what the test NIC looks like, its link, MTU, counters, RDMA device, boots."""

import os
import pathlib
import re

import lab
from lab import expect, expect_equal, run, run_fails


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


# ---- boots ----

@lab.boots(3)
def test_state_survives_a_hard_power_off(boot):
  journal = lab.STATE_DIR / "journal"
  if boot == 1:
    with open(journal, "w", encoding="ascii") as file:
      file.write("first\n")
      file.flush()
      os.fsync(file.fileno())
    lab.power_off_hard()
  expect_equal(journal.read_text(), "first\n", "what the boot before wrote")
  if boot == 2:
    lab.inject("pfc 1 reset_before")
    lab.expect_death()
    lab.nic(0).dcb("pfc", "set", "prio-pfc", "3:on")
