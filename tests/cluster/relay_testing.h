// A TCP relay on loopback, whose connections can be cut at any moment.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "http/url.h"

namespace fairlead::kube {

class Relay {
 public:
  explicit Relay(const std::string& server) : port_(http::parse_url(server).value().port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    ::bind(listener_, as_generic(&address), sizeof address);
    ::listen(listener_, 64);
    socklen_t size = sizeof address;
    ::getsockname(listener_, as_generic(&address), &size);
    url_ = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~Relay() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    cut();
    for (std::thread& pump : pumps_) pump.join();
    ::close(listener_);
  }

  const std::string& url() const { return url_; }

  // Ends every connection, with whatever was on its way.
  void cut() {
    std::lock_guard lock(mutex_);
    for (int socket : open_) ::shutdown(socket, SHUT_RDWR);
  }

 private:
  static sockaddr_in loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  static sockaddr* as_generic(sockaddr_in* address) { return reinterpret_cast<sockaddr*>(address); }

  void accept_all() {
    for (int inside; (inside = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      int outside = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in address = loopback(port_);
      ::connect(outside, as_generic(&address), sizeof address);
      std::lock_guard lock(mutex_);
      open_.insert({inside, outside});
      pumps_.emplace_back([this, inside, outside] { pump(inside, outside); });
    }
  }

  void pump(int a, int b) {
    std::vector<char> buffer(65536);
    pollfd both[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    bool going_on = true;
    while (going_on && ::poll(both, 2, -1) > 0) {
      for (int i = 0; i < 2 && going_on; ++i) {
        if (!both[i].revents) continue;
        ssize_t n = ::read(both[i].fd, buffer.data(), buffer.size());
        going_on = n > 0 && ::send(both[1 - i].fd, buffer.data(), size_t(n), MSG_NOSIGNAL) == n;
      }
    }
    std::lock_guard lock(mutex_);
    for (int socket : {a, b}) {
      open_.erase(socket);
      ::close(socket);
    }
  }

  uint16_t port_;
  int listener_;
  std::string url_;
  std::thread acceptor_;
  std::vector<std::thread> pumps_;
  std::mutex mutex_;
  std::set<int> open_;
};

}  // namespace fairlead::kube
