#!/usr/bin/env python3
"""Proves that check_figures.py notices a benchmark that did not run, or did not say what it has to."""
import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock

import check_figures
import soft_transport
from check_figures import BENCHES, judged

TAP = """                                               median    least     best   million frames per second, 5 runs
from memory, 64 B, 1 QPs, ICRC on               3.900    3.700    4.000
capture file, rocetune                          1.400    1.300    1.450
capture file, tshark                            0.022   one run; rocetune is 63.6 times as fast
"""


def entry(output, result="OK", code=0):
    return {"name": "rocetune:bench / tap", "result": result, "returncode": code, "stdout": output, "stderr": ""}


def verdicts(output, **more):
    return [line.split(" ", 1)[0] for line in judged("tap", entry(output, **more))]


class Judged(unittest.TestCase):
    def test_all_is_there(self):
        self.assertEqual(verdicts(TAP), ["ok"] * 4)

    def test_a_figure_is_missing(self):
        self.assertIn("FAIL", verdicts(TAP.replace("capture file, rocetune", "something else")))

    def test_the_peer_is_not_installed(self):
        without = re.sub(r"0\.022.*", "not measured: tshark is not installed", TAP)
        self.assertEqual(verdicts(without), ["ok", "ok", "skip"])

    def test_the_peer_says_nothing(self):
        self.assertIn("FAIL", verdicts(TAP.replace("capture file, tshark", "")))

    def test_a_ratio_that_does_not_hold(self):
        lines = judged("tap", entry(TAP.replace("0.022", "0.900")))
        self.assertIn("FAIL tap: tap ÷ tshark, frames per second: 1.56, at least 5", lines)

    def test_a_benchmark_that_failed_or_did_not_run(self):
        self.assertEqual(verdicts(TAP, result="FAIL", code=1), ["FAIL"])
        self.assertEqual(judged("tap", None), ["FAIL tap: did not run"])

    def test_rows_of_google_benchmark(self):
        text = ("crc32/slice8/4144_mean 1000 ns 1000 ns 5\ncrc32/slice8/4144_median 1000 ns 1000 ns 5\n"
                "crc32/slice8/4144_stddev 9.1 ns 9 ns 5\ncrc32/fold/4144_median 200 ns 200 ns 5\n"
                "crc32/isa-l/4144_median 450 ns 450 ns 5\n")
        lines = judged("crc32", entry(text))
        self.assertEqual([line.split(" ", 1)[0] for line in lines], ["ok"] * 4, lines)
        self.assertIn("0.444", lines[-1])

    def test_soft_transport_as_it_prints(self):
        result = {"name": soft_transport.CASES[0]["name"], "median": 2.65e6, "low": 2.1e6, "high": 3e6, "best": 3.03e6,
                  "bits": 256, "testpmd": 5.83e6, "testpmd_best": 6e6, "share": 0.45, "share_of_best": 0.5,
                  "has_testpmd": True, "goal": "10 M messages/s", "lost": 0.1, "right": True}
        for changed, expected in (({}, ["ok"] * 3), ({"testpmd": None, "has_testpmd": False}, ["ok", "ok", "skip"]),
                                  ({"testpmd": None}, ["ok", "ok", "FAIL"])):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                soft_transport.show(result | changed)
            lines = judged("soft-transport", entry(printed.getvalue()))
            self.assertEqual([line.split(" ", 1)[0] for line in lines], expected, lines)

    def test_round_trip_and_its_floor_as_they_print(self):
        window_1 = {"name": "32 B, window 1", "median": 1.1e6, "low": 1e6, "high": 1.2e6, "best": 1.2e6, "bits": 256,
                    "p50_ns": 830, "p99_ns": 1100, "memif_p50_ns": 270, "testpmd": None, "has_testpmd": False,
                    "goal": "0.5 us median", "lost": 0, "right": True}
        for floor, expected in ((270, "ok"), (60, "FAIL")):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                soft_transport.show(window_1 | {"memif_p50_ns": floor})
            lines = [line for line in judged("soft-transport", entry(printed.getvalue())) if "round trip" in line]
            self.assertEqual([line.split(" ", 1)[0] for line in lines], [expected], printed.getvalue())

    def test_a_peer_runs_if_it_is_built(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {"PEERS": folder}):
            self.assertIn("erpc: not built", list(soft_transport.peer_lines([0, 1], 1))[0])
            program = pathlib.Path(folder, "erpc")
            for text, expected in (("""echo '{"pairs_per_s": 4.7e6, "p50_ns": 400}'""", "erpc: 4.7 M pairs/s, 0.40 us"),
                                   ("echo no memory >&2; exit 3", "erpc: exit 3: no memory")):
                program.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
                program.chmod(0o755)
                self.assertIn(expected, list(soft_transport.peer_lines([0, 1], 1))[0])

    def test_every_benchmark_has_a_row(self):
        build = pathlib.Path(check_figures.__file__).with_name("meson.build").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"benchmark\(\s*'([^']+)'", build)), set(BENCHES))


if __name__ == "__main__":
    unittest.main()
