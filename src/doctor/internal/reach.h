// Which requests a webhook matches, among what the cluster serves.
#pragma once

#include <string>
#include <vector>

#include "admission/webhook.h"
#include "doctor/snapshot.h"

namespace fairlead::doctor {

struct Reach {
  // "CREATE", "UPDATE": those that match something.
  std::vector<std::string> operations;
  // "widgets.example.com"; subresources have a slash: "pods/exec".
  std::vector<std::string> resources;
  // One of the resources has no namespace.
  bool has_cluster_scope = false;
  // One of the resources has one.
  bool has_namespaced = false;
  // The namespaces whose labels the namespaceSelector matches, and those that it does not.
  std::vector<std::string> namespaces;
  std::vector<std::string> exempt;

  bool matches_nothing() const { return resources.empty(); }
  // "CREATE and UPDATE of widgets.example.com in 2 of 3 namespaces"
  std::string text() const;
};
Reach reach_of(const Snapshot& snapshot, const admission::Webhook& webhook);

// A request for an object of this resource; without an object, for one without labels.
admission::Attributes request_for(const Snapshot& snapshot, const object::Resource& resource, std::string_view ns);

}  // namespace fairlead::doctor
