#!/usr/bin/env python3
"""How good `rocetune tune` is on the shipped fabrics: its answer after 60 trials beside the best that a random search
of 2000 found, beside random search and NLopt on the same budget. Everything is judged by the same runs, under
circumstances that none of the searches has seen.

usage: tune.py --rocetune PATH --rivals PATH [--seeds N] [--budget N] [--fabric NAME]...
       tune.py --rivals PATH --record [--fabric NAME]...     makes tune_random.jsonl anew, or these lines of it

A column is the gain over the fabric as it is, in percent; "share" what of the best is reached: 100 times the ratio of
the two scores' exponentials. Exits 1 if ours is below 95 % of the best of 2000 on some fabric and seed.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FABRICS = HERE.parents[1] / "configs" / "fabrics"
RECORDED = HERE / "tune_random.jsonl"
RECORDED_TRIALS = 2000
LEAST_SHARE = 95


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(command[:4])}: exit {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


class Judge:
    """Scores candidates of one fabric, each once."""

    def __init__(self, rivals, fabric):
        self.rivals, self.file, self.known = rivals, str(FABRICS / f"{fabric}.toml"), {}

    def search(self, what, trials, seed):
        return run([self.rivals, what, self.file, str(trials), str(seed)])

    def score(self, settings):
        text = "\t".join(settings)
        if text not in self.known:
            self.known[text] = run([self.rivals, "none", self.file, "0", "1", text])["score"]
        return self.known[text]


def percent(score):
    return "fails" if score is None else f"{100 * (math.exp(score) - 1):+.1f}"


def spread(scores):
    """Least, middle and most of several."""
    known = sorted(s for s in scores if s is not None)
    if len(known) < len(scores):
        return "fails"
    return f"{percent(known[0])} / {percent(known[len(known) // 2])} / {percent(known[-1])}"


def recorded():
    return {line["fabric"]: line for line in map(json.loads, RECORDED.read_text().splitlines())}


def record(rivals, names):
    lines = recorded()
    for name in names:
        lines[name] = Judge(rivals, name).search("random", RECORDED_TRIALS, 1)
        print(f"{name}: {percent(lines[name]['score'])} %", flush=True)
        RECORDED.write_text("".join(json.dumps(lines[n]) + "\n" for n in sorted(lines)))


def compare(options, names):
    best_of = recorded()
    seeds = range(1, options.seeds + 1)
    print(f"gain in percent: least / middle / most of {options.seeds} seeds, {options.budget} trials each")
    print(f"{'fabric':18} {'random 2000':>12} {'ours':>26} {'share':>7} {'random':>26} {'NLopt':>9}  verdicts")
    is_good = True
    for name in names:
        judge = Judge(options.rivals, name)
        best = judge.score(best_of[name]["found"]) if name in best_of else None
        ours, verdicts = [], []
        for seed in seeds:
            answer = run([options.rocetune, "tune", "--fabric", judge.file, "--budget", str(options.budget), "--seed",
                          str(seed), "--json"])
            verdicts.append(answer["verdict"])
            ours.append(judge.score(answer["best_settings"]))
        others = [judge.search("random", options.budget, seed)["score"] for seed in seeds]
        nlopt = judge.search("nlopt", options.budget, 1)["score"]
        share = None
        if best is not None and None not in ours:
            share = 100 * math.exp(min(ours) - best)
            is_good = is_good and share >= LEAST_SHARE
        else:
            is_good = is_good and None not in ours
        of_best = percent(best) if name in best_of else "not recorded"
        print(f"{name:18} {of_best:>12} {spread(ours):>26} {'-' if share is None else f'{share:.1f}':>7} "
              f"{spread(others):>26} {percent(nlopt):>9}  {' '.join(sorted(set(verdicts)))}", flush=True)
    return 0 if is_good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocetune")
    parser.add_argument("--rivals", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=60)
    parser.add_argument("--fabric", action="append", help="only this one; may be repeated")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    names = options.fabric or sorted(f.stem for f in FABRICS.glob("*.toml"))
    if options.record:
        return record(options.rivals, names)
    if not options.rocetune:
        parser.error("--rocetune is needed")
    return compare(options, names)


if __name__ == "__main__":
    sys.exit(main())
