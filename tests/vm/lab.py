"""The harness of suites that run inside the VM lab's guest.

A suite is a file tests/vm/suites/<name>.py with functions test_*(); they run in the order of the file, each on
NICs put back to their state after loading (`reset_all`). A test fails by raising; `expect*` raise with words.
What a suite needs is said by constants at its top:

  NICS = 4                  number of test NICs (2)
  OWN_BOOT = True           do not share the machine with other suites (False)
  LOCKDOWN = "integrity"    lock the kernel down before the first test; implies OWN_BOOT ("")
  MEMORY_MIB = 2048         guest memory (1024)
  STATE = "disk"            what @boots tests keep in /var/lib/rocetune: "shared" directory or ext4 "disk"
  TIMEOUT_S = 300           for the whole boot, booting included (600)

A test decorated with @boots(n) runs in n boots of its own and takes the boot's number, 1..n, as its argument;
/var/lib/rocetune is kept between them. See docs/vm-lab.md.
"""

import contextlib
import os
import pathlib
import time

# pylint: disable=unused-import
from lab_base import (Done, Failure, LinkEvents, background, expect, expect_equal, run, run_fails, wait_until)
from lab_dcb import expect_errno
from lab_nic import CONTROL, DEBUGFS, PRIORITIES, Nic, inject, nic, nics, writes

STATE_DIR = pathlib.Path("/var/lib/rocetune")
REPO = pathlib.Path(__file__).resolve().parent.parent.parent
SHARE = pathlib.Path("/run/vmlab")


def rocetune(*arguments, check=True, timeout=120, env=None):
  """Runs the freshly built build/rocetune."""
  return run([REPO / "build" / "rocetune", *arguments], check=check, timeout=timeout, env=env)


# ---- state of the host, for comparison ----

_DCB_OBJECTS = ("pfc", "ets", "app", "buffer", "dcbx", "maxrate")
_SEPARATOR = "\x1e"


def _shown(commands):
  """The outputs of several shell commands, from one shell: starting a process costs 50 ms and more here."""
  script = "".join(f"{c} || exit\nprintf '\\036'\n" for c in commands)
  return [text.strip() for text in run(script).stdout.split(_SEPARATOR)[:-1]]


def capture(which=None):
  """The full state a transaction may touch, as {"eth0 dcb pfc": text, ...}; two captures compare with ==.

  PFC's pause counts (`dcb -s`) and all other counters are left out: they move by themselves.
  """
  commands = {}
  state = {}
  for one in which or nics():
    for object_ in _DCB_OBJECTS:
      commands[f"{one.netdev} dcb {object_}"] = f"dcb -j {object_} show dev {one.netdev}"
    commands[f"{one.netdev} pause"] = f"ethtool -a {one.netdev}"
    commands[f"{one.netdev} pfc-prevention-tout"] = f"ethtool --get-tunable {one.netdev} pfc-prevention-tout"
    state[f"{one.netdev} mtu"] = str(one.mtu)
    state[f"{one.netdev} trust"] = one.trust
    state[f"{one.netdev} port buffers"] = one.get("buffers")
    for file in sorted(one.cc_dir.iterdir()):
      state[f"{one.netdev} cc {file.name}"] = file.read_text().strip()
    state[f"{one.rdma} default_roce_tos"] = str(roce_tos(one.rdma))
  state.update(zip(commands, _shown(commands.values())))
  return state


def diff(before, after):
  """What two captures disagree on, as lines of text."""
  return [f"{key}: {before.get(key)!r} -> {after.get(key)!r}" for key in sorted(before.keys() | after.keys())
          if before.get(key) != after.get(key)]


def expect_same_state(before, after):
  """Two captures must be equal byte for byte; says the first differences."""
  different = diff(before, after)
  if different:
    raise Failure("state differs: " + "; ".join(different[:6]))


def _cma(rdma):
  directory = pathlib.Path("/sys/kernel/config/rdma_cm") / rdma
  directory.mkdir(exist_ok=True)
  return directory / "ports" / "1" / "default_roce_tos"


def roce_tos(rdma):
  """rdma_cm's default_roce_tos."""
  return int(_cma(rdma).read_text())


def set_roce_tos(rdma, value):
  _cma(rdma).write_text(str(value))


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


def reset_all():
  """NICs as after loading, up, without addresses; links, namespaces and rxe devices that tests made are gone."""
  for entry in pathlib.Path("/run/netns").glob("*"):
    run(["ip", "netns", "del", entry.name], check=False)
  for device in pathlib.Path("/sys/class/infiniband").glob("rxe*"):
    run(["rdma", "link", "delete", device.name], check=False)
  known = {"lo", "bonding_masters"} | {n.netdev for n in nics()}
  extra = [p.name for p in pathlib.Path("/sys/class/net").iterdir() if p.name not in known]
  for name in extra:
    run(["ip", "link", "del", name], check=False)
  for one in nics():
    one.reset()
    tos = pathlib.Path("/sys/kernel/config/rdma_cm") / one.rdma / "ports" / "1" / "default_roce_tos"
    if tos.exists():
      tos.write_text("0")
  inject("off")
  with LinkEvents() as events:
    ip("".join(f"addr flush dev {n.netdev} scope global\nlink set {n.netdev} up\n" for n in nics()))
    events.wait(lambda: all(n.carrier for n in nics()), "all NICs up")


# ---- boots ----

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
