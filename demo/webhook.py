"""The operator's webhook: an HTTPS server that takes berths of 10 to 400 metres.

    webhook.py CERTIFICATE KEY

Prints the port that it listens on, and then a line for every object that it was asked about.
"""
import http.server
import json
import ssl
import sys


class Webhook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        metres = request["object"]["spec"].get("metres", 0)
        allowed = 10 <= metres <= 400
        print(f"{request['operation']} {request['kind']['kind']} {request['name']}: {'allowed' if allowed else 'denied'}",
              flush=True)
        response = {"uid": request["uid"], "allowed": allowed}
        if not allowed:
            response["status"] = {"message": f"a berth of {metres} m: it has to have 10 to 400"}
        body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    certificate, key = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
