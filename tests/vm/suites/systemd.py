"""The dead-man timer as a transient unit and the boot unit, under a real systemd."""

import json
import os
import pathlib
import shutil
import signal

import lab
from lab import expect, expect_equal, expect_same_state, run, wait_until
from lab_systemd import property_of, systemctl, systemd
from lab_transaction import ALLOW, ALONE, PROFILE, QUICK, apply, forget, history, state, wait_for_outcome

NICS = 2
TIMEOUT_S = 1800

INSTALLED = pathlib.Path("/usr/local/bin/rocetune")  # a unit needs a program that is there after the reboot
BOOT_UNIT = pathlib.Path("/etc/systemd/system/rocetune-boot.service")


def timer_unit():
  """The name of the dead-man timer's unit; None if there is none."""
  units = systemctl("list-units", "--plain", "--no-legend", "--type=service", "run-*").stdout
  names = [line.split()[0] for line in units.splitlines() if "rocetune dead-man timer" in line]
  expect(len(names) <= 1, f"timers: {names}")
  return names[0] if names else None


@lab.thorough
def test_the_timer_is_a_unit_and_rolls_back():
  forget()
  before = state()
  with systemd():
    apply("--confirm-within", "20s")
    unit = timer_unit()
    expect(unit is not None, "no unit watches the transaction")
    wait_for_outcome("rolled_back")
    expect_same_state(before, state())
    wait_until(lambda: timer_unit() is None, "the unit is gone")


@lab.thorough
def test_a_killed_timer_is_started_again():
  forget()
  before = state()
  with systemd():
    apply("--confirm-within", "40s")
    unit = timer_unit()
    first = property_of(unit, "InvocationID")
    systemctl("kill", "--signal=KILL", unit)
    wait_until(lambda: property_of(unit, "InvocationID") not in ("", first), "the unit is started again", timeout=60)
    wait_for_outcome("rolled_back")
    expect_same_state(before, state())


@lab.thorough
def test_the_timer_outlives_its_session():
  """The shell that applied, and all of its session, are killed as a broken ssh connection's are."""
  forget()
  before = state()
  with systemd():
    script = " ".join([str(lab.BUILD / "rocetune"), "apply", "--profile", PROFILE, *QUICK, *ALLOW, "--confirm-within",
                       "30s"]) + " >/run/lab-apply 2>&1; echo done >/run/lab-applied; sleep 600"
    pathlib.Path("/run/lab-applied").unlink(missing_ok=True)
    with lab.background(["setsid", "bash", "-c", script]) as session:
      wait_until(lambda: pathlib.Path("/run/lab-applied").exists(), "applied", timeout=120)
      os.killpg(session.pid, signal.SIGHUP)
      os.killpg(session.pid, signal.SIGKILL)
    expect(timer_unit() is not None, f"no unit: {pathlib.Path('/run/lab-apply').read_text()}")
    wait_for_outcome("rolled_back")
    expect_same_state(before, state())


@lab.boots(2)
def test_the_boot_unit_brings_the_confirmed_state_back(boot):
  shutil.copy(lab.BUILD / "rocetune", INSTALLED)
  kept_unit, kept_state = lab.STATE_DIR / "unit", lab.STATE_DIR / "after.json"
  if boot == 1:
    # Refused, as RDMA traffic runs: nothing is changed, the unit included.
    lab.nic(0).set_rates(rx_vport_rdma_unicast_packets=50000, rx_vport_rdma_unicast_bytes=50000000)
    refused = run([INSTALLED, "apply", "--profile", PROFILE, *QUICK, *ALONE, "--persist"], timeout=300, check=False)
    expect_equal(refused.code, 2, f"exit code without consent: {refused.stdout}{refused.stderr}")
    expect(not BOOT_UNIT.exists(), "a unit although the plan was refused")
    lab.nic(0).set_rates(rx_vport_rdma_unicast_packets=0, rx_vport_rdma_unicast_bytes=0)
    run([INSTALLED, "apply", "--profile", PROFILE, *QUICK, *ALLOW, *ALONE, "--persist"], timeout=300)
    kept_state.write_text(json.dumps(state()))
    # /etc does not last in the lab; the unit goes by the one folder that does.
    shutil.copy(BOOT_UNIT, kept_unit)
    os.sync()
    lab.power_off_hard()
  expect_equal(lab.nic(0).mtu, 1500, "MTU after the reboot")
  BOOT_UNIT.parent.joinpath("multi-user.target.wants").mkdir(parents=True, exist_ok=True)
  shutil.copy(kept_unit, BOOT_UNIT)
  BOOT_UNIT.parent.joinpath("multi-user.target.wants", BOOT_UNIT.name).symlink_to(f"../{BOOT_UNIT.name}")
  with systemd():
    expect_equal(property_of(BOOT_UNIT.name, "ActiveState"), "active", "boot unit")
    expect_equal(property_of(BOOT_UNIT.name, "Result"), "success", "result of the boot unit")
    expect_same_state(json.loads(kept_state.read_text()), state())
    expect("apply --boot" in history()[-1]["caller"]["command"], history()[-1]["caller"])
    run([INSTALLED, "persist", "--remove"])
    expect(not BOOT_UNIT.exists(), "the unit is still there")
    systemctl("daemon-reload")
    expect_equal(property_of(BOOT_UNIT.name, "LoadState"), "not-found", "boot unit after its removal")
