#!/usr/bin/env python3
"""Checks what the benchmarks printed: that every one of them ran and gave its median, its spread and, of the same run,
a peer's figure; and what one costs beside the other. Ratios only: how long something takes is the machine's matter.

usage: check_figures.py BENCHMARKLOG.json      (meson-logs of `meson test --benchmark`)

A peer that is not installed here is a line `skip ...`, neither passed nor failed. Ends with `N passed, N failed`.
"""
import dataclasses
import json
import re
import statistics
import sys

NUMBER = r"([0-9.]+(?:e[+-]?\d+)?)"


@dataclasses.dataclass(frozen=True)
class Ratio:
    """`above` / `below`: two figures of one run, found by their patterns, their medians if there are several."""
    what: str
    above: str
    below: str
    least: float = 0
    most: float = float("inf")


@dataclasses.dataclass(frozen=True)
class Bench:
    median: str
    spread: str
    peer: str
    missing_peer: str = r"$^"  # what it prints if the peer is not there
    ratios: tuple = ()


def aggregate(name, kind):
    """A row of Google Benchmark: its processor time, which other work on the machine moves less than the time."""
    return rf"^{name}_{kind}\s+\S+ ns\s+{NUMBER} ns"


# A row for each benchmark of tests/bench/meson.build.
BENCHES = {
    "sampling": Bench(
        median=rf"^  rocetune, sampling +{NUMBER} % of a core", spread=rf"rocetune, sampling .*\({NUMBER} to {NUMBER}\)",
        peer=rf"^  node exporter, \d+ files +{NUMBER} %", missing_peer=r"node exporter: not measured",
        ratios=(Ratio("sampling ÷ cat of the same files", rf"^  rocetune, sampling +{NUMBER} %",
                      rf"^  cat of the 480 hw_counters files +{NUMBER} %", most=1),
                Ratio("sampling in user space ÷ a core", rf"^sampling in user space: {NUMBER} %",
                      r"^sampling in user space: .*of (a) core", most=1))),
    "crc32": Bench(
        median=aggregate(r"crc32/(?!isa-l)\S+/4144", "median"), spread=aggregate(r"crc32/(?!isa-l)\S+/4144", "stddev"),
        peer=aggregate("crc32/isa-l/4144", "median"), missing_peer=r"crc32/isa-l: not measured",
        ratios=(Ratio("fastest CRC of 4144 B ÷ ISA-L's", aggregate(r"crc32/(?!isa-l)\S+/4144", "median"),
                      aggregate("crc32/isa-l/4144", "median"), most=2),)),
    "engine": Bench(
        median=aggregate("BM_Write1MiB/mtu:4096", "median"), spread=aggregate("BM_Write1MiB/mtu:4096", "stddev"),
        peer=aggregate("BM_CopyAndCrc1MiB/mtu:4096", "median"),
        ratios=(Ratio("WRITE of 1 MiB, both ends ÷ copy and CRC alone", aggregate("BM_Write1MiB/mtu:4096", "median"),
                      aggregate("BM_CopyAndCrc1MiB/mtu:4096", "median"), most=30),)),
    "evidence": Bench(
        median=aggregate("evidence/nccl-log", "median"), spread=aggregate("evidence/nccl-log", "stddev"),
        peer=aggregate("evidence/memcpy", "median"),
        ratios=(Ratio("reading a log of NCCL ÷ memcpy of it", aggregate("evidence/nccl-log", "median"),
                      aggregate("evidence/memcpy", "median"), most=200),)),
    "tap": Bench(
        median=rf"^capture file, rocetune +{NUMBER}", spread=rf"^capture file, rocetune +{NUMBER} +{NUMBER} +{NUMBER}",
        peer=rf"^capture file, tshark +{NUMBER}", missing_peer=r"^capture file, tshark +not measured",
        ratios=(Ratio("tap ÷ tshark, frames per second", rf"^capture file, rocetune +{NUMBER}",
                      rf"^capture file, tshark +{NUMBER}", least=5),)),
    "fabric": Bench(
        median=rf"^  perm128 +{NUMBER} \(", spread=rf"^  perm128 .*\({NUMBER} to {NUMBER}\)",
        peer=rf"^    csg-htsim, (?:recorded|this run): {NUMBER}"),
    "soft-transport": Bench(
        median=r"^32 B WRITE, one way +([0-9.]+) ?[GMk]?/s", spread=r"^32 B WRITE, one way .*\(\S+.* to .*, best .*\)",
        peer=r"^ +testpmd, same frames one way: ([0-9.]+)", missing_peer=r"testpmd: not (?:installed|measured)",
        ratios=(Ratio("a round trip at window 1 beside memif's own", most=12,
                      above=r"^32 B, window 1 .* p50 ([0-9.]+) us", below=r"^ +memif alone, .*: ([0-9.]+) us"),)),
}


def figures(pattern, output):
    """All numbers that the pattern's first group takes; 1 for a unit."""
    found = re.finditer(pattern, output, re.MULTILINE)
    return [float(m.group(1)) if m.group(1)[0].isdigit() else 1.0 for m in found]


def judge_ratio(ratio, output, fastest):
    """(holds, text); None if one of the figures is not there, which is said elsewhere."""
    above, below = figures(ratio.above, output), figures(ratio.below, output)
    if not above or not below:
        return None
    share = (min(above) if fastest else statistics.median(above)) / statistics.median(below)
    bound = f"at most {ratio.most:g}" if ratio.least == 0 else f"at least {ratio.least:g}"
    return ratio.least <= share <= ratio.most, f"{ratio.what}: {share:.3g}, {bound}"


def judged(name, result):
    """Lines `ok ...`, `skip ...` and `FAIL ...` about one benchmark; `result` is its entry in the log or nothing."""
    if result is None:
        return [f"FAIL {name}: did not run"]
    output = (result.get("stdout") or "").replace("\r", "")
    if result["result"] == "SKIP":
        return [f"skip {name}: {output.strip().splitlines()[-1] if output.strip() else 'it says not why'}"]
    if result["result"] != "OK":
        tail = "\n".join((output + (result.get("stderr") or "")).strip().splitlines()[-20:])
        return [f"FAIL {name}: {result['result']}, exit code {result['returncode']}\n{tail}"]
    bench, lines = BENCHES[name], []
    for what, pattern in (("median", bench.median), ("spread", bench.spread), ("peer's figure", bench.peer)):
        if re.search(pattern, output, re.MULTILINE):
            lines.append(f"ok {name}: {what}")
        elif what.startswith("peer") and re.search(bench.missing_peer, output, re.MULTILINE):
            lines.append(f"skip {name}: its peer is not installed: not measured")
        else:
            lines.append(f"FAIL {name}: no {what} in what it printed")
    for ratio in bench.ratios:
        verdict = judge_ratio(ratio, output, fastest=name == "crc32")
        if verdict:
            lines.append(f"{'ok' if verdict[0] else 'FAIL'} {name}: {verdict[1]}")
    return lines


def entries(path):
    """By name, without the project's and suite's."""
    with open(path, encoding="utf-8") as log:
        return {re.split(r"[ /:]+", r["name"])[-1]: r for r in map(json.loads, log)}


def main():
    results = entries(sys.argv[1])
    lines = [line for name in BENCHES for line in judged(name, results.get(name))]
    lines += [f"FAIL {name}: no row in {sys.argv[0]}" for name in results if name not in BENCHES]
    print("\n".join(lines))
    passed = sum(line.startswith("ok ") for line in lines)
    failed = sum(line.startswith("FAIL ") for line in lines)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
