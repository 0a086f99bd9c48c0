"""The command lines of a cluster's processes, and the configuration files they read."""
import ipaddress
import resource

from cluster.builds import PAUSE_IMAGE

NODE_NAME = "node1"
NODE_ADDRESS = "10.99.0.1"
POD_RANGE = "10.244.0.0/24"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"


def service_range(size, apiserver_port):
    """Where Services get their addresses.

    A control plane alone runs on the machine's own network, where an API server that calls a webhook's Service would
    send packets to whoever has that address. So it gets a piece of the loopback network, one for each port: nothing
    leaves the machine, and a test may listen on a Service's address itself.
    """
    if size == "whole":
        return ipaddress.ip_network("10.96.0.0/16")
    return ipaddress.ip_network((int(ipaddress.ip_address("127.128.0.0")) + apiserver_port % 4096 * 2048, 21))


def further_api_servers(instance):
    """number -> port, of those beside the first one: they share its etcd and its certificates."""
    return {int(name.removeprefix("apiserver-")): port for name, port in sorted(instance.ports.items())
            if name.startswith("apiserver-")}


def commands(instance):
    """name -> command line, for the size of this cluster."""
    state, ports = instance.folder, instance.ports
    programs = instance.release.bin
    pki, config = state / "pki", state / "config"
    services = service_range(instance.size, ports["apiserver"])
    whole = instance.size == "whole"
    etcd, peer = f"https://127.0.0.1:{ports['etcd']}", f"https://127.0.0.1:{ports['etcd-peer']}"
    result = {
        "etcd": [
            programs / "etcd", "--name=fairlead", f"--data-dir={instance.record['data']}", "--log-level=warn",
            f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=fairlead={peer}",
            # Every user of the machine can reach these ports.
            *(f"--{side}{flag}" for side in ("", "peer-") for flag in (
                f"cert-file={pki}/etcd.crt", f"key-file={pki}/etcd.key", f"trusted-ca-file={pki}/etcd-ca.crt",
                "client-cert-auth=true")),
            "--unsafe-no-fsync", f"--quota-backend-bytes={4 << 30}"],
        "kube-apiserver": [
            programs / "kube-apiserver", f"--etcd-servers={etcd}", f"--etcd-cafile={pki}/etcd-ca.crt",
            f"--etcd-certfile={pki}/apiserver-etcd-client.crt", f"--etcd-keyfile={pki}/apiserver-etcd-client.key",
            f"--secure-port={ports['apiserver']}",
            *(["--bind-address=0.0.0.0", f"--advertise-address={NODE_ADDRESS}"] if whole else
              ["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"]),
            f"--service-cluster-ip-range={services}", "--authorization-mode=Node,RBAC", "--allow-privileged=true",
            "--enable-admission-plugins=NodeRestriction", "--profiling=false",
            f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt", f"--token-auth-file={state}/tokens/list.csv",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={pki}/service-account.crt",
            f"--service-account-signing-key-file={pki}/service-account.key",
            f"--kubelet-certificate-authority={pki}/ca.crt", "--kubelet-preferred-address-types=InternalIP",
            f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
            f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
            f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
            "--requestheader-allowed-names=front-proxy-client", "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
            f"--proxy-client-key-file={pki}/front-proxy-client.key"],
        # The qps: with the default of 20 a new namespace waits seconds for its ServiceAccount.
        "kube-controller-manager": [
            programs / "kube-controller-manager", f"--kubeconfig={config}/controller-manager.kubeconfig", "--secure-port=0",
            "--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400",
            "--use-service-account-credentials=true", f"--root-ca-file={pki}/ca.crt",
            f"--service-account-private-key-file={pki}/service-account.key",
            f"--cluster-signing-cert-file={pki}/ca.crt", f"--cluster-signing-key-file={pki}/ca.key"],
    }
    for number, port in further_api_servers(instance).items():
        words = result["kube-apiserver"]
        result[f"kube-apiserver-{number}"] = [word if not str(word).startswith("--secure-port=") else
                                              f"--secure-port={port}" for word in words]
    if whole:
        result |= {
            "containerd": ["containerd", f"--config={config}/containerd.toml", "--log-level=warn"],
            "kube-scheduler": [
                programs / "kube-scheduler", f"--kubeconfig={config}/scheduler.kubeconfig", "--secure-port=0",
                "--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400"],
            "kubelet": [
                programs / "kubelet", f"--config={config}/kubelet.yaml", f"--kubeconfig={config}/kubelet.kubeconfig",
                f"--hostname-override={NODE_NAME}", f"--node-ip={NODE_ADDRESS}"],
            "kube-proxy": [programs / "kube-proxy", f"--config={config}/kube-proxy.yaml"],
        }
    return result


def write_node_configuration(instance):
    state, config = instance.folder, instance.folder / "config"
    (config / "cni").mkdir()
    (config / "cni" / "bridge.conflist").write_text(f"""{{
  "cniVersion": "0.4.0", "name": "fairlead", "plugins": [
    {{"type": "bridge", "bridge": "pods0", "isGateway": true, "hairpinMode": true,
      "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{POD_RANGE}"}}]], "routes": [{{"dst": "0.0.0.0/0"}}]}}}},
    {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]
}}
""")
    (config / "resolv.conf").write_text("nameserver 127.0.0.1\n")  # there is no cluster DNS, and no way out to another
    # restrict_oom_score_adj: a root without CAP_SYS_RESOURCE may not lower it, and then no pod would start.
    # disable_apparmor: a profile would be loaded into the machine's kernel and stay there.
    (config / "containerd.toml").write_text(f"""version = 2
root = "{state}/node/containerd"
state = "/run/containerd"
[grpc]
  address = "{CONTAINERD_SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "/run/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  stream_server_address = "127.0.0.1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{config}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
""")
    # makeIPTablesUtilChains: kube-proxy uses nftables and needs none. protectKernelDefaults: the kubelet checks the
    # machine's settings instead of changing them; furnish-namespaces.sh shows it those it wants.
    (config / "kubelet.yaml").write_text(f"""apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {NODE_ADDRESS}
authentication:
  anonymous: {{enabled: false}}
  webhook: {{enabled: true}}
  x509: {{clientCAFile: {state}/pki/ca.crt}}
authorization: {{mode: Webhook}}
tlsCertFile: {state}/pki/kubelet-server.crt
tlsPrivateKeyFile: {state}/pki/kubelet-server.key
containerRuntimeEndpoint: unix://{CONTAINERD_SOCKET}
cgroupDriver: cgroupfs
cgroupRoot: /{instance.unique}
failCgroupV1: false
failSwapOn: false
protectKernelDefaults: true
makeIPTablesUtilChains: false
resolvConf: {config}/resolv.conf
volumePluginDir: /var/lib/kubelet/volume-plugins
readOnlyPort: 0
imageGCHighThresholdPercent: 100
evictionHard: {{memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}}
oomScoreAdj: 0
maxOpenFiles: {resource.getrlimit(resource.RLIMIT_NOFILE)[1]}
""")
    (config / "kube-proxy.yaml").write_text(f"""apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
hostnameOverride: {NODE_NAME}
bindAddress: {NODE_ADDRESS}
clusterCIDR: {POD_RANGE}
clientConnection: {{kubeconfig: {config}/kube-proxy.kubeconfig}}
oomScoreAdj: 0
conntrack: {{maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}}
""")
