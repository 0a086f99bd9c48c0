#include "pulumi/value/envelope.h"

#include <algorithm>
#include <array>
#include <string>

namespace fairlead::pulumi {
namespace {

constexpr std::string_view kSignature = "4dabf18193072939515e22adb298388d";
constexpr std::string_view kSecret = "1b47061264138c4ac30d75fd1eb44270";
constexpr std::string_view kResource = "5cf8f73096256a8f31e491e813e4eb8e";
constexpr std::string_view kOutput = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
constexpr std::string_view kAsset = "c44067f5952c0a294b673a41bacd8c17";
constexpr std::string_view kArchive = "0def7320c3a5731c473e5ecbe6d01bc7";

// Of a text, a boolean, a number, a list, an object, an asset and an archive.
constexpr std::array<std::string_view, 7> kUnknowns{kUnknown,
                                                    "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
                                                    "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
                                                    "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
                                                    "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
                                                    "030794c1-ac77-496b-92df-f27374a8bd58",
                                                    "e48ece36-62e2-4504-bad9-02848725956a"};

std::string_view signature_of(const Json& value) { return value[kSignature].string_or(""); }

}  // namespace

bool is_unknown(const Json& value) {
  if (const std::string* text = value.if_string()) return std::ranges::find(kUnknowns, *text) != kUnknowns.end();
  return signature_of(value) == kOutput && !value.contains("value");
}

Json secret(Json value) { return Json::Object{{std::string(kSignature), kSecret}, {"value", std::move(value)}}; }

bool is_secret(const Json& value) {
  std::string_view signature = signature_of(value);
  return signature == kSecret || (signature == kOutput && value["secret"].bool_or(false));
}

bool has_unknowns(const Json& value) {
  if (is_unknown(value)) return true;
  if (signature_of(value) == kResource) return false;
  return std::ranges::any_of(value.items(), has_unknowns) ||
         std::ranges::any_of(value.members(), [](const Json::Member& member) { return has_unknowns(member.value); });
}

bool has_secrets(const Json& value) {
  return is_secret(value) || std::ranges::any_of(value.items(), has_secrets) ||
         std::ranges::any_of(value.members(), [](const Json::Member& member) { return has_secrets(member.value); });
}

Result<Json> unwrapped(const Json& value) {
  if (is_unknown(value)) return Json(kUnknown);
  std::string_view signature = signature_of(value);
  if (signature == kSecret || signature == kOutput) return unwrapped(value["value"]);
  if (signature == kResource) return value.contains("id") ? unwrapped(value["id"]) : Json(value["urn"]);
  if (signature == kAsset || signature == kArchive)
    return fail(Error(ErrorKind::invalid, "a file (an asset or an archive) cannot be a value here")
                    .next("read the file in the program, and pass its text"));
  if (value.is_array()) {
    Json::Array items;
    for (const Json& item : value.items()) {
      TRY_ASSIGN(Json one, unwrapped(item));
      items.push_back(std::move(one));
    }
    return Json(std::move(items));
  }
  if (!value.is_object()) return value;
  Json::Object object;
  for (const auto& [name, member] : value.members()) {
    TRY_ASSIGN(Json one, unwrapped(member));
    object.append(name, std::move(one));
  }
  return Json(std::move(object));
}

void each_secret(const Json& value, const std::function<void(std::string_view)>& call) {
  if (!is_secret(value)) {
    for (const Json& item : value.items()) each_secret(item, call);
    for (const auto& [name, member] : value.members()) each_secret(member, call);
    return;
  }
  const Json& inner = value["value"];
  if (const std::string* text = inner.if_string()) return call(*text);
  if (inner.is_number()) return call(inner.dump());
  for (const Json& item : inner.items()) each_secret(secret(item), call);
  for (const auto& [name, member] : inner.members()) each_secret(secret(member), call);
}

}  // namespace fairlead::pulumi
