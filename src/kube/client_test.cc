#include "kube/client.h"

#include <gtest/gtest.h>

#include "kube/internal/warning_header.h"
#include "kube/scripted_transport_testing.h"

namespace fairlead::kube {
namespace {

using std::chrono::seconds;

struct World {
  VirtualLoop loop;
  ScriptedTransport server{loop};
  Client client{loop, server, nullptr, {}};

  Duration elapsed() const { return loop.now() - TimePoint(); }
};

const Json kPod = *Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");

std::string status(int code, std::string_view reason, std::string_view message) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","message":"{}","reason":"{}","code":{}}})", message,
      reason, code);
}

Step busy(std::string after = "1") {
  return {.status = 429,
          .body = "Too many requests, please try again later.\n",
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Retry-After", std::move(after)}}};
}

Error unknown_delivery() { return http::may_have_been_processed(connection_lost()); }

TEST(Client, the_servers_clock_is_that_of_its_answers) {
  World world;
  EXPECT_EQ(world.client.server_now(), world.loop.clock().wall_now());
  Step dated{.body = kPod.dump(), .headers = {{"Date", "Sun, 15 Nov 2026 07:48:48 GMT"}}};
  world.server.say(dated).say(dated).say({.body = kPod.dump(), .headers = {{"Date", "soon"}}});
  WallTime told = WallTime(std::chrono::sys_days(std::chrono::November / 15 / 2026)) + std::chrono::hours(7) +
                  std::chrono::minutes(48) + seconds(48);
  world.loop.run(world.client.get(pods(), "a", "p"));
  EXPECT_EQ(world.client.server_now(), told);
  // The same second again, half a second later: it began when it was first told.
  (void)world.loop.run(sleep_for(world.loop, std::chrono::milliseconds(500)));
  world.loop.run(world.client.get(pods(), "a", "p"));
  EXPECT_EQ(world.client.server_now(), told + std::chrono::milliseconds(500));
  world.loop.run(world.client.get(pods(), "a", "p"));
  EXPECT_EQ(world.client.server_now(), world.loop.clock().wall_now());
}

TEST(Client, the_requests_it_sends) {
  World world;
  world.server.then_always({.body = kPod.dump()});
  world.loop.run(world.client.get(pods(), "a", "p"));
  world.loop.run(world.client.get(pods(), "a", "p", "status"));
  world.loop.run(world.client.create(pods(), "a", kPod, {.dry_run = true}));
  world.loop.run(
      world.client.apply(pods(), "a", "p", kPod, {{.field_manager = "me & you", .subresource = "status"}, true}));
  world.loop.run(world.client.apply(pods(), "a", "p", kPod, {{.dry_run = true, .field_validation = "Warn"}}));
  world.loop.run(world.client.patch(pods(), "a", "p", PatchType::merge, Json(Json::Object{{"a", 1}})));
  world.loop.run(world.client.patch(pods(), "a", "p", PatchType::json, Json(Json::Array{})));
  world.loop.run(world.client.replace(pods(), "a", "p", kPod));
  world.loop.run(world.client.remove(
      pods(), "a", "p",
      {.uid = "u", .resource_version = "7", .propagation = "Foreground", .grace_seconds = 0, .dry_run = true}));
  EXPECT_EQ(
      world.server.targets(),
      (std::vector<std::string>{
          "GET /api/v1/namespaces/a/pods/p",
          "GET /api/v1/namespaces/a/pods/p/status",
          "POST /api/v1/namespaces/a/pods?fieldManager=fairlead&fieldValidation=Strict&dryRun=All",
          "PATCH /api/v1/namespaces/a/pods/p/status?fieldManager=me%20%26%20you&fieldValidation=Strict&force=true",
          "PATCH /api/v1/namespaces/a/pods/p?fieldManager=fairlead&fieldValidation=Warn&dryRun=All",
          "PATCH /api/v1/namespaces/a/pods/p?fieldManager=fairlead&fieldValidation=Strict",
          "PATCH /api/v1/namespaces/a/pods/p?fieldManager=fairlead&fieldValidation=Strict",
          "PUT /api/v1/namespaces/a/pods/p?fieldManager=fairlead&fieldValidation=Strict",
          "DELETE /api/v1/namespaces/a/pods/p",
      }));
  std::vector<std::string> types;
  for (const http::Request& request : world.server.seen)
    types.emplace_back(request.headers.find("Content-Type").value_or("-"));
  EXPECT_EQ(types, (std::vector<std::string>{"-", "-", "application/json", "application/apply-patch+yaml",
                                             "application/apply-patch+yaml", "application/merge-patch+json",
                                             "application/json-patch+json", "application/json", "application/json"}));
  EXPECT_EQ(world.server.seen[3].body, kPod.dump());
  EXPECT_EQ(world.server.seen[8].body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Foreground",)"
            R"("preconditions":{"uid":"u","resourceVersion":"7"},"dryRun":["All"]})");
  EXPECT_EQ(world.client.counts(),
            (std::map<std::string, uint64_t, std::less<>>{
                {"get", 2}, {"create", 1}, {"apply", 2}, {"patch", 2}, {"update", 1}, {"delete", 1}}));
}

TEST(Client, a_success_a_fault_and_an_error_are_three_things) {
  World world;
  world.server.say({.status = 201, .body = kPod.dump(), .headers = {{"Warning", "299 - \"careful\""}}});
  Outcome<Reply> made = world.loop.run(world.client.apply(pods(), "a", "p", kPod));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->value, kPod);
  EXPECT_EQ(made->warnings, std::vector<std::string>{"careful"});
  EXPECT_TRUE(made->created());
  EXPECT_EQ(made->connection, 1u);

  world.server.say({.status = 409, .body = status(409, "Conflict", "no"), .headers = {{"Warning", "299 - \"odd\""}}});
  Outcome<Reply> refused = world.loop.run(world.client.apply(pods(), "a", "p", kPod));
  ASSERT_FALSE(refused);
  ASSERT_TRUE(refused.error().fault());
  EXPECT_TRUE(refused.error().is(FaultKind::conflict));
  EXPECT_EQ(refused.error().warnings(), std::vector<std::string>{"odd"});

  world.server.say({.error = Error(ErrorKind::untrusted, "the certificate is bad")});
  Outcome<Reply> nothing = world.loop.run(world.client.apply(pods(), "a", "p", kPod));
  ASSERT_FALSE(nothing);
  EXPECT_FALSE(nothing.error().fault());
  EXPECT_EQ(nothing.error().error().report(),
            "error: PATCH /api/v1/namespaces/a/pods/p?fieldManager=fairlead&fieldValidation=Strict failed\n"
            "  because   the certificate is bad\n");
  EXPECT_EQ(nothing.error().error().kind(), ErrorKind::untrusted);
}

