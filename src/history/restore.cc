#include <algorithm>

#include "history/history.h"

namespace fairlead::history {
namespace {

struct Missing {
  std::vector<std::string> absent;   // neither kept nor in the cluster
  std::vector<std::string> changed;  // the cluster has another value
};

std::string named(const KeptObject& kept, std::string_view key) {
  return fmt::format("{} (key {})", kept.object.key().text(), key);
}

// Puts the values of the live Secret into the kept one, and notes those that are not what they were.
void fill(KeptObject& kept, const Json& live, std::string_view salt, Missing& missing) {
  Json::Object data;
  for (const auto& [key, hash] : kept.hashes.members()) {
    const std::string* value = live["data"][key].if_string();
    if (!value) {
      missing.absent.push_back(named(kept, key));
      continue;
    }
    if (hash_of(*value, key, salt) != hash.string_or("")) missing.changed.push_back(named(kept, key));
    data[key] = *value;
  }
  kept.object.edit().make("data") = std::move(data);
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kNamed ? fmt::format("{} and {} more", text, names.size() - kNamed) : text;
}

Error refusal(const std::vector<std::string>& names, std::string_view why, std::string next) {
  return Error(ErrorKind::not_found, fmt::format("values of Secrets are needed that were not kept: {}", list_of(names)))
      .because(std::string(why))
      .next(std::move(next));
}

}  // namespace

Task<Result<Restored>> restore(kube::Client& client, std::vector<KeptObject> objects, OtherValues other,
                               std::string_view salt) {
  const object::Resource secrets{
      .group = "", .version = "v1", .kind = "Secret", .plural = "secrets", .namespaced = true};
  Missing missing;
  Restored restored;
  for (KeptObject& kept : objects) {
    if (!kept.hashes.members().empty()) {
      kube::Outcome<kube::Reply> live = co_await client.get(secrets, kept.object.ns(), kept.object.name());
      bool is_absent =
          !live && (live.error().is(kube::FaultKind::not_found) || live.error().is(kube::FaultKind::namespace_missing));
      if (!live && !is_absent)
        co_return fail(live.error().error().in(
            fmt::format("the values of {}, which were not kept, cannot be read", kept.object.key().text())));
      fill(kept, live ? live->value : Json(), salt, missing);
    }
    restored.objects.push_back(std::move(kept.object));
  }
  if (!missing.absent.empty())
    co_return fail(refusal(missing.absent, "they are not in the cluster either",
                           "apply the manifests of that time again; apply --keep-secrets keeps values from then on"));
  if (!missing.changed.empty() && other == OtherValues::refuse)
    co_return fail(refusal(missing.changed, "the cluster has other values by now",
                           "fairlead rollback … --current-secrets keeps the values that are in the cluster"));
  if (!missing.changed.empty())
    restored.warnings.push_back(fmt::format(
        "the values in the cluster stay, since those of that revision were not kept: {}", list_of(missing.changed)));
  co_return restored;
}

}  // namespace fairlead::history
