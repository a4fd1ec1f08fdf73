"""A real systemd in the guest: process 1 of a PID namespace, over the same NICs, files and /run. Its units are those
of /etc/systemd/system and the few targets they hang from; none of the host's own services start."""

import contextlib
import pathlib
import shutil
import subprocess

from lab import expect, run, wait_until

TARGETS = ["basic", "emergency", "exit", "local-fs", "local-fs-pre", "multi-user", "network", "network-pre", "paths",
           "rescue", "shutdown", "slices", "sockets", "swap", "sysinit", "timers", "umount"]
LIBRARY = pathlib.Path("/lib/systemd/system")
UNITS = pathlib.Path("/run/lab-units")
CGROUPS = pathlib.Path("/sys/fs/cgroup")

START = r"""
echo $$ >"$1/lab/cgroup.procs" &&
exec unshare --cgroup --pid --fork --kill-child --mount --mount-proc sh -c '
  mount -t cgroup2 cgroup2 "$1" &&
  exec env -i container=vmlab PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/etc/systemd/system:"$2" \
    /lib/systemd/systemd --system --unit=multi-user.target --log-target=console --show-status=false' sh "$1" "$2"
"""


@contextlib.contextmanager
def systemd():
  """Up to multi-user.target, jobs done; gone at the end of the block."""
  UNITS.mkdir(exist_ok=True)
  for name in TARGETS:
    shutil.copy(LIBRARY / f"{name}.target", UNITS)
  if not (CGROUPS / "cgroup.procs").exists():
    run(["mount", "-t", "cgroup2", "cgroup2", CGROUPS])
  (CGROUPS / "lab").mkdir(exist_ok=True)
  process = subprocess.Popen(["sh", "-c", START, "sh", str(CGROUPS), str(UNITS)], stdin=subprocess.DEVNULL)
  try:
    wait_until(lambda: process.poll() is not None or is_running(), "systemd is up", timeout=240, every=0.5)
    expect(process.poll() is None, "systemd ended at once")
    yield
  finally:
    process.kill()
    process.wait()
    shutil.rmtree("/run/systemd", ignore_errors=True)


def is_running():
  if not pathlib.Path("/run/systemd/private").exists():
    return False
  state = systemctl("is-system-running", check=False).stdout.strip()
  return state in ("running", "degraded")


def systemctl(*arguments, check=True):
  return run(["systemctl", *arguments], check=check, timeout=120)


def property_of(unit, name):
  return systemctl("show", "--value", f"--property={name}", unit).stdout.strip()
