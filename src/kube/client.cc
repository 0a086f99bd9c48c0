#include "kube/client.h"

#include <algorithm>

#include "async/scope.h"
#include "base/timestamp.h"
#include "kube/internal/warning_header.h"
#include "kube/query.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMaxValues = 16'000'000;
constexpr size_t kMaxFaultBody = size_t{4} << 20;
constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kDefaultRetryAfter = std::chrono::seconds(1);

Task<Outcome<Reply>> failed(Error error) { co_return std::unexpected(Failure(std::move(error))); }

std::string late(Duration limit) {
  using std::chrono::milliseconds, std::chrono::seconds;
  if (limit < seconds(10)) return fmt::format("the API server did not answer within {} ms", limit / milliseconds(1));
  return fmt::format("the API server did not answer within {} s", limit / seconds(1));
}

// The server has not done it, and says or implies that it will later.
bool says_later(const Fault& fault, bool repeatable) {
  switch (fault.kind) {
    case FaultKind::too_many_requests: return true;
    case FaultKind::server_starting:
    case FaultKind::server_stopping: return true;
    case FaultKind::version_ahead: return true;
    // A webhook that says when to come again.
    case FaultKind::webhook_denied: return fault.disposition == Disposition::passing;
    case FaultKind::server_unavailable: return fault.retry_after && (repeatable || !fault.outcome_unknown);
    default: return false;
  }
}

}  // namespace

Client::Client(Loop& loop, http::Transport& transport, Credentials* credentials, Options options)
    : loop_(loop),
      transport_(transport),
      credentials_(credentials),
      options_(std::move(options)),
      random_(static_cast<std::minstd_rand::result_type>(options_.seed)) {}

// Between the delay and a fifth more, so that those who were sent away together do not come back together.
Duration Client::jittered(Duration delay) { return delay + delay * static_cast<int64_t>(random_() % 1000) / 5000; }

Task<Result<http::Request>> Client::prepare(const Call& call, uint64_t& generation) {
  http::Request request{.method = call.method, .target = call.target, .body = call.body, .connection = call.connection};
  request.headers.set("User-Agent", options_.user_agent);
  request.headers.set("Accept", call.accept);
  if (!call.content_type.empty()) request.headers.set("Content-Type", call.content_type);
  if (!options_.compression) request.headers.set("Accept-Encoding", "identity");
  if (credentials_) {
    CO_TRY_ASSIGN(generation, co_await credentials_->authorize(request.headers));
  }
  co_return request;
}

// `answered` tells whether the head of an answer was there: then the server has the request, whatever breaks later.
Task<Result<http::Response>> Client::attempt(http::Request request, bool& answered) {
  CO_TRY_ASSIGN(http::Answer answer, co_await transport_.open(std::move(request)));
  answered = true;
  if (std::optional<std::string_view> date = answer.headers.find("Date"); date && *date != date_) {
    date_ = *date;
    dated_at_ = loop_.now();
  }
  bool success = answer.status >= 200 && answer.status < 300;
  size_t limit = success ? kMaxAnswer : kMaxFaultBody;
  http::Response response{
      .status = answer.status, .headers = std::move(answer.headers), .body = {}, .connection = answer.connection};
  while (answer.body) {
    CO_TRY_ASSIGN(std::optional<std::string> piece, co_await answer.body->read());
    if (!piece) break;
    if (response.body.size() + piece->size() > limit) {
      // What is wrong is told in the first bytes, if anywhere.
      if (!success) break;
      co_return fail(ErrorKind::limit, "the answer has more than {} MiB", limit >> 20);
    }
    response.body += *piece;
  }
  co_return response;
}

WallTime Client::server_now() const {
  std::optional<WallTime> told = parse_http_date(date_);
  return told ? *told + (loop_.now() - dated_at_) : loop_.clock().wall_now();
}

struct Client::Attempts {
  int busy = 0;
  int broken = 0;
  bool refreshed = false;
};

