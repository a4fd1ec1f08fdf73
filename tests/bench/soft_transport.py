#!/usr/bin/env python3
"""rocetune's own RoCE v2 between two processes over memif, one core a side, beside memif's own rate.

usage: soft_transport.py --rocetune BINARY --echo BINARY [--rounds N] [--seconds S] [--cores A,B] [--json FILE]

Each case runs N rounds; a row of `rocetune bench` has 20 parts, so there are 20 N rates: printed are their median, the
quarter above and below it, and the best. testpmd (Debian's dpdk-dev) sends frames of the same size one way over the
same memif geometry in the same run; the share is our data frames per second ÷ its frames per second, median by median and
best by best. Beside the round trip at window 1 is that of a frame of the same size over the same memif that nothing is done
to (memif_echo.cc), measured before each round: what any protocol over memif takes at least. On a machine that does other work too, the time that cores were lost says how far to trust the figures.

Peers that Debian does not have run if the environment's PEERS names a folder with a program for them, called as
`PEERS/erpc CORE CORE SECONDS`, that prints what its build measured in that time: {"pairs_per_s": …, "p50_ns": …}. Otherwise they
are *not built*, and what was recorded of them elsewhere is shown as recorded.
"""
import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HEADERS = 14 + 40 + 8 + 12 + 4  # Ethernet, IPv6 (link-local addresses), UDP, BTH, ICRC
RETH = 16

