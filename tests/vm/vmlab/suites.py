"""tools/vmlab test: which suite runs in which boot, and the verdict."""

import collections
import dataclasses
import json
import multiprocessing
import pathlib
import shlex
import sys
import tempfile
import time

from . import LabError, VM_DIR, cache, machine

SUITES_DIR = VM_DIR / "suites"
GUEST_PYTHON = "/usr/bin/python3"

sys.path.insert(0, str(VM_DIR / "guest"))
import runner  # noqa: E402  (the guest's: here only to read what suites declare)


@dataclasses.dataclass(frozen=True)
class Needs:
  """The machine a suite asks for; suites with equal needs and no own boot share one."""
  nics: int
  memory_mib: int
  lockdown: str
  timeout_s: float


@dataclasses.dataclass
class Suite:
  name: str
  path: pathlib.Path
  needs: Needs
  own_boot: bool
  state_disk: bool
  tests: list  # names that share a boot
  boots_tests: list  # (name, number of boots)


@dataclasses.dataclass
class Verdict:
  passed: int = 0
  failed: int = 0
  skipped: int = 0


@dataclasses.dataclass(frozen=True)
class Job:
  """What one process does from its first boot to its last."""
  suites: tuple
  boots_test: tuple = ()  # (name, number of boots): that test of the one suite, nothing else
  kernel_log: bool = False

  def run(self):
    verdict = Verdict()
    if self.boots_test:
      _run_boots_test(self.suites[0], *self.boots_test, verdict, self.kernel_log)
    else:
      _run_group(self.suites, verdict, self.kernel_log)
    return verdict


def _jobs(suites, kernel_log):
  """The longest first, as far as time limits and numbers of tests tell, so that none is alone at the end."""
  jobs = [Job(tuple(group), kernel_log=kernel_log) for group in _groups(suites)]
  jobs += [Job((suite,), test, kernel_log) for suite in suites for test in suite.boots_tests]
  def weight(job):
    tests = 1 if job.boots_test else sum(len(suite.tests) for suite in job.suites)
    return tests * job.suites[0].needs.timeout_s

  return sorted(jobs, key=lambda job: -weight(job))


def _load(path, match, options):
  module = runner.load_suite(path)
  functions = [f for f in runner.tests_of(module)
               if match in f.__name__ and not (options["brief"] and hasattr(f, "thorough"))]
  lockdown = getattr(module, "LOCKDOWN", "")
  state = getattr(module, "STATE", "shared")
  if state not in ("shared", "disk"):
    raise LabError(f"{path}: STATE is {state!r}, expected \"shared\" or \"disk\"")
  needs = Needs(nics=getattr(module, "NICS", 2), lockdown=lockdown,
                memory_mib=options["memory_mib"] or getattr(module, "MEMORY_MIB", 1024),
                timeout_s=options["timeout_s"] or getattr(module, "TIMEOUT_S", 1800))
  return Suite(name=path.stem, path=path, needs=needs, own_boot=bool(getattr(module, "OWN_BOOT", False) or lockdown),
               state_disk=state == "disk", tests=[f.__name__ for f in functions if not hasattr(f, "boots")],
               boots_tests=[(f.__name__, f.boots) for f in functions if hasattr(f, "boots")])


def _select(names, match, options):
  known = {p.stem: p for p in sorted(SUITES_DIR.glob("*.py"))}
  unknown = [n for n in names if n not in known]
  if unknown:
    raise LabError(f"no suite named {', '.join(unknown)}; there are: {', '.join(known)}")
  return [_load(known[n], match, options) for n in (names or known)]


def _groups(suites):
  """Lists of suites that run in one boot each, in the order asked for."""
  shared = collections.defaultdict(list)
  groups = []
  for suite in suites:
    if not suite.tests:
      continue
    if suite.own_boot:
      groups.append([suite])
      continue
    if not shared[suite.needs]:
      groups.append(shared[suite.needs])
    shared[suite.needs].append(suite)
  return groups


def _say(text):
  print(text, flush=True)


