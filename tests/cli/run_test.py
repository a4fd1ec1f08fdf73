#!/usr/bin/env python3
"""Proves that run.py tells right output from wrong."""
import unittest

import run


class Match(unittest.TestCase):
    def test_line_patterns(self):
        self.assertTrue(run.matches(["took [..] ms"], ["took 12 ms"]))
        self.assertFalse(run.matches(["took [..] ms"], ["took 12 s"]))
        self.assertFalse(run.matches(["a.c"], ["abc"]))

    def test_any_lines(self):
        self.assertTrue(run.matches(["a", "[...]", "z"], ["a", "b", "c", "z"]))
        self.assertTrue(run.matches(["a", "[...]"], ["a"]))
        self.assertFalse(run.matches(["a", "[...]", "z"], ["a", "b"]))

    def test_output_that_is_not_shown_must_be_empty(self):
        self.assertFalse(run.matches([], ["surprise"]))

    def test_missing_and_surplus_lines_are_found(self):
        self.assertFalse(run.matches(["a", "b"], ["a"]))
        self.assertFalse(run.matches(["a"], ["a", "b"]))


class Case(unittest.TestCase):
    TEXT = "What it is.\n\n$ false\nexit 1\n\n$ printf 'a\\n\\nb'\nstdout:\n  a\n\n  b\n"

    def test_reads_and_writes_back_the_same(self):
        self.assertEqual(run.unparse(*run.parse(self.TEXT)), self.TEXT)

    def test_wrong_exit_code_is_a_difference(self):
        wanted = run.Step("x", exit=0)
        self.assertEqual(list(run.differences(wanted, run.Step("x", exit=2))), ["exit code 2, expected 0"])

    def test_output_on_the_wrong_stream_is_a_difference(self):
        wanted = run.Step("x", stdout=["a"])
        self.assertEqual(len(list(run.differences(wanted, run.Step("x", stderr=["a"])))), 2)

    def test_a_case_without_command_is_an_error(self):
        with self.assertRaises(ValueError):
            run.parse("just words\n")

    def test_update_keeps_patterns_that_still_fit(self):
        self.assertEqual(run.merged(["took [..] ms", "b"], ["took 5 ms", "c"]), ["took [..] ms", "c"])


if __name__ == "__main__":
    unittest.main()
