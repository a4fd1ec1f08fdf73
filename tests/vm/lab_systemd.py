"""A real systemd in the guest: process 1 of a PID namespace, over the same NICs, files and /run. Its units are those
of /etc/systemd/system and the few targets they hang from; none of the host's own services start."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess

from lab import expect, run, wait_until

TARGETS = ["basic", "emergency", "exit", "local-fs", "local-fs-pre", "multi-user", "network", "network-pre", "paths",
           "rescue", "shutdown", "slices", "sockets", "swap", "sysinit", "timers", "umount"]
LIBRARY = pathlib.Path("/lib/systemd/system")
UNITS = pathlib.Path("/run/lab-units")
CGROUPS = pathlib.Path("/sys/fs/cgroup")
SOCKET = pathlib.Path("/run/systemd/private")

START = r"""
echo $$ >"$1/lab/cgroup.procs" &&
exec unshare --cgroup --pid --fork --kill-child --mount --mount-proc sh -c '
  umount "$1" && mount -t cgroup2 cgroup2 "$1" &&
  exec env -i container=vmlab PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/etc/systemd/system:"$2" \
    /lib/systemd/systemd --system --unit=multi-user.target --log-target=console --show-status=false' sh "$1" "$2"
"""


@contextlib.contextmanager
def children_in(namespace):
  """systemd talks only to processes that it can see: what is started in the block has a PID in its namespace."""
  setns = ctypes.CDLL(None, use_errno=True).setns
  with open(namespace, "rb") as inside, open("/proc/self/ns/pid", "rb") as outside:
    expect(setns(inside.fileno(), 0) == 0, f"setns: {os.strerror(ctypes.get_errno())}")
    try:
      yield
    finally:
      expect(setns(outside.fileno(), 0) == 0, f"setns back: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def systemd():
  """Up to multi-user.target, jobs done; what the block starts is started on this host. Gone at its end."""
  UNITS.mkdir(exist_ok=True)
  for name in TARGETS:
    shutil.copy(LIBRARY / f"{name}.target", UNITS)
  if not (CGROUPS / "cgroup.procs").exists():
    run(["mount", "-t", "cgroup2", "cgroup2", CGROUPS])
  (CGROUPS / "lab").mkdir(exist_ok=True)
  process = subprocess.Popen(["sh", "-c", START, "sh", str(CGROUPS), str(UNITS)], stdin=subprocess.DEVNULL)
  try:
    wait_until(lambda: process.poll() is not None or SOCKET.exists(), "systemd listens", timeout=120, every=0.5)
    expect(process.poll() is None, "systemd ended at once")
    with children_in(f"/proc/{process.pid}/ns/pid_for_children"):
      wait_until(is_up, "systemd is up", timeout=240, every=0.5)
      yield
  finally:
    process.kill()
    process.wait()
    shutil.rmtree("/run/systemd", ignore_errors=True)


def is_up():
  return systemctl("is-system-running", check=False).stdout.strip() in ("running", "degraded")


def systemctl(*arguments, check=True):
  return run(["systemctl", *arguments], check=check, timeout=120)


def property_of(unit, name):
  return systemctl("show", "--value", f"--property={name}", unit).stdout.strip()