TEST(Client, waits_when_the_server_says_later) {
  World world;
  world.server.say(busy("2"))
      .say({.status = 503,
            .body = status(503, "ServiceUnavailable", "apiserver is shutting down"),
            .headers = {{"Retry-After", "1"}}})
      .say({.status = 201, .body = kPod.dump()});
  Outcome<Reply> made = world.loop.run(world.client.create(pods(), "a", kPod));
  EXPECT_TRUE(made);
  EXPECT_EQ(world.server.seen.size(), 3u);
  EXPECT_GE(world.elapsed(), seconds(3));
  EXPECT_LT(world.elapsed(), seconds(4));
}

TEST(Client, later_forever_comes_to_an_end) {
  World world;
  world.server.then_always(busy());
  Outcome<Reply> reply = world.loop.run(world.client.get(pods(), "a", "p"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().error().report(),
            "error: the API server accepts no more requests for now (asked 10 times in 9 s)\n"
            "  because   the API server answered 429: Too many requests, please try again later.\n");
  EXPECT_EQ(world.server.seen.size(), 10u);

  World patient;
  patient.server.then_always(busy("3600"));
  EXPECT_FALSE(patient.loop.run(patient.client.get(pods(), "a", "p")));
  EXPECT_EQ(patient.server.seen.size(), 1u) << "an hour is longer than anybody waits";
  EXPECT_EQ(patient.elapsed(), Duration(0));
}

TEST(Client, a_webhook_that_denies_with_429_is_no_later) {
  World world;
  world.server.say(
      {.status = 429,
       .body = status(429, "TooManyRequests", R"(admission webhook \"w\" denied the request: slow down)")});
  Outcome<Reply> reply = world.loop.run(world.client.apply(pods(), "a", "p", kPod));
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().is(FaultKind::webhook_denied));
}

