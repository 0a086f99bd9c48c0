// Requests and answers, the same for the client, the server and everything that stands in for either.
//
// This is the room's first header. http moves bytes: TLS, HTTP/2 and HTTP/1.1 client, HTTP/1.1 server, proxies,
// compression. It knows nothing about Kubernetes, and never logs a header or a body.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/task.h"
#include "base/error.h"

namespace fairlead::http {

// Whether two header names are the same: without regard to case.
bool same_name(std::string_view a, std::string_view b);

// Names compare without case and keep their order; several values for one name are several entries.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> entries) : entries_(entries) {}

  void add(std::string name, std::string value);
  // Replaces all values of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);
  // The first value of that name, or nothing.
  std::optional<std::string_view> find(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

struct Request {
  std::string method = "GET";
  // Path and query, percent-encoded: "/api/v1/namespaces?limit=500".
  std::string target = "/";
  Headers headers;
  std::string body;
  // A watch or another stream without an end in sight: it does not count against the number of requests in flight.
  bool long_lived = false;
  // The connection to use (an Answer's `connection`); an error if that is gone. 0: any.
  uint64_t connection = 0;
};

// The body of an answer, piece by piece as it arrives. Reading is what lets the other side send more.
class Body {
 public:
  virtual ~Body() = default;
  // The next piece, never empty; nothing at the end; an error if the body was cut off. Only one read at a time.
  virtual Task<Result<std::optional<std::string>>> read() = 0;
};

// A body that is there already.
std::unique_ptr<Body> body_of(std::string text);

// The head of an answer, with its body still to come. Destroying it before its end gives up the rest of the body.
struct Answer {
  int status = 200;
  Headers headers;
  std::unique_ptr<Body> body;
  // Which connection it came over: a connection stays with one server. Unique in this process; 0: means nothing.
  uint64_t connection = 0;
};

// An answer that has arrived as a whole.
struct Response {
  int status = 0;
  Headers headers;
  std::string body;
  uint64_t connection = 0;
};

// How far a request got that has no answer. A transport sends again by itself what is safe to be sent again (GET, HEAD,
// and whatever was never processed), so this matters for the others: whoever sends them decides.
enum class Delivery {
  never,    // the server has not processed it: sending it again does no harm
  unknown,  // the server may have processed it
};

// Puts "the request may have been carried out" above the cause; delivery_of() finds it again anywhere in a chain. An
// error by a deadline or a cancellation has lost its cause: whoever sets those knows that the delivery is unknown.
Error may_have_been_processed(Error cause);
Delivery delivery_of(const Error& error);

// Something that answers requests: a client of a real server, or the sandbox in the same process. Requests may be in
// flight side by side. Cancelling the task that awaits an answer (or a piece of its body) gives the request up.
class Transport {
 public:
  virtual ~Transport() = default;
  // Errors are those of getting an answer at all; a status of 500 is an answer.
  virtual Task<Result<Answer>> open(Request request) = 0;
};

// Opens, and reads the whole body; an error of kind `limit` if it has more than `max_body` bytes.
Task<Result<Response>> send(Transport& transport, Request request, size_t max_body = size_t{256} << 20);

}  // namespace fairlead::http
