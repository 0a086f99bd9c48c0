// Sends reviews to a webhook over keep-alive TLS connections, as an API server does, and measures the answers.
//
//   review_load CA_FILE SERVER_NAME PATH BODY_FILE ENDPOINTS_FILE CONNECTIONS RATE SECONDS
//
// Reviews arrive RATE times per second, whether or not earlier ones were answered; the time of one counts from its
// arrival. With RATE 0 every connection has a review on its way all the time. ENDPOINTS_FILE has the ports on 127.0.0.1
// to connect to, and is read again for each connection: a Service in a file. An answer with `Connection: close` is
// followed by a new connection. SIGTERM ends it early. Prints one line of JSON.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Time = std::chrono::steady_clock::time_point;
Time now() { return std::chrono::steady_clock::now(); }

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

volatile std::sig_atomic_t told_to_end = 0;

[[noreturn]] void give_up(std::string_view why) {
  fmt::print(stderr, "review_load: {}\n", why);
  std::exit(1);
}

struct Settings {
  SSL_CTX* tls = nullptr;
  std::string server_name;
  std::string request;
  const char* endpoints = nullptr;
};

// One connection: at most one review at a time.
class Connection {
 public:
  explicit Connection(const Settings& settings) : settings_(settings) { open(); }

  int descriptor() const { return socket_; }
  bool busy() const { return busy_; }
  Time arrived() const { return arrived_; }

  bool send(Time arrived) {
    busy_ = true;
    arrived_ = arrived;
    input_.clear();
    if (SSL_write(ssl_, settings_.request.data(), int(settings_.request.size())) <= 0) return false;
    char* bytes = nullptr;
    long size = BIO_get_mem_data(outgoing_, &bytes);
    for (long sent = 0; sent < size;) {
      ssize_t n = ::send(socket_, bytes + sent, size_t(size - sent), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN) std::this_thread::yield();
      else if (n <= 0) return false;
      else sent += n;
    }
    (void)BIO_reset(outgoing_);
    return true;
  }

  enum class State { waiting, answered, failed, closed };
  // Takes what has arrived.
  State receive() {
    char piece[16384];
    int n = 0;
    while ((n = SSL_read(ssl_, piece, sizeof piece)) > 0) {
      input_.append(piece, size_t(n));
      if (is_whole()) break;
    }
    if (busy_ && is_whole()) {
      busy_ = false;
      closing_ = input_.find("\r\nConnection: close\r\n") != std::string::npos;
      bool good = input_.starts_with("HTTP/1.1 200") && input_.find("\"allowed\":true") != std::string::npos;
      if (!good && problem.empty()) problem = input_.substr(0, 300);
      return good ? State::answered : State::failed;
    }
    if (n > 0 || SSL_get_error(ssl_, n) == SSL_ERROR_WANT_READ) return State::waiting;
    if (busy_ && problem.empty()) problem = fmt::format("the connection ended after {} bytes", input_.size());
    return busy_ ? State::failed : State::closed;
  }
  bool closing() const { return closing_; }

  void reopen() {
    SSL_free(ssl_);
    ::close(socket_);
    open();
  }

  static inline std::string problem;

 private:
  void open() {
    busy_ = closing_ = false;
    for (int attempt = 0; attempt < 200; ++attempt) {
      if (connect_once()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    give_up("cannot connect");
  }

  bool connect_once() {
    std::ifstream file(settings_.endpoints);
    std::vector<uint16_t> ports{std::istream_iterator<uint16_t>(file), {}};
    if (ports.empty()) return false;
    static size_t next = 0;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(ports[next++ % ports.size()]);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int at_once = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    ssl_ = SSL_new(settings_.tls);
    SSL_set_tlsext_host_name(ssl_, settings_.server_name.c_str());
    SSL_set1_host(ssl_, settings_.server_name.c_str());
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      SSL_set_fd(ssl_, socket_);
      if (SSL_connect(ssl_) == 1) return use_connection();
    }
    SSL_free(ssl_);
    ::close(socket_);
    return false;
  }

  // From here on a request is encrypted as a whole, and sent with one system call.
  bool use_connection() {
    ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) | O_NONBLOCK);
    outgoing_ = BIO_new(BIO_s_mem());
    SSL_set0_wbio(ssl_, outgoing_);
    return true;
  }

  bool is_whole() const {
    size_t head = input_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    size_t at = input_.find("Content-Length: ");
    size_t length = 0;
    if (at < head) std::from_chars(input_.data() + at + 16, input_.data() + head, length);
    return input_.size() >= head + 4 + length;
  }

  const Settings& settings_;
  int socket_ = -1;
  SSL* ssl_ = nullptr;
  BIO* outgoing_ = nullptr;
  bool busy_ = false;
  bool closing_ = false;
  Time arrived_;
  std::string input_;
};

