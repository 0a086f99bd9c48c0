#include "http/client/internal/h2_connection.h"

#include "async/scope.h"

namespace fairlead::http {
namespace {

// What is encrypted and written at once; more waits in the session, where a cancelled request can still be taken back.
constexpr size_t kWriteSize = size_t{128} << 10;
constexpr Duration kLastWords = std::chrono::milliseconds(500);

class H2Connection final : public Connection, public std::enable_shared_from_this<H2Connection> {
 public:
  H2Connection(Loop& loop, std::unique_ptr<Stream> stream, H2Session::Names names, PingTimes ping_times)
      : loop_(loop),
        peer_(names.peer),
        stream_(std::move(stream)),
        session_(loop, std::move(names)),
        ping_times_(ping_times),
        output_waits_(loop) {}

  Task<void> run() override {
    auto self = shared_from_this();
    Scope scope(loop_, co_await current_cancel());
    scope.spawn(write());
    scope.spawn(watch_over());
    co_await read();
    end(Error(ErrorKind::unavailable, fmt::format("{} closed the connection", peer_)));
    scope.cancel();
    co_await scope.join();
  }

  size_t room() override { return over_ ? 0 : session_.room(); }
  bool retired() const override { return over_ || session_.draining(); }

  void retire() override {
    session_.drain();
    wake_writer();
  }

  Task<std::expected<Answer, Failure>> open(std::shared_ptr<const Request> request) override {
    auto self = shared_from_this();
    if (session_.open_streams() == 0) last_heard_ = loop_.now();
    std::shared_ptr<H2Stream> stream = session_.submit(std::move(request));
    wake_writer();
    while (!stream->has_head && !stream->ended) {
      if (Result<void> woken = co_await stream->changed.wait(); !woken) {
        give_up(*stream);
        co_return std::unexpected(Failure{woken.error(), Delivery::unknown});
      }
    }
    if (!stream->has_head) co_return std::unexpected(*stream->failure);
    Answer answer{.status = stream->status, .headers = std::move(stream->headers), .connection = id()};
    if (stream->ended && !stream->failure) {
      answer.body = body_of(session_.take_data(*stream));
    } else {
      answer.body = std::make_unique<Rest>(std::move(self), std::move(stream));
    }
    co_return answer;
  }

 private:
  // A body that is still to come, all or in part.
  class Rest final : public Body {
   public:
    Rest(std::shared_ptr<H2Connection> connection, std::shared_ptr<H2Stream> stream)
        : connection_(std::move(connection)), stream_(std::move(stream)) {}
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;
    ~Rest() override { connection_->give_up(*stream_); }

    Task<Result<std::optional<std::string>>> read() override {
      CO_TRY(co_await go_on());
      while (stream_->data.empty() && !stream_->ended) CO_TRY(co_await stream_->changed.wait());
      if (!stream_->data.empty()) {
        std::string piece = connection_->session_.take_data(*stream_);
        connection_->wake_writer();
        co_return std::optional(std::move(piece));
      }
      if (stream_->failure) co_return fail(stream_->failure->error);
      co_return std::nullopt;
    }

   private:
    std::shared_ptr<H2Connection> connection_;
    std::shared_ptr<H2Stream> stream_;
  };

  void wake_writer() { output_waits_.notify_one(); }

  void give_up(H2Stream& stream) {
    if (over_) return;
    session_.cancel(stream);
    wake_writer();
  }

  // The first reason counts; the others only follow from it.
  void end(Error why) {
    if (over_) return;
    over_ = true;
    stream_->shut();
    session_.fail_all(why);
    on_room();
  }

  Task<void> read() {
    std::string buffer(kReadSize, '\0');
    while (!over_) {
      Result<size_t> n = co_await stream_->read(buffer.data(), buffer.size());
      if (!n && n.error().kind() == ErrorKind::cancelled) co_return end(closed_by_us());
      if (!n) co_return end(std::move(n).error().in(fmt::format("lost the connection to {}", peer_)));
      if (*n == 0) co_return;
      last_heard_ = loop_.now();
      size_t room_before = session_.room();
      if (Result<void> fed = session_.feed({buffer.data(), *n}); !fed) co_return end(fed.error());
      if (session_.room() != room_before) on_room();
      wake_writer();
    }
  }

  Task<void> write() {
    std::string output;
    while (!over_) {
      output.clear();
      size_t room_before = session_.room();
      session_.take_output(output, kWriteSize);
      if (session_.room() != room_before) on_room();
      if (!output.empty()) {
        Result<void> written = co_await stream_->write(output);
        if (!written && written.error().kind() == ErrorKind::cancelled) co_return end(closed_by_us());
        if (!written)
          co_return co_await end_late(std::move(written).error().in(fmt::format("lost the connection to {}", peer_)));
        if (auto error = session_.violation()) co_return end(*error);
        continue;
      }
      if (session_.draining() && session_.open_streams() == 0) co_return end(closed_by_us());
      if (!co_await output_waits_.wait()) co_return end(closed_by_us());
    }
  }

  // A server that closes the connection may have said why: whoever reads gets the time to find that.
  Task<void> end_late(Error why) {
    (void)co_await sleep_for(loop_, kLastWords);
    end(std::move(why));
  }

  // Notices a server that is gone without a word.
  Task<void> watch_over() {
    Duration nap = ping_times_.ping_after;
    while (!over_) {
      if (!co_await sleep_for(loop_, nap)) co_return;
      Duration silence = loop_.now() - last_heard_;
      bool asks = session_.open_streams() > 0 && silence >= ping_times_.ping_after;
      nap = asks || session_.open_streams() == 0 ? ping_times_.ping_after : ping_times_.ping_after - silence;
      if (!asks) continue;
      TimePoint asked = loop_.now();
      session_.ping();
      wake_writer();
      // In two steps: where this process itself stood still, what has arrived meanwhile is read before the last of
      // them.
      if (!co_await sleep_for(loop_, ping_times_.ping_timeout / 4 * 3)) co_return;
      if (last_heard_ < asked && !co_await sleep_for(loop_, ping_times_.ping_timeout / 4)) co_return;
      if (last_heard_ < asked && session_.open_streams() > 0)
        co_return end(Error(ErrorKind::unavailable, fmt::format("{} gives no sign of life", peer_)));
    }
  }

  Error closed_by_us() const {
    return Error(ErrorKind::unavailable, fmt::format("the connection to {} was closed on this side", peer_));
  }

  Loop& loop_;
  std::string peer_;
  std::unique_ptr<Stream> stream_;
  H2Session session_;
  PingTimes ping_times_;
  Signal output_waits_;
  TimePoint last_heard_{};
  bool over_ = false;
};

}  // namespace

std::shared_ptr<Connection> make_h2_connection(Loop& loop, std::unique_ptr<Stream> stream, H2Session::Names names,
                                               PingTimes ping_times) {
  return std::make_shared<H2Connection>(loop, std::move(stream), std::move(names), ping_times);
}

}  // namespace fairlead::http
