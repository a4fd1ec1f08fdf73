"""What suites need to let rocetune's engine talk RoCE to the kernel: the wire, both ends, one operation.

The two sides are programs that do as they are told (tests/vm/interop): `interop-engine` is rocetune's engine over
DPDK's af_packet, `interop-verbs` is libibverbs over rdma_rxe.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import select
import shutil
import struct
import subprocess

import lab
from lab import Failure, expect, expect_equal, run

PROGRAMS = lab.BUILD / "tests" / "vm" / "interop"
RXE = "rxe0"
KERNEL = {"IPv4": "198.18.0.1", "IPv6": "fd00:198:18::1"}
OURS = {"IPv4": "198.18.0.2", "IPv6": "fd00:198:18::2"}
# A slot holds a frame of path MTU 4096, and a block is whole slots as well as whole pages.
AF_PACKET = "net_af_packet0,iface=v1,framesz=4352,blocksz=69632,framecnt=1024,qdisc_bypass=0"
EAL = f"--no-huge --no-pci -m 128 -l 0 --vdev={AF_PACKET}"

DATA = ("send", "send_immediate", "write", "write_immediate", "read")
ATOMICS = ("compare_swap", "fetch_add")
RECEIVED = ("send", "send_immediate", "send_invalidate", "write_immediate")  # those that take a receive request

# EAL opens every driver in Debian's folder, which takes an emulated guest half a minute.
DRIVER_FOLDER = next(pathlib.Path("/usr/lib").glob("*/dpdk/pmds-*"), None)
DRIVERS = ("net_af_packet", "bus_vdev", "mempool_ring", "bus_pci")

ANSWER_S = 120  # a limit; nothing waits for it


# ---- the wire and the two ends ----

@contextlib.contextmanager
def wire():
  """v0 with rxe and the kernel's addresses, v1 bare for DPDK, and between them a switch with the ports b0 and b1."""
  devices = ("v0", "b0", "v1", "b1", "switch")
  lab.ip("link add v0 type veth peer name b0\nlink add v1 type veth peer name b1\nlink add switch type bridge\n" +
         "".join(f"link set {device} mtu 9000\n" for device in devices))
  for device in devices[1:]:  # the kernel has no business there
    pathlib.Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6").write_text("1")
  lab.ip(f"addr add {KERNEL['IPv4']}/24 dev v0\naddr add {KERNEL['IPv6']}/64 dev v0 nodad\n"
         "link set b0 master switch\nlink set b1 master switch\n" +
         "".join(f"link set {device} up\n" for device in devices))
  run(["rdma", "link", "add", RXE, "type", "rxe", "netdev", "v0"])
  try:
    yield
  finally:
    run(["rdma", "link", "delete", RXE])
    lab.ip("link del v0\nlink del v1\nlink del switch\n")


def only_needed_drivers():
  """Hides the other drivers, for the rest of this boot: nothing else in this suite starts EAL."""
  if os.path.ismount(DRIVER_FOLDER):
    return
  chosen = pathlib.Path("/run/interop-drivers")
  chosen.mkdir()
  for name in DRIVERS:
    for file in DRIVER_FOLDER.glob(f"librte_{name}.so*"):
      shutil.copy(file, chosen, follow_symlinks=False)  # once, or they register twice
  run(["mount", "--bind", str(chosen), str(DRIVER_FOLDER)])


class Side:
  """One of the two programs."""

  def __init__(self, name, addresses, *command):
    self.name, self.addresses = name, addresses
    self._process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=dict(os.environ, ROCETUNE_PART_DIR=str(lab.BUILD)))
    self._input = b""
    self._told = None

  def end(self):
    self._process.kill()
    self._process.communicate()

  def tell(self, kind, **fields):
    self._told = kind, fields
    self._process.stdin.write(json.dumps({"kind": kind, **fields}).encode() + b"\n")
    self._process.stdin.flush()

  def answer(self):
    while b"\n" not in self._input:
      if not select.select([self._process.stdout], [], [], ANSWER_S)[0]:
        raise Failure(f"{self.name}: no answer within {ANSWER_S} s to {self._told}")
      piece = self._process.stdout.read1(65536)
      if not piece:
        complaint = self._process.communicate()[1].decode()[-400:]
        raise Failure(f"{self.name} has ended with {self._process.returncode}: {complaint}")
      self._input += piece
    line, self._input = self._input.split(b"\n", 1)
    reply = json.loads(line)
    if reply["error"]:
      raise Failure(f"{self.name}: {reply['error']}")
    return reply

  def do(self, kind, **fields):
    self.tell(kind, **fields)
    return self.answer()

  def counters(self):
    return self.do("counters")["counters"]