TEST(Client, a_webhook_that_says_when_to_come_again_is_asked_again) {
  World world;
  world.server.say({.status = 429,
                    .body = status(429, "TooManyRequests", R"(admission webhook \"w\" denied the request: not yet)"),
                    .headers = {{"Retry-After", "2"}}});
  world.server.then_always({.status = 200, .body = "{}"});
  EXPECT_TRUE(world.loop.run(world.client.apply(pods(), "a", "p", kPod)));
  EXPECT_EQ(world.server.seen.size(), 2u);
  EXPECT_GE(world.elapsed(), std::chrono::milliseconds(1500));
}

TEST(Client, sends_again_what_can_be_sent_again) {
  World world;
  world.server.say({.error = unknown_delivery()}).say({.error = connection_lost()}).say({.body = kPod.dump()});
  EXPECT_TRUE(world.loop.run(world.client.apply(pods(), "a", "p", kPod)));
  EXPECT_EQ(world.server.seen.size(), 3u);

  // A body that breaks off, too.
  World other;
  other.server.say({.stream = {{.text = "{\"kind\""}, {.error = connection_lost()}}}).say({.body = kPod.dump()});
  EXPECT_TRUE(other.loop.run(other.client.get(pods(), "a", "p")));
  EXPECT_EQ(other.server.seen.size(), 2u);

  World down;
  down.server.then_always({.error = connection_lost()});
  Outcome<Reply> reply = down.loop.run(down.client.get(pods(), "a", "p"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().error().report(),
            "error: GET /api/v1/namespaces/a/pods/p failed\n  because   the connection was lost\n");
  EXPECT_EQ(down.server.seen.size(), 4u);
  EXPECT_LT(down.elapsed(), seconds(2));
}

TEST(Client, never_does_twice_what_may_have_happened) {
  World world;
  world.server.say({.error = unknown_delivery()});
  Outcome<Reply> made = world.loop.run(world.client.create(pods(), "a", kPod));
  ASSERT_FALSE(made);
  EXPECT_EQ(http::delivery_of(made.error().error()), http::Delivery::unknown);
  EXPECT_EQ(world.server.seen.size(), 1u);

  // The head of the answer was there, so it did happen.
  world.server.say({.status = 201, .stream = {{.text = "{"}, {.error = connection_lost()}}});
  made = world.loop.run(world.client.create(pods(), "a", kPod));
  ASSERT_FALSE(made);
  EXPECT_EQ(http::delivery_of(made.error().error()), http::Delivery::unknown);

  // A proxy that got no answer says 502. It may say when to come back, but not whether the server did it.
  size_t before = world.server.seen.size();
  world.server.say({.status = 502, .body = "bad gateway", .headers = {{"Retry-After", "1"}}});
  made = world.loop.run(world.client.create(pods(), "a", kPod));
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().is(FaultKind::server_unavailable));
  EXPECT_EQ(world.server.seen.size(), before + 1);

  // Never sent, so it goes again.
  world.server.say({.error = connection_lost()}).say({.status = 201, .body = kPod.dump()});
  EXPECT_TRUE(world.loop.run(world.client.create(pods(), "a", kPod)));
}

TEST(Client, a_server_that_hangs) {
  World world;
  world.server.say({.body = kPod.dump(), .after = std::chrono::hours(1)});
  Outcome<Reply> made = world.loop.run(world.client.create(pods(), "a", kPod));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(made.error().error().root().what(), "the API server did not answer within 120 s");
  EXPECT_EQ(http::delivery_of(made.error().error()), http::Delivery::unknown);
  EXPECT_EQ(world.elapsed(), seconds(120));
}

