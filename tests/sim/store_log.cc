#include "store_log.h"

#include <algorithm>
#include <charconv>

#include "sandbox/core/core.h"

namespace fairlead::sim {

StoreLog::StoreLog(World& world, sandbox::ResourceId resource)
    : events_(std::make_shared<std::vector<sandbox::Event>>()) {
  world.sandbox.core().store.listen(
      [resource = std::move(resource), events = events_](const sandbox::ResourceId& of, const sandbox::Event& event) {
        if (of == resource) events->push_back(event);
      });
}

const sandbox::Event* StoreLog::at(uint64_t version) const {
  auto found = std::ranges::lower_bound(*events_, version, {}, &sandbox::Event::version);
  return found == events_->end() || found->version != version ? nullptr : &*found;
}

sandbox::Store::Objects StoreLog::state_at(uint64_t version) const {
  sandbox::Store::Objects objects;
  for (const sandbox::Event& event : *events_) {
    if (event.version > version) break;
    if (event.type == sandbox::Event::Type::deleted) objects.erase(event.place);
    else objects[event.place] = event.object;
  }
  return objects;
}

uint64_t version_of(const Json& object) {
  std::string_view text = object["metadata"]["resourceVersion"].string_or("");
  uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

}  // namespace fairlead::sim
