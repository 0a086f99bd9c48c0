"""A watch whose events are collected in the background."""
import http.client
import json
import socket
import threading
import time

from tests.scripts.given import PATIENCE
from tests.scripts.script import Mistake
from tests.scripts.server import is_starting


def counts(event):
    """Bookmarks come when the server likes, but for the one that ends the initial events."""
    annotations = event.get("object", {}).get("metadata", {}).get("annotations", {})
    return event["type"] != "BOOKMARK" or "k8s.io/initial-events-end" in annotations


def begin(server, path):
    """The connection's socket and the answer that the events come in."""
    while True:
        connection = server.connect(timeout=PATIENCE)
        connection.request("GET", path, headers={"Accept": "application/json", **server.headers})
        open_socket = connection.sock  # kept here: the connection forgets it when an answer has no length
        answer = connection.getresponse()
        if answer.status == 200:
            return open_socket, answer
        text = answer.read().decode()
        if not is_starting(answer.status, text):
            raise Mistake(f"WATCH {path}: {answer.status} {text}")
        connection.close()
        time.sleep(float(answer.headers.get("Retry-After", 1)))


class Watch:
    def __init__(self, server, path):
        self.socket, answer = begin(server, path)
        self.events, self.changed = [], threading.Condition()
        threading.Thread(target=self.collect, args=(answer,), daemon=True).start()

    def collect(self, answer):
        try:
            for line in answer:
                event = json.loads(line)
                if counts(event):
                    with self.changed:
                        self.events.append(event)
                        self.changed.notify_all()
        except (OSError, ValueError, http.client.HTTPException):
            pass  # closed at the end of the script, in the middle of a line perhaps

    def close(self):
        """Ends the reading thread's wait too, which closing the connection would not."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the server was faster

    def take(self, count):
        with self.changed:
            self.changed.wait_for(lambda: len(self.events) >= count, PATIENCE)
            taken, self.events = self.events[:count], self.events[count:]
            return taken
