#!/usr/bin/env python3
"""The cost of sampling, beside a peer on the same files in the same run.

usage: sampling.py SAMPLING_BENCH [--seconds N] [--rounds N] [--limit PERCENT]

Runs sampling_bench (8 NICs x 600 ethtool statistics + 60 hw_counters files at 10 Hz) and, at the same pace on the
same tree, two peers: cat(1) of the same 480 files, and the Prometheus node exporter if it is installed. No peer can
read ethtool from memory, so their figures are for files alone; Debian 12's node exporter reads the files in
counters/ and not those in hw_counters/, so the number of files it really opened is counted and printed. Exits 1 if
the user-space part of sampling costs more than the limit: its median less that of the same system calls alone.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

INTERVAL_S = 0.1


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def process_cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def paced(action, seconds):
    """Calls action every tenth of a second; returns the time it really took."""
    begin = time.monotonic()
    for tick in range(int(seconds / INTERVAL_S)):
        action()
        time.sleep(max(0.0, begin + (tick + 1) * INTERVAL_S - time.monotonic()))
    return time.monotonic() - begin


def node_exporter(binary, sysfs, seconds, rounds):
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [binary, f"--path.sysfs={sysfs}", f"--web.listen-address={address}", "--collector.disable-defaults",
         "--collector.infiniband", "--web.disable-exporter-metrics"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://{address}/metrics"
    try:
        for _ in range(100):
            try:
                text = urllib.request.urlopen(url).read().decode()
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise RuntimeError("node exporter did not answer")
        files = sum(1 for line in text.splitlines() if line.startswith("node_infiniband") and "_info{" not in line)
        shares = []
        for _ in range(rounds):
            cpu = process_cpu_s(process.pid)
            elapsed = paced(lambda: urllib.request.urlopen(url).read(), seconds)
            shares.append(100 * (process_cpu_s(process.pid) - cpu) / elapsed)
        return shares, files
    finally:
        process.terminate()
        process.wait()


def cat(sysfs, seconds, rounds):
    folders = sorted(pathlib.Path(sysfs).glob("class/infiniband/*/ports/1/hw_counters"))
    shares = []
    for _ in range(rounds):
        before = os.times()
        elapsed = paced(lambda: subprocess.run(["cat", *[str(f) for d in folders for f in d.iterdir()]],
                                               stdout=subprocess.DEVNULL, check=True), seconds)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        shares.append(100 * spent / elapsed)
    return shares


def line(name, median, least, most):
    print(f"  {name:<44} {median:6.3f} % of a core   ({least:.3f} to {most:.3f})")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bench")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.0)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        result = json.loads(subprocess.run(
            [options.bench, folder, str(options.seconds), str(options.rounds)],
            check=True, stdout=subprocess.PIPE, text=True).stdout)
        peers = [("cat of the 480 hw_counters files", cat(folder, options.seconds, options.rounds))]
        exporter = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
        if exporter:
            shares, files = node_exporter(exporter, folder, options.seconds, options.rounds)
            peers.append((f"node exporter, {files} files", shares))

    print(f"{cpu_model()}, {os.cpu_count()} CPUs, Linux {platform.release()}")
    print(f"{result['nics']} NICs x {result['ethtool_statistics_per_nic']} ethtool statistics (in memory) + "
          f"{result['hw_counters_per_nic']} hw_counters files, 10 Hz, "
          f"{result['rounds']} rounds of {result['ticks_per_round']} readings; median (least to most), "
          "user and system time together:")
    for key, name in (("sampling", "rocetune, sampling"),
                      ("sampling_and_history", "rocetune, sampling, history, last second"),
                      ("system_calls_alone", "  of which the 480 system calls")):
        r = result[key]
        line(name, r["median_percent_of_core"], r["least_percent_of_core"], r["most_percent_of_core"])
    for name, shares in peers:
        line(name, statistics.median(shares), min(shares), max(shares))
    if not exporter:
        print("  node exporter: not measured, it is not installed (tools/install-packages peers)")
    user = result["sampling"]["median_percent_of_core"] - result["system_calls_alone"]["median_percent_of_core"]
    print(f"sampling in user space: {user:.3f} % of a core, limit {options.limit} %")
    if user > options.limit:
        sys.exit("over the limit")


if __name__ == "__main__":
    main()
