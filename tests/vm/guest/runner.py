"""Runs suites in the guest; tools/vmlab test starts it and reads its report."""

import importlib.util
import json
import os
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import lab  # noqa: E402


def tests_of(module):
  """The test functions of a suite, in the order of the file."""
  found = [f for n, f in vars(module).items() if n.startswith("test_") and callable(f)]
  return sorted(found, key=lambda f: f.__code__.co_firstlineno)


def load_suite(path):
  spec = importlib.util.spec_from_file_location(f"suite_{path.stem}", path)
  module = importlib.util.module_from_spec(spec)
  spec.loader.exec_module(module)
  return module


def _judge(function, arguments, locked_down):
  """Runs one test; returns why it failed, or nothing. Raises lab.Skip."""
  try:
    if not locked_down:  # lockdown closes debugfs to the harness too
      lab.reset_all()
    function(*arguments)
    if (lab.SHARE / "dying").exists():
      raise lab.Failure("the machine was to die and did not")
  except lab.Skip:
    raise
  except lab.Failure as failure:
    here = [f for f in traceback.extract_tb(failure.__traceback__) if "/suites/" in f.filename]
    where = f" ({os.path.basename(here[-1].filename)}:{here[-1].lineno})" if here else ""
    return f"{failure}{where}"
  except Exception:  # pylint: disable=broad-except
    return traceback.format_exc(limit=-4).strip()
  return ""


def main(spec_path):
  """Runs the tests named in a JSON file and reports on stdout, for people, and in a file, for the host."""
  spec = json.loads(pathlib.Path(spec_path).read_text(encoding="utf-8"))
  boot, boots = spec["boot"], spec["boots"]
  with open(lab.SHARE / "results", "a", encoding="utf-8") as report:
    for suite in spec["suites"]:
      functions = {f.__name__: f for f in tests_of(load_suite(pathlib.Path(suite["path"])))}
      for test in suite["tests"]:
        started = time.monotonic()
        name = f"{suite['name']}.{test}"
        try:
          error = _judge(functions[test], [boot] if boot else [], spec["lockdown"])
        except lab.Skip as skip:
          report.write(json.dumps({"test": name, "error": "", "skipped": str(skip)}) + "\n")
          report.flush()
          print(f"skip {name}: {skip}", flush=True)
          continue
        seconds = time.monotonic() - started
        report.write(json.dumps({"test": name, "error": error}) + "\n")
        report.flush()
        head = "FAIL" if error else "ok  " if boot == boots else "    "
        tail = f" boot {boot} of {boots}" if boots and head != "ok  " else ""
        print(f"{head} {name}{tail} {seconds:.2f} s" + (f": {error}" if error else ""), flush=True)


if __name__ == "__main__":
  main(sys.argv[1])
