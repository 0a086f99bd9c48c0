#include "inventory/unchanged.h"

#include <cstdlib>
#include <random>

#include "async/real_loop.h"
#include "async/scope.h"
#include "inventory/unchanged_testing.h"
#include "kube/config/kubeconfig.h"
#include "kube/connect.h"
#include "kube/discovery.h"
#include "object/key.h"
#include "sandbox/sandbox.h"
#include "yaml/yaml.h"

namespace fairlead::inventory {
namespace {

constexpr std::string_view kManager = "fairlead";

std::vector<Json> documents(std::string_view text) {
  std::vector<Json> out;
  yaml::Stream stream(text, "objects");
  while (std::optional<Result<yaml::Document>> document = stream.next()) {
    EXPECT_TRUE(*document) << document->error().report();
    if (*document) out.push_back(std::move((*document)->value));
  }
  return out;
}

// The cluster that is asked what an apply really does: a sandbox, or (by hand) the one of a kubeconfig.
class Cluster {
 public:
  explicit Cluster(Loop& loop, kube::Client& client) : loop_(loop), client_(client), discovery_(client) {
    Json crd = documents(kWidgets).front();
    types_.learn(crd);
    EXPECT_TRUE(apply(crd, kManager, true));
    for (int i = 0; i < 500 && !resource_of(documents(kWantedObjects).back()); ++i)
      (void)loop_.run(sleep_for(loop_, std::chrono::milliseconds(10)));
    (void)loop_.run(sleep_for(loop_, std::chrono::milliseconds(500)));
  }

  std::optional<object::Resource> resource_of(const Json& object) {
    auto version = *object::ApiVersion::parse(object["apiVersion"].string_or(""));
    auto found = loop_.run(discovery_.find(version.group, version.version, std::string(object["kind"].string_or(""))));
    return found ? *found : std::nullopt;
  }
  static std::string_view ns(const Json& object) { return object["metadata"]["namespace"].string_or(""); }
  static std::string_view name(const Json& object) { return object["metadata"]["name"].string_or(""); }

  kube::Outcome<kube::Reply> apply(const Json& object, std::string_view manager, bool force) {
    kube::ApplyOptions options;
    options.field_manager = manager;
    options.force = force;
    return loop_.run(client_.apply(*resource_of(object), ns(object), name(object), object, options));
  }
  Json get(const Json& object) {
    auto reply = loop_.run(client_.get(*resource_of(object), ns(object), name(object)));
    return reply ? reply->value : Json();
  }
  bool replace(const Json& object) {
    kube::WriteOptions options;
    options.field_manager = "somebody";
    return loop_.run(client_.replace(*resource_of(object), ns(object), name(object), object, options)).has_value();
  }
  // Read until controllers have left it alone for a moment.
  Json settled(const Json& object) {
    for (Json last = get(object);;) {
      (void)loop_.run(sleep_for(loop_, std::chrono::milliseconds(100)));
      Json now = get(object);
      if (now == last) return now;
      last = std::move(now);
    }
  }
  void remove(const Json& object) {
    Json no_finalizers = *Json::parse(R"({"metadata":{"finalizers":null}})");
    (void)loop_.run(
        client_.patch(*resource_of(object), ns(object), name(object), kube::PatchType::merge, no_finalizers));
    kube::DeleteOptions options;
    options.propagation = "Background";
    options.grace_seconds = 0;
    (void)loop_.run(client_.remove(*resource_of(object), ns(object), name(object), options));
    for (int i = 0; i < 500 && !get(object).is_null(); ++i)
      (void)loop_.run(sleep_for(loop_, std::chrono::milliseconds(10)));
  }

  // What unchanged() says of it, and whether an apply really leaves it as it is.
  struct Answer {
    bool said = false, said_without_schema = false, is = false;
  };
  Answer ask(const Json& wanted) {
    Answer answer;
    Json live = settled(wanted);
    answer.said = unchanged(wanted, live, kManager, types_);
    Types none;
    answer.said_without_schema = unchanged(wanted, live, kManager, none);
    auto applied = apply(wanted, kManager, false);
    answer.is = applied && without_status(applied->value) == without_status(live);
    return answer;
  }
  // Controllers write that at any time.
  static Json without_status(Json object) {
    object.if_object()->erase("status");
    Json& metadata = object.make("metadata");
    if (metadata.is_object()) metadata.if_object()->erase("resourceVersion");
    if (Json::Array* entries = metadata.make("managedFields").if_array())
      std::erase_if(*entries, [](const Json& entry) { return entry.contains("subresource"); });
    return object;
  }

