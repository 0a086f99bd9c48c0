#include "kube/access.h"

#include "base/plain_text.h"

namespace fairlead::kube {

Task<Outcome<Access>> ask_access(Client& client, AccessQuestion question) {
  Json review(Json::Object{{"kind", "SelfSubjectAccessReview"}, {"apiVersion", "authorization.k8s.io/v1"}});
  Json& attributes = review.make("spec").make("resourceAttributes");
  auto put = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) attributes.make(key) = value;
  };
  put("verb", question.verb);
  put("group", question.group);
  put("resource", question.resource);
  put("subresource", question.subresource);
  put("namespace", question.ns);
  put("name", question.name);
  Outcome<Reply> reply = co_await client.request({.verb = "create",
                                                  .method = "POST",
                                                  .target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                                  .content_type = "application/json",
                                                  .body = review.dump(),
                                                  .repeatable = true});
  if (!reply) co_return std::unexpected(std::move(reply).error());
  const Json& status = reply->value["status"];
  co_return Access{.allowed = status["allowed"].bool_or(false),
                   .reason = plain_text(status["reason"].string_or(""), 1000)};
}

}  // namespace fairlead::kube
