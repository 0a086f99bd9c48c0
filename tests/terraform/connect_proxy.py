"""A proxy on loopback that does nothing but CONNECT, and remembers to where."""
import contextlib
import socket
import socketserver
import threading


def copy(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class Tunnel(socketserver.StreamRequestHandler):
    # Bytes that come early would stay in a buffer.
    rbufsize = 0

    def handle(self):
        method, target, _ = self.rfile.readline().decode().split()
        while self.rfile.readline().strip():
            pass
        if method != "CONNECT":
            self.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            return
        self.server.targets.append(target)
        host, _, port = target.rpartition(":")
        with socket.create_connection((host, int(port))) as server:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=copy, args=(server, self.connection))
            back.start()
            copy(self.connection, server)
            back.join()


class ConnectProxy(socketserver.ThreadingTCPServer):
    daemon_threads = True
    # Tunnels end with their clients.
    block_on_close = False

    def __init__(self):
        self.targets = []
        super().__init__(("127.0.0.1", 0), Tunnel)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.shutdown()
        self.server_close()
