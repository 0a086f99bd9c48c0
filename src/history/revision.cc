#include "history/revision.h"

#include <algorithm>

#include "base/base64.h"
#include "base/plain_text.h"
#include "inventory/digest.h"
#include "inventory/unchanged.h"

namespace fairlead::history {
namespace {

constexpr size_t kLongestText = 300;
constexpr size_t kMostRevisions = 100;
constexpr size_t kHashBytes = 16;
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::string text_of(const Json& json) { return plain_text(json.string_or(""), kLongestText); }

bool is_secret(const object::Object& object) { return object.kind() == "Secret" && object.group().empty(); }

std::optional<Revision> parse_revision(const Json& json) {
  Revision revision{.number = json["revision"].int_or(0),
                    .how = text_of(json["how"]),
                    .who = text_of(json["who"]),
                    .when = text_of(json["when"]),
                    .note = text_of(json["note"]),
                    .version = text_of(json["version"]),
                    .objects = std::max<int64_t>(json["objects"].int_or(0), 0),
                    .digest = text_of(json["digest"]),
                    .chunks = std::clamp<int64_t>(json["chunks"].int_or(0), 0, 100),
                    .has_secrets = json["secrets"].bool_or(false),
                    .has_delete_hooks = json["deleteHooks"].bool_or(false)};
  return revision.number > 0 ? std::optional(std::move(revision)) : std::nullopt;
}

}  // namespace

std::vector<Revision> parse_revisions(std::string_view text) {
  std::vector<Revision> revisions;
  Result<Json> list = Json::parse(text, {.bytes = 262144, .depth = 4});
  if (!list) return revisions;
  for (const Json& one : list->items())
    if (std::optional<Revision> revision = parse_revision(one); revision && revisions.size() < kMostRevisions)
      revisions.push_back(*std::move(revision));
  std::ranges::sort(revisions, std::greater(), &Revision::number);
  auto twice = std::ranges::unique(revisions, {}, &Revision::number);
  revisions.erase(twice.begin(), twice.end());
  return revisions;
}

Json to_json(const Revision& revision) {
  Json::Object json{{"revision", revision.number}, {"how", revision.how},
                    {"who", revision.who},         {"when", revision.when},
                    {"objects", revision.objects}, {"version", revision.version},
                    {"kept", revision.chunks > 0}, {"secrets", revision.has_secrets}};
  if (!revision.note.empty()) json.append("note", revision.note);
  return json;
}

std::string dump(const std::vector<Revision>& revisions) {
  Json::Array list;
  for (const Revision& revision : revisions) {
    Json one = to_json(revision);
    one.if_object()->erase("kept");
    one.make("digest") = revision.digest;
    one.make("chunks") = revision.chunks;
    if (revision.has_delete_hooks) one.make("deleteHooks") = true;
    list.push_back(std::move(one));
  }
  return Json(std::move(list)).dump();
}

std::string hash_of(std::string_view base64, std::string_view key, std::string_view salt) {
  std::string value = from_base64(base64).value_or(std::string(base64));
  std::string digest = inventory::sha256(fmt::format("{}\n{}\n{}", salt, key, value));
  std::string text = "sha256:";
  for (size_t i = 0; i < kHashBytes; ++i) text += fmt::format("{:02x}", static_cast<unsigned char>(digest[i]));
  return text;
}

KeptObject kept(const object::Object& object, std::string_view outcome, bool with_secrets, std::string_view salt) {
  KeptObject result{.object = object, .outcome = std::string(outcome), .hashes = {}};
  if (!is_secret(object) || with_secrets) return result;
  Json& value = result.object.edit();
  value = inventory::with_strings_as_data(std::move(value));
  Json::Object hashes;
  for (const auto& [key, one] : value["data"].members()) hashes[key] = hash_of(one.string_or(""), key, salt);
  for (const auto& [key, one] : value["stringData"].members())
    hashes[key] = hash_of(to_base64(one.string_or("")), key, salt);
  value.if_object()->erase("data");
  value.if_object()->erase("stringData");
  if (Json* metadata = value.if_object()->find("metadata"))
    if (Json* annotations = metadata->is_object() ? metadata->if_object()->find("annotations") : nullptr;
        annotations && annotations->is_object())
      annotations->if_object()->erase(kLastApplied);
  result.hashes = std::move(hashes);
  return result;
}

Manifests dump(int64_t revision, const std::vector<KeptObject>& objects) {
  Json::Array all;
  std::string content;
  for (const KeptObject& one : objects) {
    one.object.value().append_to(content);
    one.hashes.append_to(content);
    Json::Object json{{"source", one.object.source().file},
                      {"line", uint64_t{one.object.source().line}},
                      {"outcome", one.outcome},
                      {"manifest", one.object.value()}};
    if (!one.hashes.is_null()) json.append("hashes", one.hashes);
    all.emplace_back(std::move(json));
  }
  std::string digest;
  for (char c : inventory::sha256(content)) digest += fmt::format("{:02x}", static_cast<unsigned char>(c));
  Json document(Json::Object{{"schemaVersion", 1}, {"revision", revision}, {"objects", std::move(all)}});
  return {.text = document.dump(), .digest = digest.substr(0, 2 * kHashBytes)};
}

Result<std::vector<KeptObject>> parse_manifests(std::string_view text, int64_t revision) {
  TRY_ASSIGN(Json document, Json::parse(text));
  if (document["revision"].int_or(0) != revision)
    return fail(ErrorKind::not_found, "a newer revision, {}, has taken its place", document["revision"].int_or(0));
  std::vector<KeptObject> objects;
  for (const Json& one : document["objects"].items()) {
    object::Source source{.file = plain_text(one["source"].string_or(""), 4096),
                          .line = static_cast<size_t>(std::max<int64_t>(one["line"].int_or(0), 0))};
    TRY_ASSIGN(object::Object object, object::Object::from(one["manifest"], std::move(source)));
    objects.push_back({.object = std::move(object), .outcome = text_of(one["outcome"]), .hashes = one["hashes"]});
  }
  return objects;
}

}  // namespace fairlead::history
