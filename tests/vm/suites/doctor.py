"""`rocetune doctor` on the real kernel: a healthy host, planted faults one at a time and in pairs, and what it refuses."""

import contextlib
import itertools
import json
import pathlib
import shutil

import lab
from lab import Failure, expect, expect_equal, run, wait_until

NICS = 4
TIMEOUT_S = 900

WATCH = "400ms"  # two storm detection times


# ---- a healthy RoCE host -------------------------------------------------------------------------------------

TRAFFIC = {
    "rx_vport_rdma_unicast_packets": 500_000, "tx_vport_rdma_unicast_packets": 500_000,
    "rx_prio3_packets": 500_000, "tx_prio3_packets": 500_000,
    "np_ecn_marked_roce_packets": 2_000, "np_cnp_sent": 500, "rp_cnp_handled": 400,
}


def make_healthy(nic, index):
  """DSCP 26 in lossless priority 3, CNPs in 6, MTU 9000, a subnet of its own, traffic."""
  nic.put("bounce_ms", 1)
  nic.dcb("app", "add", "dscp-prio", "26:3", "48:6")
  nic.set_pfc(3)
  lab.ip(f"link set {nic.netdev} mtu 9000\naddr add 10.0.{index}.1/24 dev {nic.netdev}\n")
  wait_until(lambda: any(kind == "RoCE v2" and ":ffff:" in gid for _, gid, kind, _ in nic.gids()), "an IPv4 GID")
  nic.set_rates(**TRAFFIC)


def make_all_healthy():
  lab.reset_all()
  for index, nic in enumerate(lab.nics()):
    make_healthy(nic, index)


def doctor(*arguments, check_code=None):
  done = lab.rocetune("doctor", "--json", *arguments, check=False)
  if done.code not in (0, 1):
    raise Failure(f"doctor ended with {done.code}: {done.stderr}")
  if check_code is not None:
    expect_equal(done.code, check_code, "exit code")
  return json.loads(done.stdout)


def alarms(report, netdev):
  """Rules found above info on one netdev."""
  return {f["rule"] for f in report["findings"] if f["severity"] != "info" and f["subject"].split()[0] == netdev}


def host_alarms(report):
  """Rules found above info on the host as a whole."""
  return alarms(report, "host")


# ---- faults --------------------------------------------------------------------------------------------------

class Fault:
  """One thing to break: which rule names it, and which places it occupies (two of one place exclude each other)."""

  def __init__(self, name, rule, places, plant):
    self.name, self.rule, self.places, self.plant = name, rule, set(places), plant


def plant_map(nic):
  nic.dcb("app", "replace", "dscp-prio", "26:2")


def plant_global_pause(nic):
  nic.set_pfc()
  run(["ethtool", "-A", nic.netdev, "rx", "on", "tx", "on"])


def plant_small_buffer(nic):
  # Enough for an MTU of 1500, then it grows: the kernel checks the headroom only when it is written.
  lab.ip(f"link set {nic.netdev} mtu 1500\n")
  nic.dcb("buffer", "set", "prio-buffer", "all:0", "3:1", "buffer-size", "all:0", "0:100000", "1:56000")
  lab.ip(f"link set {nic.netdev} mtu 9000\n")


def plant_link_local(nic):
  lab.ip(f"addr flush dev {nic.netdev} scope global\n")
  wait_until(lambda: not any(":ffff:" in gid for _, gid, _, _ in nic.gids()), "no IPv4 GID")


def plant_trust_pcp(nic):
  nic.dcb("app", "flush", "dscp-prio")
  expect_equal(nic.trust, "pcp", "trust")


def plant_firmware_dcbx(nic):
  nic.dcbx_to_firmware()
  nic.put("fw_dcbx_willing", 1)


def rates(**per_second):
  return lambda nic: nic.set_rates(**per_second)


