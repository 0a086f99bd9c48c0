// Lists the members of an inventory.
#include "async/scope.h"
#include "base/plain_text.h"
#include "inventory/inventory.h"

namespace fairlead::inventory {

using kube::Failure;
using kube::FaultKind;
using kube::Outcome;

// The results of the LISTs, which run concurrently.
struct Inventory::Listing {
  Scope& scope;
  bool whole_objects;
  Identity identity;
  Members members;
  // Set if a request got no answer, a server has a temporary problem, or the run was cancelled. Then there is no
  // result.
  std::optional<Failure> failure;

  void add(const object::Resource& resource, Json object) {
    const Json& metadata = object["metadata"];
    object::Key key{resource.group, resource.kind, std::string(metadata["namespace"].string_or("")),
                    std::string(metadata["name"].string_or(""))};
    if (Membership why = membership(object, identity); why != Membership::member) {
      members.foreign_objects.push_back({std::move(key), why});
      return;
    }
    Member member;
    member.key = std::move(key);
    member.version = resource.version;
    member.uid = metadata["uid"].string_or("");
    member.resource_version = metadata["resourceVersion"].string_or("");
    member.terminating = !metadata["deletionTimestamp"].is_null();
    member.object = std::move(object);
    members.found.push_back(std::move(member));
  }
  void fails(const GroupKind& kind, const Failure& why) {
    if (!why.fault() || why.fault()->disposition == kube::Disposition::passing) failure = why;
    else if (std::ranges::find(members.unlisted, kind, &Unlisted::kind) == members.unlisted.end())
      members.unlisted.push_back(
          {kind, why.error().in(fmt::format("objects of kind {} cannot be listed", plain_text(kind.text(), 200)))});
  }
};

Task<Outcome<std::optional<object::Resource>>> Inventory::resource_of(const GroupKind& kind) {
  auto version = versions_.find(kind);
  Outcome<std::optional<object::Resource>> found =
      co_await discovery_.find(kind.group, version == versions_.end() ? "" : version->second, kind.kind);
  if (!found || *found) co_return found;
  // Any served version will do, because it shows the same objects.
  const object::Resource* any = discovery_.known().find(kind.group, kind.kind);
  co_return any ? std::optional(*any) : std::nullopt;
}

Task<void> Inventory::list_kind(GroupKind kind, Listing& listing) {
  Outcome<std::optional<object::Resource>> resource = co_await resource_of(kind);
  if (!resource) {
    listing.failure = resource.error();
    co_return;
  }
  if (!*resource) {
    // A kind that is not served has no members. But if the server of its group is down, it is not known whether it is
    // served.
    for (const kube::GroupProblem& problem : discovery_.known().problems()) {
      if (problem.group != kind.group) continue;
      Error why = discovery_.known().missing(kind.group, problem.version, kind.kind);
      listing.members.unlisted.push_back({kind, std::move(why)});
      break;
    }
    co_return;
  }
  if ((*resource)->can("list")) co_await list_place(**std::move(resource), "", listing);
}

Task<void> Inventory::list_place(object::Resource resource, std::string ns, Listing& listing) {
  kube::ListOptions options;
  options.ns = ns;
  options.label_selector = fmt::format("{}={}", kPartOfLabel, id_);
  // One page for everything: each page costs a request, and makes older servers read from etcd.
  options.page = 0;
  options.metadata_only = !listing.whole_objects;
  Outcome<kube::List> list = co_await client_.list(resource, std::move(options));
  if (list) {
    for (Json& item : list->items) listing.add(resource, std::move(item));
  } else if (list.error().is(FaultKind::forbidden) && resource.namespaced && ns.empty()) {
    for (const std::string& place : coverage_.namespaces) listing.scope.spawn(list_place(resource, place, listing));
  } else if (!list.error().is(FaultKind::not_served) && !list.error().is(FaultKind::not_found)) {
    listing.fails({resource.group, resource.kind}, list.error());
  }
}

Task<Outcome<Members>> Inventory::members(bool whole_objects) {
  remember_reading();
  // Runs discovery first, so that the concurrent tasks find it complete.
  Outcome<const kube::Discovered*> known = co_await discovery_.all();
  if (!known) co_return std::unexpected(known.error());
  Scope scope(client_.loop(), co_await current_cancel());
  Listing listing{
      .scope = scope, .whole_objects = whole_objects, .identity = identity(), .members = {}, .failure = std::nullopt};
  for (const GroupKind& kind : coverage_.kinds) scope.spawn(list_kind(kind, listing));
  co_await scope.join();
  if (listing.failure) co_return std::unexpected(std::move(*listing.failure));
  std::ranges::sort(listing.members.found, {}, &Member::key);
  std::ranges::sort(listing.members.foreign_objects, {}, &ForeignObject::key);
  unlisted_.clear();
  for (const Unlisted& one : listing.members.unlisted) unlisted_.insert(one.kind);
  co_return std::move(listing.members);
}

std::vector<std::string> texts_of(const std::vector<ForeignObject>& foreign_objects) {
  constexpr size_t kNamed = 3;
  struct Group {
    size_t count = 0;
    std::string named;
  };
  std::map<std::pair<Membership, GroupKind>, Group> groups;
  for (const ForeignObject& foreign_object : foreign_objects) {
    if (foreign_object.why == Membership::controlled) continue;
    Group& group = groups[{foreign_object.why, {foreign_object.key.group, foreign_object.key.kind}}];
    if (++group.count <= kNamed) group.named += (group.named.empty() ? "" : ", ") + foreign_object.key.text();
  }
  std::vector<std::string> texts;
  for (const auto& [of, group] : groups) {
    std::string more = group.count > kNamed ? fmt::format(" and {} more", group.count - kNamed) : "";
    bool one = group.count == 1;
    std::string why = of.first == Membership::unlabelled
                          ? fmt::format(
                                "the API server returned {} without the bundle's label: it ignores label "
                                "selectors for kind {}",
                                one ? "it" : "them", of.second.text())
                          : fmt::format("{} the bundle's label, but the bundle did not apply {}",
                                        one ? "it has" : "they have", one ? "it" : "them");
    texts.push_back(
        plain_text(fmt::format("{}{} {} left alone: {}", group.named, more, one ? "is" : "are", why), 1000));
  }
  return texts;
}

Task<Owner> find_owner(kube::Client& client, Json object) {
  std::optional<BundleName> bundle = owner_of(object);
  if (bundle) co_return Owner{.text = plain_text(bundle->text(), 400), .bundle = bundle};
  std::string label_value(part_of(object));
  object::Resource config_maps{
      .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true};
  kube::ListOptions options;
  options.label_selector = fmt::format("{}={}", kIdLabel, label_value);
  options.metadata_only = true;
  options.page = 0;
  Outcome<kube::List> list = co_await client.list(config_maps, std::move(options));
  for (const Json& parent : list ? list->items : std::vector<Json>()) {
    if (parent["metadata"]["labels"][kIdLabel].string_or("") != label_value) continue;
    std::string_view name = parent["metadata"]["name"].string_or("");
    std::string_view ns = parent["metadata"]["namespace"].string_or("");
    std::string_view tooling = parent["metadata"]["annotations"][kToolingAnnotation].string_or("");
    constexpr std::string_view kPrefix = "fairlead-";
    if (tooling.starts_with("fairlead/") && name.starts_with(kPrefix)) {
      bundle = BundleName{.name = std::string(name.substr(kPrefix.size())), .home = std::string(ns)};
      co_return Owner{.text = plain_text(bundle->text(), 400), .bundle = bundle};
    }
    std::string text = fmt::format("ApplySet configmaps/{}, namespace {}, of {}", name, ns, tooling);
    co_return Owner{.text = plain_text(text, 400), .bundle = {}};
  }
  co_return Owner{.text = plain_text(fmt::format("an ApplySet of another tool: {}", label_value), 400), .bundle = {}};
}

}  // namespace fairlead::inventory
