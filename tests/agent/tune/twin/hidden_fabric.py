#!/usr/bin/python3 -ES
"""A workload of hosts that fake_rocetune.py plays: their network is a fabric of `rocetune sim` that nobody knows.

usage: hidden_fabric.py ROCETUNE FABRIC.toml HOST_FOLDER...

Ports of the hosts are the hosts of the fabric, in order; each has what is in force on it. The hosts' `watch` shows what
`rocetune watch --fabric` counts for them. Prints `goodput X`, in Gb/s. The seed is $ROCETUNE_REPEAT.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

UNITS = {"rp_time_reset": "us", "rp_byte_reset": "B", "rp_ai_rate": "Mbps", "rp_hai_rate": "Mbps", "rp_min_rate": "Mbps",
         "rp_max_rate": "Mbps", "rp_rate_to_set_on_first_cnp": "Mbps", "rp_min_dec_fac": "%", "rp_dce_tcp_rtt": "us", "rp_rate_reduce_monitor_period": "us",
         "rp_dce_tcp_g": "/1024", "rp_initial_alpha_value": "/1024"}


def settings_of(folder):
    """What is in force on a host, by port: (kind, parameter) -> value."""
    host = json.loads((folder / "host.json").read_text())
    out = {}
    for port in host["ports"]:
        if not isinstance(port.get("cc_params"), dict) or "unavailable" in port["cc_params"]:
            continue
        out[port["name"]] = {("cc_param", name): value for name, value in port["cc_params"].items()}
        out[port["name"]][("mtu", "")] = port["mtu_bytes"]
    book = folder / "book.json"
    for name, value in (json.loads(book.read_text())["settings"] if book.exists() else {}).items():
        words = name.split(" ")
        out[words[0]][(words[1], words[2] if len(words) > 2 else "")] = value
    return out


def own_table(number, settings):
    lines = ["[[hosts.own]]", f"hosts = [{number}]"]
    for (kind, parameter), value in settings.items():
        if kind == "mtu":
            lines.append(f"mtu = {4096 if value >= 4192 else 2048 if value >= 2144 else 1024}")
        elif kind == "pfc":
            lines.append(f"lossless = {value['enabled']}")
        elif kind == "cm_default_tos":
            lines.append(f"dscp = {value >> 2}")
        elif kind == "app_table":
            entries = [f"{e['protocol']} = {e['priority']}" for e in value if e["selector"] == "dscp"]
            lines.append(f"priority_of_dscp = {{ {', '.join(entries)} }}")
        elif parameter.startswith("rp_") and parameter != "rp_gd":
            unit = UNITS.get(parameter)
            if parameter in ("rp_clamp_tgt_rate", "rp_clamp_tgt_rate_ati"):
                value, unit = "true" if value else "false", None
            lines.append(f"{parameter} = " + (f'"{value}{unit}"' if unit else f"{value}"))
        elif parameter == "np_min_time_between_cnps":
            lines.append(f'{parameter} = "{value}us"')
    return "\n".join(lines) + "\n"


def main():
    rocetune, fabric, *folders = sys.argv[1:]
    folders = [pathlib.Path(folder) for folder in folders]
    places = [(folder, port, settings) for folder in folders for port, settings in settings_of(folder).items()]
    text = pathlib.Path(fabric).read_text()
    # Tables of an array stand behind each other, and before [[flows]].
    at = text.index("[switches]")
    text = text[:at] + "".join(own_table(i, s) for i, (_, _, s) in enumerate(places)) + text[at:]
    file = folders[0] / "in_force.toml"
    file.write_text(text)
    limit = re.search('^limit = "(.*)"', text, re.MULTILINE).group(1)
    seed = str(int(os.environ.get("ROCETUNE_REPEAT", "1")) % 1000003)
    options = ["--seed", seed, "--json"]
    result = json.loads(subprocess.run([rocetune, "sim", file, *options], check=True, capture_output=True).stdout)
    watching = [subprocess.Popen([rocetune, "watch", "--fabric", file, "--host", f"h{i}", "--interval", limit, *options],
                                 stdout=subprocess.PIPE) for i in range(len(places))]
    frames = {}
    for (folder, port, _), process in zip(places, watching):
        frame = json.loads(process.communicate()[0].splitlines()[0])
        frame["ports"][0]["port"] = port
        for priority in frame["ports"][0]["priorities"]:  # a NIC that keeps these rows while PFC is off
            priority["increments"].setdefault("rx_pause_duration_us", 0)
        of_host = frames.setdefault(folder, {"elapsed_us": frame["elapsed_us"], "ports": []})
        of_host["ports"].append({key: frame["ports"][0][key] for key in ("port", "increments", "priorities")})
    for folder, frame in frames.items():
        old = folder / "seen.json"
        frame["number"] = json.loads(old.read_text())["number"] + 1 if old.exists() else 1
        (folder / "seen.new").write_text(json.dumps(frame))
        os.replace(folder / "seen.new", old)
    print("goodput", result["goodput_gbps"])


main()
