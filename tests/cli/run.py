#!/usr/bin/env python3
"""Runs rocetune's commands and compares what they print with golden files.

usage: run.py --rocetune BINARY [--update] [CASE...]

A case is a file tests/cli/golden/NAME.case:

    $ rocetune plan --profile nonsense.toml      one or more commands, run by `sh -c` in a fresh empty folder
    exit 2                                        the exit code of the command above (0 if not said)
    stdout:                                       what it prints, to the byte; an output not shown must be empty
    stderr:
    rocetune: ...

Lines of output are indented by two spaces. In output `[..]` stands for anything within a line, and a line that is
only `[...]` for any lines. Commands see $SOURCE, the repository. Text before the first `$ ` is a comment that says
what the case is about. --update writes what the commands print now into the files (lines that a pattern already
covers are kept); read the difference before you commit it.
"""
import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
INDENT = "  "


@dataclasses.dataclass
class Step:
    command: str
    exit: int = 0
    stdout: list = dataclasses.field(default_factory=list)
    stderr: list = dataclasses.field(default_factory=list)


def parse(text):
    comment, steps, into = [], [], None
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:]))
            into = None
        elif not steps:
            comment.append(line)
        elif line.startswith("exit "):
            steps[-1].exit = int(line.split()[1])
        elif line in ("stdout:", "stderr:"):
            into = getattr(steps[-1], line[:-1])
        elif line == "" and into is None:
            pass
        elif into is not None and (line.startswith(INDENT) or line == ""):
            into.append(line.removeprefix(INDENT))
        else:
            raise ValueError(f"cannot read this line: {line}")
    if not steps:
        raise ValueError("no command")
    for step in steps:  # the blank line that separates commands belongs to no output
        for lines in (step.stdout, step.stderr):
            while lines and lines[-1] == "":
                lines.pop()
    return comment, steps


def unparse(comment, steps):
    blocks = []
    for step in steps:
        block = [f"$ {step.command}"]
        if step.exit:
            block.append(f"exit {step.exit}")
        for name in ("stdout", "stderr"):
            lines = getattr(step, name)
            if lines:
                block += [f"{name}:"] + [(INDENT + line).rstrip() for line in lines]
        blocks.append("\n".join(block))
    head = "\n".join(comment).strip()
    return (head + "\n\n" if head else "") + "\n\n".join(blocks) + "\n"


def line_matches(pattern, line):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("[..]"))), line) is not None


def matches(patterns, lines):
    if not patterns:
        return not lines
    if patterns[0] == "[...]":
        return any(matches(patterns[1:], lines[skip:]) for skip in range(len(lines) + 1))
    return bool(lines) and line_matches(patterns[0], lines[0]) and matches(patterns[1:], lines[1:])


def merged(patterns, lines):
    """What --update writes: the new lines, with the old pattern wherever it still covers one."""
    if matches(patterns, lines):
        return patterns
    wild = [p for p in patterns if "[..]" in p and "[...]" not in p]
    return [next((p for p in wild if line_matches(p, line)), line) for line in lines]


def run(step, folder, binary):
    environment = {"PATH": f"{binary.parent}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8",
                   "TZ": "UTC", "COLUMNS": "100", "SOURCE": str(SOURCE)}
    for name in ("LSAN_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    done = subprocess.run(["sh", "-c", step.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60)
    decode = lambda data: [line.rstrip() for line in data.decode("utf-8", "replace").splitlines()]
    trim = lambda lines: lines[:max((i + 1 for i, line in enumerate(lines) if line), default=0)]
    return Step(step.command, done.returncode, trim(decode(done.stdout)), trim(decode(done.stderr)))


def differences(expected, actual):
    if expected.exit != actual.exit:
        yield f"exit code {actual.exit}, expected {expected.exit}"
    for name in ("stdout", "stderr"):
        want, got = getattr(expected, name), getattr(actual, name)
        if not matches(want, got):
            yield "\n".join(difflib.unified_diff(want, got, f"expected {name}", f"{name} now", lineterm=""))


def run_case(path, binary, update):
    """True if the case holds; otherwise prints why not."""
    comment, expected = parse(path.read_text())
    with tempfile.TemporaryDirectory(prefix="rocetune-cli-") as folder:
        actual = [run(step, folder, binary) for step in expected]
    if update:
        new = [Step(e.command, a.exit, merged(e.stdout, a.stdout), merged(e.stderr, a.stderr))
               for e, a in zip(expected, actual)]
        path.write_text(unparse(comment, new))
        return True
    holds = True
    for want, got in zip(expected, actual):
        for difference in differences(want, got):
            print(f"{path.name}: $ {want.command}\n{difference}")
            holds = False
    return holds


def check_every_help_has_a_case(binary, update):
    """Yields (name, holds) for each subcommand that `rocetune --help` lists."""
    text = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.split("Subcommands:\n")[1].split("\n\n")[0] if "Subcommands:\n" in text else ""
    for name in re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE):
        path = HERE / "golden" / f"help-{name}.case"
        if update and not path.exists():
            path.write_text(f"$ rocetune {name} --help\n")
        yield name, path.exists() and f"$ rocetune {name} --help\n" in path.read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rocetune", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--update", action="store_true")
    parser.add_argument("case", nargs="*")
    arguments = parser.parse_args()
    passed = failed = 0
    for name, has_case in check_every_help_has_a_case(arguments.rocetune, arguments.update):
        if not has_case:
            print(f"no tests/cli/golden/help-{name}.case")
            failed += 1
    paths = sorted((HERE / "golden").glob("*.case"))
    if arguments.case:
        paths = [path for path in paths if path.stem in arguments.case]
    for path in paths:
        try:
            holds = run_case(path, arguments.rocetune, arguments.update)
        except (ValueError, subprocess.TimeoutExpired) as error:
            print(f"{path.name}: {error}")
            holds = False
        passed, failed = (passed + 1, failed) if holds else (passed, failed + 1)
    if failed:
        print("If the new output is what it should be: tests/cli/run.py --rocetune build/rocetune --update")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
