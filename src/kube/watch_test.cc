#include "kube/watch.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kube/scripted_transport_testing.h"

namespace fairlead::kube {
namespace {

using std::chrono::seconds;

struct World {
  VirtualLoop loop;
  ScriptedTransport server{loop};
  Client client{loop, server, nullptr, {}};
};

std::string pod(std::string_view name, int version, std::string_view uid = "") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"n","uid":"{}","resourceVersion":"{}"}}}})",
      name, uid.empty() ? fmt::format("u-{}", name) : uid, version);
}

Step list(std::vector<std::string> pods, int version) {
  return {.body = fmt::format(
              R"({{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}},"items":[{}]}})", version,
              fmt::join(pods, ","))};
}

std::string line(std::string_view type, std::string object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}
std::string bookmark(int version) {
  return line("BOOKMARK",
              fmt::format(R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}}}})", version));
}
std::string expired_status() {
  return R"({"kind":"Status","status":"Failure","message":"too old resource version: 5","reason":"Expired","code":410})";
}

Piece cut() { return {.error = connection_lost()}; }
Piece end(Duration after = seconds(300)) { return {.after = after}; }

// "added a@1"; a failure is "failed: …".
std::string text_of(const Outcome<WatchEvent>& event) {
  if (!event) return "failed: " + event.error().error().message();
  const Json& metadata = event->object["metadata"];
  std::string what = fmt::format("{}@{}", metadata["name"].string_or(""), metadata["resourceVersion"].string_or("-"));
  switch (event->type) {
    case WatchEvent::Type::added: return "added " + what;
    case WatchEvent::Type::modified: return "modified " + what;
    case WatchEvent::Type::deleted: return "deleted " + what;
    case WatchEvent::Type::synced: return "synced";
  }
  return "?";
}

using Texts = std::vector<std::string>;

// Until so much time goes by without an event.
Texts events(World& world, Watch& watch, Duration time_limit = std::chrono::minutes(3)) {
  Texts result;
  auto collect = [&]() -> Task<void> {
    while (true) {
      Scope scope(world.loop, nullptr);
      bool got = false;
      auto one = [&]() -> Task<void> {
        Outcome<WatchEvent> event = co_await watch.next();
        if (!event && event.error().error().kind() == ErrorKind::cancelled) co_return;
        result.push_back(text_of(event));
        got = true;
      };
      scope.spawn(one());
      Loop::TimerId timer = world.loop.call_after(time_limit, [&] { scope.cancel(); });
      co_await scope.join();
      world.loop.cancel_timer(timer);
      if (!got || result.back().starts_with("failed")) co_return;
    }
  };
  world.loop.run(collect());
  return result;
}

Texts first(World& world, Watch& watch, int count) {
  Texts result;
  for (int i = 0; i < count; ++i) result.push_back(text_of(world.loop.run(watch.next())));
  return result;
}

// Where each watch asked to go on; "list" for a list.
Texts positions(const World& world) {
  Texts result;
  for (const std::string& target : world.server.targets()) {
    size_t at = target.find("resourceVersion=");
    result.push_back(target.contains("watch=true") ? target.substr(at + 16, target.find('&', at) - at - 16) : "list");
  }
  return result;
}

TEST(Watch, what_is_there_and_what_comes) {
  World world;
  world.server.say(list({pod("a", 1), pod("b", 2)}, 5))
      .say({.stream = {{.text = line("ADDED", pod("c", 6)) + line("MODIFIED", pod("a", 7))},
                       {.text = line("DELETED", pod("b", 8))}}});
  Watch watch(world.client, pods(), {.ns = "n", .label_selector = "x=y", .field_selector = "metadata.name!=z"});
  EXPECT_EQ(events(world, watch),
            (Texts{"added a@1", "added b@2", "synced", "added c@6", "modified a@7", "deleted b@8"}));
  EXPECT_EQ(world.server.targets()[0],
            "GET /api/v1/namespaces/n/pods?labelSelector=x%3Dy&fieldSelector=metadata.name%21%3Dz&limit=500");
  EXPECT_TRUE(
      world.server.targets()[1].starts_with("GET "
                                            "/api/v1/namespaces/n/"
                                            "pods?labelSelector=x%3Dy&fieldSelector=metadata.name%21%3Dz&watch=true&"
                                            "allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds="))
      << world.server.targets()[1];
  EXPECT_TRUE(world.server.seen[1].long_lived);
  EXPECT_EQ(world.client.counts().at("watch"), 1u);
}

