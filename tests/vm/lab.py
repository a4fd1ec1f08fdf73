"""The harness of suites that run inside the VM lab's guest.

A suite is a file tests/vm/suites/<name>.py with functions test_*(); they run in the order of the file, each on
NICs put back to their state after loading (`reset_all`). A test fails by raising; `expect*` raise with words.
What a suite needs is said by constants at its top:

  NICS = 4                  number of test NICs (2)
  OWN_BOOT = True           do not share the machine with other suites (False)
  LOCKDOWN = "integrity"    lock the kernel down before the first test; implies OWN_BOOT ("")
  MEMORY_MIB = 2048         guest memory (1024)
  STATE = "disk"            what @boots tests keep in /var/lib/rocetune: "shared" directory or ext4 "disk"
  TIMEOUT_S = 300           for the whole boot, booting included (1800)

A test decorated with @boots(n) runs in n boots of its own and takes the boot's number, 1..n, as its argument;
/var/lib/rocetune is kept between them. See docs/vm-lab.md.
"""

import contextlib
import fcntl
import os
import pathlib
import socket
import struct
import time

# pylint: disable=unused-import
from lab_base import (Done, Failure, LinkEvents, Skip, background, expect, expect_equal, run, run_fails,
                      wait_until)
from lab_dcb import expect_errno
from lab_nic import CONTROL, DEBUGFS, PRIORITIES, Nic, inject, nic, nics, writes
from lab_state import capture, diff, expect_same_state, pause, pfc_prevention_tout, roce_tos, set_roce_tos

STATE_DIR = pathlib.Path("/var/lib/rocetune")
REPO = pathlib.Path(__file__).resolve().parent.parent.parent
SHARE = pathlib.Path("/run/vmlab")
BUILD = pathlib.Path(os.environ.get("ROCETUNE_BUILD_DIR", REPO / "build"))  # the harness hands the host's on


def rocetune(*arguments, check=True, timeout=120, env=None):
  """Runs the freshly built program: build/rocetune, or that of $ROCETUNE_BUILD_DIR."""
  return run([BUILD / "rocetune", *arguments], check=check, timeout=timeout, env=env)


# ---- addresses, namespaces, software RoCE ----

def ip(lines):
  """Several `ip` commands in one process, one a line, without the word ip."""
  run(["ip", "-batch", "-"], stdin=lines)


@contextlib.contextmanager
def namespace(name, *members):
  """A network namespace holding some NICs; afterwards they are back, as the kernel moves them."""
  run(["ip", "netns", "add", name])
  try:
    ip("".join(f"link set {m.netdev} netns {name}\n" for m in members))
    yield ["ip", "netns", "exec", name]
  finally:
    with LinkEvents() as events:
      run(["ip", "netns", "del", name])
      events.wait(lambda: all(os.path.exists(f"/sys/class/net/{m.netdev}") for m in members),
                  "NICs back from their namespace")


@contextlib.contextmanager
def rxe_pair(a, b):
  """rdma_rxe as rxe0 and rxe1 on two wired NICs: yields (a's IP, b's IP); GID index 1 is the IPv4 one on both.

  Both stay in one namespace, where rxe's UDP socket is, and still talk over the wire: for packets between
  the two addresses routing asks these rules before the table of local addresses.
  """
  ours, theirs = "198.18.0.1", "198.18.0.2"
  hosts = ((a, ours, theirs, 101), (b, theirs, ours, 102))
  for sysctl, value in (("accept_local", "1"), ("rp_filter", "0")):
    pathlib.Path(f"/proc/sys/net/ipv4/conf/all/{sysctl}").write_text(value)
  rules = [f"iif lo from {mine} to {other} lookup {table} pref 1" for _, mine, other, table in hosts]
  ip("".join(f"addr add {mine}/32 dev {one.netdev}\nlink set {one.netdev} up\n" for one, mine, _, _ in hosts) +
     "".join(f"route add {other} dev {one.netdev} src {mine} table {table}\n" for one, mine, other, table in hosts) +
     "".join(f"rule add {rule}\n" for rule in rules) +
     "rule add from all lookup local pref 2\nrule del from all lookup local pref 0\n")
  try:
    for index, (one, *_) in enumerate(hosts):
      run(["rdma", "link", "add", f"rxe{index}", "type", "rxe", "netdev", one.netdev])
    yield ours, theirs
  finally:
    for index in range(2):
      run(["rdma", "link", "delete", f"rxe{index}"], check=False)
    ip("rule add from all lookup local pref 0\nrule del from all lookup local pref 2\n" +
       "".join(f"rule del {rule}\n" for rule in rules) + "route flush table 101\nroute flush table 102\n")


def _is_up(one):
  return int(pathlib.Path(f"/sys/class/net/{one.netdev}/flags").read_text(), 16) & 1


def _has_address(one):
  SIOCGIFADDR = 0x8915
  with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    try:
      fcntl.ioctl(sock, SIOCGIFADDR, struct.pack("16s24x", one.netdev.encode()))
      return True
    except OSError:
      return False


def reset_all():
  """NICs as after loading, up, without addresses; links, namespaces and rxe devices that tests made are gone."""
  for entry in pathlib.Path("/run/netns").glob("*"):
    run(["ip", "netns", "del", entry.name], check=False)
  for device in pathlib.Path("/sys/class/infiniband").glob("rxe*"):
    run(["rdma", "link", "delete", device.name], check=False)
  known = {"lo", "bonding_masters"} | {n.netdev for n in nics()}
  for name in [p.name for p in pathlib.Path("/sys/class/net").iterdir() if p.name not in known]:
    run(["ip", "link", "del", name], check=False)
  for one in nics():
    one.reset()
    tos = pathlib.Path("/sys/kernel/config/rdma_cm") / one.rdma / "ports" / "1" / "default_roce_tos"
    if tos.exists():
      tos.write_text("0")
  inject("reset")
  stale = [n for n in nics() if not _is_up(n) or _has_address(n)]
  with LinkEvents() as events:
    if stale:
      ip("".join(f"addr flush dev {n.netdev} scope global\nlink set {n.netdev} up\n" for n in stale))
    events.wait(lambda: all(n.carrier for n in nics()), "all NICs up")


# ---- boots ----

def thorough(function):
  """Decorator: a long test of what shorter ones also touch; `tools/vmlab test --brief` leaves it out."""
  function.thorough = True
  return function


def boots(count):
  """Decorator: the test takes `count` boots of its own, and the boot's number (1..count) as its argument."""

  def mark(function):
    function.boots = count
    return function

  return mark


def expect_death():
  """From here on the machine may go down without a word, and must before the test returns (@boots tests)."""
  (SHARE / "dying").write_text("yes")


def power_off_hard():
  """As if the power had failed: nothing is synced. Does not return."""
  expect_death()
  pathlib.Path("/proc/sysrq-trigger").write_text("b")
  time.sleep(60)
  raise Failure("the machine survived its power-off")