Task<Outcome<http::Response>> Client::exchange_with_retries(Call call) {
  Attempts attempts;
  TimePoint started = loop_.now();
  Duration pause = kFirstPause;
  while (true) {
    uint64_t generation = 0;
    CO_TRY_ASSIGN(http::Request request, co_await prepare(call, generation));
    ++counts_[call.verb];
    bool answered = false;
    TimePoint sent = loop_.now();
    Result<http::Response> response =
        co_await with_deadline(loop_, loop_.now() + options_.request_timeout, late(options_.request_timeout),
                               attempt(std::move(request), answered));
    if (options_.observe)
      options_.observe(call, response ? std::optional(response->status) : std::nullopt, loop_.now() - sent);
    if (!response) {
      Error error = std::move(response).error();
      bool unknown =
          answered || error.kind() == ErrorKind::timeout || http::delivery_of(error) == http::Delivery::unknown;
      bool passing = error.kind() == ErrorKind::unavailable && call.connection == 0;
      if (passing && (call.repeatable || !unknown) && ++attempts.broken < options_.broken_attempts) {
        CO_TRY(co_await sleep_for(loop_, jittered(pause)));
        pause *= 2;
        continue;
      }
      if (unknown && !call.repeatable && http::delivery_of(error) == http::Delivery::never)
        error = http::may_have_been_processed(std::move(error));
      co_return std::unexpected(Failure(std::move(error).in(fmt::format("{} {} failed", call.method, call.target))));
    }

    std::optional<Fault> fault =
        classify(call.method, call.target, response->status, response->headers, response->body);
    if (!fault) co_return std::move(*response);
    if (fault->kind == FaultKind::unauthorized && credentials_ && !std::exchange(attempts.refreshed, true)) {
      CO_TRY_ASSIGN(bool changed, co_await credentials_->refresh(generation));
      if (changed) continue;
    }
    if (says_later(*fault, call.repeatable)) {
      Duration wait = jittered(fault->retry_after.value_or(kDefaultRetryAfter));
      Duration so_far = loop_.now() - started;
      if (++attempts.busy < options_.busy_attempts && so_far + wait <= options_.busy_time) {
        CO_TRY(co_await sleep_for(loop_, wait));
        continue;
      }
      fault->explanation += fmt::format(" (asked {} {} in {} s)", attempts.busy, attempts.busy == 1 ? "time" : "times",
                                        so_far / std::chrono::seconds(1));
    }
    co_return std::unexpected(Failure(*std::move(fault), read_warnings(response->headers), response->connection));
  }
}

TimeLimit::TimeLimit(Client& client, TimePoint expires, CancelSource* stop, Duration grace)
    : client_(client),
      grace_(grace),
      at_end_(client.loop(), expires == TimePoint::max() ? expires : expires + grace, over_) {
  client_.time_limit_ = this;
  auto count_down = [this] { after_stop_.emplace(client_.loop(), client_.loop().now() + grace_, over_); };
  if (stop && stop->cancelled()) count_down();
  else stopped_.set(stop, count_down);
}

TimeLimit::~TimeLimit() { client_.time_limit_ = nullptr; }

Error as_late(const Error& error) {
  bool is_cancellation = error.kind() == ErrorKind::cancelled && !error.cause();
  Error late(ErrorKind::timeout, is_cancellation ? "the API server did not answer in time" : error.what());
  return error.cause() ? std::move(late).because(as_late(*error.cause())) : late;
}

