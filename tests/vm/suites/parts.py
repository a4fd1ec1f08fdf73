"""Loadable parts on a real kernel: what libibverbs and DPDK see, and what is said when they cannot."""

import contextlib
import json
import os
import pathlib
import re

import lab
from lab import expect, expect_equal, run

NICS = 2
RXE = "rxe0"


@contextlib.contextmanager
def software_roce():
  run(["rdma", "link", "add", RXE, "type", "rxe", "netdev", lab.nic(0).netdev])
  try:
    yield
  finally:
    run(["rdma", "link", "delete", RXE])


def inspect(env=None):
  return json.loads(lab.rocetune("inspect", "--json", env=env).stdout)


def state_of(report, name):
  return next(part["state"] for part in report["parts"] if part["name"] == name)


def test_verbs_says_what_ibv_devinfo_says():
  with software_roce():
    report = inspect()
    shown = run(["ibv_devinfo", "-v", "-d", RXE]).stdout
  expect_equal(state_of(report, "verbs"), "usable", "verbs part")
  facts = next(device["facts"] for device in report["rdma_devices"] if device["name"] == RXE)
  for ours, theirs in {"max_qp": "max_qp", "max_qp_wr": "max_qp_wr", "max_mr": "max_mr", "max_cqe": "max_cqe",
                       "max_srq": "max_srq", "max_outstanding_reads": "max_qp_rd_atom"}.items():
    expect_equal(facts[ours], int(re.search(rf"^\s*{theirs}:\s*(\d+)", shown, re.MULTILINE).group(1)), ours)
  expect_equal(facts["mlx5"]["unavailable"], "absent", "mlx5's own facts of a software device")


def test_device_without_access_is_denied():
  with software_roce():
    nodes = list(pathlib.Path("/dev/infiniband").glob("uverbs*"))
    expect(nodes, "no uverbs device node")
    for node in nodes:
      os.chmod(node, 0o600)
    done = run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", str(lab.BUILD / "rocetune"),
                "inspect", "--json"])
  device = next(d for d in json.loads(done.stdout)["rdma_devices"] if d["name"] == RXE)
  expect_equal(device["facts"]["unavailable"], "denied", f"why: {device['facts'].get('why')}")


def test_device_without_user_space_driver_is_named():
  done = lab.rocetune("inspect", "--port", lab.nic(0).netdev)  # the test NIC's ib_device has no libibverbs provider
  expect("no user-space driver" in " ".join(done.stdout.split()), f"verbs line of {lab.nic(0).rdma}: {done.stdout}")
  expect_equal(done.stderr, "", "standard error")


def test_listening_to_a_device_that_cannot_mirror_says_why():
  with software_roce():
    refused = lab.rocetune("tap", "--device", RXE, "--for", "100ms", check=False)
    unknown = lab.rocetune("tap", "--device", "mlx5_7", "--for", "100ms", check=False)
  expect_equal(refused.code, 2, refused.stderr)
  expect(f"{RXE} has no raw packet queue pairs" in refused.stderr or
         f"{RXE} does not mirror its own RoCE packets" in refused.stderr, refused.stderr)
  expect_equal(unknown.code, 2, unknown.stderr)
  expect("found mlx5_7" in unknown.stderr and RXE in unknown.stderr, unknown.stderr)


def test_missing_parts_are_absent_and_inspect_goes_on():
  report = inspect(env={"ROCETUNE_PART_DIR": "/nowhere"})
  for name in ("dpdk", "topology", "verbs"):
    expect_equal(state_of(report, name), "absent", name)
  expect_equal(report["rdma_devices"]["unavailable"], "absent", "RDMA devices")
  expect(len(report["ports"]) >= NICS, "ports are still shown")


def test_dpdk_could_start_once_there_are_huge_pages():
  before = inspect()["dpdk"]
  expect(not before["could_start"], "no huge pages at first")
  pages = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
  mount = pathlib.Path("/run/huge")
  mount.mkdir()
  pages.write_text("8")
  run(["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", str(mount)])
  try:
    after = inspect()["dpdk"]
  finally:
    run(["umount", str(mount)])
    pages.write_text("0")
  pool = next(p for p in after["hugepages"] if p["page_size_bytes"] == 2 << 20)
  expect_equal((pool["free"], pool["mounts"]), (8, [str(mount)]), "free pages and where")
  expect(after["could_start"], f"requirements: {after['requirements']}")
