#!/usr/bin/env python3
"""What `rocetune tune` promises and no unit test can hold, as it has to run on whole fabrics.

usage: tune_claims.py --rocetune PATH clamp [--every-knob]   two knobs that cure only together, and two that cure alone
       tune_claims.py --rocetune PATH right [--seeds N]      "no change" on a fabric that is right, seeds 1 to N (100)
       tune_claims.py --rocetune PATH event-np               one that cures alone, where CNPs are sent at once

Prints one line for each claim, and `N passed, N failed`; exits 1 if one does not hold.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "configs" / "scenarios" / "reference"
CLAMP, HYPER = "hosts.rp_clamp_tgt_rate", "hosts.rp_hai_rate"
# Long enough for the queue to fill or not to: one run of it is what three of a few milliseconds are elsewhere.
SHORT = ["--set", 'limit="120ms"', "--set", 'warm_up="50ms"', "--set", "tune.runs=1"]


def tune(rocetune, *arguments):
    done = subprocess.run([rocetune, "tune", "--json", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"tune {' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Claims:
    def __init__(self):
        self.passed, self.failed = 0, 0

    def hold(self, claim, holds, seen):
        print(f"{'ok' if holds else 'FAILED'}: {claim}: {seen}", flush=True)
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 0 if self.passed and not self.failed else 1


def settings(answer):
    return {step["knob"]: step["after"] for step in answer["plan"]}


def effects(answer):
    """By knob: what the attribution says."""
    return {change["knob"]: one["effect"] for one in answer["attribution"] for change in one["changes"]}


def clamp(options, claims):
    two = ["--only", CLAMP, "--only", HYPER, "--budget", 30]
    for seed in (1, 2):
        answer = tune(options.rocetune, "--fabric", REFERENCE / "clamp-160.toml", *SHORT, *two, "--seed", seed)
        found, effect = settings(answer), effects(answer)
        claims.hold(
            f"160 flows, seed {seed}: clamp and a small hyper-increase together",
            found.get(CLAMP) == "on" and float(found.get(HYPER, "inf").split()[0]) < 100, found)
        claims.hold(f"160 flows, seed {seed}: each only together with the other",
                    effect.get(CLAMP) == effect.get(HYPER) == "together", effect)
    answer = tune(options.rocetune, "--fabric", REFERENCE / "clamp-64.toml", *SHORT, *two)
    found, effect = settings(answer), effects(answer)
    claims.hold("64 flows: either is enough", answer["verdict"] == "change" and "cure" in effect.values(),
                f"{found} {effect}")
    if options.every_knob:
        answer = tune(options.rocetune, "--fabric", REFERENCE / "clamp-160.toml", *SHORT, "--without", "hosts.mtu",
                      "--without", "hosts.cnp_priority", "--without", "switches.*", "--without", "classes.*",
                      "--without", "workload.*")
        alone = {knob: effect for knob, effect in effects(answer).items() if knob in (CLAMP, HYPER)}
        claims.hold("160 flows, all of DCQCN's knobs: change, and neither of the two a cure",
                    answer["verdict"] == "change" and "cure" not in alone.values(),
                    f"{settings(answer)} {effects(answer)} {answer['gain_percent']}")


def right(options, claims):
    changes = []
    for seed in range(1, options.seeds + 1):
        answer = tune(options.rocetune, "--fabric", ROOT / "configs" / "fabrics" / "right.toml", "--seed", seed)
        if answer["verdict"] != "no_change":
            changes.append((seed, answer["verdict"], answer["reason"]))
    claims.hold(f"no change in at least 95 of 100 seeds ({options.seeds} were run)", 20 * len(changes) <= options.seeds,
                changes or "no change in all")


def event_np(options, claims):
    answer = tune(options.rocetune, "--fabric", REFERENCE / "event-np-160.toml", "--set", "tune.runs=1", "--budget", 30)
    found, effect = settings(answer), effects(answer)
    claims.hold("160 flows, CNPs at once, no byte counter: a small hyper-increase alone is a cure",
                effect.get(HYPER) == "cure" and float(found[HYPER].split()[0]) < 100, f"{found} {effect}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocetune", required=True)
    parser.add_argument("claim", choices=["clamp", "right", "event-np"])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--every-knob", action="store_true")
    options = parser.parse_args()
    claims = Claims()
    {"clamp": clamp, "right": right, "event-np": event_np}[options.claim](options, claims)
    return claims.end()


if __name__ == "__main__":
    sys.exit(main())