class Kernel(Side):
  """rxe counts in sysfs."""

  def counters(self):
    folder = pathlib.Path(f"/sys/class/infiniband/{RXE}/ports/1/hw_counters")
    return {file.name: int(file.read_text()) for file in folder.iterdir() if file.name != "lifespan"}


@contextlib.contextmanager
def both_sides():
  only_needed_drivers()
  with wire():
    engine = Side("engine", OURS, PROGRAMS / "interop-engine", EAL, *OURS.values())
    kernel = Kernel("rxe", KERNEL, PROGRAMS / "interop-verbs", RXE)
    try:
      yield engine, kernel
    finally:
      engine.end()
      kernel.end()


@contextlib.contextmanager
def connected(one, other, family="IPv4", mtu=1024, deceive=None, **options):
  """A queue pair on each side, connected. PSNs are near their end, so that they wrap.

  `deceive`: what `one` is told too much about the other side's memory, by field.
  """
  psns = {one: 0xFFFFF0, other: 0xFFFF80}
  places = {side: side.do("open", mtu=mtu, gid=side.addresses[family], psn=psns[side])["address"] for side in psns}
  seen = {one: dict(places[other]), other: places[one]}
  for field, more in (deceive or {}).items():
    seen[one][field] += more
  for side, peer in seen.items():
    side.do("connect", mtu=mtu, psn=psns[side], peer=peer, **options)
  try:
    yield
  finally:
    for side in psns:
      side.do("close")


# ---- one operation, asked by one side ----

@dataclasses.dataclass
class Traffic:
  operation: str
  count: int
  sizes: tuple
  seed: int = 7
  keys: tuple = ()  # of the other side: message i takes keys[i % n] away, or uses it

  def fields(self):
    return {"operation": self.operation, "count": self.count, "sizes": list(self.sizes), "seed": self.seed,
            "keys": list(self.keys)}


def digest(side, traffic, of_target):
  return side.do("digest", count=traffic.count, sizes=list(traffic.sizes), of_target=of_target)["digest"]


def words_digest(words):
  return hashlib.sha256(b"".join(struct.pack("<Q", word % (1 << 64)) for word in words)).hexdigest()


def atomic_results(traffic):
  """What each atomic must have returned, and what is left in the word; operands as in serve.cc."""
  value, results = 0, []
  for i in range(traffic.count):
    operand = (traffic.seed << 32) + i + 1
    results.append(value)
    if traffic.operation == "fetch_add":
      value += operand
    elif i % 3 != 2:
      value = operand
  return results, value


def exchange(asker, answerer, traffic):
  """Does it and checks every byte, length and immediate. Returns nothing, or fails in words."""
  what = f"{traffic.operation} {asker.name} -> {answerer.name} {traffic.sizes}"
  asker.do("fill", **traffic.fields())
  answerer.do("fill", **dict(traffic.fields(), seed=traffic.seed + 1000))
  takes_receives = traffic.operation in RECEIVED
  if takes_receives:
    answerer.do("receive", **traffic.fields())
  asker.tell("ask", **traffic.fields())
  if takes_receives:
    answerer.tell("collect", **traffic.fields())
  asked = asker.answer()
  expect_equal((asked["status"], asked["completed"]), ("success", traffic.count), f"{what}: requests")
  if takes_receives:
    got = answerer.answer()
    expect_equal(got["status"], "success", f"{what}: receives")
    expect_equal(got["lengths"], [traffic.sizes[i % len(traffic.sizes)] for i in range(traffic.count)],
                 f"{what}: lengths")
    immediates = [traffic.seed + i for i in range(traffic.count)] if "immediate" in traffic.operation else []
    expect_equal(got["immediates"], immediates, f"{what}: immediates")
    invalidated = list(traffic.keys) if traffic.operation == "send_invalidate" else []
    expect_equal(got["invalidated"], invalidated, f"{what}: keys taken away")
  if traffic.operation in ATOMICS:
    results, left = atomic_results(traffic)
    words = dataclasses.replace(traffic, sizes=(8,))
    expect_equal(digest(asker, words, True), words_digest(results), f"{what}: what the atomics returned")
    expect_equal(digest(answerer, dataclasses.replace(words, count=1), True), words_digest([left]),
                 f"{what}: the word at last")
  elif traffic.operation == "read":
    expect_equal(digest(asker, traffic, True), digest(answerer, traffic, False), f"{what}: content")
  else:
    expect_equal(digest(answerer, traffic, True), digest(asker, traffic, False), f"{what}: content")


