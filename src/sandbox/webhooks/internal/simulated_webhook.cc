#include "sandbox/webhooks/internal/simulated_webhook.h"

#include "base/json.h"

namespace fairlead::sandbox {
namespace {

Json converted(const Json& asked) {
  Json::Array objects = asked["objects"].items();
  for (Json& object : objects) object.make("apiVersion") = asked["desiredAPIVersion"];
  return Json::Object{
      {"uid", asked["uid"]}, {"convertedObjects", std::move(objects)}, {"result", Json::Object{{"status", "Success"}}}};
}

}  // namespace

http::Response simulated_answer(const http::Request& request) {
  Result<Json> review = Json::parse(request.body);
  std::string_view kind = review ? (*review)["kind"].string_or("") : std::string_view();
  http::Response response;
  response.status = kind == "AdmissionReview" || kind == "ConversionReview" ? 200 : 400;
  if (response.status != 200) return response;
  const Json& asked = (*review)["request"];
  Json answer =
      kind == "ConversionReview" ? converted(asked) : Json(Json::Object{{"uid", asked["uid"]}, {"allowed", true}});
  response.headers.set("Content-Type", "application/json");
  response.body =
      Json(Json::Object{{"apiVersion", (*review)["apiVersion"]}, {"kind", kind}, {"response", std::move(answer)}})
          .dump();
  return response;
}

}  // namespace fairlead::sandbox