 private:
  Loop& loop_;
  kube::Client& client_;
  kube::Discovery discovery_;
  Types types_;
};

// Something else at one place of the value, chosen by chance; what is there is kept most of the time.
bool mutate(Json& value, std::mt19937& random, int depth) {
  auto pick = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  if (Json::Object* object = value.if_object(); object && !object->empty()) {
    Json::Member& member = object->begin()[pick(object->size())];
    if (depth > 0 && pick(6) == 0) return object->erase(std::string(member.key));
    if (depth > 0 && pick(12) == 0) {
      if (!member.value.is_string()) return false;
      std::string key = member.key + "x", text = *member.value.if_string();
      object->append(std::move(key), std::move(text));
      return true;
    }
    return mutate(member.value, random, depth + 1);
  }
  if (Json::Array* array = value.if_array(); array && !array->empty()) {
    size_t place = pick(array->size());
    if (pick(6) == 0) return array->erase(array->begin() + std::ptrdiff_t(place)), true;
    if (array->size() > 1 && pick(6) == 0) return std::swap(array->front(), array->back()), true;
    return mutate((*array)[place], random, depth + 1);
  }
  if (const std::string* text = value.if_string()) return value = *text + "1", true;
  if (const int64_t* number = value.if_int64()) return value = *number + 1, true;
  if (const bool* flag = value.if_bool()) return value = !*flag, true;
  return false;
}

// A change of what people change: never of identity or of what only the server writes.
std::optional<Json> mutated(const Json& object, std::mt19937& random) {
  Json copy = object;
  std::vector<std::string> parts;
  for (const Json::Member& member : copy.members())
    if (member.key != "apiVersion" && member.key != "kind" && member.key != "metadata" && member.key != "status")
      parts.push_back(member.key);
  for (std::string_view part : {"labels", "annotations"})
    if (copy["metadata"].contains(part)) parts.push_back("metadata." + std::string(part));
  if (parts.empty()) return std::nullopt;
  std::string part = parts[std::uniform_int_distribution<size_t>(0, parts.size() - 1)(random)];
  bool meta = part.starts_with("metadata.");
  Json& target = meta ? copy.make("metadata").make(part.substr(9)) : copy.make(part);
  if (!mutate(target, random, 0)) return std::nullopt;
  return copy;
}

struct Tally {
  int stories = 0, changed = 0, same = 0, said_same = 0, said_same_without_schema = 0;
};

// One object through a story of changes by chance, each time asked: is it unchanged? Never wrongly yes.
void tell_story(Cluster& cluster, const Json& wanted, uint32_t seed, int changes, Tally& tally) {
  std::mt19937 random(seed);
  SCOPED_TRACE(fmt::format("{} {} seed {}", wanted["kind"].string_or(""), Cluster::name(wanted), seed));
  auto ask = [&](const Json& object, std::string_view after) {
    Cluster::Answer answer = cluster.ask(object);
    EXPECT_TRUE(answer.is || !answer.said)
        << after << "\nwanted " << object.dump() << "\nlive " << cluster.get(object).dump();
    EXPECT_TRUE(answer.is || !answer.said_without_schema) << after << ", without a schema\nwanted " << object.dump();
    ++(answer.is ? tally.same : tally.changed);
    tally.said_same += answer.said;
    tally.said_same_without_schema += answer.said_without_schema;
    return answer;
  };
  auto first = cluster.apply(wanted, kManager, true);
  ASSERT_TRUE(first) << first.error().error().report();
  EXPECT_TRUE(ask(wanted, "the same again").said) << wanted.dump() << "\n" << cluster.get(wanted).dump();
  for (int i = 0; i < changes; ++i) {
    switch (std::uniform_int_distribution<int>(0, 3)(random)) {
      case 0:
        if (std::optional<Json> live = mutated(cluster.get(wanted), random); live && cluster.replace(*live))
          ask(wanted, "an update by somebody");
        break;
      case 1:
        if (std::optional<Json> other = mutated(wanted, random))
          if (cluster.apply(*other, "somebody", true)) ask(wanted, "an apply by somebody");
        break;
      case 2:
        if (std::optional<Json> other = mutated(wanted, random)) ask(*other, "something else is wanted");
        break;
      default: (void)cluster.apply(wanted, kManager, true); ask(wanted, "an apply of ours");
    }
    ++tally.stories;
  }
  cluster.remove(wanted);
}

void report(const Tally& tally) {
  testing::Test::RecordProperty("changes", tally.stories);
  fmt::print("changes {}; applies that change something {}, nothing {}; of these known: {}, without a schema {}\n",
             tally.stories, tally.changed, tally.same, tally.said_same, tally.said_same_without_schema);
}

void tell_stories(Cluster& cluster, uint32_t seeds, int changes) {
  Tally tally;
  std::vector<Json> objects = documents(kWantedObjects);
  ASSERT_EQ(objects.size(), 24u);
  for (const Json& wanted : objects)
    for (uint32_t seed = 1; seed <= seeds; ++seed) tell_story(cluster, wanted, seed, changes, tally);
  report(tally);
  // Both happened, often enough to mean something.
  EXPECT_GT(tally.changed, tally.stories / 10);
  EXPECT_GT(tally.same, tally.stories / 10);
  // It is worth having: nearly everything that is unchanged is seen to be.
  EXPECT_GT(tally.said_same * 10, tally.same * 9);
}

TEST(Unchanged, SaysWhatAnApplyDoes) {
  VirtualLoop loop;
  sandbox::Options options;
  options.controllers = false;
  sandbox::Sandbox sandbox(loop, options);
  {
    kube::Client client(loop, sandbox.api_server(), nullptr, {});
    Cluster cluster(loop, client);
    tell_stories(cluster, 6, 12);
  }
  loop.run(sandbox.stop());
}

TEST(Unchanged, ComparesThousands) {
  VirtualLoop loop;
  sandbox::Options options;
  options.controllers = false;
  sandbox::Sandbox sandbox(loop, options);
  std::vector<std::pair<Json, Json>> pairs;
  Types types;
  {
    kube::Client client(loop, sandbox.api_server(), nullptr, {});
    Cluster cluster(loop, client);
    for (const Json& wanted : documents(kWantedObjects)) {
      EXPECT_TRUE(cluster.apply(wanted, kManager, true));
      pairs.emplace_back(wanted, cluster.get(wanted));
    }
    types.learn(documents(kWidgets).front());
  }
  auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 130;
  int same = 0;
  for (int round = 0; round < kRounds; ++round)
    for (const auto& [wanted, live] : pairs) same += unchanged(wanted, live, kManager, types);
  auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(same, kRounds * int(pairs.size()));
  fmt::print("{} objects in {} us\n", same, std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  loop.run(sandbox.stop());
}

// By hand: FAIRLEAD_TEST_KUBECONFIG names the kubeconfig of a cluster that has nothing to lose.
TEST(Unchanged, SaysWhatAnApplyDoesOnARealServer) {
  const char* file = std::getenv("FAIRLEAD_TEST_KUBECONFIG");
  if (!file) GTEST_SKIP() << "no FAIRLEAD_TEST_KUBECONFIG";
  RealLoop loop;
  kube::Surroundings surroundings = kube::Surroundings::real();
  Result<std::string> text = surroundings.read_file(file);
  ASSERT_TRUE(text) << text.error().report();
  Result<kube::ClusterConfig> config = kube::Kubeconfig::parse(*text, file, surroundings)->resolve({});
  ASSERT_TRUE(config) << config.error().report();
  auto connection = kube::connect(loop, *std::move(config), {});
  ASSERT_TRUE(connection) << connection.error().report();
  {
    Cluster cluster(loop, (*connection)->client());
    tell_stories(cluster, 6, 12);
  }
  loop.run((*connection)->close());
}

// A field set alone does not tell whether a field is atomic or was empty when it was applied.
TEST(Unchanged, SeesThatSomethingEmptyHasBeenFilledByOthers) {
  Json live = *Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","managedFields":[
    {"manager":"fairlead","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}},
    {"manager":"they","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]},
    "data":{"a":"1"}})");
  Json wanted = *Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"}})");
  Types types;
  EXPECT_FALSE(unchanged(wanted, live, "fairlead", types));
  Json unknown_live = live, unknown_wanted = wanted;
  unknown_live.make("kind") = "Unheard";
  unknown_wanted.make("kind") = "Unheard";
  EXPECT_FALSE(unchanged(unknown_wanted, unknown_live, "fairlead", types));
}

TEST(Unchanged, IsNeverTrueOfNothing) {
  Types types;
  for (std::string_view text : {"null", "{}", "[]", R"({"apiVersion":"v1"})", R"({"metadata":{"managedFields":7}})"}) {
    Json json = *Json::parse(text);
    EXPECT_FALSE(unchanged(json, json, kManager, types)) << text;
  }
}

}  // namespace
}  // namespace fairlead::inventory
