#include "removal/asked.h"

#include "admission/match.h"

namespace fairlead::removal {

bool is_asked(const admission::Webhook& webhook, const Thing& thing, admission::Operation operation) {
  bool is_namespace = thing.key.group.empty() && thing.key.kind == "Namespace";
  admission::Attributes attributes;
  attributes.operation = operation;
  attributes.resource = {
      .group = thing.key.group, .version = thing.resource.version, .resource = thing.resource.plural};
  attributes.kind = {.group = thing.key.group, .version = thing.resource.version, .kind = thing.key.kind};
  attributes.ns = is_namespace ? thing.key.name : thing.key.ns;
  attributes.name = thing.key.name;
  attributes.old_object = *thing.live;
  if (operation == admission::Operation::update) attributes.object = *thing.live;
  return admission::match(webhook, attributes).outcome != admission::Match::Outcome::no;
}

}  // namespace fairlead::removal
