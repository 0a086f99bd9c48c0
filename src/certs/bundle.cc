#include "certs/bundle.h"

#include <algorithm>

#include "admission/client_config.h"
#include "base/base64.h"
#include "fields/managed_fields.h"
#include "fields/owned.h"

namespace fairlead::certs {
namespace {

constexpr std::string_view kRegistration = "admissionregistration.k8s.io";
constexpr std::string_view kDefinitions = "CustomResourceDefinition";
constexpr std::string_view kApiServices = "APIService";

object::Resource resource(std::string_view group, std::string_view kind, std::string_view plural) {
  return {.group = std::string(group),
          .version = "v1",
          .kind = std::string(kind),
          .plural = std::string(plural),
          .singular = {},
          .namespaced = false};
}

bool is_ours(const Json& service, const Spec& spec) {
  std::optional<admission::ServiceReference> reference = admission::read_service(service);
  return reference && reference->ns == spec.ns && reference->name == spec.service;
}

// The value at the way to a caBundle in the part of an object that somebody owns.
using Find = const Json& (*)(const Json& object, std::string_view hook);

const Json& in_hook(const Json& object, std::string_view hook) {
  static const Json none;
  for (const Json& one : object["webhooks"].items())
    if (one["name"].string_or("") == hook) return one["clientConfig"]["caBundle"];
  return none;
}
const Json& in_definition(const Json& object, std::string_view) {
  return object["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"];
}
const Json& in_api_service(const Json& object, std::string_view) { return object["spec"]["caBundle"]; }

void find_owners(const Json& object, Find find, Place& place) {
  auto entries = fields::parse_managed_fields(object["metadata"]["managedFields"]);
  if (!entries) return;
  for (const fields::ManagedEntry& entry : *entries) {
    if (find(fields::owned_part(object, entry.fields), place.hook).is_null()) continue;
    if (entry.manager == kFieldManager && entry.operation == fields::Operation::apply) place.is_owned = true;
    else place.owner = entry.manager;
  }
}

// Who is told by an annotation to write the caBundle.
std::string annotated_owner(const Json& object) {
  for (const Json::Member& annotation : object["metadata"]["annotations"].members())
    if (annotation.key.starts_with("cert-manager.io/inject-")) return "cert-manager's cainjector";
  if (object["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"].string_or("") == "true")
    return "OpenShift's service CA";
  return "";
}

Place place_at(const Json& object, std::string hook, const Json& service, Find find) {
  Place place{.object = {.group = std::string(object["apiVersion"].string_or("")),
                         .kind = std::string(object["kind"].string_or("")),
                         .ns = {},
                         .name = std::string(object["metadata"]["name"].string_or(""))},
              .hook = std::move(hook),
              .service = admission::read_service(service).value_or(admission::ServiceReference{}),
              .ca_bundle = {},
              .owner = {},
              .is_owned = false,
              .obstacle = {}};
  place.object.group.resize(std::min(place.object.group.find('/'), place.object.group.size()));
  place.ca_bundle = find(object, place.hook).string_or("");
  find_owners(object, find, place);
  if (std::string owner = annotated_owner(object); !owner.empty())
    place.obstacle = fmt::format("annotations leave it to {}", owner);
  return place;
}

// What can be read of it: API servers pass over the rest as well.
std::vector<x509::Certificate> read_bundle(std::string_view base64) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----", kEnd = "-----END CERTIFICATE-----";
  std::string pem = from_base64(base64).value_or("");
  std::vector<x509::Certificate> certificates;
  for (size_t begin = pem.find(kBegin); begin != pem.npos;) {
    size_t next = pem.find(kBegin, begin + kBegin.size());
    size_t end = pem.find(kEnd, begin);
    if (end < next) {
      std::string_view block = std::string_view(pem).substr(begin, end + kEnd.size() - begin);
      if (auto read = x509::Certificate::parse_pem(fmt::format("{}\n", block))) certificates.push_back(read->front());
    }
    begin = next;
  }
  return certificates;
}

bool holds(const std::vector<x509::Certificate>& certificates, const x509::Certificate& one) {
  return std::ranges::find(certificates, one) != certificates.end();
}

bool holds_key_of(const std::vector<x509::Certificate>& certificates, const x509::Certificate& one) {
  return std::ranges::any_of(certificates, [&](const x509::Certificate& it) { return x509::same_key(it, one); });
}

// Made for this Service by us, now or earlier.
bool is_our_ca(const x509::Certificate& certificate, const Spec& spec) {
  return certificate.subject() == x509::Name{spec.ca_name(), {}} && certificate.issuer() == certificate.subject();
}

}  // namespace