template <class T>
Task<Outcome<T>> Client::in_time(Call call, Task<Outcome<T>> (Client::*what)(Call call)) {
  std::string name = fmt::format("{} {}", call.method, call.target);
  bool repeatable = call.repeatable;
  CancelSource& over = time_limit_->over_;
  CancelSource cancel(co_await current_cancel());
  CancelHook hook;
  if (over.cancelled()) cancel.cancel();
  else hook.set(&over, [&] { cancel.cancel(); });
  Outcome<T> outcome = co_await (this->*what)(std::move(call)).governed_by(&cancel);
  bool is_late = !outcome && over.cancelled() && !outcome.error().fault() &&
                 outcome.error().error().kind() == ErrorKind::cancelled;
  if (!is_late) co_return outcome;
  Error error(ErrorKind::timeout, fmt::format("{} had no answer when the time was over", name));
  co_return std::unexpected(Failure(repeatable ? error : http::may_have_been_processed(std::move(error))));
}

Task<Outcome<http::Response>> Client::exchange(Call call) {
  if (!time_limit_) return exchange_with_retries(std::move(call));
  return in_time<http::Response>(std::move(call), &Client::exchange_with_retries);
}

Task<Outcome<Reply>> Client::request(Call call) {
  std::string what = fmt::format("{} {}", call.method, call.target);
  Outcome<http::Response> response = co_await exchange(std::move(call));
  if (!response) co_return std::unexpected(std::move(response).error());
  Reply reply{.value = {},
              .warnings = read_warnings(response->headers),
              .status = response->status,
              .connection = response->connection,
              .size = response->body.size()};
  if (response->body.empty()) co_return reply;
  Result<Json> value = Json::parse(response->body, {.bytes = kMaxAnswer, .depth = 200, .values = kMaxValues});
  if (!value) {
    // Without the parser's words: they can quote what came, and that can be a Secret.
    co_return std::unexpected(Failure(Error(ErrorKind::protocol, fmt::format("the answer to {} is not JSON", what))
                                          .next("check that the server address is that of a Kubernetes API server")));
  }
  reply.value = *std::move(value);
  co_return reply;
}

Task<Outcome<http::Answer>> Client::open(Call call) {
  if (!time_limit_) return open_stream(std::move(call));
  return in_time<http::Answer>(std::move(call), &Client::open_stream);
}

Task<Outcome<http::Answer>> Client::open_stream(Call call) {
  bool refreshed = false;
  while (true) {
    uint64_t generation = 0;
    CO_TRY_ASSIGN(http::Request request, co_await prepare(call, generation));
    request.long_lived = true;
    ++counts_[call.verb];
    Result<http::Answer> answer =
        co_await with_deadline(loop_, loop_.now() + options_.request_timeout, late(options_.request_timeout),
                               transport_.open(std::move(request)));
    if (!answer)
      co_return std::unexpected(
          Failure(std::move(answer).error().in(fmt::format("{} {} failed", call.method, call.target))));
    if (answer->status >= 200 && answer->status < 300) co_return std::move(*answer);
    std::string body;
    while (answer->body && body.size() < kMaxFaultBody) {
      CO_TRY_ASSIGN(std::optional<std::string> piece, co_await answer->body->read());
      if (!piece) break;
      body += *piece;
    }
    std::optional<Fault> fault = classify(call.method, call.target, answer->status, answer->headers, body);
    if (fault->kind == FaultKind::unauthorized && credentials_ && !std::exchange(refreshed, true)) {
      CO_TRY_ASSIGN(bool changed, co_await credentials_->refresh(generation));
      if (changed) continue;
    }
    co_return std::unexpected(Failure(*std::move(fault), read_warnings(answer->headers), answer->connection));
  }
}

Task<Outcome<Reply>> Client::get(const object::Resource& resource, std::string_view ns, std::string_view name,
                                 std::string_view subresource) {
  Result<std::string> path = resource.path(ns, name, subresource);
  if (!path) return failed(std::move(path).error());
  return request({.target = *std::move(path)});
}

namespace {

Query write_query(const WriteOptions& options, const std::string& own_manager) {
  Query query;
  query.add("fieldManager", options.field_manager.empty() ? own_manager : options.field_manager);
  query.add("fieldValidation", options.field_validation);
  query.add_if(options.dry_run, "dryRun", "All");
  return query;
}

}  // namespace