def all_operations(engine, kernel, count, sizes):
  for asker, answerer in ((engine, kernel), (kernel, engine)):
    for operation in DATA:
      exchange(asker, answerer, Traffic(operation, count, sizes))
    few = min(count, 60)
    for operation in ATOMICS:
      exchange(asker, answerer, Traffic(operation, few, (8,)))
    keys = tuple(answerer.do("windows", count=few)["keys"])
    expect_equal(len(set(keys)), few, f"keys of {answerer.name}: {keys}")
    exchange(asker, answerer, Traffic("send_invalidate", few, sizes, keys=keys))


# ---- what both sides counted ----

RXE_ERRORS = ("duplicate_request", "out_of_seq_request", "rcvd_rnr_err", "send_rnr_err", "rcvd_seq_err",
              "retry_exceeded_err", "retry_rnr_exceeded_err", "completer_retry_err", "send_err")


class Counted:
  """What both sides count from here on."""

  def __init__(self, engine, kernel):
    self._sides = engine, kernel
    self._before = [side.counters() for side in self._sides]

  def since(self):
    return [self._difference(i) for i in range(2)]

  def kernel_since(self):
    """Also while the engine is busy and answers nothing."""
    return self._difference(1)

  def _difference(self, i):
    return {name: count - self._before[i][name] for name, count in self._sides[i].counters().items()}


# MLD: report, done, report of version 2. The kernel reports its IPv6 groups, one an address, when a link comes up and
# again within seconds; a bridge floods that to everybody. ARP and neighbour discovery do not get as far as the engine.
MLD_TYPES = (131, 132, 143)


def multicast_reports():
  """How many the kernel has sent on v0 since wire() made it."""
  lines = pathlib.Path("/proc/net/dev_snmp6/v0").read_text().splitlines()
  counts = {fields[0]: int(fields[1]) for fields in map(str.split, lines)}
  return sum(counts.get(f"Icmp6OutType{kind}", 0) for kind in MLD_TYPES)


def expect_only_reports(count, what):
  """`count`: frames on v1 that were no RoCE. The earlier reports came before anybody listened."""
  sent = multicast_reports()
  expect(count <= sent, f"{count} frames were no RoCE, and the kernel sent {sent} reports of its groups; {what}")


def drops_of(engine):
  """By reason. What is no RoCE must be of the kernel's reports, and is left out."""
  expect_only_reports(engine["drop_not_roce"], f"engine: {engine}")
  return {name: count for name, count in engine.items()
          if name.startswith("drop_") and name != "drop_not_roce" and count}


def roce_frames(engine):
  return engine["rx_frames"] - engine["drop_not_roce"]


def expect_undisturbed(counted):
  """Every frame arrived at the other side, and neither had anything to complain about."""
  engine, kernel = counted.since()
  expect_equal((roce_frames(engine), engine["tx_frames"]), (kernel["sent_pkts"], kernel["rcvd_pkts"]),
               "frames the engine received and sent, as rxe counts them")
  expect_equal(drops_of(engine), {}, "frames the engine dropped")
  expect_equal({name: kernel[name] for name in RXE_ERRORS if kernel[name]}, {}, "rxe's errors")
  ours = {name: engine[name] for name in ("retransmitted_frames", "ack_timeouts", "implied_naks", "rnr_naks_sent",
                                          "sequence_naks_sent", "fatal_naks_sent", "port_transmit_errors",
                                          "port_transmit_full") if engine[name]}
  expect_equal(ours, {}, "the engine's repetitions")
