#include "rollout/sending/as_sent.h"

#include "inventory/applyset.h"
#include "inventory/unchanged.h"
#include "rollout/core/placing.h"

namespace fairlead::rollout {

Json as_sent(const object::Object& object, std::string_view part_of) {
  Json value = object.value();
  leave_to_injectors(value);
  if (!part_of.empty()) value.make("metadata").make("labels").make(inventory::kPartOfLabel) = part_of;
  // Fields that only the API server sets, and that people copy from `kubectl get -o yaml`.
  if (Json::Object* metadata = value.make("metadata").if_object())
    for (std::string_view name : {"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"})
      metadata->erase(name);
  if (Json::Object* members = value.if_object()) members->erase("status");
  bool is_secret = object.kind() == "Secret" && object.group().empty();
  return is_secret ? inventory::with_strings_as_data(std::move(value)) : value;
}

}  // namespace fairlead::rollout
