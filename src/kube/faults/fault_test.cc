#include "kube/faults/fault.h"

#include <gtest/gtest.h>

#include <fstream>

#include "kube/faults/internal/request_path.h"

namespace fairlead::kube {
namespace {

std::vector<Json> recorded_answers() {
  std::ifstream file(FAIRLEAD_SOURCE_DIR "/tests/fixtures/faults.jsonl");
  std::vector<Json> answers;
  for (std::string line; std::getline(file, line);) {
    Result<Json> answer = Json::parse(line);
    EXPECT_TRUE(answer) << line;
    if (answer) answers.push_back(*std::move(answer));
  }
  return answers;
}

std::optional<Fault> classify_recorded(const Json& answer) {
  http::Headers headers;
  for (const Json::Member& header : answer["headers"].members())
    headers.add(header.key, std::string(header.value.string_or("")));
  return classify(answer["method"].string_or(""), answer["path"].string_or(""),
                  static_cast<int>(answer["http"].int_or(0)), headers, answer["body"].string_or(""));
}

void put(Json& object, std::string_view key, std::string_view text) {
  if (!text.empty()) object.make(key) = text;
}

// The same shape as `expect` has in the file: what is empty, or false, is not there.
Json shape_of(const std::optional<Fault>& fault) {
  Json shape{Json::Object()};
  if (!fault) {
    shape.make("kind") = "none";
    return shape;
  }
  shape.make("kind") = name_of(fault->kind);
  shape.make("disposition") = name_of(fault->disposition);
  if (fault->webhook) {
    Json& webhook = shape.make("webhook");
    webhook.make("role") = fault->webhook->role == FaultWebhook::Role::admission ? "admission" : "conversion";
    put(webhook, "name", fault->webhook->name);
    put(webhook, "service", fault->webhook->service);
    put(webhook, "ns", fault->webhook->ns);
    if (fault->webhook->port != 0) webhook.make("port") = fault->webhook->port;
    put(webhook, "path", fault->webhook->path);
    put(webhook, "url", fault->webhook->url);
  }
  if (fault->wait != Wait()) {
    Json& wait = shape.make("wait");
    wait.make("what") = name_of(fault->wait.what);
    put(wait, "ns", fault->wait.ns);
    put(wait, "name", fault->wait.name);
    if (fault->wait.only_if_expected) wait.make("only_if_expected") = true;
  }
  put(shape, "subject", fault->subject);
  if (fault->retry_after)
    shape.make("retry_after") = static_cast<int64_t>(*fault->retry_after / std::chrono::seconds(1));
  if (fault->tell_early) shape.make("tell_early") = true;
  if (fault->outcome_unknown) shape.make("outcome_unknown") = true;
  if (fault->reconnect) shape.make("reconnect") = true;
  put(shape, "explanation", fault->explanation);
  put(shape, "advice", fault->advice);
  return shape;
}

TEST(Fault, every_recorded_answer_is_told_apart) {
  std::vector<Json> answers = recorded_answers();
  ASSERT_GE(answers.size(), 330u);
  for (const Json& answer : answers) {
    Json shape = shape_of(classify_recorded(answer));
    EXPECT_TRUE(shape.same_as(answer["expect"])) << answer["name"].string_or("") << "\n  got      " << shape.dump()
                                                 << "\n  expected " << answer["expect"].dump();
  }
}

TEST(Fault, no_recorded_secret_gets_out) {
  size_t seen = 0;
  for (const Json& answer : recorded_answers()) {
    if (!answer["path"].string_or("").contains("/secrets")) continue;
    ++seen;
    std::optional<Fault> fault = classify_recorded(answer);
    ASSERT_TRUE(fault);
    std::string all = fault->message + fault->explanation + fault->advice + as_error(*fault).report();
    for (const FaultCause& cause : fault->causes) all += cause.message;
    EXPECT_FALSE(all.contains("hunter2") || all.contains("271828182")) << all;
  }
  EXPECT_EQ(seen, 8u);
}

TEST(Fault, keeps_what_the_status_says) {
  std::optional<Fault> fault = classify("PATCH", "/api/v1/namespaces/gen/configmaps/one", 409, {}, R"({"kind":"Status",
      "status":"Failure","message":"Apply failed with 1 conflict: conflict with \"unknown\" using v1: .data.a",
      "reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict",
      "message":"conflict with \"unknown\" using v1","field":".data.a"}]},"code":409})");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->http, 409);
  EXPECT_EQ(fault->reason, "Conflict");
  EXPECT_EQ(fault->causes,
            (std::vector<FaultCause>{{"FieldManagerConflict", "conflict with \"unknown\" using v1", ".data.a"}}));
}

