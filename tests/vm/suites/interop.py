"""rocetune's RoCE v2 engine over DPDK's af_packet, against Linux' rdma_rxe with a switch between them.

Either asks, the other answers; what arrived is compared by its SHA-256. See lab_interop.py and docs/protocol.md.
"""

import hashlib
import ipaddress
import json
import pathlib
import re
import subprocess

import lab
from lab import Failure, expect, expect_equal, run
from lab_interop import (ANSWER_S, EAL, KERNEL, OURS, RXE, Counted, Traffic, all_operations, both_sides, connected,
                         digest, drops_of, exchange, expect_only_reports, expect_undisturbed, only_needed_drivers,
                         roce_frames, wire)

NICS = 2
MEMORY_MIB = 1536
OWN_BOOT = True  # hides drivers of DPDK

MTUS = (256, 512, 1024, 2048, 4096)


# ---- tests ----

def _every_mtu(family):
  with both_sides() as (engine, kernel):
    for mtu in MTUS:
      counted = Counted(engine, kernel)
      with connected(engine, kernel, family, mtu):
        # Empty, the smallest, exactly one packet, padded, several packets and padded.
        all_operations(engine, kernel, 15, (0, 1, mtu, mtu + 1, 3 * mtu + 6))
      expect_undisturbed(counted)


def test_every_operation_both_ways_over_ipv4():
  _every_mtu("IPv4")


def test_every_operation_both_ways_over_ipv6():
  _every_mtu("IPv6")


def test_receiver_that_is_not_ready():
  """Messages come before their receive requests: RNR NAKs hold the asker back, and then all of it arrives."""
  with both_sides() as (engine, kernel):
    for asker, answerer, said in ((engine, kernel, "rnr_naks_received"), (kernel, engine, "rnr_naks_sent")):
      traffic = Traffic("send_immediate", 20, (3000,))
      with connected(engine, kernel):
        counted = Counted(engine, kernel)
        for side in (asker, answerer):
          side.do("fill", **traffic.fields())
        asker.tell("ask", **traffic.fields())
        lab.wait_until(lambda: _rnr_naks(counted.kernel_since()), "rxe sent or got an RNR NAK")
        answerer.do("receive", **traffic.fields())
        answerer.tell("collect", **traffic.fields())
        expect_equal(asker.answer()["status"], "success", f"{asker.name}'s requests")
        expect_equal(len(answerer.answer()["lengths"]), traffic.count, f"{answerer.name} received")
        expect_equal(digest(answerer, traffic, True), digest(asker, traffic, False), "content")
        engine_counts, kernel_counts = counted.since()
        expect(engine_counts[said] > 0, f"{said}: {engine_counts}")
        # One wire, no loss: what one side sent, the other got.
        got = kernel_counts["rcvd_rnr_err"] if asker is kernel else kernel_counts["send_rnr_err"]
        expect_equal(engine_counts[said], got, "RNR NAKs as either side counts them")


def _rnr_naks(kernel):
  return kernel["send_rnr_err"] + kernel["rcvd_rnr_err"]


def test_refusals_are_understood():
  """What a responder refuses ends the request by its reason, and changes no memory."""
  with both_sides() as (engine, kernel):
    for asker, answerer in ((engine, kernel), (kernel, engine)):
      for operation in ("write", "read", "fetch_add"):
        for deceive in ({"key": 1}, {"memory": 1 << 50}):
          traffic = Traffic(operation, 1, (64,))
          with connected(asker, answerer, deceive=deceive):
            asker.do("fill", **traffic.fields())
            answerer.do("fill", **traffic.fields())
            asked = asker.do("ask", **traffic.fields())
            expect_equal(asked["status"], "remote_access_error",
                         f"{operation} {asker.name} -> {answerer.name}, told {deceive} too much")
            for side in (asker, answerer):
              expect_equal(digest(side, traffic, True), hashlib.sha256(bytes(64)).hexdigest(),
                           f"{operation}: target area of {side.name}")


def test_send_takes_a_key_away():
  """SEND with invalidate: of a window of type 2 at rxe, of a memory region at the engine."""
  sizes = (0, 1, 1024, 3078)
  with both_sides() as (engine, kernel):
    for asker, answerer in ((engine, kernel), (kernel, engine)):
      with connected(asker, answerer):
        counted = Counted(engine, kernel)
        keys = tuple(answerer.do("windows", count=15)["keys"])
        for operation, lengths in (("write", sizes), ("read", sizes), ("fetch_add", (8,))):  # each key is good
          exchange(asker, answerer, Traffic(operation, 15, lengths, keys=keys))
        exchange(asker, answerer, Traffic("send_invalidate", 14, sizes, keys=keys[:14]))
        exchange(asker, answerer, Traffic("write", 15, sizes, keys=keys[14:]))  # the last one is there still
        expect_undisturbed(counted)
        _expect_refused(asker, answerer, keys[13])


