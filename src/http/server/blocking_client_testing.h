// For the server's tests: a server on a thread of its own, and a blocking client, so that a test reads from top to
// bottom.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "async/scope.h"
#include "http/server/server.h"

namespace fairlead::http {

// A thread with a loop, until the end of the test.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop.run(work()); }) {}
  ~LoopThread() {
    loop.post([this] { jobs_.close(); });
    thread_.join();
  }

  // Runs the task on the loop, and waits for it. One at a time, in order.
  void run(std::move_only_function<Task<void>()> job) { start(std::move(job)).get(); }
  std::future<void> start(std::move_only_function<Task<void>()> job) {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> future = done->get_future();
    loop.post([this, done, job = std::move(job)]() mutable { jobs_.send({std::move(job), done}); });
    return future;
  }
  // Runs the function on the loop, beside whatever task runs there.
  template <class T>
  T ask(std::function<T()> question) {
    std::promise<T> answer;
    loop.post([&] { answer.set_value(question()); });
    return answer.get_future().get();
  }

  RealLoop loop;

 private:
  struct Job {
    std::move_only_function<Task<void>()> task;
    std::shared_ptr<std::promise<void>> done;
  };

  Task<void> work() {
    while (true) {
      Result<std::optional<Job>> job = co_await jobs_.receive();
      if (!job || !*job) co_return;
      co_await (*job)->task();
      (*job)->done->set_value();
    }
  }

  Channel<Job> jobs_{loop};
  std::thread thread_;
};

// What a client trusts and shows; none of it: no TLS.
struct ClientTls {
  std::vector<x509::Certificate> roots;
  std::optional<Identity> identity;
  std::string alpn = "http/1.1";
};

class TestClient {
 public:
  explicit TestClient(uint16_t port, std::optional<ClientTls> tls = std::nullopt) {
    std::signal(SIGPIPE, SIG_IGN);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Longer than any test: a test that hangs fails instead.
    timeval limit{.tv_sec = 30, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int at_once = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    sockaddr_in address{
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    if (connected_ && tls) connected_ = start_tls(*tls);
  }
  ~TestClient() { vanish(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return connected_; }

  bool send(std::string_view text) {
    while (!text.empty()) {
      ssize_t size = ssl_ ? SSL_write(ssl_, text.data(), int(text.size())) : ::send(fd_, text.data(), text.size(), 0);
      if (size <= 0) return false;
      text.remove_prefix(static_cast<size_t>(size));
    }
    return true;
  }

  // Up to and with the mark; what came, if the connection ends before that.
  std::string read_until(std::string_view mark) {
    while (input_.find(mark) == input_.npos && read_some()) {
    }
    size_t end =
        std::min(input_.size(), input_.find(mark) == input_.npos ? input_.size() : input_.find(mark) + mark.size());
    return take(end);
  }
  std::string read_bytes(size_t size) {
    while (input_.size() < size && read_some()) {
    }
    return take(std::min(size, input_.size()));
  }
  std::string read_to_end() {
    while (read_some()) {
    }
    return take(input_.size());
  }
  // The head without its Date, and the body by its length or chunks.
  std::string read_answer() {
    std::string head = read_until("\r\n\r\n");
    if (size_t date = head.find("Date: "); date != head.npos) head.erase(date, head.find("\r\n", date) + 2 - date);
    std::string body;
    if (size_t at = head.find("Content-Length: "); at != head.npos) body = read_bytes(std::stoul(head.substr(at + 16)));
    if (head.find("Transfer-Encoding: chunked") != head.npos) body = read_until("0\r\n\r\n");
    return head + body;
  }
  std::string exchange(std::string_view request) {
    send(request);
    return read_answer();
  }

  std::string server_fingerprint() const {
    X509* certificate = SSL_get0_peer_certificate(ssl_);
    return certificate ? x509::Certificate::share(certificate).sha256_fingerprint() : "";
  }
  std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
    return std::string(name, name + size);
  }

  // Without a word to the server.
  void vanish() {
    if (ssl_) SSL_free(ssl_);
    ssl_ = nullptr;
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  bool start_tls(const ClientTls& tls) {
    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    for (const x509::Certificate& root : tls.roots)
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), root.handle());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (tls.identity) {
      SSL_CTX_use_certificate(context.get(), tls.identity->chain.front().handle());
      SSL_CTX_use_PrivateKey(context.get(), tls.identity->key.handle());
    }
    std::string alpn = char(tls.alpn.size()) + tls.alpn;
    SSL_CTX_set_alpn_protos(context.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                            static_cast<unsigned int>(alpn.size()));
    ssl_ = SSL_new(context.get());
    SSL_set1_host(ssl_, "localhost");
    SSL_set_fd(ssl_, fd_);
    return SSL_connect(ssl_) == 1;
  }

  bool read_some() {
    char piece[16384];
    ssize_t size = ssl_ ? SSL_read(ssl_, piece, sizeof piece) : recv(fd_, piece, sizeof piece, 0);
    if (size <= 0) return false;
    input_.append(piece, static_cast<size_t>(size));
    return true;
  }
  std::string take(size_t size) {
    std::string taken = input_.substr(0, size);
    input_.erase(0, size);
    return taken;
  }

  int fd_ = -1;
  SSL* ssl_ = nullptr;
  bool connected_ = false;
  std::string input_;
};

}  // namespace fairlead::http
