#include "webhook/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "async/scope.h"
#include "object/condition.h"
#include "sandbox/sandbox.h"
#include "webhook/dynamo/dynamo.h"
#include "yaml/yaml.h"

namespace fairlead::webhook {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const object::Resource kModels{
    .group = "nvidia.com", .version = "v1alpha1", .kind = "DynamoModel", .plural = "dynamomodels", .namespaced = true};

// The controller's way to the API server, on which writes can get lost.
class Network final : public http::Transport {
 public:
  explicit Network(http::Transport& server) : server_(server) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    if (loses_writes && request.method != "GET") co_return fail(ErrorKind::unavailable, "the connection broke");
    co_return co_await server_.open(std::move(request));
  }

  bool loses_writes = false;

 private:
  http::Transport& server_;
};

class ControllerTest : public testing::Test {
 protected:
  ControllerTest()
      : sandbox_(loop_, {.controllers = false}),
        client_(loop_, sandbox_.api_server(), nullptr, {}),
        network_(sandbox_.api_server()),
        controllers_client_(loop_, network_, nullptr, {.broken_attempts = 1}),
        scope_(std::make_unique<Scope>(loop_, nullptr)) {}
  ~ControllerTest() override {
    stop();
    loop_.run(sandbox_.stop());
  }

  void define() {
    for (std::string name : {"dynamocomponentdeployments", "dynamographdeployments", "dynamomodels"}) {
      std::ifstream file(std::string(FAIRLEAD_SOURCE_DIR) + "/deploy/chart/crds/" + name + ".yaml");
      std::string text{std::istreambuf_iterator<char>(file), {}};
      object::Resource definitions{.group = "apiextensions.k8s.io",
                                   .version = "v1",
                                   .kind = "CustomResourceDefinition",
                                   .plural = "customresourcedefinitions"};
      must(client_.create(definitions, "", yaml::parse_one(text, name).value()));
    }
    pass(2s);
  }
  void start(std::string ns = {}) {
    scope_->spawn(control(controllers_client_, dynamo_policies({}),
                          {.ns = std::move(ns), .tell = [this](const std::string& line) { told_.push_back(line); }}));
    pass(1s);
  }
  void stop() {
    scope_->cancel();
    loop_.run(scope_->join());
    scope_ = std::make_unique<Scope>(loop_, nullptr);
  }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  Json must(Task<kube::Outcome<kube::Reply>> call) {
    kube::Outcome<kube::Reply> reply = loop_.run(std::move(call));
    EXPECT_TRUE(reply) << reply.error().error().message();
    return reply ? reply->value : Json();
  }
  void apply_model(const std::string& base, const std::string& name = "m", const std::string& ns = "default") {
    Json model = Json::Object{{"apiVersion", "nvidia.com/v1alpha1"},
                              {"kind", "DynamoModel"},
                              {"metadata", Json::Object{{"name", name}, {"namespace", ns}}},
                              {"spec", Json::Object{{"modelName", base}, {"baseModelName", "b"}}}};
    must(client_.apply(kModels, ns, name, model));
    pass(1s);
  }
  Json model() { return must(client_.get(kModels, "default", "m")); }
  std::string version() { return std::string(model()["metadata"]["resourceVersion"].string_or("")); }
  // "False Invalid: spec.modelName is required"
  std::string verdict() {
    const Json model = this->model();
    const Json& found = object::condition(model, "Valid");
    return fmt::format("{} {}: {}", found["status"].string_or(""), found["reason"].string_or(""),
                       found["message"].string_or(""));
  }
  void write_status(const Json& status, const std::string& manager, bool force = false) {
    kube::ApplyOptions options;
    options.field_manager = manager;
    options.subresource = "status";
    options.force = force;
    must(client_.apply(kModels, "default", "m",
                       Json::Object{{"apiVersion", "nvidia.com/v1alpha1"},
                                    {"kind", "DynamoModel"},
                                    {"metadata", Json::Object{{"name", "m"}, {"namespace", "default"}}},
                                    {"status", status}},
                       options));
    pass(1s);
  }
  std::vector<std::string> events() {
    object::Resource events{.version = "v1", .kind = "Event", .plural = "events", .namespaced = true};
    kube::Outcome<kube::List> list = loop_.run(client_.list(events, {.ns = "default"}));
    std::vector<std::string> texts;
    for (const Json& event : list->items)
      texts.push_back(fmt::format("{} {}: {}", event["type"].string_or(""), event["reason"].string_or(""),
                                  event["message"].string_or("")));
    return texts;
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  Network network_;
  kube::Client controllers_client_;
  std::unique_ptr<Scope> scope_;
  std::vector<std::string> told_;
};

TEST_F(ControllerTest, SaysWhichObjectsAreInvalidAndThatTheyWereMended) {
  define();
  apply_model("");
  start();
  EXPECT_EQ(verdict(), "False Invalid: spec.modelName is required");
  apply_model("llama");
  EXPECT_EQ(verdict(), "True Valid: the object keeps all rules");
  EXPECT_THAT(events(), testing::UnorderedElementsAre("Warning Invalid: spec.modelName is required",
                                                      "Normal Valid: the object keeps all rules"));
  EXPECT_THAT(told_, ElementsAre("DynamoModel default/m is invalid: spec.modelName is required",
                                 "DynamoModel default/m is valid"));
}

TEST_F(ControllerTest, LooksAtEveryObjectThatIsThere) {
  define();
  for (std::string name : {"a", "b", "c"}) apply_model("", name);
  start();
  EXPECT_THAT(told_, testing::UnorderedElementsAre("DynamoModel default/a is invalid: spec.modelName is required",
                                                   "DynamoModel default/b is invalid: spec.modelName is required",
                                                   "DynamoModel default/c is invalid: spec.modelName is required"));
}

TEST_F(ControllerTest, AValidObjectGetsNoEvent) {
  define();
  start();
  apply_model("llama");
  EXPECT_EQ(verdict(), "True Valid: the object keeps all rules");
  EXPECT_THAT(events(), IsEmpty());
}

TEST_F(ControllerTest, WritesNothingThatIsThereAlready) {
  define();
  start();
  apply_model("");
  std::string before = version();
  pass(10min);
  stop();
  start();
  pass(10min);
  EXPECT_EQ(version(), before);
  EXPECT_THAT(events(), testing::SizeIs(1));
}

TEST_F(ControllerTest, TheConditionsOfTheOperatorStay) {
  define();
  start();
  apply_model("");
  write_status(Json::Object{{"readyEndpoints", 2},
                            {"conditions", Json::Array{Json::Object{{"type", "Ready"}, {"status", "True"}}}}},
               "operator");
  EXPECT_EQ(verdict(), "False Invalid: spec.modelName is required");
  const Json stored = model();
  EXPECT_EQ(object::condition(stored, "Ready")["status"].string_or(""), "True");
  apply_model("llama");
  EXPECT_EQ(verdict(), "True Valid: the object keeps all rules");
  const Json later = model();
  EXPECT_EQ(object::condition(later, "Ready")["status"].string_or(""), "True");
  EXPECT_EQ(later["status"]["readyEndpoints"].int_or(0), 2);
}

TEST_F(ControllerTest, AConditionOfSomebodyElseIsLeftAlone) {
  define();
  apply_model("");
  write_status(Json::Object{{"conditions",
                             Json::Array{Json::Object{{"type", "Valid"}, {"status", "True"}, {"reason", "Mine"}}}}},
               "operator");
  start();
  pass(10min);
  EXPECT_EQ(verdict(), "True Mine: ");
  ASSERT_THAT(told_, testing::SizeIs(1));
  EXPECT_THAT(told_.front(), testing::StartsWith("DynamoModel default/m: the condition Valid cannot be written: "));
}

TEST_F(ControllerTest, GivesUpIfSomebodyRemovesTheCondition) {
  define();
  start();
  apply_model("");
  for (int i = 0; i < 10; ++i) {
    Json patch = Json::Object{{"status", Json::Object{{"conditions", nullptr}}}};
    must(client_.patch(kModels, "default", "m", kube::PatchType::merge, patch, {.subresource = "status"}));
    pass(1s);
  }
  EXPECT_EQ(verdict(), " : ");
  EXPECT_EQ(told_.size(), 6u);
  EXPECT_EQ(told_.back(),
            "DynamoModel default/m: somebody removes the condition Valid; it is not written again until the object "
            "changes");
  apply_model("llama");
  EXPECT_EQ(verdict(), "True Valid: the object keeps all rules");
}

TEST_F(ControllerTest, WaitsForTheResourcesToExist) {
  start();
  pass(1min);
  EXPECT_THAT(told_, testing::SizeIs(3));
  define();
  apply_model("");
  pass(1min);
  EXPECT_EQ(verdict(), "False Invalid: spec.modelName is required");
}

TEST_F(ControllerTest, InOneNamespaceItSeesNoOther) {
  define();
  apply_model("");
  start("kube-system");
  apply_model("", "other", "kube-system");
  EXPECT_EQ(verdict(), " : ");
  EXPECT_THAT(told_, ElementsAre("DynamoModel kube-system/other is invalid: spec.modelName is required"));
}

TEST_F(ControllerTest, AnObjectThatIsBeingDeletedIsLeftAlone) {
  define();
  apply_model("");
  Json patch = Json::Object{{"metadata", Json::Object{{"finalizers", Json::Array{"example.com/wait"}}}}};
  must(client_.patch(kModels, "default", "m", kube::PatchType::merge, patch));
  must(client_.remove(kModels, "default", "m"));
  start();
  EXPECT_EQ(verdict(), " : ");
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(ControllerTest, TriesAgainWhenAWriteFailed) {
  define();
  apply_model("");
  network_.loses_writes = true;
  start();
  EXPECT_EQ(verdict(), " : ");
  ASSERT_THAT(told_, testing::SizeIs(1));
  EXPECT_THAT(told_.front(), testing::HasSubstr("the connection broke"));
  network_.loses_writes = false;
  pass(11s);
  EXPECT_EQ(verdict(), "False Invalid: spec.modelName is required");
}

TEST_F(ControllerTest, GoesOnWhenTheApiServerComesBack) {
  define();
  apply_model("");
  sandbox_.set_down(0, true);
  start();
  pass(1min);
  sandbox_.set_down(0, false);
  pass(2min);
  EXPECT_EQ(verdict(), "False Invalid: spec.modelName is required");
}

}  // namespace
}  // namespace fairlead::webhook