TEST(Fault, reads_as_an_error) {
  std::optional<Fault> fault = classify("GET", "/api/v1/namespaces/gen/configmaps/none", 404, {}, R"({"kind":"Status",
      "status":"Failure","message":"configmaps \"none\" not found","reason":"NotFound",
      "details":{"name":"none","kind":"configmaps"},"code":404})");
  ASSERT_TRUE(fault);
  EXPECT_EQ(as_error(*fault).report(),
            "error: configmaps gen/none does not exist\n"
            "  because   the API server answered 404: configmaps \"none\" not found\n");
  fault = classify("GET", "/apis/metrics.k8s.io/v1beta1/nodes", 503, {{"Content-Type", "text/plain"}},
                   "service unavailable\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(as_error(*fault).kind(), ErrorKind::unavailable);
  EXPECT_EQ(as_error(*fault).report(),
            "error: APIService v1beta1.metrics.k8s.io is not available: the server behind it does not answer\n"
            "  because   the API server answered 503: service unavailable\n"
            "  next      kubectl describe apiservice v1beta1.metrics.k8s.io\n");
}

TEST(Fault, a_status_inside_an_event) {
  Json status =
      *Json::parse(R"({"kind":"Status","code":410,"reason":"Expired","message":"too old resource version: 1"})");
  EXPECT_EQ(classify_status("GET", "/api/v1/pods", status).kind, FaultKind::expired);
  EXPECT_EQ(classify_status("GET", "/api/v1/pods", Json("nonsense")).kind, FaultKind::server_error);
  EXPECT_EQ(classify_status("GET", "/api/v1/pods", *Json::parse(R"({"code":-7})")).http, 500);
}

