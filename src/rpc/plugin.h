// A server that Terraform starts as a plugin: how the two find and trust each other. And one that Pulumi starts.
//
// Terraform runs the program with a cookie in its environment and a certificate. The program writes one line to its
// standard output, which says where it listens and what its own certificate is, and serves until it is told to end. It
// reads no standard input, and SIGINT, which reaches it as well when the user types Ctrl-C, is for Terraform to handle.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "rpc/service.h"

namespace fairlead::rpc {

struct PluginSpec {
  // The environment variable that says that Terraform started us, and its value.
  std::string cookie_name;
  std::string cookie_value;
  // Of the protocol that the services speak.
  int protocol = 6;
  // Names the socket's folder.
  std::string name;
  // Serve whoever comes, without TLS, until SIGTERM or SIGINT: for a debugger. Tells the path of the socket.
  std::function<void(const std::string& socket)> on_debug;
};

// Whether Terraform started this process.
bool is_started_as_plugin(const PluginSpec& spec);

// Serves until the client says that it is done, is gone, or the process gets SIGTERM. Adds the services that belong to
// the protocol of plugins (health, shutdown).
Task<Result<void>> run_plugin(RealLoop& loop, PluginSpec spec, Services services);

// The line for standard output, without its newline. `certificate_der` is empty where there is no TLS.
std::string handshake_line(int protocol, const std::string& socket, std::string_view certificate_der);

struct PortSpec {
  // Whether the program that started this one takes it along when it ends.
  bool ends_with_parent = true;
  // Called when the server accepts connections.
  std::function<void(uint16_t port)> on_port;
};

// Serves on a port of 127.0.0.1 without TLS, as Pulumi wants it, until SIGTERM or SIGINT.
Task<Result<void>> run_on_port(RealLoop& loop, PortSpec spec, Services services);

}  // namespace fairlead::rpc
