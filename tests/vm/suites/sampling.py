"""Counters on the real kernel: `rocetune watch` against Debian's tools, names that change under it, wraps, storms."""

import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import urllib.request

import lab
from lab import BUILD, expect, expect_equal, run, wait_until

TIMEOUT_S = 900


def lines_of(text):
  return [json.loads(line) for line in text.splitlines()]


def watch(*arguments, count=1, interval="200ms", timeout=120):
  """The JSON lines of a watch that ends by itself."""
  done = lab.rocetune("watch", "--json", "--count", count, "--interval", interval, *arguments, timeout=timeout)
  return lines_of(done.stdout)


class Watching:
  """A watch beside the test; lines() are those so far, stop() ends it as Ctrl-C does."""

  def __init__(self, *arguments, interval="100ms"):
    self._command = [BUILD / "rocetune", "watch", "--json", "--interval", interval, *arguments]

  def __enter__(self):
    self._file = pathlib.Path("/tmp/watching.jsonl")
    self._file.write_text("")
    self._background = lab.background(
        " ".join(["exec"] + [f"'{c}'" for c in self._command] + [">", str(self._file)]))
    self.process = self._background.__enter__()
    self.wait_lines(1)
    return self

  def __exit__(self, *exc):
    self._background.__exit__(*exc)

  def text(self):
    text = self._file.read_text()
    return text[:text.rfind("\n") + 1]

  def lines(self):
    return lines_of(self.text())

  def wait_lines(self, more):
    """Until that many more lines are there."""
    had = self.text().count("\n")
    wait_until(lambda: self.text().count("\n") >= had + more, f"{more} more lines of watch", timeout=120)

  def stop(self):
    self.process.send_signal(signal.SIGINT)
    expect_equal(self.process.wait(timeout=20), 0, "exit code after Ctrl-C")
    return self.lines()


def port_of(line, nic):
  return next(p for p in line["ports"] if p["port"] == nic.netdev)


def priority_of(line, nic, priority):
  return port_of(line, nic)["priorities"][priority]


def raw_of(line, nic, source):
  return {r["name"]: r["value"] for r in port_of(line, nic)["raw"] if r["source"] == source}


def reasons(line, nic, counter, priority=None):
  return [a["why"] for a in port_of(line, nic)["absent"]
          if counter in a["counters"] and (priority is None or priority in a.get("priorities", []))]


# ---- the same numbers as Debian's tools ----

@lab.thorough
def test_agrees_with_ethtool():
  nic = lab.nic(0)
  nic.set_pfc(3)
  names = [n for n in nic.counters() if n in nic.ethtool_stats()]
  nic.set_counters(**{name: 1000 + 7 * i for i, name in enumerate(names)})
  line = watch("--port", nic.netdev, "--raw", "*")[0]
  ours, theirs = raw_of(line, nic, "ethtool"), nic.ethtool_stats()
  expect_equal(set(ours), set(theirs), "names")
  # Frames the kernel sends by itself (neighbour discovery) may move the traffic counters between the two.
  moved = {n for n in ours if ours[n] != theirs[n]}
  expect(all("packets" in n or "bytes" in n or "cast" in n for n in moved), f"differ: {sorted(moved)[:5]}")


def test_agrees_with_rdma_statistic():
  nic = lab.nic(0)
  nic.set_counters(np_cnp_sent=5, np_ecn_marked_roce_packets=2**40 + 3, rp_cnp_handled=7, out_of_sequence=11)
  line = watch("--port", nic.netdev, "--raw", "*")[0]
  shown = run(["rdma", "-j", "statistic", "show", "link", f"{nic.rdma}/1"]).json()[0]
  theirs = {k: v for k, v in shown.items() if k not in ("ifname", "port")}
  ours = raw_of(line, nic, "rdma")
  expect_equal(ours, theirs, "RDMA counters")
  expect_equal(ours["np_ecn_marked_roce_packets"], 2**40 + 3, "a 64-bit counter")


def test_dcb_pause_counts():
  nic = lab.nic(0)
  nic.set_pfc(3)
  nic.set_counters(rx_prio3_pause=41, tx_prio3_pause=42)
  line = watch("--port", nic.netdev, "--raw", "pfc_*_3")[0]
  expect_equal(raw_of(line, nic, "dcb"), {"pfc_requests_3": 42, "pfc_indications_3": 41}, "ieee_pfc counts")


# ---- names that change ----

