#include "sandbox/verbs/tokens.h"

#include <fmt/format.h>

#include <random>

#include "sandbox/core/continue_token.h"
#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/admission_chain.h"
#include "sandbox/verbs/internal/write.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kIssuer = "https://kubernetes.default.svc";
constexpr int64_t kLeastSeconds = 600;
constexpr int64_t kMostSeconds = int64_t{1} << 32;
constexpr int64_t kUsualSeconds = 3600;

// Not from the seed: who knows that must not be able to guess a token.
std::string random_bytes(size_t count) {
  std::random_device device;
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes += char(device() & 0xFF);
  return bytes;
}

int64_t unix_seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

struct Bound {
  std::string_view resource;
  std::string_view claim;  // its name in the token
};
std::optional<Bound> bound_kind(const Json& reference) {
  if (reference["apiVersion"].string_or("") != "v1") return std::nullopt;
  std::string_view kind = reference["kind"].string_or("");
  if (kind == "Pod") return Bound{"pods", "pod"};
  if (kind == "Secret") return Bound{"secrets", "secret"};
  if (kind == "Node") return Bound{"nodes", "node"};
  return std::nullopt;
}

// The object that the token is bound to, as the token names it; null if it is bound to none.
Outcome<Json> bound_claim(const Core& core, const std::string& ns, const Json& reference, std::string& claim) {
  if (reference.is_null()) return Json();
  std::optional<Bound> bound = bound_kind(reference);
  if (!bound) {
    std::string_view version = reference["apiVersion"].string_or("");
    return refuse(bad_request(fmt::format("cannot bind token to object of type {}{}, Kind={}",
                                          version.contains('/') ? "" : "/", version, reference["kind"].string_or(""))));
  }
  std::string_view name = reference["name"].string_or("");
  ObjectPtr found = core.find("", bound->resource, bound->resource == "nodes" ? "" : ns, name);
  ResourceId id{"", std::string(bound->resource)};
  if (!found) return refuse(not_found(id, name));
  const Json& uid = (*found)["metadata"]["uid"];
  std::string_view wanted = reference["uid"].string_or("");
  if (!wanted.empty() && wanted != uid.string_or(""))
    // The real server names the kind here.
    return refuse(conflict({"", std::string(reference["kind"].string_or(""))}, name,
                           fmt::format("the UID in the bound object reference ({}) does not match the UID in record. "
                                       "The object might have been deleted and then recreated",
                                       wanted)));
  claim = bound->claim;
  return Json(Json::Object{{"name", name}, {"uid", uid}});
}

Outcome<void> check(const Json& request) {
  const Json& seconds = request["spec"]["expirationSeconds"];
  std::string_view problem;
  if (seconds.int_or(0) < kLeastSeconds) problem = "may not specify a duration less than 10 minutes";
  if (seconds.int_or(0) > kMostSeconds) problem = "may not specify a duration larger than 2^32 seconds";
  if (problem.empty()) return {};
  return refuse(invalid("authentication.k8s.io", "TokenRequest", "",
                        {invalid_value("spec.expirationSeconds", seconds, problem)}));
}

std::string token_text(Core& core, const Json& claims) {
  Json header(Json::Object{{"alg", "ES256"}, {"kid", base64_url(core.options.root_certificate.substr(0, 32))}});
  return fmt::format("{}.{}.{}", base64_url(header.dump()), base64_url(claims.dump()), base64_url(random_bytes(64)));
}

struct Request {
  Json object;
  Json account_uid;
};

