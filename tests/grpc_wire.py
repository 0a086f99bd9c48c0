"""Calls of gRPC as bytes, for tests that speak to a provider without a library."""


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def literal(name: str, value: str) -> bytes:
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def call(stream: int, path: str, message: bytes = b"") -> bytes:
    head = [(":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "localhost"),
            ("content-type", "application/grpc"), ("te", "trailers")]
    body = b"\0" + len(message).to_bytes(4, "big") + message
    return frame(1, 4, stream, b"".join(literal(*field) for field in head)) + frame(0, 1, stream, body)


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"")