TEST(Watch, goes_on_where_it_was_after_a_cut) {
  World world;
  world.server.say(list({}, 5))
      .say({.stream = {{.text = line("ADDED", pod("a", 6))},
                       {.text = line("MODIFIED", pod("a", 7)).substr(0, 30)},
                       cut()}})
      .say({.error = connection_lost()})
      .say({.status = 503, .body = "service unavailable"})
      .say({.stream = {{.text = line("MODIFIED", pod("a", 7)) + bookmark(20)}, end()}})
      .say({.stream = {{.text = line("ADDED", pod("b", 21))}}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(first(world, watch, 4), (Texts{"synced", "added a@6", "modified a@7", "added b@21"}));
  EXPECT_EQ(positions(world), (Texts{"list", "5", "6", "6", "6", "20"}));
}

TEST(Watch, tells_the_difference_after_410) {
  for (bool as_event : {true, false}) {
    World world;
    world.server.say(list({pod("same", 1), pod("changed", 2), pod("gone", 3), pod("replaced", 4)}, 5));
    if (as_event)
      world.server.say(
          {.stream = {{.text = line("MODIFIED", pod("same", 6))}, {.text = line("ERROR", expired_status())}}});
    else
      world.server.say({.stream = {{.text = line("MODIFIED", pod("same", 6))}, cut()}})
          .say({.status = 410, .body = expired_status()});
    world.server.say(list({pod("same", 6), pod("changed", 12), pod("replaced", 14, "other"), pod("new", 15)}, 20))
        .say({.stream = {{.text = line("DELETED", pod("new", 21))}}});
    Watch watch(world.client, pods(), {});
    EXPECT_EQ(events(world, watch), (Texts{"added same@1", "added changed@2", "added gone@3", "added replaced@4",
                                           "synced", "modified same@6", "modified changed@12", "deleted replaced@-",
                                           "added replaced@14", "added new@15", "deleted gone@-", "deleted new@21"}));
    EXPECT_EQ(positions(world).back(), "20");
  }
}

TEST(Watch, what_is_deleted_in_a_gap_keeps_its_identity) {
  World world;
  world.server.say(list({pod("a", 1)}, 5)).say({.status = 410, .body = expired_status()}).say(list({}, 9));
  Watch watch(world.client, pods(), {});
  world.loop.run(watch.next());
  world.loop.run(watch.next());
  Outcome<WatchEvent> event = world.loop.run(watch.next());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->object.dump(),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"n","uid":"u-a"}})");
}

