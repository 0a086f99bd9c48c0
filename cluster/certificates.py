"""Keys, certificates, tokens and kubeconfigs of one cluster. They are made anew with each cluster and gone with it."""
import base64
import secrets
import subprocess

from cluster.settings import Failure

EXTENSIONS = """[req]
distinguished_name = subject
x509_extensions = extensions
[subject]
[extensions]
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
AUTHORITY = "basicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, cRLSign, digitalSignature\n"
LEAF = ("basicConstraints = critical, CA:FALSE\nkeyUsage = critical, digitalSignature, keyEncipherment\n"
        "extendedKeyUsage = {}\n")

# The users of the kubeconfigs: file name -> (certificate or token, user). plain-user and token-user may do nothing
# until a test grants it.
KUBECONFIGS = {"admin": ("admin", "certificate"), "user": ("user", "certificate"),
               "admin-token": ("admin", "token"), "user-token": ("user", "token")}
COMPONENTS = ("controller-manager", "scheduler", "kubelet", "kube-proxy")


def begin(folder, name, subject, extensions, authority=None):
    """Start openssl making NAME.key and NAME.crt; it makes the key and signs in one go."""
    signer = ["-CA", f"{authority}.crt", "-CAkey", f"{authority}.key"] if authority else []
    process = subprocess.Popen(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc",
         "-days", "3650", "-subj", subject, "-config", "/dev/stdin", "-keyout", f"{name}.key", "-out", f"{name}.crt",
         *signer],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    process.stdin.write(EXTENSIONS + extensions)
    process.stdin.close()
    return name, process


def finish(begun):
    for name, process in begun:
        words = process.stderr.read()
        if process.wait():
            raise Failure(f"openssl could not make the certificate {name}", words,
                          "openssl version  # 3.0 or newer is needed")


def make_pki(folder, node_name, server_addresses, node_addresses):
    folder.mkdir(mode=0o700)
    node = f"/O=system:nodes/CN=system:node:{node_name}"
    service = "kubernetes.default.svc"
    service_names = ",".join(f"DNS:{name}" for name in (
        "kubernetes", "kubernetes.default", service, f"{service}.cluster.local"))
    addresses = [",".join(f"IP:{address}" for address in group) for group in (server_addresses, node_addresses)]
    client, server = LEAF.format("clientAuth"), LEAF.format("serverAuth")
    finish([begin(folder, "ca", "/CN=fairlead-cluster-ca", AUTHORITY),
            begin(folder, "front-proxy-ca", "/CN=fairlead-cluster-front-proxy-ca", AUTHORITY),
            # Of its own: whoever may talk to the API server may not talk to etcd, which has no users.
            begin(folder, "etcd-ca", "/CN=fairlead-cluster-etcd-ca", AUTHORITY),
            # It signs tokens; nobody verifies its certificate.
            begin(folder, "service-account", "/CN=service-account", AUTHORITY)])
    finish([
        begin(folder, "apiserver", "/CN=kube-apiserver",
              f"{server}subjectAltName = DNS:localhost,{service_names},{addresses[0]}\n", "ca"),
        begin(folder, "etcd", "/CN=etcd", f"{LEAF.format('serverAuth, clientAuth')}subjectAltName = IP:127.0.0.1\n", "etcd-ca"),
        begin(folder, "apiserver-etcd-client", "/CN=kube-apiserver", client, "etcd-ca"),
        begin(folder, "apiserver-kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client", client, "ca"),
        begin(folder, "front-proxy-client", "/CN=front-proxy-client", client, "front-proxy-ca"),
        begin(folder, "admin", "/O=system:masters/CN=admin", client, "ca"),
        begin(folder, "user", "/CN=plain-user", client, "ca"),
        begin(folder, "controller-manager", "/CN=system:kube-controller-manager", client, "ca"),
        begin(folder, "scheduler", "/CN=system:kube-scheduler", client, "ca"),
        begin(folder, "kube-proxy", "/CN=system:kube-proxy", client, "ca"),
        begin(folder, "kubelet", node, client, "ca"),
        begin(folder, "kubelet-server", node, f"{server}subjectAltName = DNS:{node_name},{addresses[1]}\n", "ca"),
    ])


def make_tokens(folder):
    """One file a token, as tokenFile wants it, and the list that the API server reads."""
    folder.mkdir(mode=0o700)
    lines = []
    for name, user, groups in (("admin", "token-admin", "system:masters"), ("user", "token-user", "")):
        token = secrets.token_hex(16)
        (folder / name).write_text(token)
        lines.append(f'{token},{user},{user},"{groups}"\n')
    (folder / "list.csv").write_text("".join(lines))


def write_kubeconfig(path, server, state, user, credential):
    def embedded(file):
        return base64.b64encode((state / "pki" / file).read_bytes()).decode()
    if credential == "token":
        lines = f"    tokenFile: {state}/tokens/{user}"
    else:
        lines = (f"    client-certificate-data: {embedded(user + '.crt')}\n"
                 f"    client-key-data: {embedded(user + '.key')}")
    path.touch(mode=0o600)
    path.write_text(f"""apiVersion: v1
kind: Config
current-context: fairlead
clusters:
- name: fairlead
  cluster:
    server: {server}
    certificate-authority-data: {embedded('ca.crt')}
users:
- name: {user}
  user:
{lines}
contexts:
- name: fairlead
  context:
    cluster: fairlead
    user: {user}
""")


def make_credentials(state, server, node_name, server_addresses, node_addresses):
    """Everything that lets anybody into the cluster, below the folder `state`."""
    make_pki(state / "pki", node_name, server_addresses, node_addresses)
    make_tokens(state / "tokens")
    for name, (user, credential) in KUBECONFIGS.items():
        write_kubeconfig(state / f"{name}.kubeconfig", server, state, user, credential)
    for component in COMPONENTS:
        write_kubeconfig(state / "config" / f"{component}.kubeconfig", server, state, component, "certificate")
