#include "webhook/server/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/json_diff.h"
#include "base/printable.h"
#include "webhook/review/review.h"

namespace fairlead::webhook {
namespace {

std::string text_of(const admission::GroupVersionKind& kind, std::string_view resource) {
  return fmt::format("{} {} ({})", kind.api_version(), kind.kind, resource);
}

// A failure as HTTP tells it. The cause is on one line, and not without end.
Verdict failure(int status, Decided decided, ReviewFacts facts, std::string_view cause) {
  constexpr size_t kMaxCause = 2000;
  facts.decided = decided;
  facts.cause = printable_line(cause.substr(0, kMaxCause));
  return {.status = status, .body = facts.cause + "\n", .facts = std::move(facts)};
}

Verdict malformed(const Error& error) {
  return failure(error.kind() == ErrorKind::limit ? 413 : 400, Decided::malformed, {}, error.message());
}

ReviewFacts facts_of(const Request& request) {
  return {.decided = Decided::allowed,
          .resource = request.resource.name_with_group(),
          .version = request.resource.version,
          .subresource = request.subresource,
          .ns = request.ns,
          .name = request.name,
          .operation = name_of(request.operation),
          .user = request.user.name,
          .dry_run = request.dry_run,
          .cause = {}};
}

bool is_for(const Registration& registration, const Request& request) {
  return registration.kind == request.kind && registration.kind.group == request.resource.group &&
         registration.kind.version == request.resource.version && registration.resource == request.resource.resource;
}

// Why nothing here can decide on the request, though it came to this path; empty if something can.
std::string mismatch(const Route& route, const Request& request) {
  if (std::ranges::none_of(route.registrations, [&](const auto* r) { return is_for(*r, request); })) {
    std::vector<std::string> known;
    for (const Registration* registration : route.registrations)
      known.push_back(text_of(registration->kind, registration->resource));
    return fmt::format(
        "{} is not registered here: {} decides on {}; in the rules of the webhook configuration, list that version, "
        "with "
        "matchPolicy: Equivalent",
        text_of(request.kind, request.resource.resource), route.path, fmt::join(known, ", "));
  }
  for (const Json* object : {&request.object, &request.old_object}) {
    std::string_view api_version = (*object)["apiVersion"].string_or("");
    std::string_view kind = (*object)["kind"].string_or("");
    bool is_another = (!api_version.empty() && api_version != request.kind.api_version()) ||
                      (!kind.empty() && kind != request.kind.kind);
    if (is_another)
      return fmt::format("the review is about {} {}, but the object in it is {} {}", request.kind.api_version(),
                         request.kind.kind, api_version, kind);
  }
  return {};
}

// A message of a policy may quote values of the object; those of a Secret are for the user alone.
std::string for_log(const Request& request, std::string_view message) {
  constexpr size_t kMost = 2000;
  if (request.kind.kind.ends_with("Secret")) return "not shown: it may have contents of the Secret";
  return printable_line(message.substr(0, kMost));
}

Verdict answer(const AdmissionReview& review, const Decision& decision, const Json& patch = {}) {
  ReviewFacts facts = facts_of(review.request);
  facts.decided = decision.allowed ? Decided::allowed : Decided::denied;
  if (!decision.allowed) facts.cause = for_log(review.request, decision.message);
  for (const std::string& warning : decision.warnings) facts.warnings.push_back(for_log(review.request, warning));
  return {.status = 200, .body = write_admission_answer(review, decision, patch), .facts = std::move(facts)};
}

Verdict policy_failed(const Request& request, std::string_view cause) {
  return failure(500, Decided::failed, facts_of(request),
                 fmt::format("the policy for {} failed: {}", request.resource.name_with_group(), cause));
}

Verdict run_policy(const Policy& policy, bool mutates, const AdmissionReview& review) {
  const Request& request = review.request;
  if (!mutates) {
    Result<Decision> decision = validate(policy, request);
    return decision ? answer(review, *decision) : policy_failed(request, decision.error().message());
  }
  bool has_object =
      request.operation == admission::Operation::create || request.operation == admission::Operation::update;
  if (!has_object) return answer(review, allow());
  Result<Json> wanted = policy.mutate(request);
  if (!wanted) return policy_failed(request, wanted.error().message());
  if (!wanted->is_object()) return policy_failed(request, "what it made of the object is no object");
  return answer(review, allow(), json_patch_between(request.object, *wanted));
}

Verdict admit(const Route& route, const AdmissionReview& review) {
  const Request& request = review.request;
  if (std::string cause = mismatch(route, request); !cause.empty()) {
    Decision no = deny(cause);
    no.code = 400;
    Verdict verdict = answer(review, no);
    verdict.facts.decided = Decided::refused;
    verdict.facts.cause = printable_line(cause);
    return verdict;
  }
  const Registration& registration =
      **std::ranges::find_if(route.registrations, [&](const auto* r) { return is_for(*r, request); });
  // Whoever writes a policy may use what throws; a review must never end the server.
  try {
    return run_policy(*registration.policy, route.kind == Route::Kind::mutating, review);
  } catch (const std::exception& exception) {
    return policy_failed(request, exception.what());
  } catch (...) {
    return policy_failed(request, "it threw something that is no exception");
  }
}

Verdict admit(const Route& route, std::string_view body) {
  Result<AdmissionReview> review = read_admission_review(body);
  if (!review) return malformed(review.error());
  Verdict verdict = admit(route, *review);
  verdict.uid = std::move(review->request.uid);
  verdict.version = review->version;
  return verdict;
}

Result<Json> convert_one(const PolicySet& set, const Json& object, const std::string& desired) {
  std::string_view api_version = object["apiVersion"].string_or("");
  std::string_view kind = object["kind"].string_or("");
  std::string_view group = api_version.substr(0, std::min(api_version.find('/'), api_version.size()));
  if (api_version.find('/') == std::string_view::npos) group = "";
  auto conversion =
      std::ranges::find_if(set.conversions, [&](const Conversion& c) { return c.group == group && c.kind == kind; });
  if (conversion == set.conversions.end())
    return fail(ErrorKind::invalid, "{} {} is not converted here", api_version, kind);
  auto is_served = [&](std::string_view wanted) {
    return std::ranges::any_of(conversion->versions,
                               [&](const std::string& v) { return wanted == conversion->group + "/" + v; });
  };
  for (std::string_view wanted : {api_version, std::string_view(desired)})
    if (!is_served(wanted))
      return fail(ErrorKind::invalid, "{} {} is not converted here: its versions are {}", wanted, kind,
                  fmt::join(conversion->versions, ", "));
  if (api_version == desired) return object;
  TRY_ASSIGN(Json converted, conversion->convert(object, desired.substr(desired.find('/') + 1)));
  if (converted["apiVersion"].string_or("") != desired)
    return fail(ErrorKind::internal, "the conversion of {} {} to {} made something else of it", api_version, kind,
                desired);
  return converted;
}

Result<Json::Array> convert_all(const PolicySet& set, const ConversionReview& review) {
  Json::Array converted;
  converted.reserve(review.objects.size());
  try {
    for (const Json& object : review.objects) {
      TRY_ASSIGN(Json one, convert_one(set, object, review.desired_api_version));
      converted.push_back(std::move(one));
    }
  } catch (const std::exception& exception) {
    return fail(ErrorKind::internal, "the conversion failed: {}", exception.what());
  } catch (...) {
    return fail(ErrorKind::internal, "the conversion threw something that is no exception");
  }
  return converted;
}

Verdict convert(const Route& route, std::string_view body) {
  Result<ConversionReview> review = read_conversion_review(body);
  if (!review) return malformed(review.error());
  Result<Json::Array> converted = convert_all(*route.set, *review);
  ReviewFacts facts{.decided = converted ? Decided::allowed : Decided::failed, .operation = "CONVERT"};
  facts.version = review->desired_api_version;
  if (!converted) facts.cause = printable_line(converted.error().message());
  return {.status = 200, .body = write_conversion_answer(*review, converted), .facts = std::move(facts)};
}

}  // namespace

std::string_view name_of(Decided decided) {
  switch (decided) {
    case Decided::allowed: return "allowed";
    case Decided::denied: return "denied";
    case Decided::refused: return "refused";
    case Decided::malformed: return "malformed";
    case Decided::failed: return "failed";
    case Decided::late: return "late";
    case Decided::shed: return "shed";
    case Decided::elsewhere: return "elsewhere";
  }
  return "";
}

Verdict decide(const Route& route, std::string_view body) {
  return route.kind == Route::Kind::conversion ? convert(route, body) : admit(route, body);
}

void leave_to(const std::string& others, Verdict& verdict) {
  if (verdict.uid.empty()) return;
  Decision through = allow();
  through.audit_annotations = {{"left-to", others}};
  AdmissionReview review{.version = verdict.version, .request = {.uid = verdict.uid}};
  verdict.status = 200;
  verdict.body = write_admission_answer(review, through);
  verdict.facts.decided = Decided::elsewhere;
  verdict.facts.cause = "left to " + others;
}

Result<void> Routes::add(const std::string& path, Route::Kind kind, const Registration& registration) {
  if (!path.starts_with('/') || path.find_first_of("?# ") != std::string::npos)
    return fail(ErrorKind::invalid, "\"{}\" is no path for a webhook", path);
  if (!registration.policy)
    return fail(ErrorKind::invalid, "{} has no policy", text_of(registration.kind, registration.resource));
  Route& route = routes_[path];
  bool is_new = route.path.empty();
  bool is_taken = std::ranges::any_of(route.registrations, [&](const Registration* other) {
    return other->kind == registration.kind && other->resource == registration.resource;
  });
  if (!is_new && (route.kind != kind || is_taken))
    return fail(ErrorKind::invalid, "the path {} is registered twice", path);
  route.path = path;
  route.kind = kind;
  route.set = set_.get();
  route.registrations.push_back(&registration);
  return {};
}

Result<Routes> Routes::make(PolicySet set) {
  Routes routes;
  routes.set_ = std::make_unique<const PolicySet>(std::move(set));
  using Kind = Route::Kind;
  for (const Registration& registration : routes.set_->registrations) {
    if (registration.validates) TRY(routes.add(validating_path(registration), Kind::validating, registration));
    if (registration.mutates) TRY(routes.add(mutating_path(registration), Kind::mutating, registration));
    for (const std::string& path : registration.earlier_paths)
      TRY(routes.add(path, path.starts_with("/mutate") ? Kind::mutating : Kind::validating, registration));
  }
  if (!routes.set_->conversions.empty()) {
    std::string path(kConversionPath);
    if (routes.routes_.contains(path)) return fail(ErrorKind::invalid, "the path {} is registered twice", path);
    routes.routes_[path] = {.path = path, .kind = Kind::conversion, .registrations = {}, .set = routes.set_.get()};
  }
  return routes;
}

const Route* Routes::find(std::string_view path) const {
  auto found = routes_.find(path);
  return found == routes_.end() ? nullptr : &found->second;
}

std::vector<std::string> Routes::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, route] : routes_) paths.push_back(path);
  return paths;
}

}  // namespace fairlead::webhook