def test_pfc_moved_while_sampling():
  """3 on, 4 on instead (as many rows, other names), off: no row is ever taken for another."""
  nic = lab.nic(0)
  nic.put("bounce_ms", 1)
  nic.set_pfc(3)
  nic.set_rates(rx_prio3_pause_duration=100_000, rx_prio4_pause_duration=700_000)
  nic.set_counters(rx_prio3_pause_duration=10**9, rx_prio4_pause_duration=10**12)
  with Watching("--port", nic.netdev) as watching:
    watching.wait_lines(4)
    for priorities in ((4,), (3,), (4,), (), (3, 4), (4,)):
      nic.set_pfc(*priorities)
      watching.wait_lines(4)
    lines = watching.stop()
  for line in lines:
    for priority, expected in ((3, 0.1), (4, 0.7)):
      ratio = priority_of(line, nic, priority).get("rx_pause_ratio")
      if ratio is None:
        expect(reasons(line, nic, "rx_pause_duration_us", priority), f"no ratio of {priority} and no reason")
      else:
        expect(abs(ratio - expected) < 0.15, f"pause ratio of priority {priority} is {ratio}, planted {expected}")
  why = {w.split(":")[0] for line in lines for p in (3, 4) for w in reasons(line, nic, "rx_pause_duration_us", p)}
  expect("vanished during the interval" in why, f"never vanished: {why}")
  expect("appeared during the interval" in why, f"never appeared: {why}")
  seen = {p for line in lines for p in (3, 4) if "rx_pause_ratio" in priority_of(line, nic, p)}
  expect_equal(seen, {3, 4}, "priorities whose pause was measured")


def test_absent_is_not_zero():
  nic = lab.nic(0)
  nic.set_pfc()
  line = watch("--port", nic.netdev)[0]
  expect("rx_pause_frames" not in priority_of(line, nic, 3)["increments"], "a pause row without PFC")
  expect("only if PFC is on" in reasons(line, nic, "rx_pause_frames", 3)[0], "no reason why it is absent")
  nic.set_rates(tx_prio3_bytes=1000)
  table = run(f"script -qec '{BUILD}/rocetune watch --port {nic.netdev} --count 1 --interval 100ms' /dev/null",
              timeout=120).stdout
  expect("–" in table and "only if PFC is on for the priority" in table, f"the table does not say so: {table}")


# ---- increments ----

def test_queue_counter_wraps():
  nic = lab.nic(0)
  nic.set_counters(out_of_sequence=2**32 - 300)
  nic.set_rates(out_of_sequence=1000)
  lines = watch("--port", nic.netdev, "--raw", "out_of_sequence", count=8)
  values = [raw_of(line, nic, "rdma")["out_of_sequence"] for line in lines]
  expect(values[-1] < 2**31, f"did not wrap while watched: {values}")
  for line in lines:
    got = port_of(line, nic)["increments"].get("out_of_sequence")
    expect(got is not None, f"no increment: {reasons(line, nic, 'out_of_sequence')}")
    rate = got / (port_of(line, nic)["rdma_elapsed_us"] / 1e6)
    expect(800 < rate < 1200, f"{rate} a second, planted 1000")


def test_reset_is_said():
  nic = lab.nic(0)
  nic.set_counters(np_cnp_sent=5000)
  with Watching("--port", nic.netdev) as watching:
    nic.set_counters(np_cnp_sent=3)
    watching.wait_lines(3)
    lines = watching.stop()
  why = [w for line in lines for w in reasons(line, nic, "cnp_sent")]
  expect(why and "counter went backwards, from 5000 to 3: reset?" in why[0], f"reasons: {why}")


def test_storm_has_its_ratio():
  nic = lab.nic(0)
  nic.set_pfc(3)
  nic.set_rates(rx_prio3_pause_duration=990_000, rx_prio3_pause_transition=100, tx_prio3_pause_duration=250_000,
                np_ecn_marked_roce_packets=0, np_cnp_sent=0)
  line = watch("--port", nic.netdev, interval="2s")[0]
  three = priority_of(line, nic, 3)
  expect(abs(three["rx_pause_ratio"] - 0.99) < 0.03, f"rx pause ratio {three['rx_pause_ratio']}, planted 0.99")
  expect(abs(three["tx_pause_ratio"] - 0.25) < 0.02, f"tx pause ratio {three['tx_pause_ratio']}, planted 0.25")
  expect(abs(three["rx_mean_stall_us"] - 9900) < 700, f"mean stall {three['rx_mean_stall_us']} us, planted 9900")


def test_traffic_shows_its_class():
  a, b = lab.nic(0), lab.nic(1)
  for one in (a, b):
    one.dcb("app", "add", "dscp-prio", "26:3")
  with Watching("--port", a.netdev, "--port", b.netdev) as watching:
    a.send(50, dscp=26, roce=True, size=1000)
    watching.wait_lines(3)
    lines = watching.stop()
  sent = sum(priority_of(line, a, 3)["increments"]["tx_packets"] for line in lines)
  received = sum(priority_of(line, b, 3)["increments"]["rx_packets"] for line in lines)
  expect_equal((sent, received), (50, 50), "packets on priority 3")


# ---- how it behaves ----

