#include "removal/order/asked.h"

#include "admission/match.h"
#include "object/containers.h"

namespace fairlead::removal {

bool is_asked(const admission::Webhook& webhook, const LiveTarget& target, admission::Operation operation) {
  admission::Attributes attributes;
  attributes.operation = operation;
  attributes.resource = {
      .group = target.key.group, .version = target.resource.version, .resource = target.resource.plural};
  attributes.kind = {.group = target.key.group, .version = target.resource.version, .kind = target.key.kind};
  attributes.ns = is_namespace(target.key) ? target.key.name : target.key.ns;
  attributes.name = target.key.name;
  attributes.old_object = *target.live;
  if (operation == admission::Operation::update) attributes.object = *target.live;
  return admission::match(webhook, attributes).outcome != admission::Match::Outcome::no;
}

}  // namespace fairlead::removal
