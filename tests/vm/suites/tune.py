"""rocetune tune on real netlink: a class map that is wrong, a switch that queues by DSCP, software RoCE as the job.

NICs 0 and 3 are the host's; 1 and 2 are the ports of a bridge between them that gives DSCP 26 a queue of its own and
60 Mb/s, and 10 Mb/s to everything else: less than an emulated guest carries on a busy host, so that the switch is what
is measured. The job asks the host's class map which DSCP is lossless and marks its traffic so, as a launcher does that
derives NCCL_IB_TC from the host. The map that is planted says DSCP 10.
"""

import json
import os
import pathlib
import signal
import subprocess

import lab
from lab import expect, expect_equal, expect_same_state, run, wait_until
from lab_transaction import ALLOW, PROFILE, REFUSED, UNDONE, forget, history, rollback, state

NICS = 4
TIMEOUT_S = 3600

LOAD = pathlib.Path("/tmp/load.sh")
LOG = pathlib.Path("/tmp/trials.jsonl")
RIGHT_DSCP, WRONG_DSCP = 26, 10
FAST, SLOW = "60mbit", "10mbit"


def _ends():
  return lab.nic(0), lab.nic(3)


def _switch():
  """NICs 1 and 2 as ports of a bridge with a fast queue for DSCP 26 and a slow one for the rest."""
  one, two = lab.nic(1), lab.nic(2)
  lab.ip("link add br0 mtu 9000 type bridge\n" +
         "".join(f"link set {port.netdev} mtu 9000\nlink set {port.netdev} master br0\n" for port in (one, two)) +
         "link set br0 up\n")
  fast = f"u32 match ip tos {RIGHT_DSCP << 2:#x} 0xfc flowid 1:1"
  for port in (one, two):
    for line in (f"qdisc add dev {port.netdev} root handle 1: prio bands 3 priomap {' '.join(['2'] * 16)}",
                 f"filter add dev {port.netdev} parent 1: protocol ip {fast}",
                 f"qdisc add dev {port.netdev} parent 1:1 handle 10: tbf rate {FAST} burst 512k limit 8m",
                 f"qdisc add dev {port.netdev} parent 1:3 handle 30: tbf rate {SLOW} burst 64k limit 8m"):
      run(["tc", *line.split()])
    forwarding = pathlib.Path(f"/sys/class/net/{port.netdev}/brport/state")
    wait_until(lambda file=forwarding: file.read_text().strip() == "3", f"{port.netdev} forwards", timeout=60)


def _wrong_map():
  """The one thing that is wrong."""
  for one in _ends():
    lab.ip(f"link set {one.netdev} mtu 9000\n")
    one.set_pfc(3)
    one.dcb("app", "add", "dscp-prio", f"{WRONG_DSCP}:3")


def _write_load():
  device, other = _ends()
  LOAD.write_text(f"""#!/bin/sh
prio=$(dcb pfc show dev {device.netdev} prio-pfc | grep -o '[0-7]:on' | head -1 | cut -d: -f1)
dscp=$(dcb -N app show dev {device.netdev} dscp-prio | grep -o "[0-9]*:${{prio:-none}}" | head -1 | cut -d: -f1)
same="-F -x 1 -s 65536 -t 32 -n 60 -q 1 --tclass=$((4 * ${{dscp:-0}} + 2))"
ib_write_bw -d rxe1 $same > /dev/null 2>&1 &
until ss -ltn | grep -q :18515; do sleep 0.1; done
ib_write_bw -d rxe0 $same 198.18.0.2
""")
  LOAD.chmod(0o755)


