// Any answer of a server to each verb of the client, in any number: no crash, no hang on a virtual clock, and an error
// that says something. The first byte chooses the verb; then come lines "status header", each with the body behind it
// up to a line with a full stop.
#include <cstdint>
#include <cstdlib>
#include <deque>

#include "async/scope.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "kube/watch.h"

namespace {

using namespace fairlead;

constexpr size_t kMostRequests = 200;
constexpr size_t kMostEvents = 20;

struct Said {
  int status = 200;
  std::string header;
  std::string body;
};

// Says what the input has, in order, and then the last of it again and again.
class Hostile final : public http::Transport {
 public:
  explicit Hostile(std::deque<Said> script) : script_(std::move(script)) {}

  Task<Result<http::Answer>> open(http::Request) override {
    // Nobody should ask for ever, and a test cannot wait for ever.
    if (++requests_ > kMostRequests || script_.empty()) co_return fail(ErrorKind::denied, "enough");
    Said said = script_.front();
    if (script_.size() > 1) script_.pop_front();
    http::Answer answer{.status = said.status, .connection = 1};
    for (const char* name : {"Retry-After", "Warning", "Date", "Content-Type"}) answer.headers.add(name, said.header);
    answer.body = http::body_of(said.body);
    co_return answer;
  }

 private:
  std::deque<Said> script_;
  size_t requests_ = 0;
};

std::deque<Said> script_of(std::string_view text) {
  std::deque<Said> script;
  while (!text.empty() && script.size() < 16) {
    size_t line = std::min(text.find('\n'), text.size());
    std::string_view head = text.substr(0, line);
    text.remove_prefix(std::min(line + 1, text.size()));
    size_t end = std::min(text.find("\n.\n"), text.size());
    Said said;
    if (head.size() >= 3) said.status = 100 + std::atoi(std::string(head.substr(0, 3)).c_str()) % 500;
    said.header = head.substr(std::min<size_t>(head.size(), 4));
    said.body = text.substr(0, end);
    text.remove_prefix(std::min(end + 3, text.size()));
    script.push_back(std::move(said));
  }
  return script;
}

template <class T>
void check(const kube::Outcome<T>& outcome) {
  if (outcome) return;
  Error error = outcome.error().error();
  if (error.what().empty() || error.report().size() > size_t{1} << 20) std::abort();
}

Task<void> use(kube::Client& client, uint8_t verb) {
  const object::Resource pods{
      .group = "", .version = "v1", .kind = "Pod", .plural = "pods", .singular = "pod", .namespaced = true};
  const Json pod(Json::Object{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", Json::Object{{"name", "p"}}}});
  switch (verb % 9) {
    case 0: check(co_await client.get(pods, "a", "p")); break;
    case 1: check(co_await client.list(pods, {.ns = "a"})); break;
    case 2: check(co_await client.create(pods, "a", pod)); break;
    case 3: check(co_await client.apply(pods, "a", "p", pod)); break;
    case 4: check(co_await client.patch(pods, "a", "p", kube::PatchType::merge, pod)); break;
    case 5: check(co_await client.replace(pods, "a", "p", pod)); break;
    case 6: check(co_await client.remove(pods, "a", "p", {.uid = "u"})); break;
    case 7: {
      kube::Discovery discovery(client);
      check(co_await discovery.all());
      check(co_await discovery.find_at_source("apps", "v1", "Deployment"));
      break;
    }
    default: {
      kube::Watch watch(client, pods, {});
      for (size_t events = 0; events < kMostEvents; ++events) {
        auto event = co_await watch.next();
        check(event);
        if (!event) break;
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  VirtualLoop loop;
  Hostile server(script_of({reinterpret_cast<const char*>(data) + 1, size - 1}));
  kube::Client client(loop, server, nullptr, {});
  kube::TimeLimit limit(client, loop.now() + std::chrono::hours(1), nullptr, std::chrono::seconds(10));
  loop.run(use(client, data[0]));
  return 0;
}
