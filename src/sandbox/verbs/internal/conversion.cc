#include "sandbox/verbs/internal/conversion.h"

#include <fmt/format.h>

#include "admission/go_json.h"
#include "sandbox/core/custom_kind.h"
#include "sandbox/kinds/autoscaling.h"
#include "sandbox/verbs/internal/webhook_call.h"

namespace fairlead::sandbox {
namespace {

// What a Go client makes of a status that is no success.
std::string status_error(const admission::Answer& answer) {
  switch (answer.http) {
    case 404: return "the server could not find the requested resource";
    case 503: return "the server is currently unable to handle the request";
    case 401: return "the server has asked for the client to provide credentials";
    case 429: return "the server has received too many requests and has asked us to try again later";
    case 400: return "the server rejected our request for an unknown reason";
    default: break;
  }
  // Only plain text is shown.
  std::string body = answer.content_type.starts_with("text/") ? answer.body : "";
  while (!body.empty() && (body.back() == '\n' || body.back() == ' ')) body.pop_back();
  if (answer.http >= 500)
    return fmt::format("an error on the server (\"{}\") has prevented the request from succeeding",
                       body.empty() ? "unknown" : body);
  return fmt::format("the server responded with the status code {} but did not return more details", answer.http);
}

std::expected<Json, std::string> read_review(const admission::Answer& answer) {
  if (answer.http < 200 || answer.http > 206) return std::unexpected(status_error(answer));
  if (answer.body.empty())
    return std::unexpected(
        fmt::format("0-length response with status code: {} and content type: {}", answer.http, answer.content_type));
  if (std::optional<std::string> flaw = admission::go_syntax_error(answer.body))
    return std::unexpected(fmt::format("couldn't get version/kind; json parse error: {}", *flaw));
  Result<Json> value = Json::parse(answer.body);
  if (!value) return std::unexpected(value.error().root().what());
  std::string_view kind = (*value)["kind"].string_or(""), version = (*value)["apiVersion"].string_or("");
  if (kind != "ConversionReview")
    return std::unexpected(
        fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                    "\"pkg/apiserver/conversion/webhook_converter.go:44\"",
                    kind, version));
  return *std::move(value);
}

Task<Outcome<Json::Array>> by_webhook(ApiServer& server, const Kind& kind, std::string api_version,
                                      Json::Array objects) {
  const Json& config = kind.custom->conversion["webhook"];
  std::vector<size_t> places;
  Json::Array wanted;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (objects[i]["apiVersion"].string_or("") == api_version) continue;
    places.push_back(i);
    wanted.push_back(objects[i]);
  }
  if (wanted.empty()) co_return std::move(objects);
  // The version of the store is put on after conversion.
  Json::Array sent = wanted;
  for (Json& one : sent) one.make("metadata").if_object()->erase("resourceVersion");
  std::string from = fmt::format("{}, Kind={}", wanted[0]["apiVersion"].string_or(""), kind.kind);
  std::string uid = server.core().random.uid();
  std::string_view version = config["conversionReviewVersions"].item(0).string_or("v1");
  Json review =
      Json::Object{{"kind", "ConversionReview"},
                   {"apiVersion", fmt::format("apiextensions.k8s.io/{}", version)},
                   {"request", Json::Object{{"uid", uid}, {"desiredAPIVersion", api_version}, {"objects", sent}}},
                   {"response", Json::Object{{"uid", ""},
                                             {"convertedObjects", nullptr},
                                             {"result", Json::Object{{"metadata", Json::Object{}}}}}}};
  std::expected<admission::Answer, std::string> answer =
      co_await call_webhook(server, config["clientConfig"], std::move(review), std::chrono::seconds(30));
  auto failed = [&](std::string_view why) {
    return refuse(bare_error(fmt::format("conversion webhook for {} failed: {}", from, why)));
  };
  auto returned = [&](std::string_view what) {
    return refuse(bare_error(fmt::format("conversion webhook for {} returned {}", from, what)));
  };
  if (!answer) co_return failed(answer.error());
  std::expected<Json, std::string> read = read_review(*answer);
  if (!read) co_return failed(read.error());
  const Json& response = (*read)["response"];
  if (response.is_null()) co_return failed("no response provided");
  if (response["uid"].string_or("") != uid)
    co_return failed(fmt::format("expected response.uid=\"{}\", got \"{}\"", uid, response["uid"].string_or("")));
  if (response["result"]["status"].string_or("") != "Success") {
    std::string_view message = response["result"]["message"].string_or("");
    co_return failed(message.empty() ? fmt::format("response.result.status was '{}', not 'Success'",
                                                   response["result"]["status"].string_or(""))
                                     : std::string(message));
  }
  const Json::Array& converted = response["convertedObjects"].items();
  if (converted.size() != wanted.size())
    co_return returned(fmt::format("{} objects, expected {}", converted.size(), wanted.size()));
  for (size_t i = 0; i < converted.size(); ++i) {
    std::string_view got = converted[i]["apiVersion"].string_or("");
    if (got != api_version)
      co_return returned(
          fmt::format("invalid converted object at index {}: invalid groupVersion (expected {}, received "
                      "{})",
                      i, api_version, got));
    for (std::string_view same : {"name", "namespace", "uid"}) {
      std::string_view before = wanted[i]["metadata"][same].string_or("");
      std::string_view after = converted[i]["metadata"][same].string_or("");
      if (before != after)
        co_return returned(fmt::format("invalid object: must have the same {}: {} != {}", same == "uid" ? "UID" : same,
                                       before, after));
    }
    Json object = converted[i];
    // Of the metadata, a converter may change labels and annotations only.
    Json metadata = wanted[i]["metadata"];
    for (std::string_view free : {"labels", "annotations"}) {
      const Json& value = converted[i]["metadata"][free];
      if (value.is_null()) metadata.if_object()->erase(free);
      else metadata.make(free) = value;
    }
    object.make("metadata") = std::move(metadata);
    objects[places[i]] = std::move(object);
  }
  co_return std::move(objects);
}

}  // namespace

Task<Outcome<Json::Array>> convert(ApiServer& server, const Kind& kind, std::string api_version, Json::Array objects) {
  if (!kind.custom) {
    if (is_autoscaler(kind)) {
      for (Json& object : objects) object = autoscaler_in(object, api_version);
      co_return std::move(objects);
    }
    if (kind.stored_as != kind.id())
      co_return refuse(not_implemented(fmt::format("{}.{}; use the core group", kind.resource, kind.group)));
    co_return std::move(objects);
  }
  if (kind.custom->conversion["strategy"].string_or("") == "Webhook")
    co_return co_await by_webhook(server, kind, std::move(api_version), std::move(objects));
  for (Json& object : objects)
    if (object["apiVersion"].string_or("") != api_version) object.make("apiVersion") = api_version;
  co_return std::move(objects);
}

}  // namespace fairlead::sandbox
