#!/usr/bin/env python3
"""Proves that fabric_peers.py finds what PEERS holds, and asks it for the workloads of fabric.py."""
import pathlib
import tempfile
import unittest

import fabric_peers


def put(path, script):
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def test_a_build_is_found_at_any_depth_and_by_its_folder(self):
        put(self.root / "a/b/htsim_roce", "")
        put(self.root / "scratch/third", "")  # not below build
        self.assertEqual(fabric_peers.peers_in(self.root)["csg-htsim"].binary, str(self.root / "a/b/htsim_roce"))
        self.assertIsNone(fabric_peers.peers_in(self.root)["HPCC's ns-3"])

    def test_htsim_is_given_the_permutation(self):
        put(self.root / "htsim/htsim_roce", f'while [ "$1" != -tm ]; do shift; done; cp "$2" {self.root}/seen\n')
        figures = fabric_peers.peers_in(self.root)["csg-htsim"].run("perm1024")
        self.assertEqual(figures["packet_hops"], 12_288_000)
        lines = (self.root / "seen").read_text().splitlines()
        self.assertEqual(lines[:3], ["Nodes 1024", "Connections 1024", "0->321 id 1 start 0 size 1000000"])
        self.assertEqual(len(lines), 2 + 1024)

    def test_htsim_has_no_fabric_of_two_rates(self):
        put(self.root / "htsim/htsim_roce", "exit 1\n")
        self.assertIsNone(fabric_peers.peers_in(self.root)["csg-htsim"].run("perm320"))

    def test_a_peer_that_fails_is_no_figure(self):
        put(self.root / "hpcc/build/scratch/third", "exit 3\n")
        with self.assertRaisesRegex(RuntimeError, "exit 3"):
            fabric_peers.peers_in(self.root)["HPCC's ns-3"].run("perm128")

    def test_a_fat_tree_has_all_its_links(self):
        first, switches, *links = fabric_peers.fat_tree(8).splitlines()
        self.assertEqual(first, "208 80 384")
        self.assertEqual(switches.split(), [str(i) for i in range(128, 208)])
        ends = [int(end) for link in links for end in link.split()[:2]]
        self.assertEqual([ends.count(node) for node in (0, 127, 128, 159, 160, 191, 192, 207)], [1, 1] + [8] * 6)


if __name__ == "__main__":
    unittest.main()