def _expect_refused(asker, answerer, key):
  traffic = Traffic("write", 1, (64,), keys=(key,))
  for side in (asker, answerer):
    side.do("fill", **traffic.fields())
  expect_equal(asker.do("ask", **traffic.fields())["status"], "remote_access_error",
               f"write {asker.name} -> {answerer.name} by a key that was taken away")
  expect_equal(digest(answerer, traffic, True), hashlib.sha256(bytes(64)).hexdigest(), "its target area")


def test_key_that_is_not_there_cannot_be_taken_away():
  """The engine refuses the message; rxe acknowledges it, and its own queue pair fails (rxe_resp.c: "Class J")."""
  with both_sides() as (engine, kernel):
    for asker, answerer, asked, received in ((engine, kernel, "success", "remote_invalid_request"),
                                             (kernel, engine, "remote_access_error", "flushed")):
      with connected(asker, answerer):
        traffic = Traffic("send_invalidate", 1, (64,), keys=(0xABCDEF01,))
        answerer.do("receive", **traffic.fields())
        expect_equal(asker.do("ask", **traffic.fields())["status"], asked, f"request of {asker.name}")
        expect_equal(answerer.do("collect", **traffic.fields())["status"], received, f"receive of {answerer.name}")


# ---- a bad network ----

def make_network_bad(how):
  """netem on the RoCE packets of both directions, and on nothing else.

  It sits in the switch: netem loses track of who sent what, and af_packet on a device with netem would receive the
  engine's own frames.
  """
  lines = ""
  for device in ("b0", "b1"):
    lines += (f"qdisc add dev {device} root handle 1: prio bands 3 priomap {' '.join('0' * 16)}\n"
              f"qdisc add dev {device} parent 1:3 handle 30: netem limit 10000 {how}\n"
              f"filter add dev {device} parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:3\n"
              f"filter add dev {device} parent 1: protocol ipv6 u32 match ip6 dport 4791 0xffff flowid 1:3\n")
  run(["tc", "-batch", "-"], stdin=lines)


def netem_counts():
  """What netem let through and what it dropped so far, by direction."""
  counts = {}
  for name, device in (("to_engine", "b1"), ("to_kernel", "b0")):
    shown = json.loads(run(["tc", "-s", "-j", "qdisc", "show", "dev", device]).stdout)
    netem = next(qdisc for qdisc in shown if qdisc["kind"] == "netem")
    counts[name], counts["lost_" + name] = netem["packets"], netem["drops"]
  return counts


# What the engine may drop then: what is old (sent again, or doubled by the network), early (behind a gap), a READ asked
# again while its answers still wait, or a copy of an atomic that comes when 16 others have been answered since.
EXPLAINED = {"drop_duplicate_request", "drop_out_of_sequence", "drop_duplicate_response", "drop_response_gap",
             "drop_responder_full", "drop_atomic_forgotten"}


def expect_explained(counted, what):
  """Every frame of either side was let through or dropped by netem, and every complaint follows from that."""
  engine, kernel = counted.since()
  network = netem_counts()
  seen = f"{what}; netem {network}, engine { {n: c for n, c in engine.items() if c} }, rxe {kernel}"
  expect_equal((roce_frames(engine), kernel["rcvd_pkts"]), (network["to_engine"], network["to_kernel"]),
               f"received: {seen}")
  expect(set(drops_of(engine)) <= EXPLAINED, f"dropped by the engine for another reason: {seen}")
  copies = 2 if "duplicate" in what else 1  # of one NAK
  expect(engine["sequence_naks_received"] <= copies * kernel["out_of_seq_request"], f"NAKs of rxe: {seen}")
  expect(kernel["rcvd_seq_err"] <= copies * engine["sequence_naks_sent"], f"NAKs of the engine: {seen}")
  for name in ("retry_exceeded_err", "retry_rnr_exceeded_err", "send_err"):
    expect_equal(kernel[name], 0, f"rxe's {name}: {seen}")
  return network


def survives(how, rounds, loses):
  """`rounds`: (family, path MTU, messages of each kind)"""
  with both_sides() as (engine, kernel):
    make_network_bad(how)
    counted = Counted(engine, kernel)
    for family, mtu, count in rounds:
      with connected(engine, kernel, family, mtu, ack_timeout=16):
        all_operations(engine, kernel, count, (1, mtu, 3 * mtu + 6))
    network = expect_explained(counted, how)
  for direction in ("lost_to_engine", "lost_to_kernel"):
    expect_equal(network[direction] > 0, loses, f"{how}: {network}")


EVERYWHERE = [(family, mtu, 40) for family in OURS for mtu in (256, 1024, 4096)]


@lab.thorough
def test_loss_of_a_thousandth():
  survives("loss 0.1%", [("IPv4", 1024, 400), ("IPv6", 1024, 400)], True)


