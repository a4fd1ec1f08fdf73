#!/usr/bin/env python3
"""Proves that check_structure.py finds what it is there to find: each sample breaks one rule."""
import pathlib
import unittest

import check_structure

LAYERS_TOML = (pathlib.Path(__file__).parent / "layers.toml").read_text()


def violations(files, toml=LAYERS_TOML):
    layers = check_structure.Layers(toml)
    layers.longer = {}
    return [v for _, found in check_structure.check_tree(layers, files) for v in found]


class Includes(unittest.TestCase):
    def test_downward_is_fine(self):
        self.assertEqual(violations({"agent/host/a.cc": '#include "dataplane/base/error.h"\n#include <vector>\n'}), [])

    def test_through_an_allowed_folder_is_fine(self):
        self.assertEqual(violations({"agent/tune/a.cc": '#include "congestion/units.h"\n'}), [])

    def test_upward_is_found(self):
        found = violations({"dataplane/base/a.cc": '\n#include "agent/host/model.h"\n'})
        self.assertEqual(len(found), 1)
        self.assertIn("dataplane/base/a.cc:2: dataplane/base may not include agent/host/model.h", found[0])

    def test_sideways_is_found(self):
        self.assertEqual(len(violations({"agent/counters/a.h": '#include "agent/diagnose/rule.h"\n'})), 1)

    def test_a_subfolder_has_its_own_row(self):
        self.assertEqual(len(violations({"agent/host/a.cc": '#include "agent/host/topology/x.h"\n'})), 1)

    def test_relative_include_is_found(self):
        self.assertEqual(len(violations({"agent/host/a.cc": '#include "model.h"\n'})), 1)

    def test_code_outside_every_folder_is_found(self):
        self.assertEqual(len(violations({"agent/surprise/a.cc": ""})), 1)


class ForeignHeaders(unittest.TestCase):
    def test_each_in_its_own_place_only(self):
        for header, home in {
            "rte_ethdev.h": "dataplane/port/dpdk/a.cc",
            "infiniband/verbs.h": "dataplane/verbs/a.cc",
            "infiniband/mlx5dv.h": "dataplane/verbs/mlx5/a.cc",
            "hwloc.h": "agent/host/topology/a.cc",
            "CLI/CLI.hpp": "tools/rocetune/command_line_inspect.cc",
            "toml++/toml.h": "dataplane/base/toml_document.cc",
            "sqlite3.h": "agent/tune/history.cc",
        }.items():
            with self.subTest(header):
                self.assertEqual(violations({home: f"#include <{header}>\n"}), [])
                self.assertEqual(len(violations({"agent/report/a.cc": f"#include <{header}>\n"})), 1)

    def test_a_folders_tests_see_what_the_folder_sees(self):
        self.assertEqual(violations({"tests/dataplane/verbs/fakes.h": "#include <infiniband/verbs.h>\n"}), [])
        self.assertEqual(len(violations({"tests/agent/host/fakes.h": "#include <infiniband/verbs.h>\n"})), 1)


class Meson(unittest.TestCase):
    SOURCE = {"agent/host/a.cc": '#include "dataplane/base/error.h"\n'}

    def test_uses_that_the_table_forbids_is_found(self):
        found = violations({"dataplane/base/meson.build": "uses = ['congestion', 'agent/host']\n"})
        self.assertEqual(len(found), 1)
        self.assertIn("uses agent/host", found[0])

    def test_include_that_uses_does_not_cover_is_found(self):
        found = violations({**self.SOURCE, "agent/host/meson.build": "sources = []\nuses = []\n"})
        self.assertEqual(len(found), 1)
        self.assertIn("does not list dataplane/base", found[0])

    def test_include_that_uses_covers_is_fine(self):
        self.assertEqual(violations({**self.SOURCE, "agent/host/meson.build": "uses = [\n  'dataplane/base',\n]\n"}), [])


class NothingLeftOut(unittest.TestCase):
    def test_unit_test_that_is_not_built_is_found(self):
        self.assertEqual(len(violations({"tests/agent/host/a_test.cc": "", "tests/meson.build": "'b_test.cc'"})), 1)
        self.assertEqual(violations({"tests/agent/host/a_test.cc": "", "tests/meson.build": "['a_test.cc']"}), [])

    def test_fuzz_target_that_is_not_built_or_has_no_inputs_is_found(self):
        self.assertEqual(len(violations({"tests/fuzz/toml_fuzz.cc": ""})), 2)
        self.assertEqual(violations({"tests/fuzz/toml_fuzz.cc": "", "tests/fuzz/corpus/toml/a": "",
                                     "tests/fuzz/meson.build": "  'toml': ['dataplane/base'],\n"}), [])


class Files(unittest.TestCase):
    def test_too_long_is_found(self):
        self.assertEqual(violations({"congestion/a.cc": "\n" * 400}), [])
        self.assertEqual(len(violations({"congestion/a.cc": "\n" * 401})), 1)

    def test_listed_as_long_and_short_is_found(self):
        layers = check_structure.Layers(LAYERS_TOML)
        layers.longer = {"congestion/a.cc": "why"}
        found = [v for _, vs in check_structure.check_tree(layers, {"congestion/a.cc": "\n"}) for v in vs]
        self.assertEqual(len(found), 1)

    def test_names_that_say_nothing_are_found(self):
        for path in ("agent/host/utils.cc", "agent/host/net_helpers.h", "tools/common/a.cc"):
            with self.subTest(path):
                self.assertEqual(len(violations({path: ""})), 1)
        self.assertEqual(violations({"agent/host/utilisation.cc": ""}), [])

    def test_places_of_one_machine_are_found(self):
        for text in ("see /ho" + "me/joe/x", "cd /wo" + "rk/main", "as in .." + "/shared/design"):
            with self.subTest(text):
                self.assertEqual(len(violations({"docs/a.md": f"fine\n{text}\n"})), 1)
        self.assertEqual(violations({"docs/a.md": "tests/fixtures/root/sys and a framework/thing\n"}), [])


class Table(unittest.TestCase):
    def test_cycle_is_found(self):
        toml = LAYERS_TOML.replace('name = "congestion"\nmay_include = []',
                                   'name = "congestion"\nmay_include = ["agent/host"]')
        self.assertTrue(any("include each other" in v for v in violations({}, toml)))

    def test_row_that_does_not_exist_is_found(self):
        toml = LAYERS_TOML.replace('may_include = ["congestion"]', 'may_include = ["congestio"]', 1)
        with self.assertRaises(ValueError):
            violations({}, toml)


if __name__ == "__main__":
    unittest.main()