def _boot(config, spec, kernel_log):
  """One boot of the guest's runner; returns (reports, result, whether the guest was to die). A report is why the test
  of that name failed, empty if it did not; None if it was skipped."""
  with machine.Machine(config) as vm:
    share = vm.directory / "share"
    share.mkdir()
    (share / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    command = shlex.join([GUEST_PYTHON, "-B", str(VM_DIR / "guest" / "runner.py"), "/run/vmlab/spec.json"])
    result = vm.run(command, None, sys.stdout.fileno(), sys.stderr.fileno())
    results = share / "results"
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    dying = (share / "dying").exists()
  if kernel_log:
    print(result.kernel_log, file=sys.stderr)
  reports = {}
  for line in lines:
    try:
      report = json.loads(line)
    except ValueError:  # cut off by the guest's death
      continue
    reports[report["test"]] = None if "skipped" in report else report["error"]
  return reports, result, dying


def _why_missing(result):
  if result.timed_out:
    return "no result within the boot's time limit"
  if result.died:
    return "no result: the guest died"
  return f"no result: the runner ended with {result.exit_code}"


def _count(verdict, wanted, reports, result):
  missing = [name for name in wanted if name not in reports]
  for name in missing:
    _say(f"FAIL {name}: {_why_missing(result)}")
  if missing and result.died:
    machine.explain_death(result)
  errors = sum(1 for name in wanted if reports.get(name))
  skipped = sum(1 for name in wanted if reports.get(name, "") is None)
  verdict.failed += errors + len(missing)
  verdict.skipped += skipped
  verdict.passed += len(wanted) - errors - len(missing) - skipped


def _spec(needs, suites, boot=0, boots=0):
  return {"boot": boot, "boots": boots, "lockdown": needs.lockdown,
          "suites": [{"name": s.name, "path": str(s.path), "tests": tests} for s, tests in suites]}


def _config(needs, **more):
  return machine.Config(nics=needs.nics, memory_mib=needs.memory_mib, timeout_s=needs.timeout_s,
                        lockdown=needs.lockdown, **more)


def _run_group(group, verdict, kernel_log):
  needs = group[0].needs
  spec = _spec(needs, [(s, s.tests) for s in group])
  reports, result, _ = _boot(_config(needs), spec, kernel_log)
  _count(verdict, [f"{s.name}.{t}" for s in group for t in s.tests], reports, result)


def _run_boots_test(suite, test, boots, verdict, kernel_log):
  """Boots until the test has failed or its last boot has passed."""
  name = f"{suite.name}.{test}"
  with tempfile.TemporaryDirectory(prefix="vmlab-state-") as state:
    for boot in range(1, boots + 1):
      config = _config(suite.needs, state=pathlib.Path(state), state_disk=suite.state_disk)
      reports, result, dying = _boot(config, _spec(suite.needs, [(suite, [test])], boot, boots),
                                      kernel_log)
      if name not in reports and dying and result.died and boot < boots:
        _say(f"     {name} boot {boot} of {boots}: died as told")
        continue
      if name not in reports or reports[name] or reports[name] is None:
        _count(verdict, [name], reports, result)
        return
  verdict.passed += 1


def main(names, match, list_only, brief=False, memory_mib=None, timeout_s=None, kernel_log=False, at_once=1):
  suites = _select(names, match, {"brief": brief, "memory_mib": memory_mib, "timeout_s": timeout_s})
  if list_only:
    for suite in suites:
      for test in suite.tests:
        _say(f"{suite.name}.{test}")
      for test, boots in suite.boots_tests:
        _say(f"{suite.name}.{test} ({boots} boots)")
    return 0
  verdict = Verdict()
  started = time.monotonic()
  jobs = _jobs(suites, kernel_log)
  if at_once == 1 or len(jobs) == 1:
    verdicts = map(Job.run, jobs)
  else:
    cache.initramfs()  # made once, not by all of them
    pool = multiprocessing.get_context("fork").Pool(min(at_once, len(jobs)), maxtasksperchild=1)
    try:
      verdicts = list(pool.imap_unordered(Job.run, jobs))
    finally:
      pool.terminate()  # in an orderly end all are done; else their machines go with them
      pool.join()
  for one in verdicts:
    verdict.passed += one.passed
    verdict.failed += one.failed
    verdict.skipped += one.skipped
  print(f"vmlab: {time.monotonic() - started:.0f} s", file=sys.stderr)
  if verdict.skipped:
    _say(f"{verdict.skipped} skipped, see the lines that begin with skip")
  _say(f"{verdict.passed} passed, {verdict.failed} failed")
  return 0 if verdict.passed and not verdict.failed else 1
