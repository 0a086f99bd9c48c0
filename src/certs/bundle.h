// caBundles: where they stand in an object, who owns them, and what they should hold. Pure; the input is hostile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook.h"
#include "base/json.h"
#include "certs/spec.h"
#include "object/key.h"
#include "object/resource.h"
#include "x509/x509.h"

namespace fairlead::certs {

// The field manager under which caBundles are written.
inline constexpr std::string_view kFieldManager = "fairlead-certs";

// One caBundle that belongs to a call of the Service.
struct Place {
  object::Key object;
  // The name of the webhook; empty for a CRD and an APIService.
  std::string hook;
  // How the API server calls the Service there.
  admission::ServiceReference service;
  // As it is stored: base64.
  std::string ca_bundle;
  // Who else owns the field; empty if nobody does, or we do.
  std::string owner;
  // We own the field.
  bool is_owned = false;
  // Why no caBundle can be written there at all; empty otherwise.
  std::string obstacle;

  // "webhook v.shop.example.com of ValidatingWebhookConfiguration shop"
  std::string text() const;
};

// The kinds that have caBundles.
const std::vector<object::Resource>& injectable_resources();

// Returns every place of the object at which the Service of the spec is called; those of other Services are left out.
std::vector<Place> places_of(const Json& object, const Spec& spec);

// What a caBundle should hold: `wanted`, then the certificates of others that it holds already. Certificates of our own
// CA that are not wanted stay too, unless they were renewed (the same key is wanted) or `retire` is true, which
// requires that nobody serves a leaf of theirs. Returns PEM.
std::string compose(std::string_view before, const std::vector<x509::Certificate>& wanted, const Spec& spec,
                    bool retire);

// What the caBundle of a place trusts; nothing if it holds no certificate.
std::vector<x509::Certificate> trusted_by(const Place& place);
// All of `wanted` are in there, or certificates of the same key.
bool trusts_all(const Place& place, const std::vector<x509::Certificate>& wanted);

// An earlier CA of ours is still in there.
bool has_stale(const Place& place, const std::vector<x509::Certificate>& wanted, const Spec& spec);

// A new value for the caBundle of a place.
struct Injected {
  Place place;
  std::string pem;
};
// Builds what is applied to one object. It has every field that we own there, because server-side apply takes away what
// is left out.
Json injection(const Json& object, const std::vector<Injected>& values);

}  // namespace fairlead::certs
