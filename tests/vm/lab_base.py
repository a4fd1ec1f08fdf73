"""What every suite needs and no NIC has to do with: judging, running commands, waiting. Re-exported by lab."""

import contextlib
import dataclasses
import json
import os
import select
import shlex
import socket
import subprocess
import time

# Limits, not expectations: an emulated guest on a busy host is slow, a passing test never waits for them.
DEFAULT_TIMEOUT_S = 90


# ---- judging ----

class Skip(Exception):
  """This machine lacks what the test needs: neither passed nor failed, and said so."""


class Failure(Exception):
  """A test's verdict, as opposed to an accident."""


def expect(condition, what):
  if not condition:
    raise Failure(what)


def expect_equal(got, want, what):
  if got != want:
    raise Failure(f"{what}: got {got!r}, want {want!r}")


# ---- commands ----

@dataclasses.dataclass
class Done:
  """A finished command."""
  argv: list
  code: int
  stdout: str
  stderr: str

  def json(self):
    return json.loads(self.stdout)


def run(command, check=True, timeout=DEFAULT_TIMEOUT_S, stdin="", env=None):
  """Runs a list, or a string for the shell; with `check` a nonzero exit code fails the test."""
  shell = isinstance(command, str)
  environment = dict(os.environ, **(env or {}))
  try:
    done = subprocess.run(command if shell else [str(c) for c in command], shell=shell, input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, env=environment,
                          executable="/bin/bash" if shell else None, check=False)
  except subprocess.TimeoutExpired:
    raise Failure(f"no end within {timeout} s: {command}") from None
  result = Done([command] if shell else list(command), done.returncode, done.stdout, done.stderr)
  if check and result.code != 0:
    words = command if shell else shlex.join(map(str, command))
    raise Failure(f"exit code {result.code} from: {words}: {(result.stderr or result.stdout).strip()[-400:]}")
  return result


def run_fails(command, containing="", timeout=DEFAULT_TIMEOUT_S):
  """The command must fail, and say `containing` on either stream. Returns it."""
  done = run(command, check=False, timeout=timeout)
  expect(done.code != 0, f"succeeded, should fail: {command}")
  said = done.stderr + done.stdout
  expect(containing in said, f"{command}: said {said.strip()!r}, should say {containing!r}")
  return done


@contextlib.contextmanager
def background(command):
  """A process beside the test; killed at the end of the block. Its streams are pipes."""
  shell = isinstance(command, str)
  process = subprocess.Popen(command if shell else [str(c) for c in command], shell=shell, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             executable="/bin/bash" if shell else None)
  try:
    yield process
  finally:
    process.kill()
    process.communicate()


# ---- waiting ----

def wait_until(predicate, what, timeout=DEFAULT_TIMEOUT_S, every=0.02):
  """For what the kernel sends no event of. Returns the first true value of `predicate`."""
  deadline = time.monotonic() + timeout
  while True:
    value = predicate()
    if value:
      return value
    if time.monotonic() >= deadline:
      raise Failure(f"not within {timeout} s: {what}")
    time.sleep(every)


class LinkEvents:
  """Wakes up on rtnetlink link messages. Use as a context manager around what causes them."""

  def __enter__(self):
    RTMGRP_LINK = 1
    self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    self._socket.bind((0, RTMGRP_LINK))
    return self

  def __exit__(self, *exc):
    self._socket.close()

  def wait(self, predicate, what, timeout=DEFAULT_TIMEOUT_S):
    """Until `predicate` holds; it is asked now and after every link message."""
    deadline = time.monotonic() + timeout
    while not predicate():
      left = deadline - time.monotonic()
      if left <= 0 or not select.select([self._socket], [], [], left)[0]:
        raise Failure(f"not within {timeout} s: {what}")
      self._socket.recv(1 << 16)