// The TokenRequest, checked, and with what the server fills in.
Outcome<Request> read_request(const Core& core, Call& call, const Kind& accounts, const Subresource& sub) {
  const std::string &ns = call.route.ns, &name = call.route.name;
  Kind kind = accounts;
  kind.group = sub.group;
  kind.version = sub.version;
  kind.kind = sub.kind;
  TRY(check_write_options(call, "CreateOptions", false));
  TRY_ASSIGN(Json object, decode_object(call, kind));
  if (std::string_view own = object["metadata"]["namespace"].string_or(ns); own != ns)
    return refuse(bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  ObjectPtr account = core.store.find(accounts.stored_as, {ns, name});
  if (!account) return refuse(not_found(accounts.id(), name));
  if (std::string_view own = object["metadata"]["name"].string_or(""); !own.empty() && own != name)
    return refuse(
        invalid(kind.group, kind.kind, name,
                {invalid_value("metadata.name", Json(own), "must match the service account name if specified")}));
  if (object["spec"]["expirationSeconds"].is_null()) object.make("spec").make("expirationSeconds") = kUsualSeconds;
  Json& metadata = object.make("metadata");
  metadata.make("name") = name;
  metadata.make("namespace") = ns;
  metadata.make("uid") = (*account)["metadata"]["uid"];
  object = with_managers(core, kind, "token", nullptr, std::move(object), call.manager());
  TRY(check(object));
  return Request{.object = std::move(object), .account_uid = (*account)["metadata"]["uid"]};
}

// What the token says.
Outcome<Json> claims_of(Core& core, const Place& place, const Request& request, WallTime now, WallTime until) {
  const Json& spec = request.object["spec"];
  std::string claim;
  TRY_ASSIGN(Json bound, bound_claim(core, place.ns, spec["boundObjectRef"], claim));
  Json kubernetes(Json::Object{{"namespace", place.ns},
                               {"serviceaccount", Json::Object{{"name", place.name}, {"uid", request.account_uid}}}});
  if (!bound.is_null()) kubernetes.make(claim) = std::move(bound);
  return Json(Json::Object{{"aud", spec["audiences"]},
                           {"exp", unix_seconds(until)},
                           {"iat", unix_seconds(now)},
                           {"iss", kIssuer},
                           {"jti", core.random.uid()},
                           {"kubernetes.io", std::move(kubernetes)},
                           {"nbf", unix_seconds(now)},
                           {"sub", fmt::format("system:serviceaccount:{}:{}", place.ns, place.name)}});
}

}  // namespace

Task<Outcome<Reply>> create_token(ApiServer& server, Call& call, const Kind& accounts, const Subresource& sub) {
  Core& core = server.core();
  Place place{call.route.ns, call.route.name};
  CO_TRY_ASSIGN(Request request, read_request(core, call, accounts, sub));
  Attributes attributes{
      accounts,      place, "token", Operation::create, &request.object, nullptr, options_json(call, "CreateOptions"),
      call.dry_run()};
  CO_TRY(co_await admit_mutating(server, call, attributes));
  CO_TRY(co_await admit_validating(server, call, attributes));

  Json& object = request.object;
  Json& spec = object.make("spec");
  if (spec["audiences"].items().empty()) spec.make("audiences") = Json::Array{kIssuer};
  if (!spec.contains("boundObjectRef")) spec.make("boundObjectRef") = nullptr;
  WallTime now = core.loop.clock().wall_now();
  WallTime until = now + std::chrono::seconds(spec["expirationSeconds"].int_or(kUsualSeconds));
  CO_TRY_ASSIGN(Json claims, claims_of(core, place, request, now, until));
  std::string token = token_text(core, claims);
  if (!call.dry_run()) {
    std::erase_if(core.tokens, [&](const auto& given) { return given.second.until <= now; });
    core.tokens[token] = {place.ns, place.name, std::string(request.account_uid.string_or("")), until};
  }
  object.make("metadata").make("creationTimestamp") = core.now_text();
  object.make("status") = Json::Object{{"token", token}, {"expirationTimestamp", time_text(until)}};
  co_return Reply::of(std::move(object), 201);
}

std::optional<User> bearer_of(const Core& core, std::string_view authorization) {
  constexpr std::string_view kBearer = "Bearer ";
  if (!authorization.starts_with(kBearer)) return std::nullopt;
  auto found = core.tokens.find(authorization.substr(kBearer.size()));
  if (found == core.tokens.end() || found->second.until <= core.loop.clock().wall_now()) return std::nullopt;
  const Core::GivenToken& token = found->second;
  ObjectPtr account = core.find("", "serviceaccounts", token.ns, token.account);
  if (!account || (*account)["metadata"]["uid"].string_or("") != token.uid) return std::nullopt;
  return User{.name = fmt::format("system:serviceaccount:{}:{}", token.ns, token.account),
              .groups = {"system:serviceaccounts", "system:serviceaccounts:" + token.ns, "system:authenticated"}};
}

}  // namespace fairlead::sandbox
