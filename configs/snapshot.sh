#!/bin/sh
# Collects what `rocetune doctor --from` reads, on a host where rocetune itself may not be copied. Changes nothing: it
# only reads, with sh, coreutils, and whichever of ethtool, ip, dcb, rdma, lspci, mlnx_qos and the verbs tools are there.
#
#   sh collect.sh [SECONDS] [FOLDER]     SECONDS between the two looks at the counters (default 5)
#
# Each file begins with a prompt that names host and command. What a tool refused stands in it too. The folder holds
# host names, addresses, MACs and kernel messages: look through it before you send it.
seconds=${1:-5}
host=$(cat /proc/sys/kernel/hostname 2>/dev/null || echo host)
out=${2:-rocetune-$host}
case $seconds in
  '' | *[!0-9]*) echo "$0: SECONDS: found \"$seconds\", allowed: a whole number" >&2; exit 2 ;;
esac
if [ -e "$out" ]; then
  echo "$0: $out: found there already, allowed: a new name" >&2
  exit 2
fi
mkdir -p "$out" || exit 2

has() { command -v "$1" >/dev/null 2>&1; }
# keep FILE COMMAND...: the command's output, behind a prompt.
keep() {
  file=$out/$1
  shift
  { echo "root@$host:~# $*"; "$@" 2>&1; } >>"$file"
}
# One sysfs file or folder of small files, as "path:value".
keep_files() {
  file=$out/$1
  shift
  echo "root@$host:~# grep . $*" >>"$file"
  grep . "$@" /dev/null >>"$file" 2>/dev/null
}

nics=
for path in /sys/class/net/*; do
  [ -e "$path/device" ] || continue # lo, bridges, VLANs
  nics="$nics ${path##*/}"
done
devices=
for path in /sys/class/infiniband/*; do
  [ -e "$path" ] && devices="$devices ${path##*/}"
done

counters() { # PHASE
  for nic in $nics; do
    has ethtool && keep "ethtool-S.$nic.$1.txt" ethtool -S "$nic"
    has dcb && keep "dcb-pfc.$nic.$1.txt" dcb -s pfc show dev "$nic"
  done
  for device in $devices; do
    for port in /sys/class/infiniband/"$device"/ports/*; do
      keep_files "hw_counters.$device.$1.txt" "$port"/hw_counters/* "$port"/counters/*
    done
  done
}

counters before
has ip && keep ip-link.txt ip -d link show
has ip && keep ip-addr.txt ip addr show
for nic in $nics; do
  if has ethtool; then
    keep "ethtool.$nic.txt" ethtool "$nic"
    keep "ethtool-i.$nic.txt" ethtool -i "$nic"
    keep "ethtool-a.$nic.txt" ethtool -a "$nic"
    keep "ethtool-fec.$nic.txt" ethtool --show-fec "$nic"
    keep "ethtool-m.$nic.txt" ethtool -m "$nic"
  fi
  if has dcb; then
    for object in ets app buffer maxrate dcbx; do
      keep "dcb.$nic.txt" dcb "$object" show dev "$nic"
    done
  fi
  has mlnx_qos && keep "mlnx_qos.$nic.txt" mlnx_qos -i "$nic"
  has lspci && bus=$(readlink -f "/sys/class/net/$nic/device") && keep "lspci.$nic.txt" lspci -vvv -s "${bus##*/}"
done
has lspci && keep lspci.txt lspci -vvv
has rdma && keep rdma-link.txt rdma link show
has rdma && keep rdma-statistic.txt rdma statistic show
has ibv_devinfo && keep ibv_devinfo.txt ibv_devinfo -v
has show_gids && keep show_gids.txt show_gids
has ibstat && keep ibstat.txt ibstat
has nvidia-smi && keep nvidia-smi-topo.txt nvidia-smi topo -m
has mlxlink && for device in $devices; do keep "mlxlink.$device.txt" mlxlink -d "$device" -m -c -e; done
for device in $devices; do
  for port in /sys/class/infiniband/"$device"/ports/*; do
    keep_files "gids.$device.txt" "$port"/gids/* "$port"/gid_attrs/types/* "$port"/gid_attrs/ndevs/*
    [ -e "/sys/class/infiniband/$device/tc/${port##*/}/traffic_class" ] &&
      keep "traffic_class.$device.txt" cat "/sys/class/infiniband/$device/tc/${port##*/}/traffic_class"
  done
done
for bond in /proc/net/bonding/*; do
  [ -e "$bond" ] && keep "bonding.${bond##*/}.txt" cat "$bond"
done
has lsmod && keep lsmod.txt lsmod
[ -r /etc/nccl.conf ] && cp /etc/nccl.conf "$out/nccl.conf"
has dmesg && {
  echo "root@$host:~# dmesg"
  dmesg 2>&1 | grep -E 'mlx[45]|bnxt|irdma| ice |ionic|qed|rdma|infiniband|ib_core|AER|DMAR|AMD-Vi|IO_PAGE|nvidia|amdgpu|Link is' |
    tail -n 2000
} >"$out/dmesg.txt"

sleep "$seconds"
counters "after${seconds}s"
echo "$out: look at it with: rocetune doctor --from $out"
