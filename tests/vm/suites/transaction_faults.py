"""A transaction on a kernel that fails, lies, kills and resets: the host ends as before or as confirmed, and the
history says which."""

import errno
import itertools
import json
import os
import pathlib
import signal
import time

import lab
from lab import expect, expect_equal, expect_same_state, wait_until
from lab_transaction import (ALLOW, ALONE, LONG, NOT_UNDONE, PROFILE, QUICK, REFUSED, UNDONE, apply, count_writes, forget,
                             history, last_outcome, reset_all, rollback, sampled, state, wait_for_outcome)

NICS = 2
OWN_BOOT = True
TIMEOUT_S = 3000
STATE = "disk"


# ---- faults in the kernel ----

@lab.thorough
def test_an_error_at_any_write_is_undone():
  total = count_writes()
  errors = itertools.cycle(("EIO", "EBUSY", "EINVAL", "ENOMEM", "EOPNOTSUPP", "ETIMEDOUT"))
  for nth in sampled(total, 4):
    forget()
    reset_all()
    before = state()
    lab.inject(f"any {nth} error {getattr(errno, next(errors))}")
    done = apply(*ALONE, check=False)
    expect_equal(done.code, UNDONE, f"write {nth}: {done.stdout}{done.stderr}")
    expect_same_state(before, state())
    expect_equal(last_outcome(), "rolled_back", f"write {nth}")


def plant_for(knob):
  """Something that the profile has to change by a write of this kind; a fresh NIC needs none of these two."""
  if knob == "cc_param":
    lab.nic(0).set_cc_param("np_cnp_dscp", 46)
  elif knob == "tunable":
    lab.run(["ethtool", "--set-tunable", lab.nic(0).netdev, "pfc-prevention-tout", "0"])


@lab.thorough
def test_a_write_without_effect_is_found():
  for knob in ("pfc", "ets", "app", "mtu", "cc_param", "tunable") if LONG else ("ets", "mtu"):
    forget()
    reset_all()
    plant_for(knob)
    before = state()
    lab.inject(f"{knob} 1 silent")
    done = apply(*ALONE, check=False)
    expect_equal(done.code, UNDONE, f"{knob}: {done.stdout}{done.stderr}")
    expect_same_state(before, state())


@lab.thorough
def test_a_link_that_stays_down_is_loud():
  forget()
  before = state()
  lab.nic(0).put("bounce_stays_down", 1)
  done = apply(*ALONE, check=False)
  expect_equal(done.code, NOT_UNDONE, f"exit code: {done.stdout}")
  expect("is down and was up before" in done.stdout, done.stdout)
  expect_same_state(before, state())
  lab.nic(0).put("bounce_stays_down", 0)
  lab.nic(0).set_link(True)
  rollback()
  expect_equal(last_outcome(), "rolled_back", "outcome")


@lab.thorough
def test_firmware_that_overwrites_is_found():
  """DCBX handed back to willing firmware behind our back, which writes the switch's settings seconds later."""
  forget()
  one = lab.nic(0)
  one.put("fw_dcbx_willing", 1)  # what is set now is what the switch says
  before = state()
  done = apply("--confirm-within", "10min")
  expect_equal(json.loads(done.stdout)["outcome"], "waiting", "outcome")
  one.dcbx_to_firmware()
  one.put("fw_dcbx_push", 1)
  done = lab.rocetune("confirm", check=False)
  expect_equal(done.code, REFUSED, f"exit code of confirm: {done.stdout}")
  rollback()
  expect_same_state(before, state())


# ---- death ----

def test_killed_at_any_write_the_dead_man_takes_over():
  total = count_writes()
  for index, nth in enumerate(sampled(total, 2)):
    forget()
    reset_all()
    before = state()
    lab.inject(f"any {nth} {'kill_after' if index % 2 else 'kill_before'}")
    done = apply(*ALONE, check=False)
    expect_equal(done.code, -signal.SIGKILL, f"write {nth}: {done.stdout}{done.stderr}")
    wait_for_outcome("rolled_back")
    expect_same_state(before, state())


def deadman_pids():
  pids = []
  for entry in pathlib.Path("/proc").iterdir():
    if entry.name.isdigit():
      try:
        words = (entry / "cmdline").read_bytes().split(b"\0")
      except OSError:
        continue
      if b"deadman" in words:
        pids.append(int(entry.name))
  return pids


def test_with_the_dead_man_killed_too_the_next_start_takes_over():
  forget()
  before = state()
  lab.inject("mtu 1 kill_after")
  lab.inject("pfc 1 delay 4000")  # time to kill the timer first
  with lab.background([lab.BUILD / "rocetune", "apply", "--profile", PROFILE, *QUICK, *ALLOW, *ALONE]) as process:
    wait_until(lambda: lab.writes()["any"] > 0, "the first write, with the dead-man timer at work", timeout=60)
    expect(deadman_pids(), "the dead-man timer lives")
    for pid in deadman_pids():
      os.kill(pid, signal.SIGKILL)
    process.wait(timeout=120)
    expect_equal(process.returncode, -signal.SIGKILL, f"how apply ended: {history()[-1].get('reason')}")
  time.sleep(3)
  expect_equal(deadman_pids(), [], "timers alive")
  expect_equal(history()[-1]["phase"], "applying", "phase")
  lab.rocetune("recover")
  expect_same_state(before, state())
  expect_equal(last_outcome(), "rolled_back", "outcome")


@lab.thorough
def test_killed_during_the_rollback():
  forget()
  lab.inject("reset")
  before = state()
  apply("--confirm-within", "10min")
  done = lab.writes()["any"]
  for nth in (1, 5, 12) if LONG else (5,):
    lab.inject(f"any {nth} kill_after")
    rollback(check=False)
    wait_for_outcome("rolled_back")
    expect_same_state(before, state())
    forget()
    reset_all()
    apply("--confirm-within", "10min")
  expect(done > 10, f"writes of an apply: {done}")
  rollback()
  expect_same_state(before, state())


@lab.boots(2)
def test_reset_in_the_middle_of_an_apply(boot):
  if boot == 1:
    lab.inject("any 9 reset_after")
    lab.expect_death()
    apply(*ALONE, check=False)
    return
  before = state()
  lab.rocetune("apply", "--boot")
  expect_same_state(before, state())
  entry = history()[-1]
  expect_equal(entry["outcome"], "rolled_back", "outcome")
  expect("reboot" in entry["reason"], entry["reason"])


@lab.boots(3)
def test_the_confirmed_state_comes_back(boot):
  if boot == 1:
    apply(*ALONE)
    (lab.STATE_DIR / "after.json").write_text(json.dumps(state()))
    os.sync()
    lab.power_off_hard()
  after = json.loads((lab.STATE_DIR / "after.json").read_text())
  if boot == 2:
    expect(lab.nic(0).mtu == 1500, "settings survive a reboot by themselves")
  lab.rocetune("apply", "--boot")
  expect_same_state(after, state())
  entries = len(history())
  again = lab.rocetune("apply", "--boot", "--json")
  expect_equal(json.loads(again.stdout)["outcome"], "nothing_to_do", "the second run")
  expect_equal(len(history()), entries, "transactions")
  if boot == 2:
    lab.power_off_hard()