NO_PFC = ("pfc", "pause received", "pause sent")
FAULTS = [
    Fault("DSCP map onto a lossy priority", "MAP-5", ["map"], plant_map),
    Fault("PFC on none", "MAP-3", NO_PFC, lambda nic: nic.set_pfc()),
    Fault("PFC on two", "MAP-3", ["pfc"], lambda nic: nic.set_pfc(3, 4)),
    Fault("PFC on the CNPs' priority", "MAP-7", ["pfc"], lambda nic: nic.set_pfc(3, 6)),
    Fault("global pause on", "PFC-1", NO_PFC, plant_global_pause),
    Fault("MTU 1500", "MTU-1", ["mtu"], lambda nic: lab.ip(f"link set {nic.netdev} mtu 1500\n")),
    Fault("link-local GIDs only", "GID-1", ["gid"], plant_link_local),
    Fault("trust pcp", "MAP-1", ["map"], plant_trust_pcp),
    Fault("lossless buffer under its headroom", "PFC-3", ["buffer", "pfc", "mtu"], plant_small_buffer),
    Fault("CNP DSCP wrong", "MAP-2", ["np_cnp_dscp"], lambda nic: nic.set_cc_param("np_cnp_dscp", 46)),
    Fault("cc_params out of range", "ECN-5", ["rp_dce_tcp_g"], lambda nic: nic.set_cc_param("rp_dce_tcp_g", 2000)),
    Fault("watchdog off", "PFC-4", ["watchdog"],
          lambda nic: run(["ethtool", "--set-tunable", nic.netdev, "pfc-prevention-tout", "0"])),
    Fault("DCBX left to willing firmware", "PFC-2", ["dcbx"], plant_firmware_dcbx),
    Fault("storm received", "PFC-5", ["pause received"],
          rates(rx_prio3_pause=3_000, rx_prio3_pause_duration=1_000_000)),
    Fault("slow receiver", "PFC-6", ["pause sent"],
          rates(tx_prio3_pause=2_000, tx_prio3_pause_duration=300_000)),
    Fault("broken ECN", "ECN-3", ["cnp_sent"], rates(np_cnp_sent=0)),
]


def judge(planted, *arguments):
  """planted: one tuple of faults per NIC. Each NIC must show its faults' rules, the host nothing of its own."""
  make_all_healthy()
  # A firmware that owns DCBX undoes what is written after it, and mlx5 keeps its counters' names by PFC: so DCBX last.
  for nic, faults in zip(lab.nics(), planted):
    for fault in sorted(faults, key=lambda f: f.rule == "PFC-2"):
      fault.plant(nic)
  report = doctor("--watch-for", WATCH, *arguments)
  wrong = []
  for nic, faults in zip(lab.nics(), planted):
    want, got = {f.rule for f in faults}, alarms(report, nic.netdev)
    if want != got:
      wrong.append(f"{' and '.join(f.name for f in faults)}: found {sorted(got)}, want {sorted(want)}")
  if host_alarms(report):
    wrong.append(f"on the host as a whole: {sorted(host_alarms(report))}")
  expect(not wrong, "\n".join(wrong))


def batches(items, size=NICS):
  items = list(items)
  return [items[i:i + size] for i in range(0, len(items), size)]


# ---- tests ---------------------------------------------------------------------------------------------------

def test_healthy_host_has_nothing_above_info():
  make_all_healthy()
  report = doctor("--watch-for", WATCH, check_code=0)
  loud = [f for f in report["findings"] if f["severity"] != "info"]
  expect(not loud, f"findings: {[(f['rule'], f['subject'], f['cause']) for f in loud]}")
  passed = {p["rule"] for p in report["passed"]}
  needed = {"MAP-1", "MAP-2", "MAP-3", "MAP-5", "MAP-6", "MAP-7", "PFC-1", "PFC-2", "PFC-3", "PFC-5", "PFC-6", "ECN-3",
            "GID-1", "GID-3", "MTU-1", "OPS-3", "OPS-4"}
  expect(needed <= passed, f"not passed: {sorted(needed - passed)}: {report['not_checked']}")