def test_loss_of_one_percent():
  survives("loss 1%", EVERYWHERE, True)


@lab.thorough
def test_reordering():
  survives("delay 3ms reorder 98%", EVERYWHERE, False)


@lab.thorough
def test_duplication():
  survives("duplicate 2%", EVERYWHERE, False)


@lab.thorough
def test_everything_at_once():
  survives("loss 0.5% delay 3ms reorder 99% duplicate 1%", EVERYWHERE, True)


# ---- perftest, as Debian ships it ----

TCP_PORT = "18515"
MESSAGES = 300
PATIENT = "18"  # acknowledgements of an emulated guest may take a second


def gid_index(address):
  for file in pathlib.Path(f"/sys/class/infiniband/{RXE}/ports/1/gids").iterdir():
    gid = ipaddress.IPv6Address(file.read_text().strip())
    if str(gid.ipv4_mapped or gid) == address:
      return file.name
  raise Failure(f"{RXE} has no GID {address}")


def perftest_command(name, family, size):
  return [name, "-d", RXE, "-x", gid_index(KERNEL[family]), "-F", "-n", str(MESSAGES), "-s", str(size), "-p", TCP_PORT,
          "-u", PATIENT]


def our_command(name, family, size):
  return [lab.BUILD / "rocetune", "bench", name, "--address", OURS[family], "-n", str(MESSAGES), "--size", f"{size}B",
          "-p", TCP_PORT, "-u", PATIENT, "--mtu", "4096", "--json", "--dpdk", EAL]


def listens(server):
  if server.poll() is not None:
    raise Failure(f"the server ends with {server.returncode}: {server.communicate()[1][-400:]}")
  return f":{TCP_PORT}" in run(["ss", "-ltn"]).stdout


def server_and_client(server, client):
  """Their standard outputs, when both have ended well."""
  with lab.background(server) as process:
    lab.wait_until(lambda: listens(process), f"{server[0]} listens")
    asked = run([*client, "127.0.0.1"], timeout=ANSWER_S, check=False)
    try:
      out, err = process.communicate(timeout=ANSWER_S)
    except subprocess.TimeoutExpired:
      raise Failure(f"the server has no end; the client: {asked.code} {asked.stderr} {asked.stdout[-300:]}") from None
    expect_equal((asked.code, process.returncode), (0, 0), f"exit codes; client: {asked.stderr}; server: {err}")
  return out, asked.stdout


def expect_right(name, ours, theirs, size):
  result = json.loads(ours)
  what = f"{name} as {result['role']}: {ours}"
  expect_equal((result["test"], result["size_bytes"], result["mtu_bytes"]), (name, size, 4096), what)
  # An emulated guest is late: what is asked again then is a duplicate, and nothing else may be dropped.
  # So are the reports of the kernel's IPv6 groups, whatever the test speaks: they are no RoCE.
  drops = dict(result["counts"]["drops"])
  expect_only_reports(drops.pop("not_roce", 0), what)
  expect(set(drops) <= {"duplicate_request", "duplicate_response"}, f"drops; {what}")
  expect_equal(result["counts"]["port_drops"], {}, f"drops of the port; {what}")
  if result["role"] == "client" or name in ("ib_send_bw", "ib_write_lat", "ib_send_lat"):
    expect_equal(result["messages"], MESSAGES, f"messages; {what}")
    if name.endswith("lat"):
      latency = result["latency"]
      expect_equal(latency["samples"] + latency["not_timed"], MESSAGES - (name != "ib_read_lat"), f"latencies; {what}")
  elif name.endswith("bw"):
    expect_equal((result["peer_report"]["size_bytes"], result["peer_report"]["iterations"]), (size, MESSAGES),
                 f"the client's report; {what}")
  if result["role"] == "server" or name in ("ib_send_bw", "ib_write_lat", "ib_send_lat"):
    expect(re.search(rf"^\s*{size}\s+{MESSAGES}\s+[0-9.]+", theirs, re.MULTILINE), f"perftest's row: {theirs}")


def both_roles(name, family, size):
  ours, theirs = our_command(name, family, size), perftest_command(name, family, size)
  out = server_and_client(ours, theirs)
  expect_right(name, out[0], out[1], size)
  out = server_and_client(theirs, ours)
  expect_right(name, out[1], out[0], size)


@lab.thorough
def test_perftest_moves_data():
  only_needed_drivers()
  with wire():
    for name in ("ib_write_bw", "ib_read_bw", "ib_send_bw"):
      both_roles(name, "IPv4", 20000)


@lab.thorough
def test_perftest_measures_latency():
  only_needed_drivers()
  with wire():
    for name in ("ib_write_lat", "ib_read_lat", "ib_send_lat"):
      both_roles(name, "IPv4", 64)


def test_perftest_over_ipv6():
  only_needed_drivers()
  with wire():
    both_roles("ib_send_bw", "IPv6", 1)