// A world whose client has a token from a file.
struct TokenWorld : World {
  std::string token = "old";
  Surroundings surroundings{.read_file = [this](const std::string&) -> Result<std::string> { return token; }};
  Credentials credentials{loop, {.owner = "user \"u\"", .token_file = "/t"}, surroundings, nullptr, {}};
  Client user{loop, server, &credentials, {}};

  void use_once() {
    server.say({.body = kPod.dump()});
    EXPECT_TRUE(loop.run(user.get(pods(), "a", "p")));
  }
  TokenWorld& refuse() {
    server.say({.status = 401, .body = status(401, "Unauthorized", "Unauthorized")});
    return *this;
  }
};

TEST(Client, a_refused_token_is_replaced_once) {
  TokenWorld world;
  world.use_once();
  world.token = "new";
  world.refuse().server.say({.body = kPod.dump()});
  EXPECT_TRUE(world.loop.run(world.user.get(pods(), "a", "p")));
  EXPECT_EQ(world.server.seen.back().headers.find("Authorization"), "Bearer new");
  world.token = "newer";
  world.refuse().refuse();
  Outcome<Reply> reply = world.loop.run(world.user.get(pods(), "a", "p"));
  ASSERT_FALSE(reply);
  EXPECT_TRUE(reply.error().is(FaultKind::unauthorized));
  EXPECT_EQ(world.server.left(), 0u);
}

TEST(Client, a_refused_token_is_replaced_for_a_stream_as_well) {
  TokenWorld world;
  world.use_once();
  world.token = "new";
  world.refuse().server.say({.body = "{}"});
  EXPECT_TRUE(world.loop.run(world.user.open({.verb = "watch", .target = "/api/v1/pods?watch=true"})));
  EXPECT_EQ(world.server.seen.back().headers.find("Authorization"), "Bearer new");
  world.token = "newer";
  world.refuse().refuse();
  Outcome<http::Answer> refused =
      world.loop.run(world.user.open({.verb = "watch", .target = "/api/v1/pods?watch=true"}));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is(FaultKind::unauthorized));
}

TEST(Client, says_that_a_request_may_have_been_processed_only_where_it_may) {
  World world;
  world.server.then_always({.body = kPod.dump(), .after = std::chrono::hours(1)});
  auto is_unknown = [](const Outcome<Reply>& reply) {
    return !reply && http::delivery_of(reply.error().error()) == http::Delivery::unknown;
  };
  EXPECT_TRUE(is_unknown(world.loop.run(world.client.create(pods(), "a", kPod))));
  // What can be repeated is repeated by whoever asked for it.
  EXPECT_FALSE(is_unknown(world.loop.run(world.client.get(pods(), "a", "p"))));
  world.server.then_always({.error = connection_lost()});
  EXPECT_FALSE(is_unknown(world.loop.run(world.client.create(pods(), "a", kPod))));
}

TEST(Client, says_who_it_is_and_what_it_takes_and_tells_of_every_request) {
  World world;
  std::vector<std::string> observed;
  Client::Options options;
  options.user_agent = "fairlead/test";
  options.compression = false;
  options.observe = [&](const Call& call, std::optional<int> code, Duration took) {
    observed.push_back(fmt::format("{} {} {}", call.target, code.value_or(0), took / seconds(1)));
  };
  Client client(world.loop, world.server, nullptr, options);
  world.server.say({.body = kPod.dump(), .after = seconds(3)});
  EXPECT_TRUE(world.loop.run(client.get(pods(), "a", "p")));
  EXPECT_EQ(world.server.seen.back().headers.find("User-Agent"), "fairlead/test");
  EXPECT_EQ(world.server.seen.back().headers.find("Accept-Encoding"), "identity");
  EXPECT_EQ(observed, std::vector<std::string>{"/api/v1/namespaces/a/pods/p 200 3"});
}