class _Bench:
  """Switch, wrong map, RoCE between the ends; everything as it was found by `tune` is in `before`."""

  def __enter__(self):
    forget()
    LOG.unlink(missing_ok=True)
    one, two = _ends()
    self.pair = lab.rxe_pair(one, two)
    self.pair.__enter__()
    _switch()
    mine, theirs = "198.18.0.1", "198.18.0.2"
    for here, address, there in ((one, theirs, two), (two, mine, one)):
      mac = pathlib.Path(f"/sys/class/net/{there.netdev}/address").read_text().strip()
      lab.ip(f"neigh replace {address} lladdr {mac} dev {here.netdev} nud permanent\n")
    _wrong_map()
    _write_load()
    self.before = state()
    return self

  def __exit__(self, *error):
    self.pair.__exit__(*error)
    for port in (lab.nic(1), lab.nic(2)):
      run(["tc", "qdisc", "del", "dev", port.netdev, "root"])


def _words(*more, metric="goodput=perftest"):
  ports = [word for one in _ends() for word in ("--port", one.netdev)]
  return ["tune", "--workload", str(LOAD), "--metric", metric, *ports, *ALLOW, "--profile", PROFILE,
          "--budget", "20", "--workload-limit", "120s", "--yes", "--json", *more]


def _tune(*more, code=0):
  done = lab.rocetune(*_words(*more), check=False, timeout=1800)
  expect_equal(done.code, code, f"exit code of tune: {done.stdout[-2000:]}{done.stderr[-2000:]}")
  return json.loads(done.stdout) if done.stdout.startswith("{") else done


def _story(found):
  """Why it came to its verdict: what each trial was and showed."""
  lines = [found["reason"], f"left out: {found['left_out']}"]
  for trial in found["trial_log"]:
    seen = [run["observation"] for run in trial["runs"]]
    rates = [one["objectives"].get("goodput_gbps") for one in seen]
    faults = [one["failure"] for one in seen if one.get("failure")] + [b for one in seen for b in one["breaches"]]
    lines.append(f"{trial['phase']} {trial['why']}: {rates} {faults}")
  return "\n".join(lines)


def _data_priority(one):
  return [entry for entry in one.dcb("app").json().get("dscp_prio", []) if entry[0] == RIGHT_DSCP]


def test_what_would_be_tried_is_named_and_nothing_is_changed():
  forget()
  _wrong_map()
  _write_load()
  before = state()
  found = _tune("--dry-run")
  knobs = {knob["name"] for knob in found["space"]}
  expect("class.profile" in knobs, f"the class map is no knob: {sorted(knobs)} left out: {found['left_out']}")
  expect(any(knob.startswith("cc.") for knob in knobs), f"no congestion parameter: {sorted(knobs)}")
  expect_equal(history(), [], "transactions")
  expect_same_state(before, state())


@lab.thorough
def test_the_change_is_found_and_committed():
  with _Bench() as bench:
    found = _tune("--commit")
    expect_equal(found["verdict"], "change", _story(found))
    print(f"{found['trials']} trials, gain {found['gain_percent']}, {found['best_settings']}", flush=True)
    expect(found["committed"] and found["restored"], "committed, after all trials were taken back")
    expect(found["gain_percent"]["low"] > 50, f"gain: {found['gain_percent']}")
    worth = {change["knob"]: part["effect"] for part in found["attribution"] for change in part["changes"]}
    expect_equal(worth["class.profile"], "cure", f"what the class map is worth, of {worth}")
    for one in _ends():
      expect_equal(_data_priority(one), [[RIGHT_DSCP, 3]], f"map of {one.netdev}")
    expect_equal(history()[-1]["outcome"], "committed", "outcome of the last transaction")
    expect_equal({entry["outcome"] for entry in history()[:-1]}, {"rolled_back"}, "outcomes of the trials")
    rollback()
    expect_same_state(bench.before, state())


@lab.thorough
def test_without_commit_everything_is_as_it_was():
  with _Bench() as bench:
    found = _tune("-o", "/tmp/plan.json")
    expect_equal(found["verdict"], "change", _story(found))
    expect(not found["committed"], "nothing is committed")
    expect_same_state(bench.before, state())
    lab.rocetune("apply", "/tmp/plan.json", "--yes", "--soak", "1s", "--confirm-within", "none", "--json", *ALLOW,
                 timeout=300)
    expect_equal(_data_priority(lab.nic(0)), [[RIGHT_DSCP, 3]], "what the plan sets")


