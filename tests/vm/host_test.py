#!/usr/bin/python3
"""The host side of the VM lab, without a machine: streams, suites, the netlink of lab_dcb, the command line."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
VM_DIR = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(VM_DIR))

import lab_dcb  # noqa: E402
from vmlab import machine, suites  # noqa: E402


class Streams(unittest.TestCase):
  MARK = b"0123456789abcdef"

  def relayed(self, *chunks, end=False):
    read, write = os.pipe()
    stream = machine._Stream(self.MARK, write)  # pylint: disable=protected-access
    for chunk in chunks:
      stream.feed(chunk)
    if end:
      stream.close()
    os.close(write)
    with os.fdopen(read, "rb") as file:
      return file.read(), stream.ended

  def test_mark_ends_and_is_not_shown(self):
    self.assertEqual(self.relayed(b"out\n" + self.MARK), (b"out\n", True))

  def test_mark_in_pieces(self):
    self.assertEqual(self.relayed(b"out", *(self.MARK[i:i + 1] for i in range(len(self.MARK)))), (b"out", True))

  def test_start_of_a_mark_that_goes_on_otherwise(self):
    self.assertEqual(self.relayed(b"a" + self.MARK[:7], b"X"), (b"a" + self.MARK[:7] + b"X", False))

  def test_start_of_a_mark_at_the_end(self):
    self.assertEqual(self.relayed(b"a" + self.MARK[:7], end=True), (b"a" + self.MARK[:7], True))

  def test_a_repeated_start_of_the_mark(self):
    self.assertEqual(self.relayed(b"0101234", b"56789abcdef"), (b"01", True))


class Suites(unittest.TestCase):

  def suite(self, name, nics=2, own_boot=False, tests=("test_a",)):
    needs = suites.Needs(nics=nics, memory_mib=1024, lockdown="", timeout_s=600)
    return suites.Suite(name=name, path=pathlib.Path(name), needs=needs, own_boot=own_boot, state_disk=False,
                        tests=list(tests), boots_tests=[])

  def groups(self, *given):
    return [[s.name for s in group] for group in suites._groups(given)]  # pylint: disable=protected-access

  def test_equal_needs_share_a_boot(self):
    self.assertEqual(self.groups(self.suite("a"), self.suite("b", nics=4), self.suite("c")), [["a", "c"], ["b"]])

  def test_own_boot(self):
    self.assertEqual(self.groups(self.suite("a"), self.suite("b", own_boot=True), self.suite("c")),
                     [["a", "c"], ["b"]])

  def test_a_brief_run_has_something_of_every_suite(self):
    options = {"memory_mib": None, "timeout_s": None}
    whole, brief = (suites._select([], "", options | {"brief": b}) for b in (False, True))  # pylint: disable=protected-access
    self.assertEqual([suite.name for suite in whole], [suite.name for suite in brief])
    for suite in brief:
      self.assertTrue(suite.tests or suite.boots_tests, suite.name)
    self.assertLess(sum(len(s.tests) for s in brief), sum(len(s.tests) for s in whole))

  def test_a_suite_without_plain_tests_boots_nothing(self):
    self.assertEqual(self.groups(self.suite("a", tests=())), [])

  def test_every_boots_test_is_a_job_and_the_longest_come_first(self):
    quick, slow = self.suite("quick"), self.suite("slow", nics=4)
    slow.needs = suites.Needs(nics=4, memory_mib=1024, lockdown="", timeout_s=900)
    slow.boots_tests = [("test_boots", 3)]
    jobs = suites._jobs([quick, slow], kernel_log=False)  # pylint: disable=protected-access
    self.assertEqual([([s.name for s in job.suites], job.boots_test) for job in jobs],
                     [(["slow"], ()), (["slow"], ("test_boots", 3)), (["quick"], ())])

  def test_missing_results_fail(self):
    verdict = suites.Verdict()
    suites._say = lambda text: None  # pylint: disable=protected-access
    result = machine.Result(exit_code=machine.EXIT_TIMEOUT, timed_out=True)
    reports = {"s.a": "", "s.b": "wrong", "s.d": None}
    suites._count(verdict, ["s.a", "s.b", "s.c", "s.d"], reports, result)  # pylint: disable=protected-access
    self.assertEqual((verdict.passed, verdict.failed, verdict.skipped), (1, 2, 1))

  def test_every_suite_loads(self):
    listed = subprocess.run([VM_DIR.parent.parent / "tools" / "vmlab", "test", "--list"], text=True,
                            stdout=subprocess.PIPE, check=True).stdout.splitlines()
    for path in (VM_DIR / "suites").glob("*.py"):
      self.assertTrue([line for line in listed if line.startswith(f"{path.stem}.test_")], f"{path}: no tests")


class Netlink(unittest.TestCase):

  def test_structures_have_the_kernels_sizes(self):
    import struct
    sizes = [struct.calcsize(f) for f in (lab_dcb._ETS_FORMAT, lab_dcb._PFC_FORMAT, lab_dcb._MAXRATE_FORMAT,  # pylint: disable=protected-access
                                          lab_dcb._BUFFER_FORMAT)]  # pylint: disable=protected-access
    self.assertEqual(sizes, [59, 136, 64, 44])

  def test_attributes_round_trip(self):
    data = lab_dcb._attribute(3, b"abcde") + lab_dcb._attribute(9 | 0x8000, b"")  # pylint: disable=protected-access
    self.assertEqual(lab_dcb._attributes(data), {3: b"abcde", 9: b""})  # pylint: disable=protected-access

  def test_cut_off_attributes_end(self):
    self.assertEqual(lab_dcb._attributes(b"\x02\x00\x01\x00"), {})  # pylint: disable=protected-access


class CommandLine(unittest.TestCase):

  def vmlab(self, *arguments):
    return subprocess.run([VM_DIR.parent.parent / "tools" / "vmlab", *arguments], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

  def test_help_has_examples(self):
    done = self.vmlab("--help")
    self.assertEqual(done.returncode, 0)
    self.assertIn("tools/vmlab run", done.stdout)

  def test_unknown_suite(self):
    done = self.vmlab("test", "--list", "nosuch")
    self.assertEqual((done.returncode, "there are:" in done.stderr), (2, True))

  def test_run_without_a_command(self):
    self.assertEqual(self.vmlab("run").returncode, 2)

  def test_shell_without_a_terminal(self):
    self.assertEqual(self.vmlab("shell").returncode, 2)


if __name__ == "__main__":
  unittest.main()
