#include "http/client/internal/h1_connection.h"

#include "async/signal.h"
#include "http/client/internal/h1_parser.h"

namespace fairlead::http {
namespace {

class H1Connection final : public Connection, public std::enable_shared_from_this<H1Connection> {
 public:
  H1Connection(Loop& loop, std::unique_ptr<Stream> stream, H1Names names)
      : names_(std::move(names)), stream_(std::move(stream)), ended_(loop), buffer_(kReadSize, '\0') {}

  // The exchanges do the work; this only waits for the end.
  Task<void> run() override {
    auto self = shared_from_this();
    while (!over_)
      if (!co_await ended_.wait()) end();
  }

  size_t room() override {
    if (over_ || retiring_ || busy_) return 0;
    // A server may close what it thinks is idle; better to see that before a request is written.
    char byte;
    if (!stream_->try_read(&byte, 1)) return 1;
    end();
    return 0;
  }

  bool retired() const override { return over_ || retiring_; }

  void retire() override {
    retiring_ = true;
    if (!busy_) end();
  }

  Task<std::expected<Answer, Failure>> open(std::shared_ptr<const Request> request) override {
    auto self = shared_from_this();
    busy_ = true;
    parser_ = std::make_unique<H1Parser>(names_.peer, request->method == "HEAD");
    std::string head = head_of(*request);
    bool together = request->body.size() <= kReadSize;
    if (together) head += request->body;
    Result<void> done = co_await stream_->write(head);
    if (done && !together) done = co_await stream_->write(request->body);
    if (!done) co_return lost(std::move(done).error());
    while (!parser_->has_head()) {
      if (Result<void> more = co_await read_more(); !more) co_return lost(std::move(more).error());
    }
    Answer answer{.status = parser_->status(), .headers = parser_->take_headers(), .connection = id()};
    if (parser_->ended()) {
      answer.body = body_of(parser_->take_data());
      finish();
    } else {
      answer.body = std::make_unique<Rest>(std::move(self));
    }
    co_return answer;
  }

 private:
  class Rest final : public Body {
   public:
    explicit Rest(std::shared_ptr<H1Connection> connection) : connection_(std::move(connection)) {}
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;
    // The rest of the body stands in the way of any other answer.
    ~Rest() override {
      if (connection_) connection_->end();
    }

    Task<Result<std::optional<std::string>>> read() override {
      CO_TRY(co_await go_on());
      while (connection_) {
        H1Parser& parser = *connection_->parser_;
        if (std::string piece = parser.take_data(); !piece.empty()) co_return std::optional(std::move(piece));
        if (parser.ended()) {
          std::exchange(connection_, nullptr)->finish();
          break;
        }
        if (Result<void> more = co_await connection_->read_more(); !more) {
          std::exchange(connection_, nullptr)->end();
          error_ = more.error();
        }
      }
      if (error_) co_return fail(*error_);
      co_return std::nullopt;
    }

   private:
    std::shared_ptr<H1Connection> connection_;
    std::optional<Error> error_;
  };

  std::string head_of(const Request& request) const {
    std::string head = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\n", request.method, names_.prefix, request.target,
                                   names_.authority);
    for (const auto& [name, value] : request.headers) {
      bool ours = same_name(name, "host") || same_name(name, "content-length") ||
                  same_name(name, "transfer-encoding") || same_name(name, "connection");
      if (!ours) fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
    }
    if (!names_.proxy_authorization.empty())
      head += fmt::format("Proxy-Authorization: {}\r\n", names_.proxy_authorization);
    bool may_have_body = request.method != "GET" && request.method != "HEAD";
    if (may_have_body || !request.body.empty()) head += fmt::format("Content-Length: {}\r\n", request.body.size());
    return head + "\r\n";
  }

  Task<Result<void>> read_more() {
    Result<size_t> n = co_await stream_->read(buffer_.data(), buffer_.size());
    if (!n && n.error().kind() == ErrorKind::cancelled) co_return fail(n.error());
    if (!n) co_return fail(std::move(n).error().in(fmt::format("lost the connection to {}", names_.peer)));
    if (*n == 0) co_return parser_->feed_end();
    co_return parser_->feed({buffer_.data(), *n});
  }

  std::unexpected<Failure> lost(Error error) {
    end();
    return std::unexpected(Failure{std::move(error), Delivery::unknown});
  }

  void finish() {
    bool reusable = parser_->keeps_alive() && !retiring_;
    busy_ = false;
    if (!reusable) return end();
    on_room();
  }

  void end() {
    if (over_) return;
    over_ = true;
    stream_->shut();
    ended_.notify_all();
    on_room();
  }

  H1Names names_;
  std::unique_ptr<Stream> stream_;
  Signal ended_;
  std::string buffer_;
  std::unique_ptr<H1Parser> parser_;
  bool busy_ = false;
  bool retiring_ = false;
  bool over_ = false;
};

}  // namespace

std::shared_ptr<Connection> make_h1_connection(Loop& loop, std::unique_ptr<Stream> stream, H1Names names) {
  return std::make_shared<H1Connection>(loop, std::move(stream), std::move(names));
}

}  // namespace fairlead::http
