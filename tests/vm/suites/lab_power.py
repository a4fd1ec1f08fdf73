"""The lab proves itself: on a state disk a power failure takes what was not synced, as on a real host."""

import os

import lab
from lab import expect, expect_equal

STATE = "disk"


@lab.boots(2)
def test_unsynced_data_dies_with_the_power(boot):
  synced, unsynced = lab.STATE_DIR / "synced", lab.STATE_DIR / "unsynced"
  if boot == 1:
    with open(synced, "w", encoding="ascii") as file:
      file.write("kept\n")
      file.flush()
      os.fsync(file.fileno())
    directory = os.open(lab.STATE_DIR, os.O_RDONLY)
    os.fsync(directory)
    unsynced.write_text("lost\n")
    expect_equal(unsynced.read_text(), "lost\n", "visible while the machine runs")
    lab.power_off_hard()
  expect_equal(synced.read_text(), "kept\n", "what was synced")
  expect(not unsynced.exists() or unsynced.read_text() != "lost\n", "what was not synced has survived")
