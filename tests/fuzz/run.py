#!/usr/bin/env python3
"""Runs every libFuzzer target of a build for its share of the time.

usage: run.py --build BUILD_DIR [--seconds TOTAL] [--jobs N] [TARGET...]

TOTAL is fuzzing time over all targets (default 300); N run at once (default: the number of cores). New inputs are
kept in BUILD_DIR/corpus/TARGET for the next run; an input that fails goes to BUILD_DIR/failures/TARGET-..., with the
command that repeats it. Ends with `N passed, N failed`.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SOURCE_CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
OPTIONS = ["-timeout=10", "-rss_limit_mb=2048", "-max_len=16384", "-print_final_stats=1", "-verbosity=1"]


def fuzz(program, build, seconds):
    """(name, holds, report)"""
    name = program.name.removeprefix("fuzz-")
    kept, failures = build / "corpus" / name, build / "failures"
    kept.mkdir(parents=True, exist_ok=True)
    failures.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", f"-artifact_prefix={failures}/{name}-", *OPTIONS, kept,
               SOURCE_CORPUS / name]
    environment = os.environ | {"UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=environment, timeout=seconds + 120)
    except subprocess.TimeoutExpired:
        return name, False, f"did not end {seconds + 120} s after its start"
    output = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0:
        found = re.findall(r"Test unit written to (\S+)", output)
        repeat = f"\nrepeat with: {program} {found[-1]}" if found else ""
        return name, False, output[-8000:] + repeat
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
    covered = re.findall(r"cov: (\d+)", output)
    if executed is None or int(executed.group(1)) == 0:
        return name, False, "executed no input\n" + output[-2000:]
    return name, True, f"{int(executed.group(1)):,} inputs, {covered[-1] if covered else '?'} edges, {seconds} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("target", nargs="*")
    arguments = parser.parse_args()
    programs = sorted(p for p in (arguments.build / "tests/fuzz").glob("fuzz-*") if p.is_file())
    if arguments.target:
        programs = [p for p in programs if p.name.removeprefix("fuzz-") in arguments.target]
    share = max(arguments.seconds // max(len(programs), 1), 1)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for job in concurrent.futures.as_completed([pool.submit(fuzz, p, arguments.build, share) for p in programs]):
            name, holds, report = job.result()
            passed, failed = (passed + 1, failed) if holds else (passed, failed + 1)
            print(f"{'ok    ' if holds else 'FAILED'} {name}: {report}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
