#!/usr/bin/env python3
"""Proves that count_results.py cannot be told that all is well when it is not."""
import unittest

from count_results import judged


def entry(output, result="OK", code=0):
    return {"name": "x", "result": result, "returncode": code, "stdout": output, "stderr": ""}


class Judged(unittest.TestCase):
    def test_gtest(self):
        self.assertEqual(judged(entry("[  PASSED  ] 12 tests.\n"))[:2], (12, 0))
        output = "[  PASSED  ] 11 tests.\n[  FAILED  ] 1 test, listed below:\n"
        self.assertEqual(judged(entry(output, "FAIL", 1))[:2], (11, 1))

    def test_our_closing_line(self):
        self.assertEqual(judged(entry("5 passed, 0 failed\n"))[:2], (5, 0))
        self.assertEqual(judged(entry("7 passed, 0 failed, 2 not run\n"))[:2], (7, 0))
        self.assertEqual(judged(entry("7 passed, 1 failed, 2 not run\n", "FAIL", 1))[:2], (7, 1))

    def test_unittest(self):
        self.assertEqual(judged(entry("Ran 9 tests in 0.1s\n\nOK\n"))[:2], (9, 0))
        self.assertEqual(judged(entry("Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2)\n", "FAIL", 1))[:2], (6, 3))

    def test_crash_before_the_summary_is_a_failure(self):
        self.assertEqual(judged(entry("[ RUN      ] A.b\n", "FAIL", -6))[:2], (0, 1))

    def test_crash_after_the_summary_is_a_failure(self):
        self.assertEqual(judged(entry("[  PASSED  ] 12 tests.\n", "FAIL", -11))[:2], (12, 1))

    def test_timeout_is_a_failure(self):
        self.assertEqual(judged(entry("", "TIMEOUT", -15))[:2], (0, 1))

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(judged(entry("[  PASSED  ] 0 tests.\n"))[:2], (0, 1))

    def test_failures_with_exit_code_zero_are_failures(self):
        self.assertEqual(judged(entry("3 passed, 2 failed\n"))[:2], (3, 2))

    def test_skip_is_neither(self):
        self.assertEqual(judged(entry("", "SKIP", 77))[:2], (0, 0))


if __name__ == "__main__":
    unittest.main()