TEST(Client, what_is_bound_to_a_connection_is_not_sent_over_another) {
  World world;
  world.server.say({.error = connection_lost()});
  EXPECT_FALSE(world.loop.run(world.client.request({.target = "/version", .connection = 7})));
  EXPECT_EQ(world.server.seen.size(), 1u);
}

TEST(Client, an_answer_that_is_no_json) {
  World world;
  world.server.say({.body = "<html>hunter2</html>"});
  Outcome<Reply> reply = world.loop.run(world.client.get(pods(), "a", "p"));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().error().report(),
            "error: the answer to GET /api/v1/namespaces/a/pods/p is not JSON\n"
            "  next      check that the server address is that of a Kubernetes API server\n");
  world.server.say({.body = ""});
  reply = world.loop.run(world.client.get(pods(), "a", "p"));
  ASSERT_TRUE(reply);
  EXPECT_TRUE(reply->value.is_null());
}

TEST(Client, names_that_are_no_names_are_never_sent) {
  World world;
  EXPECT_FALSE(world.loop.run(world.client.get(pods(), "a", "../../b")));
  EXPECT_FALSE(world.loop.run(world.client.apply(pods(), "", "p", kPod)));
  EXPECT_FALSE(world.loop.run(world.client.create(pods(), "", kPod)));
  EXPECT_TRUE(world.server.seen.empty());
}

std::string page_of(std::vector<std::string> names, std::string next) {
  Json list(Json::Object{{"kind", "PodList"}, {"apiVersion", "v1"}});
  list.make("metadata").make("resourceVersion") = "42";
  list.make("metadata").make("continue") = next;
  Json::Array items;
  for (const std::string& name : names)
    items.push_back(Json(Json::Object{{"metadata", Json(Json::Object{{"name", name}})}}));
  list.make("items") = std::move(items);
  return list.dump();
}

std::vector<std::string> names_in(const List& list) {
  std::vector<std::string> names;
  for (const Json& item : list.items) names.emplace_back(item["metadata"]["name"].string_or(""));
  return names;
}

TEST(Client, lists_page_by_page) {
  World world;
  world.server.say({.body = page_of({"a", "b"}, "token/1")}).say({.body = page_of({"c"}, "")});
  Outcome<List> list =
      world.loop.run(world.client.list(pods(), {.ns = "n", .label_selector = "a=b,c in (d)", .page = 2}));
  ASSERT_TRUE(list);
  EXPECT_EQ(names_in(*list), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(list->resource_version, "42");
  EXPECT_EQ(list->items[0]["kind"], Json("Pod"));
  EXPECT_EQ(list->items[0]["apiVersion"], Json("v1"));
  EXPECT_EQ(world.server.targets(),
            (std::vector<std::string>{
                "GET /api/v1/namespaces/n/pods?labelSelector=a%3Db%2Cc%20in%20%28d%29&limit=2",
                "GET /api/v1/namespaces/n/pods?labelSelector=a%3Db%2Cc%20in%20%28d%29&limit=2&continue=token%2F1"}));
}

TEST(Client, a_list_that_expires_starts_over_in_one_piece) {
  World world;
  world.server.say({.body = page_of({"a"}, "t")})
      .say({.status = 410, .body = status(410, "Expired", "too old")})
      .say({.body = page_of({"b", "c"}, "")});
  Outcome<List> list = world.loop.run(world.client.list(pods(), {.page = 1}));
  ASSERT_TRUE(list);
  EXPECT_EQ(names_in(*list), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(world.server.targets().back(), "GET /api/v1/pods");

  world.server.say({.status = 410, .body = status(410, "Expired", "too old")});
  Outcome<List> again = world.loop.run(world.client.list(pods(), {}));
  ASSERT_FALSE(again);
  EXPECT_TRUE(again.error().is(FaultKind::expired)) << "not because of a page: the caller's resourceVersion";
}

TEST(Client, a_list_that_goes_in_circles) {
  World world;
  world.server.say({.body = page_of({"a"}, "1")}).say({.body = page_of({"b"}, "2")});
  world.server.say({.body = page_of({"c"}, "1")});
  Outcome<List> list = world.loop.run(world.client.list(pods(), {.page = 1}));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().error().message(), "GET /api/v1/pods does not end: a page refers to one that was read before");
  EXPECT_EQ(world.server.left(), 0u);
}

TEST(Client, a_list_that_is_too_large) {
  World world;
  std::string large = page_of({std::string(60 << 20, 'x')}, "");
  for (int i = 0; i < 6; ++i)
    world.server.say(
        {.body = std::string(large).replace(large.find(R"("continue":"")"), 13, fmt::format(R"("continue":"{}")", i))});
  Outcome<List> list = world.loop.run(world.client.list(pods(), {}));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().error().kind(), ErrorKind::limit);
  EXPECT_EQ(world.server.seen.size(), 5u) << "the fifth page is beyond 256 MiB";
}

