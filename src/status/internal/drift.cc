#include "status/internal/drift.h"

#include "diff/diff.h"
#include "inventory/applied.h"
#include "rollout/sending/as_sent.h"

namespace fairlead::status {
namespace {

// Puts the live values of a Secret into the manifest where they are the same. Adds the others to `changed`.
void fill(Json& wanted, const history::KeptObject& kept, const Json& live, std::string_view salt,
          std::vector<std::string>& changed) {
  for (const auto& [key, hash] : kept.hashes.members()) {
    const std::string* value = live["data"][key].if_string();
    if (!value || history::hash_of(*value, key, salt) != hash.string_or("")) changed.push_back("data." + key);
    if (value) wanted.make("data").make(key) = *value;
  }
}

}  // namespace

std::optional<std::vector<std::string>> drifted_fields(const history::KeptObject& kept, const Json& live,
                                                       const DriftOf& bundle, inventory::Types& types) {
  Json wanted = rollout::as_sent(kept.object, bundle.label_value);
  if (wanted["apiVersion"] != live["apiVersion"]) return std::nullopt;
  std::vector<std::string> changed;
  fill(wanted, kept, live, bundle.label_value, changed);
  if (inventory::unchanged(wanted, live, bundle.manager, types)) return changed;
  schema::Writer writer{.manager = bundle.manager, .now = {}, .force = true};
  std::expected<Json, schema::Refusal> applied = inventory::applied(wanted, live, writer, types);
  if (!applied) return changed.empty() ? std::nullopt : std::optional(std::move(changed));
  for (const diff::FieldChange& field : diff::field_changes(diff::visible(live), diff::visible(*applied)))
    changed.push_back(field.path);
  return changed;
}

}  // namespace fairlead::status
