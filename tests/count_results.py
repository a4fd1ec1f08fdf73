#!/usr/bin/env python3
"""Counts single tests in what `meson test` logged, and believes no program that its exit code contradicts.

usage: count_results.py TESTLOG.json      prints what failed, then `N passed, N failed`; exit 1 if any failed
"""
import json
import re
import sys


def counts(output):
    """(passed, failed) as the program itself reported: GoogleTest, unittest or our own closing line; else None."""
    passed = re.findall(r"^\[  PASSED  \] (\d+) tests?\.", output, re.MULTILINE)
    failed = re.findall(r"^\[  FAILED  \] (\d+) tests?, listed below", output, re.MULTILINE)
    if passed:
        return int(passed[-1]), int(failed[-1]) if failed else 0
    ours = re.findall(r"^(\d+) passed, (\d+) failed(?:, \d+ not run)?$", output, re.MULTILINE)
    if ours:
        return int(ours[-1][0]), int(ours[-1][1])
    ran = re.findall(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    if ran:
        bad = sum(int(n) for n in re.findall(r"(?:failures|errors|unexpected successes)=(\d+)", output))
        return int(ran[-1]) - bad, bad
    return None


def judged(result):
    """(passed, failed, why) for one entry of the log."""
    output = (result.get("stdout") or "") + "\n" + (result.get("stderr") or "")
    reported = counts(output)
    if result["result"] == "SKIP":
        return 0, 0, "skipped"
    if result["result"] != "OK":
        passed, failed = reported or (0, 0)
        return passed, max(failed, 1), f"{result['result']}, exit code {result['returncode']}"
    if reported is None:
        return 1, 0, ""
    passed, failed = reported
    if passed + failed == 0:
        return 0, 1, "ran no test"
    return passed, failed, "" if failed == 0 else "reports failures and exits 0"


def main():
    total_passed = total_failed = 0
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            result = json.loads(line)
            passed, failed, why = judged(result)
            total_passed += passed
            total_failed += failed
            if why:
                print(f"{result['name']}: {why}")
            if failed:
                print((result.get("stdout") or "")[-6000:])
                print((result.get("stderr") or "")[-6000:])
    if total_passed + total_failed == 0:
        print("no test ran")
        total_failed = 1
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    sys.exit(main())
