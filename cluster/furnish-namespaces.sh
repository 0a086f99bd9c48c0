#!/usr/bin/env bash
# Furnishes the cluster's new namespaces, from inside: the mounts, kernel settings and network of a node. Nothing of it
# can be seen from the machine, and all of it goes with the namespaces.
#
#   furnish-namespaces.sh NODE_NAME NODE_ADDRESS SERVICE_RANGE FOLDER     (FOLDER: on disk, for the kubelet's files)
set -euo pipefail
node_name=$1 node_address=$2 service_range=$3 folder=$4

hostname "$node_name"

# A sysfs that shows this network namespace, with the machine's cgroup mounts kept. A hybrid machine is shown as pure
# v1: runc and the kubelet would guess differently.
mkdir -p "$folder/cgroup"
mount --rbind /sys/fs/cgroup "$folder/cgroup"
mount -t sysfs sysfs /sys
mount --rbind "$folder/cgroup" /sys/fs/cgroup
umount -l "$folder/cgroup"
rmdir "$folder/cgroup"
if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi

# containerd, CNI plugins and the kubelet write below these by fixed names.
for place in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs "$place"; done
mkdir -p /run/lock /run/netns /var/lib/kubelet /var/log/pods "$folder/kubelet"
mount --bind "$folder/kubelet" /var/lib/kubelet

# The kubelet wants these values. It is shown them; the machine keeps its own.
mkdir /run/sysctl
while read -r setting value; do
  shown=/run/sysctl/${setting//\//.}
  echo "$value" >"$shown"
  mount --bind "$shown" "/proc/sys/$setting"
done <<'SETTINGS'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SETTINGS
mount --make-rshared /

# The node's address sits on a bridge: every kernel that can run pods has that device. Services are routed to it only so
# that a local connect() finds a route before NAT. There is no default route: whatever else is unreachable at once.
ip link set lo up
ip link add node0 type bridge
ip address add "$node_address/24" dev node0
ip link set node0 up
ip route add "$service_range" dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables # pod to Service to pod, all on one bridge