TEST(TimeLimit, ends_what_is_under_way_and_what_comes_later) {
  World world;
  world.server.then_always({.body = kPod.dump(), .after = std::chrono::hours(1)});
  TimeLimit limit(world.client, TimePoint() + seconds(5), nullptr, seconds(10));
  Outcome<Reply> read = world.loop.run(world.client.get(pods(), "a", "p"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(read.error().error().message(), "GET /api/v1/namespaces/a/pods/p had no answer when the time was over");
  EXPECT_EQ(world.elapsed(), seconds(15));
  Outcome<Reply> made = world.loop.run(world.client.create(pods(), "a", kPod));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(http::delivery_of(made.error().error()), http::Delivery::unknown);
  EXPECT_EQ(world.elapsed(), seconds(15));
}

TEST(TimeLimit, also_counts_from_when_the_run_is_stopped) {
  World world;
  world.server.then_always(busy("30"));
  CancelSource stop;
  std::optional<TimeLimit> limit;
  limit.emplace(world.client, TimePoint::max(), &stop, seconds(10));
  world.loop.call_after(seconds(3), [&] { stop.cancel(); });
  EXPECT_EQ(world.loop.run(world.client.get(pods(), "a", "p")).error().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(world.elapsed(), seconds(13));
  limit.emplace(world.client, TimePoint::max(), &stop, seconds(10));
  EXPECT_EQ(world.loop.run(world.client.get(pods(), "a", "p")).error().error().kind(), ErrorKind::timeout);
  EXPECT_EQ(world.elapsed(), seconds(23)) << "it was stopped before";
}

TEST(Client, lists_that_are_none) {
  World world;
  world.server.say({.body = R"({"items":7})"})
      .say({.body = "[]"})
      .say({.body = R"({"items":[1,{"metadata":3}],"metadata":"x"})"});
  EXPECT_FALSE(world.loop.run(world.client.list(pods(), {})));
  EXPECT_TRUE(world.loop.run(world.client.list(pods(), {}))->items.empty());
  EXPECT_EQ(world.loop.run(world.client.list(pods(), {}))->items.size(), 1u);
}

TEST(Warnings, as_they_come) {
  auto read = [](std::vector<std::string> values) {
    http::Headers headers;
    for (std::string& value : values) headers.add("Warning", std::move(value));
    return read_warnings(headers);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(read({R"(299 - "one")", R"(299 - "two")", R"(299 - "one")"}), (Texts{"one", "two"}));
  EXPECT_EQ(read({R"(299 - "a \"quoted\" \\ word", 299 - "b, c" "Wed, 21 Oct 2015 07:28:00 GMT", 299 - "d")"}),
            (Texts{R"(a "quoted" \ word)", "b, c", "d"}));
  EXPECT_EQ(read({"299 - \"a\x1b[31mb\""}), (Texts{"a?[31mb"}));
  for (std::string bad : {"", "299", "299 -", "299 - one", "299 - \"", "299 - \"a\\", "x99 - \"a\"", "299 - \"a\" \""})
    EXPECT_TRUE(read({bad}).empty()) << bad;
  EXPECT_EQ(read(Texts(1000, "299 - \"x\"")), Texts{"x"});
}

}  // namespace
}  // namespace fairlead::kube