TEST(Fault, hostile_bodies) {
  auto kind = [](int http, std::string_view body) {
    std::optional<Fault> fault = classify("PATCH", "/api/v1/namespaces/a/configmaps/b", http, {}, body);
    EXPECT_TRUE(fault);
    EXPECT_LT(fault->message.size(), 5000u);
    EXPECT_LT(fault->explanation.size(), 2000u);
    for (char c : fault->message + fault->explanation) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    return fault->kind;
  };
  EXPECT_EQ(kind(500, std::string(size_t{10} << 20, 'x')), FaultKind::server_error);
  EXPECT_EQ(kind(500, "{" + std::string(size_t{10} << 20, ' ')), FaultKind::server_error);
  EXPECT_EQ(kind(500, std::string(100'000, '{')), FaultKind::server_error);
  EXPECT_EQ(kind(500, std::string("\x00\xff\x1b[31m\xc3(\xed\xa0\x80\r\n", 15)), FaultKind::server_error);
  EXPECT_EQ(kind(404, R"({"kind":"Status","details":[1,2],"message":{"a":1},"reason":7,"code":"x"})"),
            FaultKind::not_served);
  EXPECT_EQ(kind(422, R"({"kind":"Status","details":{"causes":"no","retryAfterSeconds":-1e300}})"), FaultKind::invalid);
  EXPECT_EQ(kind(429, R"({"kind":"Status","details":{"causes":[{"reason":"DisruptionBudget"}]}})"),
            FaultKind::disruption_budget);
  EXPECT_EQ(kind(500, R"({"kind":"Status","message":"failed calling webhook \""})"), FaultKind::server_error);
  EXPECT_EQ(kind(500, R"({"kind":"Status","message":"failed calling webhook \"a\": Post \""})"),
            FaultKind::webhook_answered_error);
  EXPECT_EQ(
      kind(500, R"({"kind":"Status","message":"failed calling webhook \"a\": Post \"https://:99999999999/\": EOF"})"),
      FaultKind::webhook_hung_up);
  EXPECT_EQ(kind(500, R"({"kind":"Status","message":"conversion webhook for , Kind="})"), FaultKind::server_error);
  EXPECT_EQ(kind(0, ""), FaultKind::unexpected);

  std::string causes;
  for (int i = 0; i < 10'000; ++i) causes += R"({"message":"m"},)";
  std::optional<Fault> many = classify("", "", 422, {}, R"({"kind":"Status","details":{"causes":[)" + causes + "1]}}");
  ASSERT_TRUE(many);
  EXPECT_EQ(many->causes.size(), 64u);
}

// Since 1.37 an object that cannot be converted counts as corrupt, and the words of the conversion come behind that.
// An object that is invalid as well would be refused again once the old one is deleted.
TEST(Fault, recreating_helps_only_where_every_mistake_is_an_immutable_field) {
  std::string immutable =
      R"({"reason":"FieldValueInvalid","field":"spec.template","message":"Invalid value: 1: field is immutable"})";
  std::string required = R"({"reason":"FieldValueRequired","field":"spec.name","message":"Required value"})";
  auto kind = [](const std::string& causes) {
    std::string body = R"({"kind":"Status","reason":"Invalid","code":422,"details":{"causes":[)" + causes + "]}}";
    return classify("", "", 422, {}, body)->kind;
  };
  EXPECT_EQ(kind(immutable), FaultKind::immutable_field);
  EXPECT_EQ(kind(immutable + "," + immutable), FaultKind::immutable_field);
  EXPECT_EQ(kind(immutable + "," + required), FaultKind::invalid);
  EXPECT_EQ(kind(""), FaultKind::invalid);
}

TEST(Fault, a_failed_conversion_is_found_behind_the_words_of_the_storage) {
  std::string decoding = "object not decodable revision=417: ";
  std::string storage =
      "StorageError: corrupt object, Code: 7, Key: /example.com/convs/ns/x, ResourceVersion: 0, AdditionalErrorMsg: ";
  std::string list = "failed to read one or more convs.example.com from the storage: ";
  for (const std::string& before :
       {std::string(), decoding, "Internal error occurred: " + storage + decoding, list + storage + decoding}) {
    auto fault_of = [&](std::string_view words) {
      Json status =
          Json::Object{{"kind", "Status"},
                       {"status", "Failure"},
                       {"code", 500},
                       {"message", before + "conversion webhook for example.com/v1, Kind=Conv " + std::string(words)}};
      return *classify("GET", "/apis/example.com/v2/namespaces/ns/convs/x", 500, {}, status.dump());
    };
    Fault refused = fault_of(
        "failed: Post \"https://hook.ns.svc:443/convert?timeout=30s\": dial tcp 10.96.0.7:443: connect: connection "
        "refused");
    EXPECT_EQ(name_of(refused.kind), name_of(FaultKind::webhook_refused)) << before;
    ASSERT_TRUE(refused.webhook) << before;
    EXPECT_EQ(refused.webhook->role, FaultWebhook::Role::conversion);
    EXPECT_EQ(refused.webhook->service, "hook");
    EXPECT_EQ(name_of(fault_of("failed: not today").kind), name_of(FaultKind::conversion_failed)) << before;
    EXPECT_EQ(name_of(fault_of("returned 0 objects, expected 1").kind), name_of(FaultKind::conversion_bad_result));
  }
}

TEST(Fault, retry_after_is_bounded) {
  auto after = [](std::string value) {
    return classify("GET", "/api/v1/pods", 429, {{"retry-after", std::move(value)}}, "")->retry_after;
  };
  EXPECT_EQ(after("2"), std::chrono::seconds(2));
  EXPECT_EQ(after("999999999"), std::chrono::hours(1));
  EXPECT_EQ(after("99999999999999999999"), std::nullopt);
  EXPECT_EQ(after("-1"), std::nullopt);
  EXPECT_EQ(after("Wed, 21 Oct 2015 07:28:00 GMT"), std::nullopt);
}

TEST(RequestPath, finds_the_resource) {
  RequestPath path = parse_request_path("/apis/apps/v1/namespaces/gen/deployments/d/scale?dryRun=All");
  EXPECT_EQ(path.group, "apps");
  EXPECT_EQ(path.version, "v1");
  EXPECT_EQ(path.ns, "gen");
  EXPECT_EQ(path.resource, "deployments");
  EXPECT_EQ(path.name, "d");
  EXPECT_EQ(path.subresource, "scale");
  path = parse_request_path("/api/v1/namespaces/gen");
  EXPECT_EQ(path.resource, "namespaces");
  EXPECT_EQ(path.name, "gen");
  EXPECT_EQ(path.ns, "");
  path = parse_request_path("/api/v1/namespaces/gen/finalize");
  EXPECT_EQ(path.resource, "namespaces");
  EXPECT_EQ(path.subresource, "finalize");
  path = parse_request_path("/apis/example.com/v1/widgets");
  EXPECT_EQ(path.definition(), "widgets.example.com");
  EXPECT_EQ(path.api_service(), "v1.example.com");
  for (std::string_view odd : {"", "/", "//", "/api", "/apis", "/apis//", "/healthz", "/a/b/c/d/e/f/g/h/i/j/k/l", "?"})
    EXPECT_EQ(parse_request_path(odd).resource, "") << odd;
}

}  // namespace
}  // namespace fairlead::kube
