#include "sandbox/webhooks/webhooks.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";
// In the order of Webhooks::List.
constexpr std::array<std::string_view, 6> kResources = {
    "mutatingwebhookconfigurations",     "validatingwebhookconfigurations", "validatingadmissionpolicies",
    "validatingadmissionpolicybindings", "mutatingadmissionpolicies",       "mutatingadmissionpolicybindings"};

}  // namespace

Webhooks::Webhooks(Core& core, size_t server) : core_(core), server_(server) {
  core.store.listen([this](const ResourceId& resource, const Event& event) {
    if (resource.group != kGroup) return;
    for (size_t i = 0; i < kResources.size(); ++i)
      if (resource.resource == kResources[i]) note(static_cast<List>(i), event);
  });
}

Duration Webhooks::delay(List list) const {
  const Delays& delays = core_.options.delays;
  Duration base = list == List::mutating     ? delays.mutating_webhooks
                  : list == List::validating ? delays.validating_webhooks
                                             : delays.policies;
  return base + core_.options.api_server_skew * int64_t(server_);
}

void Webhooks::note(List list, const Event& event) {
  std::vector<Form>& forms = forms_[size_t(list)][event.place.name];
  bool gone = event.type == Event::Type::deleted;
  bool updated = event.type == Event::Type::modified;
  if (updated && core_.options.stale_configuration > 0 && core_.random.chance(core_.options.stale_configuration))
    return;
  forms.push_back({core_.loop.now() + delay(list), gone ? nullptr : event.object});
}

std::vector<ObjectPtr> Webhooks::in_effect(List list) {
  TimePoint now = core_.loop.now();
  std::vector<ObjectPtr> objects;
  Forms& all = forms_[size_t(list)];
  for (auto entry = all.begin(); entry != all.end();) {
    std::vector<Form>& forms = entry->second;
    // Only the newest of those that have come is of interest.
    while (forms.size() > 1 && forms[1].from <= now) forms.erase(forms.begin());
    if (!forms.empty() && forms[0].from <= now) {
      if (forms[0].object) {
        objects.push_back(forms[0].object);
      } else if (forms.size() == 1) {
        entry = all.erase(entry);
        continue;
      }
    }
    ++entry;
  }
  return objects;
}

Webhooks::Hooks Webhooks::hooks(List list) {
  size_t index = list == List::mutating ? 0 : 1;
  std::vector<ObjectPtr> now = in_effect(list);
  if (read_[index] && now == read_from_[index]) return read_[index];
  std::vector<admission::Webhook> all;
  for (const ObjectPtr& configuration : now)
    for (admission::Webhook& hook : admission::read_webhooks(*configuration)) all.push_back(std::move(hook));
  admission::order(all);
  read_from_[index] = std::move(now);
  read_[index] = std::make_shared<const std::vector<admission::Webhook>>(std::move(all));
  return read_[index];
}

std::shared_ptr<const Webhooks::Policies> Webhooks::policies() {
  std::vector<ObjectPtr> now;
  for (List list : {List::policies, List::bindings, List::mutating_policies, List::mutating_bindings})
    for (ObjectPtr& object : in_effect(list)) now.push_back(std::move(object));
  if (policies_ && now == policies_from_) return policies_;
  auto read = std::make_shared<Policies>();
  for (const ObjectPtr& object : now) {
    if (std::optional<admission::Policy> policy = admission::Policy::read(*object))
      read->policies.push_back(*std::move(policy));
    else if (std::optional<admission::Binding> binding = admission::Binding::read(*object))
      read->bindings.push_back(*std::move(binding));
  }
  policies_from_ = std::move(now);
  policies_ = std::move(read);
  return policies_;
}

}  // namespace fairlead::sandbox
