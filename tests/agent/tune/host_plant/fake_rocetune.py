#!/usr/bin/python3 -ES
"""A host that HostControl may change: inspect, apply, confirm, rollback, recover, history, watch over a folder.

The folder is named by --root or --state-dir and holds

    host.json    what inspect says
    book.json    {"transactions": [...], "settings": {KNOB: value}}: what was done, and what is in force now
    in_force     the knobs of those settings, one a line, for workloads
    faults.json  {"apply": ["", "refuse", ...], ...}: what the n-th such command does wrong; "" or absent: nothing
    harm         a knob: while it is in force, watch shows a pause storm
    hides        a knob: while it is in force, watch shows no priorities
    seen.json    {"number": N, "elapsed_us": N, "ports": [...]}: what watch shows once for each new number, as a frame

Faults. apply: refuse, undone, stuck (its rollback fails), die (before anything), lost (done, no answer), late (answers
nobody, and is done a second later). rollback: stuck, lost, die. confirm: lost, die. watch: silent,
die, garbage, vanish. inspect: die.
"""
import fcntl
import json
import os
import pathlib
import sys
import time

words = sys.argv[1:]
command = words[0]
folder = None
for flag in ("--root", "--state-dir"):
    if flag in words:
        folder = pathlib.Path(words[words.index(flag) + 1])


def value_of(flag):
    return words[words.index(flag) + 1]


def fault():
    """What goes wrong with this one; each command counts for itself."""
    with open(folder / "counts.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        counts = read("counts.json", {})
        number = counts.get(command, 0)
        counts[command] = number + 1
        write("counts.json", counts)
    planned = read("faults.json", {}).get(command, [])
    return planned[number] if number < len(planned) else ""


def read(name, otherwise):
    file = folder / name
    return json.loads(file.read_text()) if file.exists() else otherwise


def write(name, value):
    (folder / (name + ".new")).write_text(json.dumps(value))
    os.replace(folder / (name + ".new"), folder / name)
    if name == "book.json":
        (folder / "in_force").write_text("".join(knob + "\n" for knob in value["settings"]))


def book():
    return read("book.json", {"transactions": [], "settings": {}})


def answer(outcome, number, reason=""):
    print(json.dumps({"schema_version": 1, "outcome": outcome, "transaction": number, "reason": reason, "details": []}))
    codes = {"refused": 2, "rolled_back": 3, "rollback_failed": 4}
    sys.exit(0 if command == "rollback" and outcome == "rolled_back" else codes.get(outcome, 0))


def take_lock():
    lock = open(folder / "lock", "w", encoding="utf-8")  # held until this process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("rocetune: another rocetune is at work here", file=sys.stderr)
        sys.exit(2)
    return lock


def find(all_of_them, number):
    return next((one for one in all_of_them if one["id"] == number), None)


def apply(wrong):
    plan = json.loads(pathlib.Path("/dev/stdin").read_text())
    if wrong == "die":
        sys.exit(255)
    now = book()
    if any(one["phase"] != "ended" for one in now["transactions"]):
        print("rocetune: a transaction waits", file=sys.stderr)
        sys.exit(2)
    number = len(now["transactions"]) + 1
    one = {"id": number, "phase": "ended", "plan": plan}
    now["transactions"].append(one)
    if wrong == "late":
        go_on_alone()
        time.sleep(1)
    if wrong in ("refuse", "undone"):
        one["outcome"] = "refused" if wrong == "refuse" else "rolled_back"
        write("book.json", now)
        answer(one["outcome"], number, "said no")
    for step in plan["steps"]:
        for change in step["changes"]:
            now["settings"][name_of(change)] = change["after"]
    if wrong == "stuck":
        one["outcome"] = "rollback_failed"
        write("book.json", now)
        answer("rollback_failed", number, "eth0 does not come back")
    one["phase"] = "waiting"
    write("book.json", now)
    if wrong in ("lost", "late"):
        os._exit(255)
    answer("waiting", number)


def go_on_alone():
    """Whoever asked gets no answer; the work goes on, with the lock."""
    is_away, tell = os.pipe()
    if os.fork():
        os.read(is_away, 1)
        os._exit(255)
    os.setsid()
    os.write(tell, b".")


def name_of(change):
    knob = change["knob"]
    return " ".join([knob["port"], knob["kind"], knob.get("parameter", "")]).strip()


def rollback(wrong):
    if wrong == "die":
        sys.exit(255)
    now = book()
    number = int(words[1])
    one = find(now["transactions"], number)
    is_open = one is not None and (one["phase"] != "ended" or one["outcome"] == "rollback_failed")
    was_confirmed = one is not None and one.get("outcome") == "committed"
    if not is_open and not was_confirmed:
        print("rocetune: it is not there, not committed or undone already", file=sys.stderr)
        sys.exit(2)
    one["phase"] = "ended"
    one["outcome"] = "rollback_failed" if wrong == "stuck" else "rolled_back"
    if wrong != "stuck":
        now["settings"] = {}
    write("book.json", now)
    if wrong == "lost":
        sys.exit(255)
    answer("committed" if was_confirmed else one["outcome"], number)


def confirm(wrong):
    if wrong == "die":
        sys.exit(255)
    now = book()
    one = find(now["transactions"], int(words[1]))
    one["phase"], one["outcome"] = "ended", "committed"
    write("book.json", now)
    if wrong == "lost":
        sys.exit(255)
    answer("committed", one["id"])


def watch(wrong):
    interval = float(value_of("--interval").removesuffix("ms")) / 1000
    ports = [words[i + 1] for i, word in enumerate(words) if word == "--port"]
    harm = (folder / "harm").read_text() if (folder / "harm").exists() else None
    hides = (folder / "hides").read_text() if (folder / "hides").exists() else None
    shown_number = read("seen.json", {"number": 0})["number"]
    for number in range(100000):
        time.sleep(interval)
        if number >= 2 and wrong == "die":
            sys.exit(1)
        if number >= 2 and wrong == "silent":
            continue
        if number >= 2 and wrong == "garbage":
            print('{"ports": [', flush=True)
            continue
        seen = read("seen.json", {"number": 0})
        if seen["number"] != shown_number:
            shown_number = seen["number"]
            print(json.dumps({"elapsed_us": seen["elapsed_us"], "ports": seen["ports"]}), flush=True)
            continue
        us = int(interval * 1e6)
        storm = us if harm is not None and harm in book()["settings"] else 0
        shown = [] if number >= 2 and wrong == "vanish" else [3]
        rows = [] if hides is not None and hides in book()["settings"] else shown
        print(json.dumps({"elapsed_us": us, "ports": [
            {"port": port, "increments": {"rdma_tx_bytes": 1000} if shown else {},
             "priorities": [{"priority": p, "increments": {"rx_pause_duration_us": storm}} for p in rows]}
            for port in ports]}), flush=True)


def main():
    wrong = fault()
    if command == "inspect":
        sys.exit(255) if wrong == "die" else print((folder / "host.json").read_text())
    elif command == "history":
        print(json.dumps({"schema_version": 1, "transactions": book()["transactions"]}))
    elif command == "watch":
        watch(wrong)
    else:
        lock = take_lock()  # noqa: F841
        if command == "recover":
            waiting = [one for one in book()["transactions"] if one["phase"] == "waiting"]
            answer("waiting" if waiting else "nothing_to_do", waiting[0]["id"] if waiting else 0)
        {"apply": apply, "rollback": rollback, "confirm": confirm}[command](wrong)


main()
