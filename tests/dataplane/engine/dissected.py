#!/usr/bin/env python3
"""What the engine sends, as others see it: tshark dissects every frame, and a CRC of another library (zlib's) over what
the specification says finds every ICRC right.

usage: dissected.py SCHEDULE-SEARCH [--count N]
"""
import argparse
import collections
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

# Opcodes of the reliable connection that the engine's requester and responder send (IBTA 1.4, table 35), and the CNP.
SEND, SEND_IMMEDIATE = {0x00, 0x01, 0x02, 0x04}, {0x03, 0x05}
WRITE, WRITE_IMMEDIATE = {0x06, 0x07, 0x08, 0x0A}, {0x09, 0x0B}
READ, ANSWERS, ATOMICS, CNP = {0x0C}, {0x0D, 0x0E, 0x0F, 0x10, 0x11, 0x12}, {0x13, 0x14}, {0x81}
EXPECTED = SEND | SEND_IMMEDIATE | WRITE | WRITE_IMMEDIATE | READ | ANSWERS | ATOMICS | CNP

FIELDS = ["frame.number", "frame.protocols", "infiniband.bth.opcode", "ip.checksum.status", "_ws.malformed",
          "_ws.expert.message"]


def frames_of(capture):
  data = capture.read_bytes()
  at = 24
  while at < len(data):
    length, = struct.unpack_from("<I", data, at + 8)
    yield data[at + 16:at + 16 + length]
    at += 16 + length


def icrc(frame):
  """Of a RoCE v2 frame without VLAN tag, by IBTA annex A17.3.3: what routers change counts as ones."""
  ip = bytearray(frame[14:-4])
  if ip[0] >> 4 == 4:
    header = 20
    ip[1] = ip[8] = ip[10] = ip[11] = 0xFF  # ToS, TTL, checksum
  else:
    header = 40
    ip[0] |= 0x0F
    ip[1] = ip[2] = ip[3] = ip[7] = 0xFF  # traffic class, flow label, hop limit
  ip[header + 6] = ip[header + 7] = 0xFF  # UDP checksum
  ip[header + 8 + 4] = 0xFF  # FECN, BECN, reserved
  return struct.pack("<I", zlib.crc32(bytes(ip), zlib.crc32(b"\xff" * 8)))


def dissected(capture):
  command = ["tshark", "-r", str(capture), "-n", "-o", "ip.check_checksum:TRUE", "-T", "fields", "-E", "separator=\t"]
  for field in FIELDS:
    command += ["-e", field]
  done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
  return [dict(zip(FIELDS, line.split("\t"))) for line in done.stdout.splitlines()]


def faults_of(row):
  """What tshark has against a frame."""
  layers = row["frame.protocols"].split(":")
  if "infiniband" not in layers:
    yield f"not dissected as RoCE: {row['frame.protocols']}"
    return
  if "ipv6" not in layers and row["ip.checksum.status"] != "1":
    yield f"IP checksum status {row['ip.checksum.status']}"
  if layers[-1] != "infiniband":
    return  # a guess at what the payload is, which is random; what the guess complains of is no fault
  # RoCE v2's UDP checksum is zero over IPv6 too (annex A17.3.2), which tshark knows only of tunnels.
  said = [message for message in row["_ws.expert.message"].split(",") if message != "Illegal checksum value (0)"]
  if row["_ws.malformed"] or any(said):
    yield f"malformed: {said}"


def main():
  parser = argparse.ArgumentParser()
  parser.add_argument("program")
  parser.add_argument("--count", type=int, default=400)
  arguments = parser.parse_args()
  if shutil.which("tshark") is None:
    print("tshark is not installed")
    return 1
  with tempfile.TemporaryDirectory() as folder:
    capture = pathlib.Path(folder, "sent.pcap")
    subprocess.run([arguments.program, "--count", str(arguments.count), "--capture", str(capture)], check=True,
                   stdout=subprocess.DEVNULL, timeout=600)
    frames, rows = list(frames_of(capture)), dissected(capture)
  wrong = collections.Counter()
  for frame in frames:
    if icrc(frame) != frame[-4:]:
      wrong["ICRC"] += 1
  for row in rows:
    wrong.update(faults_of(row))
  seen = {int(row["infiniband.bth.opcode"], 0) for row in rows if row["infiniband.bth.opcode"]}
  versions = {frame[14] >> 4 for frame in frames}
  if len(rows) != len(frames) or not frames:
    wrong[f"{len(frames)} frames sent, {len(rows)} dissected"] += 1
  if seen != EXPECTED:
    wrong[f"opcodes missing: {sorted(map(hex, EXPECTED - seen))}, unknown: {sorted(map(hex, seen - EXPECTED))}"] += 1
  if versions != {4, 6}:
    wrong[f"IP versions {versions}"] += 1
  print(f"{len(frames)} frames, {len(seen)} opcodes")
  for what, count in wrong.items():
    print(f"{count} times: {what}")
  return 1 if wrong else 0


if __name__ == "__main__":
  sys.exit(main())