def test_each_fault_is_named_alone():
  for batch in batches([(fault,) for fault in FAULTS]):
    judge(batch)


@lab.thorough
def test_pairs_are_both_named():
  pairs = [p for p in itertools.combinations(FAULTS, 2) if not p[0].places & p[1].places]
  expect(len(pairs) > 80, f"only {len(pairs)} pairs")
  # Two faults together can hide what the host was meant to be (no PFC, and RoCE mapped elsewhere): so it is declared.
  for batch in batches(pairs):
    judge(batch, "--profile", "roce-dscp26-prio3")


def test_each_fault_is_named_alone_when_the_profile_is_declared():
  for batch in batches([(fault,) for fault in FAULTS]):
    judge(batch, "--profile", "roce-dscp26-prio3")


@contextlib.contextmanager
def gids_shown_as_v1(nic):
  """The GID types in sysfs as a driver without RoCE v2 would show them."""
  types = pathlib.Path(f"/sys/class/infiniband/{nic.rdma}/ports/1/gid_attrs/types")
  shown = pathlib.Path("/tmp/roce_v1")
  shown.write_text("IB/RoCE v1\n")
  covered = []
  try:
    for index, *_ in nic.gids():
      run(["mount", "--bind", shown, types / str(index)])
      covered.append(types / str(index))
    yield
  finally:
    for path in covered:
      run(["umount", path])


def test_roce_v1_gids_only():
  make_all_healthy()
  nic = lab.nic(0)
  with gids_shown_as_v1(nic):
    report = doctor("--watch-for", "0", "--port", nic.netdev)
  expect_equal(alarms(report, nic.netdev), {"GID-1"}, "rules")


def test_fix_commands_repair_the_host():
  make_all_healthy()
  nic = lab.nic(0)
  for plant in (plant_map, lambda n: n.set_cc_param("np_cnp_dscp", 46)):
    plant(nic)
  lab.ip(f"link set {nic.netdev} mtu 1500\n")
  run(["ethtool", "--set-tunable", nic.netdev, "pfc-prevention-tout", "0"])
  before = doctor("--watch-for", "0", check_code=1)
  expect_equal(alarms(before, nic.netdev), {"MAP-5", "MAP-2", "MTU-1", "PFC-4"}, "planted")
  for finding in before["findings"]:
    if finding["severity"] == "info":
      continue
    expect(finding["fix"]["commands"], f"no command for {finding['rule']}")
    for command in finding["fix"]["commands"]:
      run(["sh", "-c", command])
  after = doctor("--watch-for", "0", check_code=0)
  expect_equal(alarms(after, nic.netdev), set(), "after the fixes")


def test_untouched_nic():
  # As after loading: trust pcp, no PFC, 802.3x on.
  report = doctor("--watch-for", "0", "--port", lab.nic(0).netdev)
  found = alarms(report, lab.nic(0).netdev)
  expect(found >= {"MAP-1", "PFC-1", "MTU-1"}, f"found {sorted(found)}")


def test_idle_host_gets_no_verdict_from_counters():
  make_all_healthy()
  for nic in lab.nics():
    nic.set_rates(**{name: 0 for name in TRAFFIC})
  report = doctor("--watch-for", WATCH, check_code=0)
  checked = {p["rule"] for p in report["passed"]}
  for rule in ("MAP-6", "PFC-5", "PFC-6", "ECN-3", "LOSS-1", "LOSS-4"):
    expect(rule not in checked, f"{rule} passed on an idle host")