def _in_a_trial(**options):
  """It, while a candidate is in force."""
  tune = subprocess.Popen([str(lab.BUILD / "rocetune"), *_words("--log", str(LOG), **options)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
  wait_until(lambda: any(entry["phase"] == "waiting" for entry in history()), "a trial is in force", timeout=900,
             every=0.3)
  return tune


def _interrupt(tune, before):
  """Ctrl-C: the start state comes back."""
  tune.send_signal(signal.SIGINT)
  out, err = tune.communicate(timeout=300)
  expect_equal(tune.returncode, UNDONE, f"exit code of tune: {out[-2000:]}{err[-2000:]}")
  found = json.loads(out)
  expect(found["verdict"] == "interrupted" and found["restored"], f"{found['verdict']}: {found['reason']}")
  expect_equal([entry["outcome"] for entry in history()], ["rolled_back"], "outcomes")
  expect_same_state(before, state())


def _killed_in_a_trial():
  tune = _in_a_trial()
  os.kill(tune.pid, signal.SIGKILL)
  tune.communicate()


def test_a_trial_is_in_force_while_it_lasts():
  """The first candidate is doctor's fix; the job only tells whether it sees it."""
  forget()
  LOG.unlink(missing_ok=True)
  _wrong_map()
  device = lab.nic(0).netdev
  LOAD.write_text(f"#!/bin/sh\nsleep 3\ndcb -N app show dev {device} dscp-prio | grep -q {RIGHT_DSCP}:3 && "
                  "echo goodput 2 || echo goodput 1\n")
  LOAD.chmod(0o755)
  before = state()
  tune = _in_a_trial(metric="goodput=re:Gb/s:goodput ([0-9]+)")
  for one in _ends():
    expect_equal(_data_priority(one), [[RIGHT_DSCP, 3]], f"map of {one.netdev} in the trial")
  _interrupt(tune, before)
  rates = [json.loads(line)["observation"]["objectives"]["goodput_gbps"] for line in LOG.read_text().splitlines()[1:]]
  expect_equal(rates[:3], [1, 1, 1], "the baseline")


@lab.thorough
def test_ctrl_c_brings_the_start_state_back_and_its_log_goes_on():
  with _Bench() as bench:
    _interrupt(_in_a_trial(), bench.before)
    expect(not run(["pgrep", "ib_write_bw"], check=False).stdout, "its job runs on")
    logged = LOG.read_text()
    found = _tune("--resume", str(LOG))
    expect_equal(found["verdict"], "change", _story(found))
    expect(LOG.read_text().startswith(logged), "the log goes on where it had ended")
    expect_same_state(bench.before, state())


@lab.thorough
def test_killed_and_resumed():
  with _Bench() as bench:
    _killed_in_a_trial()
    refused = _tune(code=REFUSED)
    expect("--resume" in refused.stderr, refused.stderr)
    found = _tune("--resume", str(LOG))
    expect_equal(found["verdict"], "change", _story(found))
    expect_same_state(bench.before, state())


@lab.thorough
def test_killed_the_dead_man_brings_the_start_state_back():
  with _Bench() as bench:
    _killed_in_a_trial()
    wait_until(lambda: all(entry["phase"] == "ended" for entry in history()), "the dead-man", timeout=600, every=1)
    expect_equal(history()[-1]["outcome"], "rolled_back", "outcome")
    expect_same_state(bench.before, state())


@lab.thorough
def test_a_host_that_refuses_its_map_is_as_it_was():
  with _Bench() as bench:
    lab.nic(0).inject("app 0 error 5")
    found = _tune()
    lab.nic(0).inject("off")
    expect(found["restored"] and found["verdict"] != "change", f"{found['verdict']}: {found['reason']}")
    expect_same_state(bench.before, state())
    expect(all(entry["outcome"] in ("rolled_back", "refused") for entry in history()), f"{history()}")
