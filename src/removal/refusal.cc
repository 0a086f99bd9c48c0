#include "removal/refusal.h"

#include <algorithm>
#include <array>

#include "inventory/applyset.h"
#include "object/containers.h"

namespace fairlead::removal {
namespace {

constexpr std::array<std::string_view, 4> kSystemNamespaces{"default", "kube-node-lease", "kube-public", "kube-system"};

std::string command_word(const object::Key& key) { return key.group.empty() ? key.kind : key.kind + "." + key.group; }

}  // namespace

bool is_protected(const Json& object) {
  return object["metadata"]["annotations"]["fairlead.dev/delete"].string_or("") == "protected";
}

std::optional<Error> refusal_of(const object::Key& key, const Json& live,
                                const std::optional<inventory::Identity>& bundle, bool force, const Owners& owners) {
  Error error(ErrorKind::denied, fmt::format("{} is not deleted", key.text()));
  if (is_protected(live))
    return std::move(error)
        .because("it has the annotation fairlead.dev/delete: protected")
        .next(fmt::format("kubectl {}annotate {} {} fairlead.dev/delete-, if you really want to delete it",
                          key.ns.empty() ? "" : "-n " + key.ns + " ", command_word(key), key.name));
  if (is_namespace(key) && std::ranges::find(kSystemNamespaces, key.name) != kSystemNamespaces.end())
    return std::move(error).because("it is a namespace of Kubernetes itself");
  if (bundle && inventory::membership(live, *bundle) == inventory::Membership::member) return std::nullopt;
  if (bundle) return std::move(error).because("it no longer belongs to the bundle");
  if (std::string_view label = inventory::part_of(live); !label.empty() && !force) {
    auto found = owners.find(label);
    bool is_bundle = found != owners.end() && found->second.bundle;
    std::string whole = is_bundle ? fmt::format("fairlead delete -n {} --name {} deletes that bundle; ",
                                                found->second.bundle->home, found->second.bundle->name)
                                  : std::string();
    return std::move(error)
        .because(fmt::format("it belongs to {}", found == owners.end() ? "another bundle" : found->second.text))
        .next(whole + "--force deletes the object anyway");
  }
  if (key.ns == "kube-system" && !force)
    return std::move(error)
        .because("it is in kube-system")
        .next("fairlead delete … --force, if you really want to delete it");
  return std::nullopt;
}

}  // namespace fairlead::removal