std::string Place::text() const {
  std::string of = fmt::format("{} {}", object.kind, object.name);
  return hook.empty() ? of : fmt::format("webhook {} of {}", hook, of);
}

const std::vector<object::Resource>& injectable_resources() {
  static const std::vector<object::Resource> resources{
      resource(kRegistration, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
      resource(kRegistration, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
      resource("apiextensions.k8s.io", kDefinitions, "customresourcedefinitions"),
      resource("apiregistration.k8s.io", kApiServices, "apiservices"),
  };
  return resources;
}

std::vector<Place> places_of(const Json& object, const Spec& spec) {
  std::vector<Place> places;
  auto add = [&](std::string hook, const Json& service, Find find) {
    if (is_ours(service, spec)) places.push_back(place_at(object, std::move(hook), service, find));
  };
  std::string_view kind = object["kind"].string_or("");
  if (kind == kDefinitions) {
    add("", object["spec"]["conversion"]["webhook"]["clientConfig"]["service"], in_definition);
  } else if (kind == kApiServices) {
    add("", object["spec"]["service"], in_api_service);
    if (!places.empty() && object["spec"]["insecureSkipTLSVerify"].bool_or(false))
      places.back().obstacle = "insecureSkipTLSVerify is set, and does not allow a caBundle";
  } else {
    for (const Json& hook : object["webhooks"].items())
      add(std::string(hook["name"].string_or("")), hook["clientConfig"]["service"], in_hook);
  }
  return places;
}

std::vector<x509::Certificate> trusted_by(const Place& place) { return read_bundle(place.ca_bundle); }

bool trusts_all(const Place& place, const std::vector<x509::Certificate>& wanted) {
  std::vector<x509::Certificate> trusted = trusted_by(place);
  return std::ranges::all_of(wanted, [&](const x509::Certificate& one) { return holds_key_of(trusted, one); });
}

bool has_stale(const Place& place, const std::vector<x509::Certificate>& wanted, const Spec& spec) {
  return std::ranges::any_of(trusted_by(place), [&](const x509::Certificate& one) {
    return is_our_ca(one, spec) && !holds_key_of(wanted, one);
  });
}

std::string compose(std::string_view before, const std::vector<x509::Certificate>& wanted, const Spec& spec,
                    bool retire) {
  std::vector<x509::Certificate> result = wanted;
  for (const x509::Certificate& one : read_bundle(before)) {
    if (holds(result, one)) continue;
    bool may_go = is_our_ca(one, spec) && (retire || holds_key_of(wanted, one));
    if (!may_go) result.push_back(one);
  }
  return x509::to_pem(result);
}

Json injection(const Json& object, const std::vector<Injected>& values) {
  Json patch = Json::Object{{"apiVersion", object["apiVersion"]}, {"kind", object["kind"]}};
  patch.make("metadata").make("name") = object["metadata"]["name"];
  // Fits this very object only, not another one that got its name meanwhile.
  patch.make("metadata").make("uid") = object["metadata"]["uid"];
  Json::Array hooks;
  for (const Injected& value : values) {
    std::string encoded = to_base64(value.pem);
    if (value.place.object.kind == kDefinitions) {
      patch.make("spec").make("conversion").make("webhook").make("clientConfig").make("caBundle") = encoded;
    } else if (value.place.object.kind == kApiServices) {
      patch.make("spec").make("caBundle") = encoded;
    } else {
      Json hook = Json::Object{{"name", value.place.hook}};
      hook.make("clientConfig").make("caBundle") = encoded;
      hooks.push_back(std::move(hook));
    }
  }
  if (!hooks.empty()) patch.make("webhooks") = std::move(hooks);
  return patch;
}

}  // namespace fairlead::certs