class Load {
 public:
  Load(const Settings& settings, size_t connections) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    connections_.reserve(connections);
    for (size_t i = 0; i < connections; ++i) {
      connections_.emplace_back(settings);
      watch(i);
      free_.push_back(i);
    }
  }

  void run(double rate, double seconds) {
    Time start = now();
    Time end = start + std::chrono::nanoseconds(int64_t(seconds * 1e9));
    int64_t arrived = 0;
    while (true) {
      Time time = now();
      if (told_to_end && time < end) end = time;
      bool over = time >= end;
      if (over && free_.size() == connections_.size() && waiting_.empty()) break;
      if (time > end + std::chrono::seconds(30)) give_up("answers are missing");
      while (rate > 0 && !over) {
        Time next = start + std::chrono::nanoseconds(int64_t(double(arrived) * 1e9 / rate));
        if (next > time) break;
        waiting_.push_back(next);
        ++arrived;
      }
      if (rate <= 0 && !over)
        while (waiting_.size() < free_.size()) waiting_.push_back(time);
      while (!waiting_.empty() && !free_.empty()) send_one();
      if (rate > 0) wait_until(start + std::chrono::nanoseconds(int64_t(double(arrived) * 1e9 / rate)));
      else take_events(-1);
    }
    took_ = std::chrono::duration<double>(now() - start).count();
  }

  void print() {
    std::ranges::sort(times_);
    auto at = [&](double part) {
      return times_.empty() ? 0.0 : times_[std::min(times_.size() - 1, size_t(part * double(times_.size())))] / 1e6;
    };
    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    double cpu =
        double(own.ru_utime.tv_sec + own.ru_stime.tv_sec) + double(own.ru_utime.tv_usec + own.ru_stime.tv_usec) / 1e6;
    if (!Connection::problem.empty()) fmt::print(stderr, "review_load: {}\n", Connection::problem);
    fmt::print(R"({{"answered":{},"failed":{},"reconnects":{},"seconds":{:.3f},"per_s":{:.1f},"p50_ms":{:.4f},)"
               R"("p99_ms":{:.4f},"p999_ms":{:.4f},"own_cpu_s":{:.3f}}})"
               "\n",
               times_.size(), failed_, reconnects_, took_, double(times_.size()) / took_, at(0.5), at(0.99), at(0.999),
               cpu);
  }

 private:
  void watch(size_t index) {
    epoll_event event{.events = EPOLLIN | EPOLLRDHUP, .data = {.u64 = index}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connections_[index].descriptor(), &event);
  }
  void reopen(size_t index) {
    ++reconnects_;
    connections_[index].reopen();
    watch(index);
  }
  void send_one() {
    size_t index = free_.front();
    free_.pop_front();
    Time arrived = waiting_.front();
    waiting_.pop_front();
    if (connections_[index].send(arrived)) return;
    ++failed_;
    reopen(index);
    free_.push_back(index);
  }
  void wait_until(Time time) {
    auto left = std::chrono::duration_cast<std::chrono::microseconds>(time - now()).count();
    if (waiting_.empty() && left > 0) take_events(int(left));
    else take_events(waiting_.empty() ? 0 : 1000);
  }
  // Waits for at most that many microseconds; without an end if it is negative.
  void take_events(int microseconds) {
    epoll_event events[64];
    timespec limit{.tv_sec = 0, .tv_nsec = long(microseconds) * 1000};
    int count = epoll_pwait2(epoll_, events, 64, microseconds < 0 ? nullptr : &limit, nullptr);
    for (int i = 0; i < count; ++i) take(size_t(events[i].data.u64));
  }
  void take(size_t index) {
    Connection& connection = connections_[index];
    bool was_busy = connection.busy();
    switch (connection.receive()) {
      case Connection::State::waiting: return;
      case Connection::State::answered:
        times_.push_back(double((now() - connection.arrived()).count()));
        if (connection.closing()) reopen(index);
        break;
      case Connection::State::failed:
        ++failed_;
        reopen(index);
        break;
      case Connection::State::closed: reopen(index); break;
    }
    if (was_busy) free_.push_back(index);
  }

  int epoll_;
  std::vector<Connection> connections_;
  std::deque<size_t> free_;
  std::deque<Time> waiting_;
  std::vector<double> times_;
  size_t failed_ = 0;
  size_t reconnects_ = 0;
  double took_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) give_up("CA_FILE SERVER_NAME PATH BODY_FILE ENDPOINTS_FILE CONNECTIONS RATE SECONDS");
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, [](int) { told_to_end = 1; });
  Settings settings;
  settings.tls = SSL_CTX_new(TLS_client_method());
  // What an API server asks for first.
  SSL_CTX_set_ciphersuites(settings.tls, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set_read_ahead(settings.tls, 1);
  SSL_CTX_set_verify(settings.tls, SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_locations(settings.tls, argv[1], nullptr) != 1) give_up("the CA cannot be read");
  settings.server_name = argv[2];
  std::string body = read_file(argv[4]);
  settings.request = fmt::format(
      "POST {}?timeout=10s HTTP/1.1\r\nHost: {}\r\nUser-Agent: kube-apiserver-admission\r\nContent-Length: {}\r\n"
      "Accept: application/json\r\nContent-Type: application/json\r\n\r\n{}",
      argv[3], argv[2], body.size(), body);
  settings.endpoints = argv[5];
  Load load(settings, size_t(std::stoul(argv[6])));
  load.run(std::stod(argv[7]), std::stod(argv[8]));
  load.print();
}