def test_saved_host_and_recording_say_the_same():
  make_all_healthy()
  nic = lab.nic(1)
  plant_map(nic)
  nic.set_rates(np_cnp_sent=0)
  saved, recorded = pathlib.Path("/tmp/host.json"), pathlib.Path("/tmp/load.jsonl")
  recorded.unlink(missing_ok=True)
  saved.write_text(lab.rocetune("inspect", "--json").stdout)
  lab.rocetune("watch", "--record", recorded, "--count", "3", "--interval", "200ms")
  report = doctor("--from", saved, "--recording", recorded, check_code=1)
  expect_equal(alarms(report, nic.netdev), {"MAP-5", "ECN-3"}, "rules")
  expect_equal([i["format"] for i in report["inputs"]], ["rocetune-host", "rocetune-counters"], "inputs")


def loud(report):
  return [(f["rule"], f["subject"], f["cause"]) for f in report["findings"] if f["severity"] != "info"]


def collected(name, seconds="1"):
  """What `snapshot --script` collects here, in a folder of that name."""
  folder = pathlib.Path("/tmp") / name
  shutil.rmtree(folder, ignore_errors=True)
  script = folder.with_suffix(".sh")
  script.write_text(lab.rocetune("snapshot", "--script").stdout)
  run(["sh", script, seconds, folder])
  return folder


def test_snapshots_of_a_healthy_host_have_nothing_above_info():
  make_all_healthy()
  for arguments in ([], ["--anonymous"]):
    file = pathlib.Path("/tmp/healthy.snapshot")
    file.unlink(missing_ok=True)
    lab.rocetune("snapshot", *arguments, "--watch-for", "1s", file)
    report = doctor("--from", file, check_code=0)
    expect_equal(loud(report), [], f"findings of snapshot {arguments}")
    expect(any(p["rule"] == "MAP-6" for p in report["passed"]), "the counters of the snapshot judged nothing")


def test_what_the_script_collects_of_a_healthy_host_has_nothing_above_info():
  make_all_healthy()
  folder = collected("healthy")
  report = doctor("--from", folder, check_code=0)
  expect_equal(loud(report), [], "findings")
  formats = {i["format"] for i in report["inputs"]}
  expect(formats >= {"ethtool-stats", "ethtool-pause", "ethtool-driver", "ip-link", "dcb-pfc", "rdma-link"},
         f"recognised: {sorted(formats)}")
  for nic in lab.nics():
    facts = [name for name in report["facts"] if nic.netdev in name or "mlx5" in name]
    expect(facts, f"no fact of {nic.netdev}")


def test_a_fault_is_found_in_a_snapshot_and_in_what_the_script_collects():
  make_all_healthy()
  nic = lab.nic(1)
  plant_map(nic)
  lab.ip(f"link set {nic.netdev} mtu 1500\n")
  file = pathlib.Path("/tmp/faulty.snapshot")
  file.unlink(missing_ok=True)
  lab.rocetune("snapshot", "--watch-for", "1s", file)
  for source in (file, collected("faulty")):
    report = doctor("--from", source, check_code=1)
    found = {(rule, nic.netdev in subject) for rule, subject, _ in loud(report)}
    for rule in ("MAP-5", "MTU-1"):
      expect((rule, True) in found, f"{source}: {rule} of {nic.netdev} not found: {loud(report)}")


def test_netdev_without_rdma_is_skipped():
  lab.ip("link add plain0 type dummy\nlink set plain0 up\n")
  report = doctor("--watch-for", "0")
  expect(not [f for f in report["findings"] if f["subject"].startswith("plain0")], "judged a netdev without RDMA")


def test_bad_usage():
  for arguments, words in ((["--port", "eth9"], "did you mean"), (["--explain", "PFC-55"], "did you mean"),
                           (["--dscp", "64"], "0..63"), (["--watch-for", "5"], "unit"), (["--from", "/nowhere"], "/nowhere")):
    done = lab.rocetune("doctor", *arguments, check=False)
    expect_equal(done.code, 2, f"exit code of {arguments}")
    expect(words in done.stderr, f"{arguments}: {done.stderr}")
