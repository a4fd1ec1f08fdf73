#!/usr/bin/env python3
"""Checks what the built files ask of the dynamic loader.

usage: check_linkage.py BUILD_DIR [PART...]      the parts that this build has to have

build/rocetune must start on any host it is copied to: it may need only what every Linux host with iproute2 has.
Each part needs what it is there for, shows one symbol, and brings no second C++ runtime into the process.
"""
import pathlib
import re
import subprocess
import sys

# The release binary: libc and its loader, and libmnl, which iproute2 brings to every host that has RoCE.
BINARY_MAY_NEED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libmnl.so.0"}
# What each part must need, as a pattern: otherwise it has become an empty shell.
PART_MUST_NEED = {
    "dpdk": r"librte_eal\.so",
    "topology": r"libhwloc\.so",
    "verbs": r"libibverbs\.so",
}
PART_SHOWS = {"rocetune_part"}
OLDEST_GLIBC = (2, 36)  # Debian 12


def readelf(*arguments):
    return subprocess.run(["readelf", "--wide", *arguments], check=True, capture_output=True, text=True).stdout


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("--dynamic", str(path))))


def shown(path):
    """Names of the symbols that the file defines for others."""
    names = set()
    for line in readelf("--dyn-syms", str(path)).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[4] in ("GLOBAL", "WEAK", "UNIQUE") and fields[6] != "UND":
            names.add(fields[7].split("@")[0])
    return names


def newest_glibc(path):
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", readelf("--version-info", str(path)))
    return max(((int(a), int(b)) for a, b in versions), default=(0, 0))


def checks(build, parts):
    binary = build / "rocetune"
    surplus = needed(binary) - BINARY_MAY_NEED
    yield "rocetune needs only what every host has", not surplus, f"also needs {sorted(surplus)}"
    glibc = newest_glibc(binary)
    yield "rocetune runs on Debian 12's glibc", glibc <= OLDEST_GLIBC, f"asks for glibc {glibc[0]}.{glibc[1]}"
    for name in parts:
        module = build / f"librocetune-{name}.so"
        libraries = needed(module)
        pattern = PART_MUST_NEED.get(name)
        yield (f"{module.name} needs {pattern}", pattern is not None and any(re.match(pattern, l) for l in libraries),
               f"needs {sorted(libraries)}")
        yield f"{module.name} brings its own C++ runtime", not any(l.startswith("libstdc++") for l in libraries), \
            f"needs {sorted(libraries)}"
        yield f"{module.name} shows one symbol", shown(module) == PART_SHOWS, f"shows {sorted(shown(module))[:8]}"


def main():
    passed = failed = 0
    for what, holds, found in checks(pathlib.Path(sys.argv[1]), sys.argv[2:]):
        print(f"{'ok    ' if holds else 'FAILED'} {what}{'' if holds else ': ' + found}")
        passed, failed = (passed + 1, failed) if holds else (passed, failed + 1)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
