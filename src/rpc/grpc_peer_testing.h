// The client's side of gRPC for tests: makes bytes for a GrpcSession, and reads what the session says. No sockets.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "rpc/internal/grpc_session.h"

namespace fairlead::rpc {

class GrpcPeer {
 public:
  struct Reply {
    std::map<std::string, std::string> fields;  // headers and trailers
    std::string bytes;
    bool ended = false;
    std::string status() const { return fields.contains("grpc-status") ? fields.at("grpc-status") : "none"; }
  };

  GrpcPeer();
  ~GrpcPeer();
  GrpcPeer(const GrpcPeer&) = delete;
  GrpcPeer& operator=(const GrpcPeer&) = delete;

  // Starts a call with these bytes as its body; the stream's id. It stays open on our side unless it `ends`.
  int32_t call(std::string_view path, std::string body, bool ends = true,
               std::string_view content_type = "application/grpc");
  void reset(int32_t stream);
  // What is to be sent to the server.
  std::string take_output();
  void feed(std::string_view bytes);
  // Moves bytes both ways until neither side has any.
  void exchange_with(GrpcSession& session);

  std::map<int32_t, Reply> replies;
  bool goodbye = false;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A message with the five bytes before it.
std::string framed(std::string_view message, bool compressed = false);

}  // namespace fairlead::rpc