Task<Outcome<Reply>> Client::create(const object::Resource& resource, std::string_view ns, const Json& object,
                                    const WriteOptions& options) {
  bool below = !options.subresource.empty();
  Result<std::string> path =
      below ? resource.path(ns, object["metadata"]["name"].string_or(""), options.subresource) : resource.list_path(ns);
  if (!path) return failed(std::move(path).error());
  if (!below && resource.namespaced && ns.empty())
    return failed(Error(ErrorKind::invalid, fmt::format("{} needs a namespace to be created in", resource.kind)));
  return request({.verb = "create",
                  .method = "POST",
                  .target = write_query(options, options_.field_manager).behind(*std::move(path)),
                  .content_type = "application/json",
                  .body = object.dump(),
                  .repeatable = options.dry_run,
                  .connection = options.connection});
}

Task<Outcome<Reply>> Client::apply(const object::Resource& resource, std::string_view ns, std::string_view name,
                                   const Json& object, const ApplyOptions& options) {
  Result<std::string> path = resource.path(ns, name, options.subresource);
  if (!path) return failed(std::move(path).error());
  Query query = write_query(options, options_.field_manager);
  query.add_if(options.force, "force", "true");
  return request({.verb = "apply",
                  .method = "PATCH",
                  .target = query.behind(*std::move(path)),
                  // JSON is YAML, and this is the one type that every server takes.
                  .content_type = "application/apply-patch+yaml",
                  .body = object.dump(),
                  .repeatable = true,
                  .connection = options.connection});
}

Task<Outcome<Reply>> Client::patch(const object::Resource& resource, std::string_view ns, std::string_view name,
                                   PatchType type, const Json& patch, const WriteOptions& options) {
  Result<std::string> path = resource.path(ns, name, options.subresource);
  if (!path) return failed(std::move(path).error());
  std::string_view content_type = type == PatchType::merge  ? "application/merge-patch+json"
                                  : type == PatchType::json ? "application/json-patch+json"
                                                            : "application/strategic-merge-patch+json";
  return request({.verb = "patch",
                  .method = "PATCH",
                  .target = write_query(options, options_.field_manager).behind(*std::move(path)),
                  .content_type = std::string(content_type),
                  .body = patch.dump(),
                  .repeatable = options.dry_run,
                  .connection = options.connection});
}

Task<Outcome<Reply>> Client::replace(const object::Resource& resource, std::string_view ns, std::string_view name,
                                     const Json& object, const WriteOptions& options) {
  Result<std::string> path = resource.path(ns, name, options.subresource);
  if (!path) return failed(std::move(path).error());
  return request({.verb = "update",
                  .method = "PUT",
                  .target = write_query(options, options_.field_manager).behind(*std::move(path)),
                  .content_type = "application/json",
                  .body = object.dump(),
                  .repeatable = options.dry_run,
                  .connection = options.connection});
}

Task<Outcome<Reply>> Client::remove(const object::Resource& resource, std::string_view ns, std::string_view name,
                                    const DeleteOptions& options) {
  Result<std::string> path = resource.path(ns, name);
  if (!path) return failed(std::move(path).error());
  Json body(Json::Object{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}});
  if (options.grace_seconds) body.make("gracePeriodSeconds") = *options.grace_seconds;
  if (!options.propagation.empty()) body.make("propagationPolicy") = options.propagation;
  if (!options.uid.empty()) body.make("preconditions").make("uid") = options.uid;
  if (!options.resource_version.empty()) body.make("preconditions").make("resourceVersion") = options.resource_version;
  if (options.dry_run) body.make("dryRun") = Json::Array{"All"};
  return request({.verb = "delete",
                  .method = "DELETE",
                  .target = *std::move(path),
                  .content_type = "application/json",
                  .body = body.dump(),
                  .repeatable = options.dry_run});
}

}  // namespace fairlead::kube
