#include "terraform/provider/server.h"

#include <gtest/gtest.h>

#include "async/scope.h"
#include "terraform/provider/exchange_testing.h"

namespace fairlead::terraform {
namespace {

using protobuf::WireWriter;

const Type& note_type() {
  static const Type type = note_schema().type();
  return type;
}

Value note(Value::Members members) { return conformed(Value::object(std::move(members)), note_type()).value(); }

Value planned_note(std::string_view text) {
  Value value = note({{"text", text}, {"line", Value::list({})}});
  value.make("id") = Value::unknown();
  value.make("length") = Value::unknown();
  return value;
}

// The text of a message of the provider, as far as these tests look at it.
struct Told {
  std::string bytes;
  Message message;

  explicit Told(rpc::Answer answer) : bytes(answer ? *std::move(answer) : ""), message(Message::read(bytes).value()) {
    if (!answer) ADD_FAILURE() << answer.error().message;
  }
  Told(const Told&) = delete;

  // "ERROR summary | detail @attribute", one per diagnostic.
  std::vector<std::string> diagnostics(uint64_t field) const {
    std::vector<std::string> texts;
    for (std::string_view one : message.all(field)) {
      Message diagnostic = Message::read(one).value();
      std::string text = fmt::format("{} {} | {}", diagnostic.number(1) == 1 ? "ERROR" : "WARNING", diagnostic.bytes(2),
                                     diagnostic.bytes(3));
      if (diagnostic.has(4)) {
        Message path = Message::read(diagnostic.bytes(4)).value();
        for (std::string_view step : path.all(1)) text += fmt::format(" @{}", Message::read(step)->bytes(1));
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }
  Value value(uint64_t field, const Type& type) const { return read_dynamic_value(message.bytes(field), type).value(); }
};

std::vector<std::string> nothing() { return {}; }

std::string validate_request(const Value& config, bool allows_write_only = true) {
  WireWriter capabilities;
  capabilities.flag(2, allows_write_only);
  WireWriter request;
  request.text(1, "trial_note");
  request.message(2, dynamic(config, note_type()));
  request.message(3, capabilities);
  return request.take();
}

std::string plan_request(const Value& prior, const Value& proposed, const Value& config) {
  WireWriter request;
  request.text(1, "trial_note");
  request.message(2, dynamic(prior, note_type()));
  request.message(3, dynamic(proposed, note_type()));
  request.message(4, dynamic(config, note_type()));
  return request.take();
}

std::string apply_request(const Value& prior, const Value& planned, const Value& config) {
  WireWriter request;
  request.text(1, "trial_note");
  request.message(2, dynamic(prior, note_type()));
  request.message(3, dynamic(planned, note_type()));
  request.message(4, dynamic(config, note_type()));
  request.bytes(5, R"({"planned":true})");
  return request.take();
}

TEST(ProviderServer, TellsItsSchema) {
  TrialServer server;
  Told told(server.call("GetProviderSchema", ""));
  std::map<std::string, std::string> schemas;
  for (uint64_t field : {2, 3, 7, 8})
    for (std::string_view entry : told.message.all(field)) {
      Message pair = Message::read(entry).value();
      schemas[pair.text(1)] = pair.text(2);
    }
  ASSERT_EQ(schemas.size(), 4u);
  Message schema = Message::read(schemas["trial_note"]).value();
  EXPECT_EQ(schema.number(1), 2);
  Message block = Message::read(schema.bytes(2)).value();
  std::map<std::string, std::string> attributes;
  for (std::string_view bytes : block.all(2)) attributes[Message::read(bytes)->text(1)] = std::string(bytes);
  Message secret = Message::read(attributes["secret"]).value();
  EXPECT_EQ(secret.bytes(2), "\"string\"");
  EXPECT_TRUE(secret.flag(5) && secret.flag(7) && secret.flag(11));
  Message place = Message::read(attributes["place"]).value();
  EXPECT_FALSE(place.has(2));
  EXPECT_EQ(Message::read(place.bytes(10))->number(3), 1);
  EXPECT_EQ(Message::read(place.bytes(10))->all(1).size(), 2u);
  ASSERT_EQ(block.all(3).size(), 1u);
  Message line = Message::read(block.all(3).front()).value();
  EXPECT_EQ(line.bytes(1), "line");
  EXPECT_EQ(line.number(3), 2);
  Message capabilities = Message::read(told.message.bytes(6)).value();
  EXPECT_TRUE(capabilities.flag(1) && capabilities.flag(2) && capabilities.flag(3));
  EXPECT_FALSE(told.message.has(5));
}

TEST(ProviderServer, ConfiguresAndValidatesItself) {
  TrialServer server;
  Type type = Type::object({{"name", Type::string()}});
  WireWriter bad, good;
  bad.message(1, dynamic(Value::object({{"name", "bad"}}), type));
  good.message(2, dynamic(Value::object({{"name", "prod"}}), type));
  EXPECT_EQ(Told(server.call("ValidateProviderConfig", bad.take())).diagnostics(2),
            std::vector<std::string>{"ERROR The name is bad |  @name"});
  EXPECT_EQ(Told(server.call("ConfigureProvider", good.take())).diagnostics(1), nothing());
  EXPECT_EQ(server.configured["name"], Value("prod"));
}

TEST(ProviderServer, ValidatesAConfiguration) {
  TrialServer server;
  EXPECT_EQ(Told(server.call("ValidateResourceConfig", validate_request(note({{"text", "good"}})))).diagnostics(1),
            nothing());
  EXPECT_EQ(Told(server.call("ValidateResourceConfig", validate_request(note({{"text", "odd"}})))).diagnostics(1),
            std::vector<std::string>{"WARNING The text is odd (trial_note) | Is it? @text"});
  EXPECT_EQ(Told(server.call("ValidateResourceConfig", validate_request(note({})))).diagnostics(1),
            std::vector<std::string>{"ERROR Missing required argument | The argument \"text\" is required. @text"});
}

TEST(ProviderServer, RefusesWriteOnlyAttributesOfClientsThatWouldStoreThem) {
  TrialServer server;
  Value config = note({{"text", "x"}, {"secret", "s"}});
  EXPECT_EQ(Told(server.call("ValidateResourceConfig", validate_request(config, true))).diagnostics(1), nothing());
  EXPECT_EQ(Told(server.call("ValidateResourceConfig", validate_request(config, false))).diagnostics(1),
            std::vector<std::string>{
                "ERROR A write-only attribute needs terraform 1.11 or newer, or tofu 1.11 or newer | This client would "
                "store the value of \"secret\" in the state. @secret"});
}

TEST(ProviderServer, PlansAndAppliesACreate) {
  TrialServer server;
  Value config = note({{"text", "hello"}, {"secret", "s"}, {"tags", Value::set({"a"})}});
  Told plan(server.call("PlanResourceChange", plan_request({}, config, config)));
  EXPECT_EQ(plan.diagnostics(4), nothing());
  Value planned = plan.value(1, note_type());
  EXPECT_TRUE(planned["id"].is_unknown());
  EXPECT_TRUE(planned["secret"].is_null()) << "write-only";
  EXPECT_EQ(planned["line"], Value::list({})) << "a block, never null";
  EXPECT_EQ(plan.message.bytes(3), R"({"planned":true})");
  EXPECT_TRUE(plan.message.all(2).empty());

  Told applied(server.call("ApplyResourceChange", apply_request({}, planned, config)));
  EXPECT_EQ(applied.diagnostics(3), nothing());
  Value state = applied.value(1, note_type());
  EXPECT_EQ(state["id"], Value("note-1"));
  EXPECT_EQ(state["length"], Value(5));
  EXPECT_EQ(state["tags"], Value::set({"a"}));
  EXPECT_EQ(applied.message.bytes(2), R"({"applied":true})");
  Message identity = Message::read(applied.message.bytes(5)).value();
  EXPECT_EQ(read_dynamic_value(identity.bytes(1), Type::object({{"id", Type::string()}})).value()["id"],
            Value("note-1"));
  EXPECT_EQ(server.notes.stored["note-1"], "hello");
}

TEST(ProviderServer, SaysWhichAttributesNeedAReplacement) {
  TrialServer server;
  Value prior = note({{"id", "note-1"}, {"text", "x"}, {"author", "me"}, {"line", Value::list({})}});
  Value proposed = prior;
  proposed.make("author") = "you";
  Told plan(server.call("PlanResourceChange", plan_request(prior, proposed, proposed)));
  ASSERT_EQ(plan.message.all(2).size(), 1u);
  Message path = Message::read(plan.message.all(2).front()).value();
  EXPECT_EQ(Message::read(path.all(1).front())->bytes(1), "author");
}

TEST(ProviderServer, PlansAndAppliesADestroy) {
  TrialServer server;
  server.notes.stored["note-1"] = "x";
  Value prior = note({{"id", "note-1"}, {"text", "x"}, {"line", Value::list({})}});
  Told plan(server.call("PlanResourceChange", plan_request(prior, {}, {})));
  EXPECT_TRUE(plan.value(1, note_type()).is_null());
  EXPECT_EQ(plan.message.bytes(3), R"({"destroy":true})");
  Told applied(server.call("ApplyResourceChange", apply_request(prior, {}, {})));
  EXPECT_TRUE(applied.value(1, note_type()).is_null());
  EXPECT_TRUE(server.notes.stored.empty());
}

TEST(ProviderServer, ReadsWhatIsThereAndWhatIsNot) {
  TrialServer server;
  server.notes.stored["note-1"] = "changed";
  auto request = [&](std::string_view id) {
    WireWriter out;
    out.text(1, "trial_note");
    out.message(2, dynamic(note({{"id", id}, {"text", "x"}}), note_type()));
    out.bytes(3, R"({"kept":1})");
    return out.take();
  };
  Told there(server.call("ReadResource", request("note-1")));
  EXPECT_EQ(there.value(1, note_type())["text"], Value("changed"));
  EXPECT_EQ(there.message.bytes(3), R"({"kept":1})");
  EXPECT_TRUE(there.message.has(5));
  Told gone(server.call("ReadResource", request("note-2")));
  EXPECT_TRUE(gone.value(1, note_type()).is_null());
  EXPECT_FALSE(gone.message.has(5));
}

TEST(ProviderServer, UpgradesStateOfItsOwnVersion) {
  TrialServer server;
  auto request = [&](int64_t version, std::string_view json) {
    WireWriter raw;
    raw.bytes(1, json);
    WireWriter out;
    out.text(1, "trial_note");
    out.number(2, uint64_t(version));
    out.message(3, raw);
    return out.take();
  };
  Told good(server.call("UpgradeResourceState",
                        request(2, R"({"text":"x","anything":{"type":"number","value":12345678901234567890123}})")));
  EXPECT_EQ(good.diagnostics(2), nothing());
  EXPECT_EQ(good.value(1, note_type())["anything"], Value(*Number::parse("12345678901234567890123")));
  EXPECT_EQ(good.value(1, note_type())["line"], Value::list({}));
  EXPECT_EQ(Told(server.call("UpgradeResourceState", request(9, "{}"))).diagnostics(2),
            std::vector<std::string>{
                "ERROR The state of trial_note has version 9, which this provider does not know | This provider writes "
                "version 2. Use the version of the provider that wrote the state, or a newer one."});
  EXPECT_EQ(
      Told(server.call("UpgradeResourceState", request(2, R"({"text":["x"]})"))).diagnostics(2),
      std::vector<std::string>{"ERROR The state of trial_note cannot be read |   because   text is wrong\n  because  "
                               " it must be a string, not array\n"});
}

TEST(ProviderServer, ImportsByIdAndByIdentity) {
  TrialServer server;
  server.notes.stored["note-7"] = "x";
  WireWriter by_id, nobody, by_identity, identity;
  by_id.text(1, "trial_note");
  by_id.text(2, "note-7");
  nobody.text(1, "trial_note");
  nobody.text(2, "note-8");
  by_identity.text(1, "trial_note");
  identity.message(1, dynamic(Value::object({{"id", "note-7"}}), Type::object({{"id", Type::string()}})));
  by_identity.message(4, identity);
  for (WireWriter* request : {&by_id, &by_identity}) {
    Told told(server.call("ImportResourceState", request->take()));
    EXPECT_EQ(told.diagnostics(2), nothing());
    ASSERT_EQ(told.message.all(1).size(), 1u);
    Message imported = Message::read(told.message.all(1).front()).value();
    EXPECT_EQ(imported.bytes(1), "trial_note");
    EXPECT_EQ(read_dynamic_value(imported.bytes(2), note_type()).value()["id"], Value("note-7"));
    EXPECT_TRUE(imported.has(4));
  }
  EXPECT_EQ(Told(server.call("ImportResourceState", nobody.take())).diagnostics(2),
            std::vector<std::string>{"ERROR trial_note \"note-8\" was not found | There is nothing to import."});
}

TEST(ProviderServer, MovesFromTypesThatItKnows) {
  TrialServer server;
  auto request = [&](std::string_view type) {
    WireWriter raw;
    raw.bytes(1, R"({"content":"from there"})");
    WireWriter out;
    out.text(1, "registry.terraform.io/x/other");
    out.text(2, type);
    out.message(4, raw);
    out.text(5, "trial_note");
    out.bytes(6, "\x01not json");
    return out.take();
  };
  Told moved(server.call("MoveResourceState", request("other_note")));
  EXPECT_EQ(moved.diagnostics(2), nothing());
  EXPECT_EQ(moved.value(1, note_type())["text"], Value("from there"));
  EXPECT_EQ(
      Told(server.call("MoveResourceState", request("stranger"))).diagnostics(2),
      std::vector<std::string>{"ERROR trial_note cannot take over a stranger | No move from stranger to trial_note is "
                               "known. Remove the \"moved\" block, and import the object instead."});
}

TEST(ProviderServer, ReadsDataAndOpensEphemeralResources) {
  TrialServer server;
  server.notes.stored = {{"note-1", "hello"}, {"note-2", "bye"}};
  Type data = Type::object({{"prefix", Type::string()}, {"texts", Type::list(Type::string())}});
  WireWriter read;
  read.text(1, "trial_notes");
  read.message(2, dynamic(Value::object({{"prefix", "h"}}), data));
  EXPECT_EQ(Told(server.call("ReadDataSource", read.take())).value(1, data)["texts"], Value::list({"hello"}));

  Type key = Type::object({{"size", Type::number()}, {"key", Type::string()}});
  WireWriter open;
  open.text(1, "trial_key");
  open.message(2, dynamic(Value::object({{"size", 3}}), key));
  Told opened(server.call("OpenEphemeralResource", open.take()));
  EXPECT_EQ(opened.value(3, key)["key"], Value("kkk"));
  WireWriter close;
  close.text(1, "trial_key");
  close.bytes(2, opened.message.bytes(4));
  EXPECT_EQ(Told(server.call("CloseEphemeralResource", close.take())).diagnostics(1), nothing());
}

TEST(ProviderServer, CallsAFunction) {
  TrialServer server;
  auto call = [&](std::vector<Value> arguments) {
    WireWriter out;
    out.text(1, "join_words");
    for (const Value& argument : arguments) out.message(2, dynamic(argument, Type::string()));
    return out.take();
  };
  EXPECT_EQ(Told(server.call("CallFunction", call({"-", "a", "b"}))).value(1, Type::string()), Value("a-b"));
  auto error = [&](std::vector<Value> arguments) {
    Told told(server.call("CallFunction", call(std::move(arguments))));
    Message message = Message::read(told.message.bytes(2)).value();
    return fmt::format("{} {}", message.bytes(1), message.has(2) ? std::to_string(message.number(2)) : "-");
  };
  EXPECT_EQ(error({"-", "a", ""}), "a word is empty 2");
  EXPECT_EQ(error({}), "join_words takes 1 arguments, not 0 -");
}

// What would make Terraform say that the provider has a bug, or lose what was applied, is an error of our own.
TEST(ProviderServer, AnAnswerThatBreaksTheRulesIsAnError) {
  TrialServer server;
  Value planned = planned_note("x");
  server.notes.instead_of_apply = [](Context&, ApplyRequest request) -> Task<ApplyResponse> {
    co_return ApplyResponse{.state = request.planned};
  };
  Told unknown(server.call("ApplyResourceChange", apply_request({}, planned, planned)));
  EXPECT_EQ(
      unknown.diagnostics(3),
      std::vector<std::string>{"ERROR The provider has an answer that Terraform would not accept; this is an error in "
                               "the provider |   because   id is unknown after it was applied or read\n"});
  EXPECT_EQ(unknown.value(1, note_type())["text"], Value("x")) << "what is known is kept";
  EXPECT_TRUE(unknown.value(1, note_type())["id"].is_null());

  server.notes.instead_of_apply = [](Context&, ApplyRequest) -> Task<ApplyResponse> {
    co_return ApplyResponse{.state = Value::object({{"id", 1}})};
  };
  EXPECT_EQ(
      Told(server.call("ApplyResourceChange", apply_request({}, planned, planned))).diagnostics(3),
      std::vector<std::string>{"ERROR The provider has an answer that Terraform would not accept; this is an error in "
                               "the provider |   because   id is wrong\n  because   it must be a string\n"});
}

TEST(ProviderServer, SecretsReachNoDiagnostic) {
  TrialServer server;
  server.secrets.hide("hunter2hunter2");
  server.notes.instead_of_apply = [](Context&, ApplyRequest request) -> Task<ApplyResponse> {
    ApplyResponse response{.state = request.prior};
    response.diagnostics.error("refused: hunter2hunter2", "the server said hunter2hunter2");
    co_return response;
  };
  Value planned = planned_note("x");
  EXPECT_EQ(Told(server.call("ApplyResourceChange", apply_request({}, planned, planned))).diagnostics(3),
            std::vector<std::string>{"ERROR refused: *** | the server said ***"});
}

TEST(ProviderServer, StopCancelsTheCallsThatRun) {
  TrialServer server;
  Signal never(server.loop);
  server.notes.instead_of_apply = [&](Context&, ApplyRequest request) -> Task<ApplyResponse> {
    ApplyResponse response{.state = request.prior};
    if (Result<void> woken = co_await never.wait(); !woken) response.diagnostics.error(woken.error());
    co_return response;
  };
  Value planned = planned_note("x");
  std::optional<rpc::Answer> applied, stopped;
  auto story = [&]() -> Task<void> {
    Scope scope(server.loop, nullptr);
    auto apply = [&]() -> Task<void> {
      applied = co_await (*server.services.find("/tfplugin6.Provider/ApplyResourceChange"))(
          apply_request({}, planned, planned));
    };
    auto stop = [&]() -> Task<void> {
      while (never.waiting() == 0) (void)co_await sleep_for(server.loop, std::chrono::seconds(1));
      stopped = co_await (*server.services.find("/tfplugin6.Provider/StopProvider"))("");
    };
    scope.spawn(apply());
    scope.spawn(stop());
    co_await scope.join();
  };
  server.loop.run(story());
  ASSERT_TRUE(stopped && *stopped);
  EXPECT_EQ(**stopped, "");
  EXPECT_EQ(Told(*applied).diagnostics(3), std::vector<std::string>{"ERROR cancelled | "});
  // Later calls run as ever: Terraform may still ask.
  server.notes.instead_of_apply = nullptr;
  EXPECT_EQ(Told(server.call("ApplyResourceChange", apply_request({}, planned, planned))).diagnostics(3), nothing());
}

TEST(ProviderServer, WhatIsNotThereIsAnError) {
  TrialServer server;
  WireWriter request;
  request.text(1, "trial_nothing");
  EXPECT_EQ(Told(server.call("ReadResource", request.take())).diagnostics(2),
            std::vector<std::string>{
                "ERROR There is no resource \"trial_nothing\" | This version of the provider does not have it."});
}

TEST(ProviderServer, BytesThatAreNoMessageAreRefused) {
  TrialServer server;
  rpc::Answer answer = server.call("ReadResource", "\x0a\xff");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, rpc::Code::invalid_argument);
  WireWriter request;
  request.text(1, "trial_note");
  WireWriter value;
  value.bytes(1, "\xc1");
  request.message(2, value);
  EXPECT_EQ(Told(server.call("ReadResource", request.take())).diagnostics(2),
            std::vector<std::string>{
                "ERROR The provider cannot read a value that Terraform sent |   because   a value is not "
                "valid MessagePack: a byte that starts no value\n"});
}

}  // namespace
}  // namespace fairlead::terraform
