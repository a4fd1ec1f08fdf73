"""plan, apply, confirm, rollback on the real kernel: what is undone is as before to the byte, what is refused
changes nothing."""

import json

import lab
import lab_dcb
from lab import expect, expect_equal, expect_same_state, run, wait_until
from lab_transaction import (ALLOW, ALONE, COMMITTED, PROFILE, QUICK, REFUSED, apply, forget, history, last_outcome,
                             plan, reset_all, rollback, state, wait_for_outcome)

NICS = 2
TIMEOUT_S = 2400


# ---- the straight way ----

def test_apply_and_undo_leave_no_trace():
  forget()
  before = state()
  apply(*ALONE)
  one = lab.nic(0)
  for nic in lab.nics():
    expect_equal(lab_dcb.dump(nic.netdev)["pfc"], "cap 8 mask 0x08 mbc 0 delay 7", f"PFC of {nic.netdev}")
  expect_equal(one.trust, "dscp", "trust")
  expect_equal(one.mtu, 9000, "mtu")
  expect_equal(lab.pause(one.netdev)[1:], (0, 0), "global pause")
  expect_equal(plan()["steps"], [], "what is left to plan")
  rollback()
  expect_same_state(before, state())
  entries = history()
  expect_equal([entry["outcome"] for entry in entries], ["committed", "committed"], "outcomes")
  expect_equal(entries[0]["undone_by"], entries[1]["id"], "undone by")


@lab.thorough
def test_every_profile_comes_and_goes():
  for profile in ("sonic-dscp3-4", "pcp-tagged-l2", "lossy"):
    forget()
    reset_all()
    before = state()
    done = lab.rocetune("apply", "--profile", profile, *QUICK, *ALLOW, *ALONE, check=False, timeout=300)
    expect_equal(done.code, COMMITTED, f"{profile}: {done.stdout}{done.stderr}")
    again = json.loads(lab.rocetune("plan", "--profile", profile, "--json").stdout)
    expect_equal(again["steps"], [], f"{profile}: what is left to plan")
    rollback()
    expect_same_state(before, state())


@lab.thorough
def test_the_lines_by_hand_do_the_same():
  """The equivalent commands of the plan, pasted into a shell on an equal host."""
  forget()
  wanted = plan("--buffers", "explicit")
  text = lab.rocetune("plan", "--profile", PROFILE, "--buffers", "explicit").stdout
  apply("--buffers", "explicit", *ALONE)
  by_rocetune = state()
  rollback()
  reset_all()
  forget()
  changes = [change for step in wanted["steps"] for change in step["changes"]]
  lines, mark = [], "by hand"
  for line in text.splitlines():
    if line.strip().startswith(mark):
      lines.append(line.strip()[len(mark):].strip())
    elif lines and line.startswith(" " * 15) and line.strip().split(" ")[0] in ("dcb", "echo", "mkdir", "ethtool", "ip"):
      lines.append(line.strip())
  expect(len(lines) >= len(changes) > 10, f"{len(changes)} changes, lines by hand: {lines}")
  for line in lines:
    # Debian's dcb cannot be believed about its writes (lab_dcb); the state is what counts.
    run(["sh", "-c", line], check=not line.startswith("dcb"))
    if line.startswith("dcb pfc"):
      wait_until(lambda: all(one.carrier for one in lab.nics()), "links back", timeout=20)
  expect_same_state(by_rocetune, state())


def test_confirmation():
  forget()
  before = state()
  first = json.loads(apply("--confirm-within", "10min").stdout)
  expect_equal(first["outcome"], "waiting", "outcome of apply")
  refused = apply("--confirm-within", "10min", check=False)
  expect_equal(refused.code, REFUSED, "a second apply meanwhile")
  lab.rocetune("confirm", str(first["transaction"]))
  expect_equal(last_outcome(), "committed", "outcome")
  rollback()
  expect_same_state(before, state())


def test_the_dead_man_rolls_back():
  forget()
  before = state()
  apply("--confirm-within", "10s")
  wait_for_outcome("rolled_back")
  expect_same_state(before, state())
  expect("not confirmed within" in history()[-1]["reason"], history()[-1]["reason"])


@lab.thorough
def test_rollback_before_confirmation():
  forget()
  before = state()
  apply("--confirm-within", "10min")
  rollback()
  expect_same_state(before, state())
  expect_equal(last_outcome(), "rolled_back", "outcome")


@lab.thorough
def test_a_foreign_write_blocks_the_confirmation():
  forget()
  before = state()
  apply("--confirm-within", "10min")
  lab.ip(f"link set dev {lab.nic(1).netdev} mtu 4000\n")
  done = lab.rocetune("confirm", check=False)
  expect_equal(done.code, REFUSED, "exit code of confirm")
  expect("mtu: wanted 9000 B, found 4000 B" in done.stdout, done.stdout)
  rollback()
  expect_same_state(before, state())


# ---- refusals ----

@lab.thorough
def test_default_route_is_guarded():
  forget()
  one = lab.nic(0)
  lab.ip(f"addr add 198.18.7.1/24 dev {one.netdev}\nroute add default via 198.18.7.2 dev {one.netdev}\n")
  try:
    before = state()
    done = apply(*ALONE, check=False)
    expect_equal(done.code, REFUSED, "exit code")
    expect("--allow bounce-default-route" in done.stdout, done.stdout)
    expect_same_state(before, state())
    expect_equal(last_outcome(), "refused", "outcome")
    apply("--allow", "bounce-default-route", *ALONE)
    rollback()
    expect_same_state(before, state())
  finally:
    lab.ip(f"route del default dev {one.netdev}\n")


def test_running_traffic_is_guarded():
  forget()
  one = lab.nic(1)
  one.set_rates(rx_vport_rdma_unicast_packets=50000, rx_vport_rdma_unicast_bytes=50000000)
  before = state()
  done = apply(*ALONE, check=False)
  expect_equal(done.code, REFUSED, f"exit code: {done.stdout}")
  expect("RDMA traffic runs" in done.stdout, done.stdout)
  expect_same_state(before, state())


def test_a_stale_plan_is_refused():
  forget()
  file = "/run/plan.json"
  lab.rocetune("plan", "--profile", PROFILE, "-o", file)
  lab.ip(f"link set dev {lab.nic(0).netdev} mtu 2000\n")
  before = state()
  done = lab.rocetune("apply", file, *QUICK, *ALLOW, *ALONE, check=False)
  expect_equal(done.code, REFUSED, "exit code")
  expect(f"{lab.nic(0).netdev}.mtu: planned on 1500, now 2000" in done.stdout, done.stdout)
  expect_same_state(before, state())


def test_nobody_is_asked_without_a_terminal():
  forget()
  done = lab.rocetune("apply", "--profile", PROFILE, *ALLOW, check=False)
  expect_equal(done.code, REFUSED, "exit code")
  expect("--yes" in done.stderr, done.stderr)
  expect_equal(history(), [], "history")
