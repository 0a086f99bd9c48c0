// The client of a Kubernetes API: get, list, create, apply, patch, replace, delete.
//
// This is the room's first header. kube knows how to reach a cluster (kubeconfig, credentials), how to ask (Client,
// Discovery, Watch) and what the answers mean (Fault). It reads and writes objects as Json and never judges them, and
// everything goes through an http::Transport, so that it runs the same against a real server and the sandbox.
//
// What it does by itself, within bounds: a refused credential is refreshed once; a server that says "later" (429, 503
// with Retry-After) is asked again after that time; a request that can safely be sent again (GET, apply) is, when the
// connection breaks. Everything else is the caller's: an Outcome tells apart a success, a Fault (the server's no) and
// an Error (no answer; http::delivery_of says whether a write may have happened).
//
// None of the calls keeps a reference to its arguments. On the loop's thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "async/loop.h"
#include "async/scope.h"
#include "http/message.h"
#include "kube/config/credentials.h"
#include "kube/outcome.h"
#include "object/resource.h"

namespace fairlead::kube {

// Bytes that an answer may have, and a list of several pages.
inline constexpr size_t kMaxAnswer = size_t{256} << 20;

// A request before it is sent.
struct Call {
  // How it is counted: get, list, watch, create, apply, patch, update, delete.
  std::string verb = "get";
  std::string method = "GET";
  // Path and query.
  std::string target = "/";
  std::string content_type;
  std::string body;
  std::string accept = "application/json";
  // Doing it twice does no harm.
  bool repeatable = true;
  // Over this connection only; 0: any.
  uint64_t connection = 0;
};

struct WriteOptions {
  // Empty: the client's own.
  std::string field_manager;
  bool dry_run = false;
  // Unknown and repeated fields are errors (Strict), warnings (Warn) or nothing (Ignore).
  std::string field_validation = "Strict";
  std::string subresource;
  uint64_t connection = 0;
};

struct ApplyOptions : WriteOptions {
  // Take fields over from others.
  bool force = false;
};

struct DeleteOptions {
  // Only the object that has these; empty for any.
  std::string uid;
  std::string resource_version;
  // Background, Foreground or Orphan; empty for the server's default.
  std::string propagation;
  std::optional<int64_t> grace_seconds;
  bool dry_run = false;
};

struct ListOptions {
  // Empty: all namespaces.
  std::string ns;
  std::string label_selector;
  std::string field_selector;
  // The size of a page; 0 for all at once.
  size_t page = 500;
  // "0": whatever a server has in its cache, which may be old. Empty: the newest.
  std::string resource_version;
  // Only apiVersion, kind and metadata of each item.
  bool metadata_only = false;
};

struct List {
  // Each with its apiVersion and kind.
  std::vector<Json> items;
  // Where a watch goes on from.
  std::string resource_version;
  std::vector<std::string> warnings;
};

enum class PatchType { merge, json, strategic };

class TimeLimit;

class Client {
 public:
  struct Options {
    std::string field_manager = "fairlead";
    std::string user_agent = "fairlead";
    // For one attempt, its answer read to the end.
    Duration request_timeout = std::chrono::minutes(2);
    // How often, and for how long in all, a server that says "later" is asked.
    int busy_attempts = 10;
    Duration busy_time = std::chrono::seconds(60);
    // How often a request that can be repeated is sent when connections break.
    int broken_attempts = 4;
    bool compression = true;
    uint64_t seed = 1;
    // Told of every attempt when it is over: the status, or nothing if there was no answer.
    std::function<void(const Call& call, std::optional<int> status, Duration took)> observe;
  };

  // All must outlive the client. Without credentials, requests go out as they are.
  Client(Loop& loop, http::Transport& transport, Credentials* credentials, Options options);

  Task<Outcome<Reply>> get(const object::Resource& resource, std::string_view ns, std::string_view name,
                           std::string_view subresource = {});
  // Page by page. Starts over, all at once, when the pages expire on the way.
  Task<Outcome<List>> list(const object::Resource& resource, ListOptions options);
  Task<Outcome<Reply>> create(const object::Resource& resource, std::string_view ns, const Json& object,
                              const WriteOptions& options = {});
  // Server-side apply.
  Task<Outcome<Reply>> apply(const object::Resource& resource, std::string_view ns, std::string_view name,
                             const Json& object, const ApplyOptions& options = {});
  Task<Outcome<Reply>> patch(const object::Resource& resource, std::string_view ns, std::string_view name,
                             PatchType type, const Json& patch, const WriteOptions& options = {});
  // The whole object; with its resourceVersion only if nobody changed it meanwhile.
  Task<Outcome<Reply>> replace(const object::Resource& resource, std::string_view ns, std::string_view name,
                               const Json& object, const WriteOptions& options = {});
  Task<Outcome<Reply>> remove(const object::Resource& resource, std::string_view ns, std::string_view name,
                              const DeleteOptions& options = {});

  // Any request, its answer as JSON; null if it has no body.
  Task<Outcome<Reply>> request(Call call);
  // The same, its answer as it is.
  Task<Outcome<http::Response>> exchange(Call call);
  // A stream without an end: no time-out, and no second attempt but for a refused credential. A Fault's body has been
  // read.
  Task<Outcome<http::Answer>> open(Call call);

  // Sent so far, by verb; each attempt counts.
  const std::map<std::string, uint64_t, std::less<>>& counts() const { return counts_; }
  Loop& loop() { return loop_; }
  // The API server's clock, as far as its answers tell: never ahead of it, and at most about a second behind. Our own
  // until an answer had a Date.
  WallTime server_now() const;
  const Options& options() const { return options_; }

 private:
  friend class TimeLimit;
  struct Attempts;
  Task<Result<http::Request>> prepare(const Call& call, uint64_t& generation);
  Task<Result<http::Response>> attempt(http::Request request, bool& answered);
  Task<Outcome<http::Response>> exchange_with_retries(Call call);
  Task<Outcome<http::Answer>> open_stream(Call call);
  // The task, unless the time is over (TimeLimit) first.
  template <class T>
  Task<Outcome<T>> in_time(Call call, Task<Outcome<T>> (Client::*what)(Call call));
  Task<Outcome<List>> list_pages(std::string path, std::string api_version, std::string kind, ListOptions options);
  Duration jittered(Duration delay);

  Loop& loop_;
  http::Transport& transport_;
  Credentials* credentials_;
  Options options_;
  std::map<std::string, uint64_t, std::less<>> counts_;
  std::minstd_rand random_;
  // The Date that was last told, and when it was first seen.
  std::string date_;
  TimePoint dated_at_{};
  TimeLimit* time_limit_ = nullptr;
};

// For as long as it lives, the requests of a client end in time, whatever the server does: those that are under way
// when the time is over, and those that come later, fail with an error of kind `timeout`. Streams that are open are not
// touched. One per client at a time.
class TimeLimit {
 public:
  // The limit is `grace` after `expires` (TimePoint::max() for never), or after `stop` was cancelled (may be null). All
  // must outlive it.
  TimeLimit(Client& client, TimePoint expires, CancelSource* stop, Duration grace);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  friend class Client;

  Client& client_;
  Duration grace_;
  CancelSource over_;
  CancelAt at_end_;
  std::optional<CancelAt> after_stop_;
  CancelHook stopped_;
};

// Of a request that was cancelled because the time was over: as an error of kind `timeout` that tells which one it was.
Error as_late(const Error& error);

}  // namespace fairlead::kube
