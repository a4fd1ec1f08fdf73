#!/usr/bin/env python3
"""`rocetune tune --twin` on two hosts that fake_rocetune.py plays and whose network is a fabric nobody was told
(hidden_fabric.py): the twin spares trials, a wrong one is found out, and hosts stay as they were.

usage: tune_twin.py --rocetune BUILD/rocetune
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
TUNE = SOURCE / "tests/agent/tune"

FABRIC = """name = "star"
limit = "2ms"
[topology]
shape = "star"
hosts = 4
rate = "{rate}"
delay = "500ns"
[hosts]
mtu = 4096
ack_timeout = 10
[switches]
buffer = "4MiB"
lossless = [3]
headroom = "80kB"
alpha_exponent = 0
kmin = "{kmin}"
kmax = "{kmax}"
pmax = "20%"
{traffic}"""
INCAST = '[[flows]]\npattern = "incast"\nto = 0\nsenders = 3\nbytes = "1500kB"\n'
PAIR = '[[flows]]\npattern = "pair"\nfrom = 1\nto = 0\nbytes = "20kB"\n'
BUDGET = 48


class Hosts:
    """Two hosts in folders, slow to recover since somebody set their reaction points by hand."""

    def __init__(self, rocetune, folder):
        self.rocetune, self.folder = rocetune, pathlib.Path(folder)
        facts = subprocess.run([rocetune, "inspect", "--root", SOURCE / "tests/fixtures/hosts/mlx5", "--json"],
                               check=True, capture_output=True).stdout
        for name in ("h1", "h2"):
            (self.folder / name).mkdir()
            host = json.loads(facts)
            host["name"] = name
            for port in host["ports"]:
                if "rp_time_reset" in port.get("cc_params", {}):
                    port["cc_params"].update(rp_time_reset=1500, rp_byte_reset=8000000)
            (self.folder / name / "host.json").write_text(json.dumps(host))
        ssh = self.folder / "ssh"
        ssh.write_text('#!/bin/sh\ncd "$1" && shift && exec /bin/sh -c "$*"\n')
        ssh.chmod(0o755)
        self.write("hidden.toml", kmin="60kB", kmax="240kB")

    def write(self, name, rate="100Gbps", kmin="100kB", kmax="400kB", traffic=INCAST):
        (self.folder / name).write_text(FABRIC.format(rate=rate, kmin=kmin, kmax=kmax, traffic=traffic))

    def tune(self, *more):
        """Exit code, JSON (or what was printed), standard error, and how often the workload ran."""
        (self.folder / "runs").write_text("")
        load = shlex.join(["echo", "x"]) + " >> runs; " + shlex.join(
            [str(TUNE / "twin/hidden_fabric.py"), str(self.rocetune), "hidden.toml", "h1", "h2"])
        command = [self.rocetune, "tune", "--host", "h1", "--host", "h2", "--ssh", "./ssh", "--remote-rocetune",
                   TUNE / "host_plant/fake_rocetune.py", "--root", ".", "--state-dir", ".", "--metric",
                   "goodput=re:Gb/s:goodput ([0-9.]+)", "--workload", load, "--interval", "100ms", "--yes", "--allow",
                   "other-owner", "--budget", str(BUDGET), "--json", *more]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=280)
        runs = len((self.folder / "runs").read_text().split())
        out = json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout
        return done.returncode, out, done.stderr, runs

    def are_as_before(self):
        books = [self.folder / name / "book.json" for name in ("h1", "h2")]
        return all(not book.exists() or not json.loads(book.read_text())["settings"] for book in books)


def expect(what, holds, shown=""):
    print(f"{'ok  ' if holds else 'FAIL'}  {what}{'' if holds else ': ' + str(shown)[:2000]}", flush=True)
    return holds


def twin_spares_trials(hosts):
    hosts.write("guess.toml")
    _, without, _, _ = hosts.tune()
    code, found, err, runs = hosts.tune("--twin", "guess.toml", "--twin-budget", "60", "--log", "trials.jsonl", "--html",
                                        "page.html")
    twin = found["twin"]
    fit = {one["name"]: one for one in twin["fit"]["parameters"]}
    log = (hosts.folder / "trials.jsonl").read_text().splitlines()
    good = [
        expect("both find the change", (code, found["verdict"], without["verdict"]) == (0, "change", "change"), err),
        expect("the twin is believed and followed", twin["foresight"]["was_followed"], twin),
        expect(f"clearly fewer trials: {found['trials']}, without a twin {without['trials']}",
               found["trials"] * 3 <= without["trials"] * 2),
        expect("for the same gain",
               found["gain_percent"]["mid"] > 0.8 * without["gain_percent"]["mid"], found["gain_percent"]),
        expect("every trial on the hosts is in the log", runs == found["trials"] == len(log) - 1, (runs, len(log))),
        expect("what is spared is said", twin["host_trials_spared"] == BUDGET - found["trials"], twin),
        expect("the fit comes nearer to what the hosts show", twin["fit"]["misfit"] < twin["fit"]["misfit_before"], twin),
        expect("what is hidden is among what explains it",
               fit["switches.kmin"]["low"] <= 60000 <= fit["switches.kmin"]["high"] and
               fit["switches.kmax"]["low"] <= 240000 <= fit["switches.kmax"]["high"], fit),
        expect("cables are not told without a latency",
               any(one["what"] == "topology.delay" for one in twin["fit"]["not_fitted"]), twin["fit"]),
        expect("foretold and measured stand side by side",
               all("measured_percent" in one for one in twin["predictions"] if one["ran"]), twin["predictions"]),
        expect("the page has a section of it", "<h2>The twin</h2>" in (hosts.folder / "page.html").read_text()),
        expect("hosts are as they were", hosts.are_as_before()),
    ]
    # As if it had been killed after seven trials.
    (hosts.folder / "cut.jsonl").write_text("\n".join(log[:8]) + "\n")
    _, resumed, err, again = hosts.tune("--twin", "guess.toml", "--twin-budget", "60", "--resume", "cut.jsonl")
    good.append(expect("resumed it says the same", isinstance(resumed, dict) and
                       resumed["best_settings"] == found["best_settings"] and again == runs - 7, (err, again, runs)))
    hosts.write("guess.toml", kmin="90kB")
    code, _, err, _ = hosts.tune("--twin", "guess.toml", "--twin-budget", "60", "--resume", "cut.jsonl")
    good.append(expect("but not with another twin", code == 2 and "another twin" in err, err))
    return all(good)


def wrong_twin_is_found_out(hosts):
    hosts.write("wrong.toml", rate="10Gbps", traffic=PAIR)
    code, found, err, runs = hosts.tune("--twin", "wrong.toml", "--twin-budget", "20")
    twin = found["twin"]
    return all([
        expect("a wrong twin: the answer is right", (code, found["verdict"]) == (0, "change"), err),
        expect("a wrong twin is not followed", not twin["foresight"]["was_followed"], twin["foresight"]),
        expect("and nothing is said to be spared", "host_trials_spared" not in twin, twin),
        expect("its links are said to be others",
               any("10Gbps" in one["why"] for one in twin["not_taken_over"]), twin["not_taken_over"]),
        expect("the hosts were searched", runs == found["trials"] > 20, runs),
        expect("hosts are as they were after it", hosts.are_as_before()),
    ])


def bad_file_changes_nothing(hosts):
    hosts.write("bad.toml", kmin="100 bananas")
    code, out, err, runs = hosts.tune("--twin", "bad.toml")
    _, known, _, _ = hosts.tune("--twin", "nearby-fabric")
    return all([
        expect("a bad file is refused with its place", code == 2 and "bad.toml:16:8: switches.kmin" in err, err),
        expect("before anything ran", runs == 0 and out == "", out),
        expect("a fabric that is not there is refused", known == ""),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rocetune", required=True)
    rocetune = pathlib.Path(parser.parse_args().rocetune).resolve()
    good = True
    for check in (bad_file_changes_nothing, twin_spares_trials, wrong_twin_is_found_out):
        with tempfile.TemporaryDirectory() as folder:
            good &= check(Hosts(rocetune, folder))
    sys.exit(0 if good else 1)


main()