def test_reading_takes_a_twentieth_and_no_more():
  nic = lab.nic(0)
  lines = watch("--port", nic.netdev, count=5, interval="1ms")
  for line in lines:
    expect(line["interval_us"] >= 20 * line["typical_read_time_us"] * 0.999,
           f"reads that take {line['typical_read_time_us']} us every {line['interval_us']} us")
  elapsed = sorted(line["elapsed_us"] for line in lines)[len(lines) // 2]
  expect(elapsed >= lines[-1]["interval_us"] * 0.5, f"an interval of {elapsed} us was said to be longer")


def test_record_and_replay_show_the_same():
  nic = lab.nic(0)
  nic.set_rates(np_cnp_sent=1000)
  record = pathlib.Path("/tmp/record.jsonl")
  record.unlink(missing_ok=True)
  live = lab.rocetune("watch", "--json", "--count", 4, "--interval", "200ms", "--record", record).stdout
  replayed = lab.rocetune("watch", "--json", "--replay", record).stdout

  def numbers(text):
    return [(line["from_unix_ns"], line["ports"]) for line in lines_of(text)]
  expect_equal(numbers(replayed), numbers(live), "replayed lines")


def test_a_port_that_goes_away_is_absent_and_comes_back():
  nic = lab.nic(1)
  with Watching("--port", nic.netdev) as watching:
    with lab.namespace("elsewhere", nic):
      watching.wait_lines(3)
      gone = watching.lines()[-1]
      expect(reasons(gone, nic, "tx_bytes", 0), "a netdev in another namespace is still read")
      expect("tx_bytes" not in priority_of(gone, nic, 0)["increments"], "an increment of a netdev that is gone")
    watching.wait_lines(3)
    lines = watching.stop()
  expect("tx_bytes" in priority_of(lines[-1], nic, 0)["increments"], "not read again after it came back")


def test_bad_usage():
  for arguments, says in ((["--interval", "100"], "unit missing"), (["--interval", "5h"], "3600s"),
                          (["--port", "eth77"], "did you mean"), (["--replay", "/nowhere"], "/nowhere")):
    done = run([BUILD / "rocetune", "watch", "--count", "1", *arguments], check=False)
    expect_equal(done.code, 2, f"exit code of {arguments}: {done.stderr}")
    if says != "did you mean":
      expect(says in done.stderr, f"{arguments} said {done.stderr!r}")


# ---- what it costs, beside others in the same guest ----

READINGS = 20


def children_cpu_s():
  usage = resource.getrusage(resource.RUSAGE_CHILDREN)
  return usage.ru_utime + usage.ru_stime


def process_cpu_s(pid):
  fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
  return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost_of_watch():
  """CPU seconds of one reading of all NICs, in a watch that has started up."""
  with Watching(interval="50ms") as watching:
    watching.wait_lines(2)
    cpu, lines = process_cpu_s(watching.process.pid), watching.text().count("\n")
    watching.wait_lines(READINGS)
    cpu = process_cpu_s(watching.process.pid) - cpu
    return cpu / (watching.text().count("\n") - lines)


def cost_of_tools():
  before = children_cpu_s()
  for _ in range(READINGS):
    for nic in lab.nics():
      run(["ethtool", "-S", nic.netdev])
      run(["rdma", "-j", "statistic", "show", "link", f"{nic.rdma}/1"])
  return (children_cpu_s() - before) / READINGS


def cost_of_node_exporter(binary):
  with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    address = f"127.0.0.1:{s.getsockname()[1]}"
  command = [binary, f"--web.listen-address={address}", "--collector.disable-defaults", "--collector.infiniband",
             "--collector.ethtool", "--web.disable-exporter-metrics"]
  run(["ip", "link", "set", "lo", "up"])
  with lab.background(command) as process:
    def scrape():
      try:
        return urllib.request.urlopen(f"http://{address}/metrics", timeout=30).read().decode()
      except OSError:
        return None
    text = wait_until(scrape, "node exporter answers", timeout=60)
    expect("node_infiniband" in text and "node_ethtool" in text, "node exporter reads neither RDMA nor ethtool")
    before = process_cpu_s(process.pid)
    for _ in range(READINGS):
      scrape()
    return (process_cpu_s(process.pid) - before) / READINGS


def test_cost_beside_debians_tools():
  ours, tools = cost_of_watch(), cost_of_tools()
  print(f"CPU of one reading of {len(lab.nics())} NICs: rocetune {ours * 1e3:.2f} ms, "
        f"ethtool -S and rdma statistic {tools * 1e3:.2f} ms: ratio {ours / tools:.3f}")
  expect(ours < tools, f"a reading costs {ours * 1e3:.2f} ms, the tools' {tools * 1e3:.2f} ms")


def test_cost_beside_node_exporter():
  binary = shutil.which("prometheus-node-exporter")
  if binary is None:
    raise lab.Skip("not measured: prometheus-node-exporter is not installed (tools/install-packages vm)")
  ours, exporter = cost_of_watch(), cost_of_node_exporter(binary)
  print(f"CPU of one reading of {len(lab.nics())} NICs: rocetune {ours * 1e3:.2f} ms, node exporter "
        f"{exporter * 1e3:.2f} ms: ratio {ours / exporter:.3f}")
  expect(ours < exporter, f"a reading costs {ours * 1e3:.2f} ms, node exporter's {exporter * 1e3:.2f} ms")
