#!/usr/bin/env python3
"""What a run on the virtual fabric costs: packet-hops per second of processor time (user and system, set-up included) and
memory, beside other simulators on the same workloads: those that PEERS holds builds of (fabric_peers.py) run in turn with
rocetune; of the others what was recorded is shown.

usage: [PEERS=DIR] fabric.py --rocetune PATH [--rounds N] [--curves] [--large]

Rounds go case by case in turn, so that what else the machine does meets all of them. --curves also shows the cost as hosts,
flows and bytes grow; --large runs halving-16384, on one thread and on two: a minute or more and 2 GB. Exits 1 if the
event log of a run is not the same each time, on one thread and on two.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import fabric_peers

MILLION = 1e6
# Million packet-hops per second, least and most, and MB: recorded on 2 cores of an AMD EPYC, one core used, idle. Not
# measured in this run.
RECORDED = {
    "perm128": (("csg-htsim", 1.9, 2.4, None), ("HPCC's ns-3", 0.50, 0.50, None)),
    "perm320": (("HPCC's ns-3", 0.48, 0.48, 436),),
    "perm1024": (("csg-htsim", 0.60, 0.92, 141),),
}
CURVES = {
    "hosts (1 MB each, k = 4, 8, 12, 16)": [
        (f"{k**3 // 4} hosts", "perm128", ["topology.k=%d" % k, "flows.0.shift=%d" % (k**3 // 4 // 4 + 5)])
        for k in (4, 8, 12, 16)],
    "flows of each of 128 hosts (100 kB each)": [
        (f"{n} flows each", "perm128",
         ["flows=[%s]" % ",".join('{pattern="permutation",shift=%d,bytes="100kB",message="1000B",window=100}' % (37 + i)
                                  for i in range(n))]) for n in (1, 2, 4, 8)],
    "bytes of each of 128 flows": [
        (size, "perm128", [f"flows.0.bytes={size}"]) for size in ("100kB", "1MB", "10MB")],
}


class Bench:
    def __init__(self, binary, configs):
        self.binary, self.configs, self.logs, self.broken = binary, configs, {}, False

    def run(self, scenario, settings=(), threads=1):
        """A run's figures, and the time that passed."""
        path = scenario if scenario.endswith(".toml") else str(self.configs / f"{scenario}.toml")
        command = [self.binary, "sim", path, "--json", "--threads", str(threads)]
        for setting in settings:
            command += ["--set", setting]
        begin = time.monotonic()
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        figures = json.loads(out)["run"] | {"wall_seconds": time.monotonic() - begin}
        log = self.logs.setdefault((scenario, tuple(settings)), figures["event_log_sha256"])
        if log != figures["event_log_sha256"]:
            print(f"{scenario} on {threads} threads: another event log than before")
            self.broken = True
        return figures


def hops(run):
    return run["packet_hops"] / run["cpu_seconds"] / MILLION


def megabytes(run):
    return run["peak_rss_bytes"] / MILLION


def print_cases(bench, rounds):
    print("million packet-hops per second of processor time on one thread: median (least to most), memory")
    directory = os.environ.get("PEERS")
    peers = fabric_peers.peers_in(directory) if directory else {}
    runs = {name: [] for name in RECORDED}
    theirs = {name: {peer: [] for peer, built in peers.items() if built} for name in RECORDED}
    for _ in range(rounds):
        for name, done in runs.items():
            done.append(bench.run(name))
            for peer, figures in theirs[name].items():
                figures.append(peers[peer].run(name))
    for name, done in runs.items():
        rates = [hops(r) for r in done]
        print(f"  {name:<9} {statistics.median(rates):6.2f} ({min(rates):.2f} to {max(rates):.2f}), "
              f"{max(map(megabytes, done)):.0f} MB")
        for peer, figures in theirs[name].items():
            if figures[0] is None:
                continue
            their_rates = [hops(r) for r in figures]
            print(f"    {peer}, this run: {statistics.median(their_rates):.2f} ({min(their_rates):.2f} to "
                  f"{max(their_rates):.2f}), {max(map(megabytes, figures)):.0f} MB; rocetune is "
                  f"{statistics.median(rates) / statistics.median(their_rates):.1f} times as fast")
        for peer, least, most, memory in RECORDED[name]:
            if peer in theirs[name]:
                continue
            if directory:
                print(f"    {peer}: not built in {directory}")
            span = f"{least:.2f}" if least == most else f"{least:.2f} to {most:.2f}"
            print(f"    {peer}, recorded: {span}" + (f", {memory} MB" if memory else ""))


def print_threads(bench, scenario, rounds):
    pairs = [(bench.run(scenario), bench.run(scenario, threads=2)) for _ in range(rounds)]
    gains = [one["wall_seconds"] / two["wall_seconds"] for one, two in pairs]
    one, two = pairs[-1]
    print(f"{pathlib.Path(scenario).stem}, two threads: {statistics.median(gains):.2f} times as fast as one "
          f"({min(gains):.2f} to {max(gains):.2f}), {one['wall_seconds']:.1f} s and {two['wall_seconds']:.1f} s, "
          f"{hops(one):.2f} and {hops(two):.2f} million packet-hops/s of processor time, {megabytes(two):.0f} MB")


def print_curves(bench, rounds):
    for title, points in CURVES.items():
        print(f"as there are more {title}:")
        for label, scenario, settings in points:
            runs = [bench.run(scenario, settings) for _ in range(rounds)]
            print(f"  {label:<14} {statistics.median(r['cpu_seconds'] for r in runs):8.3f} s, "
                  f"{statistics.median(map(hops, runs)):5.2f} million packet-hops/s, {megabytes(runs[0]):6.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rocetune", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent
    bench = Bench(arguments.rocetune, here.parent.parent / "configs/scenarios/reference")
    print_cases(bench, arguments.rounds)
    print_threads(bench, "perm1024", min(arguments.rounds, 3))
    if arguments.curves:
        print_curves(bench, min(arguments.rounds, 3))
    if arguments.large:
        print_threads(bench, "halving-16384", 1)
    return 1 if bench.broken else 0


if __name__ == "__main__":
    sys.exit(main())
