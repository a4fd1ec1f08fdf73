"""plan, apply, rollback as suites use them. Not re-exported by lab."""

import json
import os
import pathlib

import lab
from lab import expect, expect_equal, wait_until

LONG = os.environ.get("ROCETUNE_LONG") == "1"
PROFILE = "roce-dscp26-prio3"
ALLOW = ["--allow", "take-dcbx", "--allow", "inexact-revert"]
QUICK = ["--yes", "--soak", "1s", "--json"]
ALONE = ["--confirm-within", "none"]

COMMITTED, REFUSED, UNDONE, NOT_UNDONE = 0, 2, 3, 4


def cm_directory(one):
  return pathlib.Path("/sys/kernel/config/rdma_cm") / one.rdma


def shorten_bounces():
  """A link comes back at once, not after seconds as with mlx5: the suites wait for it hundreds of times."""
  for one in lab.nics():
    one.put("bounce_ms", 50)


def reset_all():
  lab.reset_all()
  shorten_bounces()


def forget():
  """A host on which nothing was ever changed."""
  shorten_bounces()
  for file in lab.STATE_DIR.glob("*"):
    file.unlink()
  for one in lab.nics():
    if cm_directory(one).exists():
      cm_directory(one).rmdir()


def state():
  """lab.capture() without leaving behind the configfs directories that it makes to look."""
  made = {one.rdma: not cm_directory(one).exists() for one in lab.nics()}
  captured = lab.capture()
  for one in lab.nics():
    captured[f"{one.rdma} directory"] = "absent" if made[one.rdma] else "there"
    if made[one.rdma]:
      cm_directory(one).rmdir()
  return captured


def without_buffer_mode(captured):
  """The one thing that cannot be undone without a driver reload, and is said to be so: manual buffers."""
  return {key: value for key, value in captured.items() if not key.endswith("port buffers")}


def plan(*options):
  return json.loads(lab.rocetune("plan", "--profile", PROFILE, "--json", *options).stdout)


def apply(*options, check=True):
  done = lab.rocetune("apply", "--profile", PROFILE, *QUICK, *ALLOW, *options, check=False, timeout=300)
  if check:
    expect_equal(done.code, COMMITTED, f"exit code of apply: {done.stdout}{done.stderr}")
  return done


def rollback(*options, check=True):
  done = lab.rocetune("rollback", "--yes", "--soak", "1s", "--json", *options, check=False, timeout=300)
  if check:
    expect_equal(done.code, COMMITTED, f"exit code of rollback: {done.stdout}{done.stderr}")
  return done


def history():
  return json.loads(lab.rocetune("history", "--json").stdout)["transactions"]


def last_outcome():
  return history()[-1].get("outcome")


def wait_for_outcome(outcome, seconds=90):
  wait_until(lambda: last_outcome() == outcome, f"outcome {outcome}", timeout=seconds)


def count_writes():
  """How many writes the standard apply makes."""
  forget()
  lab.inject("reset")
  apply(*ALONE)
  total = lab.writes()["any"]
  rollback()
  reset_all()
  expect(total > 10, f"writes of an apply: {total}")
  return total


def sampled(total, few):
  """Every write in a long run, else `few` spread over all."""
  return range(1, total + 1) if LONG else sorted({1 + round(i * (total - 1) / (few - 1)) for i in range(few)})