# name, what `rocetune bench` is told, payload and further header bytes of its data frames, data frames of a message,
# memif's buffer size, mbuf size of testpmd, goal
CASES = [
    dict(name="32 B WRITE, one way", pattern="stream", size="32B", flags="--op write --window 128 --mtu 1024",
         frame=HEADERS + RETH + 32, frames=1, bsize=2048, goal="10 M messages/s"),
    dict(name="32 B request and response, window 64", pattern="latency", size="32B",
         flags="--op send --window 64 --mtu 1024", frame=HEADERS + 32, frames=1, bsize=2048, goal="5 M pairs/s"),
    dict(name="32 B request and response, window 8", pattern="latency", size="32B",
         flags="--op send --window 8 --mtu 1024", frame=HEADERS + 32, frames=1, bsize=2048, goal="none: eRPC's window"),
    dict(name="32 B, window 1", pattern="latency", size="32B", flags="--op send --window 1 --mtu 1024",
         frame=HEADERS + 32, frames=1, bsize=2048, goal="0.5 us median", has_floor=True),
    dict(name="64 KiB WRITE, MTU 1024", pattern="stream", size="64KiB", flags="--op write --window 4 --mtu 1024",
         frame=HEADERS + 1024, frames=64, bsize=2048, goal="60 Gb/s"),
    dict(name="64 KiB WRITE, MTU 4096", pattern="stream", size="64KiB", flags="--op write --window 4 --mtu 4096",
         frame=HEADERS + 4096, frames=16, bsize=8192, goal="120 Gb/s"),
]
RING = 8  # 2^8 buffers a direction: they stay in the cache
# Other programs on this kind of machine, quiet; measured once, not in this run.
RECORDED = [
    "eRPC de83dab3 over memif, 32 B RPC: 4.71 M/s at window 8, 0.4 us median at window 1",
    "eRPC, 1 MB RPC at MTU 1024, no ICRC: 15.5 Gb/s",
    "testpmd there, one way over memif: 52.7 M/s of 64 B, 26.6 M/s of 1086 B",
]


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def commit():
    source = pathlib.Path(__file__).resolve().parents[2]
    out = subprocess.run(["git", "-C", source, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return out.stdout.strip() or "unknown commit"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def vdev(role, path, case):
    return f"--vdev=net_memif0,role={role},socket={path},socket-abstract=no,bsize={case['bsize']},rsize={RING}"


def run_round(rocetune, case, seconds, cores):
    """One row of results, and the two command lines."""
    with tempfile.TemporaryDirectory() as folder:
        place, path = f"127.0.0.1:{free_port()}", f"{folder}/memif.sock"

        def command(side, core, role, flags):
            eal = f"--no-huge --no-pci -m 128 -l {core} {vdev(role, path, case)}"
            return [rocetune, "bench", case["pattern"], side, place, "--cc", "off", *flags, "--json", "--dpdk", eal]

        flags = case["flags"].split() + ["--size", case["size"], "--for", f"{int(seconds * 1000)}ms"]
        commands = [command("--listen", cores[0], "server", []), command("--connect", cores[1], "client", flags)]
        processes = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for c in commands]
        try:
            out, errors = processes[1].communicate(timeout=seconds + 60)
            if processes[1].returncode != 0:
                raise RuntimeError(errors)
            processes[0].communicate(timeout=30)
            return json.loads(out)["rows"][0], commands
        finally:
            for process in processes:
                process.kill()
                process.wait()


def finish(process):
    try:
        return process.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def testpmd_rates(case, seconds, cores):
    """Frames per second one way, a figure each second; empty if testpmd is not there or does not start."""
    testpmd = shutil.which("dpdk-testpmd")
    if testpmd is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/memif.sock"
        prefix = f"testpmd-{os.getpid()}"
        room = 2176 if case["bsize"] <= 2048 else 8192

        def start(role, core, *mode):
            return subprocess.Popen(
                [testpmd, "--no-huge", "-m", "256", "--no-pci", f"--file-prefix={prefix}-{role}",
                 "--lcores", f"0@{core},1@{core}", vdev(role, path, case), "--", *mode, "--auto-start", "--no-mlockall",
                 "--total-num-mbufs=8192", f"--mbuf-size={room}", "--stats-period", "1"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        server = start("server", cores[0], "--forward-mode=rxonly")
        client = None
        try:
            deadline = time.monotonic() + 10
            while not os.path.exists(path) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.3)
            client = start("client", cores[1], "--forward-mode=txonly", f"--txpkts={case['frame']}")
            time.sleep(1.5 + seconds)
        finally:
            # Asked, not killed: what it has printed would be lost with it.
            for process in filter(None, (client, server)):
                process.terminate()
            texts = [finish(process) for process in filter(None, (server, client))]
        text = texts[0]
        for role in ("server", "client"):
            shutil.rmtree(f"/var/run/dpdk/{prefix}-{role}", ignore_errors=True)
        rates = []
        for frames, bits in re.findall(r"Rx-pps:\s+(\d+)\s+Rx-bps:\s+(\d+)", text):
            # Only seconds in which its frames really had the size asked for.
            if int(frames) > 0 and abs(int(bits) / 8 / int(frames) - case["frame"]) < 0.1 * case["frame"]:
                rates.append(int(frames))
        return rates


def memif_round_trip(echo, case, seconds, cores):
    """Quantiles of one frame there and back, memif alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/memif.sock"

        def command(role, core, *what):
            return [echo, "--no-huge", "--no-pci", "-m", "128", "--no-telemetry", "-l", str(core),
                    f"--file-prefix=echo-{os.getpid()}-{role}", vdev(role, path, case), "--", *what]

        server = subprocess.Popen(command("server", cores[0], "echo"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 10
            while not os.path.exists(path) and time.monotonic() < deadline:
                time.sleep(0.02)
            client = command("client", cores[1], "ping", str(case["frame"]), str(int(seconds * 1000)))
            out = subprocess.run(client, capture_output=True, text=True, timeout=seconds + 30)
        finally:
            server.kill()
            server.wait()
        if out.returncode != 0:
            raise RuntimeError(out.stderr)
        return json.loads(out.stdout.splitlines()[-1])


def peer_lines(cores, seconds):
    """One for each peer of PEERS: what it measured now, or that it is not built."""
    for name in ("erpc",):
        program = pathlib.Path(os.environ.get("PEERS", ""), name)
        if "PEERS" not in os.environ or not os.access(program, os.X_OK):
            yield f"{name}: not built (PEERS=DIR, with a program DIR/{name})"
            continue
        out = subprocess.run([program, *map(str, cores), str(seconds)], capture_output=True, text=True, timeout=seconds + 60)
        if out.returncode != 0:
            yield f"{name}: exit {out.returncode}: {out.stderr.strip()[-200:]}"
            continue
        figures = json.loads(out.stdout)
        yield f"{name}: {rate_text(figures['pairs_per_s'])} pairs/s, {figures['p50_ns'] / 1e3:.2f} us median at window 1"


def rate_text(value):
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g}"


def measure(arguments, case, cores):
    rows, floors = [], []
    for _ in range(arguments.rounds):
        if case.get("has_floor"):
            floors.append(memif_round_trip(arguments.echo, case, arguments.seconds, cores)["p50_ns"])
        row, commands = run_round(arguments.rocetune, case, arguments.seconds, cores)
        rows.append(row)
    medians = sorted(row["median_messages_per_s"] for row in rows)
    bits = 8 * rows[0]["size_bytes"]
    lost = sum(row[side]["paused_s"] for row in rows for side in ("client", "server")) / 2
    result = dict(name=case["name"], goal=case["goal"], median=statistics.median(medians), low=medians[0], high=medians[-1],
                  best=max(row["best_messages_per_s"] for row in rows), bits=bits,
                  lost=min(1, lost / sum(row["seconds"] for row in rows)),  # the server also counts what lies around a row
                  right=all(row["content_is_right"] for row in rows),
                  commands=[" ".join(c) for c in commands])
    if rows[0].get("latency"):
        result["p50_ns"] = min(row["latency"]["p50_ns"] for row in rows)
        result["p99_ns"] = min(row["latency"]["p99_ns"] for row in rows)
    if floors:
        result["memif_p50_ns"] = min(floors)
    peer = testpmd_rates(case, arguments.seconds * arguments.rounds, cores)
    result["has_testpmd"] = shutil.which("dpdk-testpmd") is not None
    result["testpmd"] = statistics.median(peer) if peer else None
    result["testpmd_best"] = max(peer) if peer else None
    result["share"] = result["median"] * case["frames"] / result["testpmd"] if peer else None
    result["share_of_best"] = result["best"] * case["frames"] / max(peer) if peer else None
    return result


def show(result):
    line = (f"{result['name']:<28} {rate_text(result['median']):>7}/s  ({rate_text(result['low'])} to "
            f"{rate_text(result['high'])}, best {rate_text(result['best'])})  {result['median'] * result['bits'] / 1e9:6.2f} Gb/s")
    if "p50_ns" in result:
        line += f"  p50 {result['p50_ns'] / 1e3:.2f} us, p99 {result['p99_ns'] / 1e3:.2f} us"
    print(line)
    if "memif_p50_ns" in result:
        share = result["memif_p50_ns"] / result["p50_ns"]
        print(f"{'':<28} memif alone, one frame there and back: {result['memif_p50_ns'] / 1e3:.2f} us, {share:.0%} of ours")
    if result["testpmd"]:
        print(f"{'':<28} testpmd, same frames one way: {rate_text(result['testpmd'])}/s, best {rate_text(result['testpmd_best'])}/s; "
              f"share {result['share']:.0%} of the median, {result['share_of_best']:.0%} of the best")
    elif result["has_testpmd"]:
        print(f"{'':<28} testpmd: no rate with frames of that size came out of it")
    else:
        print(f"{'':<28} testpmd: not installed (tools/install-packages peers)")
    print(f"{'':<28} goal {result['goal']}; cores lost {result['lost']:.0%} of the time; content "
          f"{'right' if result['right'] else 'WRONG'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocetune", required=True)
    parser.add_argument("--echo", required=True, help="memif-echo, from memif_echo.cc")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--cores", help="of server and client (default: the first two this process may use)")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.seconds <= 0:
        parser.error("--rounds and --seconds: at least one round of more than 0 s")
    allowed = sorted(os.sched_getaffinity(0))
    cores = [int(core) for core in arguments.cores.split(",")] if arguments.cores else allowed[:2]
    if len(cores) != 2:
        print("two cores are needed, one a side")
        return 77  # meson: skipped
    print(f"machine: {cpu_model()}, {len(allowed)} cores; {platform.release()}; commit {commit()}; load {os.getloadavg()[0]:.1f}")
    print(f"{arguments.rounds} rounds of {arguments.seconds:g} s, cores {cores[0]} and {cores[1]}, memif rings of 2^{RING}\n")
    results = []
    for case in CASES:
        results.append(measure(arguments, case, cores))
        show(results[-1])
    print("\nother peers, this run:")
    for line in peer_lines(cores, arguments.seconds):
        print(f"  {line}")
    print("\nrecorded elsewhere, not in this run:")
    for line in RECORDED:
        print(f"  {line}")
    print("\ncommands of the last case:")
    for command in results[-1]["commands"]:
        print(f"  {command}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2))
    return 0 if all(result["right"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