TEST(Watch, nothing_comes_twice) {
  World world;
  world.server.say(list({pod("a", 4)}, 5))
      .say({.stream = {{.text = line("ADDED", pod("a", 4)) + line("MODIFIED", pod("a", 6)) +
                                line("MODIFIED", pod("a", 6)) + line("MODIFIED", pod("a", 5)) +
                                line("DELETED", pod("x", 7)) + line("DELETED", pod("a", 8, "another")) +
                                line("ADDED", pod("b", 9)) + line("ADDED", pod("b", 9)) +
                                line("DELETED", pod("b", 10)) + line("DELETED", pod("b", 10))}}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(events(world, watch), (Texts{"added a@4", "synced", "modified a@6", "added b@9", "deleted b@10"}));
}

TEST(Watch, garbage_is_a_cut) {
  for (std::string garbage : {"not json\n", "{\"type\":\"ADDED\"}\n", "{\"type\":\"ODD\",\"object\":{}}\n", "[]\n",
                              "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n"}) {
    World world;
    world.server.say(list({}, 5))
        .say({.stream = {{.text = line("ADDED", pod("a", 6)) + garbage + line("ADDED", pod("never", 7))}}})
        .say({.stream = {{.text = line("ADDED", pod("b", 7))}}});
    Watch watch(world.client, pods(), {});
    EXPECT_EQ(events(world, watch), (Texts{"synced", "added a@6", "added b@7"})) << garbage;
    EXPECT_EQ(positions(world), (Texts{"list", "5", "6"})) << garbage;
  }
}

TEST(Watch, waits_longer_and_longer) {
  World world;
  world.server.then_always({.error = connection_lost()});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(events(world, watch, std::chrono::hours(1)), Texts{});
  // Lists try four times by themselves; between them the pauses grow to half a minute and more.
  EXPECT_LT(world.server.seen.size(), 4u * 160);
  EXPECT_GT(world.server.seen.size(), 4u * 50);
  ASSERT_TRUE(watch.trouble());
  EXPECT_EQ(watch.trouble()->message(), "GET /api/v1/pods?limit=500 failed: the connection was lost");
}

TEST(Watch, after_an_event_the_pauses_are_short_again) {
  World world;
  world.server.say(list({}, 5));
  for (int version = 6; version < 16; ++version)
    world.server.say({.stream = {{.text = line("MODIFIED", pod("a", version))}, cut()}});
  Watch watch(world.client, pods(), {});
  first(world, watch, 2);
  for (int version = 7; version < 16; ++version) {
    TimePoint before = world.loop.now();
    EXPECT_EQ(first(world, watch, 1), Texts{fmt::format("modified a@{}", version)});
    EXPECT_LE(world.loop.now() - before, 2 * WatchOptions().first_pause) << version;
  }
}

TEST(Watch, a_server_that_says_how_much_later_is_given_that_time) {
  World world;
  world.server.say(list({}, 5))
      .say({.status = 429, .body = "Too many requests, please try again later.\n", .headers = {{"Retry-After", "45"}}})
      .say({.stream = {{.text = line("ADDED", pod("a", 6))}}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(first(world, watch, 1), Texts{"synced"});
  TimePoint asked = world.loop.now();
  EXPECT_EQ(first(world, watch, 1), Texts{"added a@6"});
  EXPECT_GE(world.loop.now() - asked, seconds(45));
}

TEST(Watch, a_server_that_ends_every_watch_at_once_is_left_alone) {
  World world;
  world.server.say(list({}, 5)).then_always({.stream = {end(Duration(0))}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(events(world, watch, std::chrono::minutes(10)), Texts{"synced"});
  EXPECT_LT(world.server.seen.size(), 40u);
}

TEST(Watch, a_usual_end_is_no_trouble) {
  World world;
  world.server.say(list({}, 5))
      .say({.stream = {end()}})
      .say({.stream = {end()}})
      .say({.stream = {{.text = line("ADDED", pod("a", 6))}}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(first(world, watch, 2), (Texts{"synced", "added a@6"}));
  EXPECT_FALSE(watch.trouble());
}

TEST(Watch, a_connection_that_is_dead_is_noticed) {
  World world;
  world.server.say(list({}, 5))
      .say({.stream = {{.text = bookmark(6)}}})
      .say({.stream = {{.text = line("ADDED", pod("a", 7))}}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(first(world, watch, 2), (Texts{"synced", "added a@7"}));
  EXPECT_EQ(positions(world), (Texts{"list", "5", "6"}));
}

TEST(Watch, what_will_not_pass_is_told) {
  World world;
  world.server.say(
      {.status = 403,
       .body =
           R"({"kind":"Status","status":"Failure","message":"pods is forbidden: User \"u\" cannot list resource \"pods\"","reason":"Forbidden","details":{"kind":"pods"},"code":403})"});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(events(world, watch), Texts{"failed: pods is forbidden: User \"u\" cannot list resource \"pods\""});
  // And it can be asked again.
  world.server.say(list({}, 5))
      .say({.status = 404, .body = "404 page not found\n", .headers = {{"Content-Type", "text/plain"}}});
  EXPECT_EQ(
      events(world, watch),
      (Texts{"synced",
             "failed: the API server does not serve pods in v1: the API server answered 404: 404 page not found"}));
}

TEST(Watch, after_a_restore_from_a_backup) {
  World world;
  world.server.say(list({pod("a", 100)}, 200))
      .say({.status = 410, .body = expired_status()})
      .say(list({pod("a", 50)}, 60))
      .say({.stream = {{.text = line("MODIFIED", pod("a", 61))}}});
  Watch watch(world.client, pods(), {});
  EXPECT_EQ(events(world, watch), (Texts{"added a@100", "synced", "modified a@50", "modified a@61"}));
}

TEST(Watch, only_metadata) {
  World world;
  world.server
      .say(
          {.body =
               R"({"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"5"},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"1"}}]})"})
      .say({.stream = {{.text = line("ADDED", R"({"metadata":{"name":"b","resourceVersion":"6"}})")}}});
  Watch watch(world.client, pods(), {.metadata_only = true});
  for (int i = 0; i < 3; ++i) {
    Outcome<WatchEvent> event = world.loop.run(watch.next());
    ASSERT_TRUE(event);
    if (event->type == WatchEvent::Type::added) {
      EXPECT_EQ(event->object["kind"], Json("Pod"));
    }
  }
  EXPECT_TRUE(world.server.seen[0].headers.find("Accept")->contains("as=PartialObjectMetadataList"));
  EXPECT_TRUE(world.server.seen[1].headers.find("Accept")->contains("as=PartialObjectMetadata;"));
}

// A server with a history, that cuts, forgets and repeats at random: whoever follows the events has what the server
// has.
RC_GTEST_PROP(Watch, ends_up_with_what_the_server_has, (uint32_t seed)) {
  std::minstd_rand random(seed);
  auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  struct Change {
    std::string type;
    std::string object;
    int version;
  };
  std::vector<Change> history;
  std::map<std::string, int> live;
  int version = 10;
  auto change = [&] {
    std::string name(1, static_cast<char>('a' + random() % 5));
    ++version;
    bool there = live.contains(name);
    std::string uid = fmt::format("{}-{}", name, there ? live[name] : version);
    if (there && chance(40)) {
      history.push_back({"DELETED", pod(name, version, uid), version});
      live.erase(name);
    } else {
      history.push_back({there ? "MODIFIED" : "ADDED", pod(name, version, uid), version});
      live.try_emplace(name, version);
    }
  };
  auto newest = [&](const std::string& name) {
    for (size_t i = history.size(); i-- > 0;)
      if (history[i].object.contains("\"name\":\"" + name + "\"")) return history[i].object;
    return std::string();
  };

  World world;
  struct Server final : http::Transport {
    std::function<Task<Result<http::Answer>>(http::Request)> serve;
    Task<Result<http::Answer>> open(http::Request request) override { return serve(std::move(request)); }
  } server;
  ScriptedTransport streams(world.loop);
  int rounds = 0;
  server.serve = [&](http::Request request) -> Task<Result<http::Answer>> {
    // The world moves on between requests, and stands still in the end.
    bool last = ++rounds > 30;
    if (!last) {
      for (unsigned i = 0; i < random() % 4; ++i) change();
      if (chance(15)) co_return fail(connection_lost());
    }
    if (!request.target.contains("watch=true")) {
      std::vector<std::string> objects;
      for (const auto& [name, unused] : live) objects.push_back(newest(name));
      streams.say(list(objects, version));
      co_return co_await streams.open(std::move(request));
    }
    size_t at = request.target.find("resourceVersion=") + 16;
    int from = std::stoi(request.target.substr(at));
    if (!last && chance(20)) {
      streams.say({.status = 410, .body = expired_status()});
      co_return co_await streams.open(std::move(request));
    }
    std::string text;
    for (const Change& one : history) {
      if (one.version <= from) continue;
      text += line(one.type, one.object);
      if (chance(10)) text += line(one.type, one.object);
    }
    if (chance(30)) text += bookmark(version);
    std::vector<Piece> pieces;
    if (!last) text.resize(random() % (text.size() + 1));
    while (!text.empty()) {
      size_t size = std::min<size_t>(text.size(), 1 + random() % 200);
      pieces.push_back({.text = text.substr(0, size)});
      text.erase(0, size);
    }
    if (!last) pieces.push_back(chance(50) ? cut() : end(seconds(2)));
    if (!last && chance(10))
      pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(random() % pieces.size()), Piece{.text = "\n{}\n"});
    if (pieces.empty()) pieces.push_back({.text = bookmark(version)});
    streams.say({.stream = std::move(pieces)});
    co_return co_await streams.open(std::move(request));
  };

  Client client(world.loop, server, nullptr, {});
  Watch watch(client, pods(), {.longest_pause = seconds(1)});
  std::map<std::string, std::string> mirror;
  std::set<std::string> seen;
  for (const std::string& text : events(world, watch, std::chrono::minutes(2))) {
    if (text == "synced") continue;
    std::string type = text.substr(0, text.find(' '));
    std::string name = text.substr(type.size() + 1, 1);
    std::string at = text.substr(text.find('@') + 1);
    if (type == "added") RC_ASSERT(!mirror.contains(name));
    if (type != "added") RC_ASSERT(mirror.contains(name));
    if (at != "-") RC_ASSERT(seen.insert(text).second);
    if (type == "deleted") {
      mirror.erase(name);
    } else {
      mirror[name] = at;
    }
  }
  std::map<std::string, std::string> expected;
  for (const auto& [name, unused] : live)
    expected[name] = std::string((*Json::parse(newest(name)))["metadata"]["resourceVersion"].string_or(""));
  RC_ASSERT(mirror == expected);
}

TEST(WatchStream, a_line_that_is_no_event) {
  for (std::string_view line : {R"({"type":"RENAMED","object":{}})", R"({"object":{}})", R"({"type":"ADDED"})",
                                R"({"type":"ADDED","object":"x"})"}) {
    WatchStream stream(100);
    stream.feed(fmt::format("{}\n", line));
    Result<std::optional<WatchStream::Event>> event = stream.next();
    ASSERT_FALSE(event) << line;
    EXPECT_EQ(event.error().message(), "the watch sent a line that is no event") << line;
  }
}

TEST(WatchStream, lines_in_pieces) {
  WatchStream stream(100);
  stream.feed("\n{\"type\":\"ADDED\",");
  EXPECT_FALSE(*stream.next());
  stream.feed("\"object\":{\"a\":1}}\r\n{\"type\":\"BOOKMARK\",\"object\":{}}\n");
  Result<std::optional<WatchStream::Event>> event = stream.next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->object.dump(), R"({"a":1})");
  event = stream.next();
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->type, WatchStream::Event::Type::bookmark);
  EXPECT_FALSE(*stream.next());
  stream.feed(std::string(101, 'x'));
  event = stream.next();
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().message(), "an event of the watch has more than 100 bytes");
  stream.feed("{\"type\":\"BOOKMARK\",\"object\":{}}\n");
  EXPECT_FALSE(*stream.next()) << "nothing behind an error can be trusted";
}

}  // namespace
}  // namespace fairlead::kube
