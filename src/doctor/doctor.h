// Finds out what is wrong in a cluster, and says what to do about it. Reads only.
//
// This is the room's first header. examine() reads a snapshot of the cluster (reading.h), runs the checks over it
// (checks.h), and keeps the findings that concern its subject. show.h turns the report into text and JSON. A right that
// is missing costs a note, not the answer.
#pragma once

#include <string>
#include <vector>

#include "doctor/checks.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "object/object.h"

namespace fairlead::doctor {

// What is examined. The default is the whole cluster.
struct Subject {
  // The name of a webhook configuration, or of one webhook.
  std::string webhook = {};
  std::string ns = {};
  // An object as kubectl takes it: "deployment/web".
  std::string object = {};
  // The objects of a bundle. They need not be in the cluster.
  std::vector<object::Object> bundle = {};
  // The namespace of objects that name none.
  std::string default_ns = "default";
};

struct Report {
  Findings findings;
  std::vector<Unseen> unseen;
  uint64_t requests = 0;
  // No webhook configuration, workload or pod could be read: that there are no findings says nothing.
  bool is_blind = false;

  // True if a finding is at least that severe.
  bool has(Severity severity) const;
};

// Fails if the API server does not answer, or if what the subject names does not exist.
Task<Result<Report>> examine(kube::Client& client, kube::Discovery& discovery, Subject subject);

// Keeps the findings about a webhook; fails if the snapshot has no webhook and no configuration of this name, or if not
// all of them could be read. Pure, as are the others.
Result<Findings> about_webhook(const Snapshot& snapshot, Findings findings, const std::string& name);
// Keeps the findings about objects in a namespace, and about webhooks that refuse requests there.
Findings about_namespace(const Snapshot& snapshot, Findings findings, const std::string& ns);
// Keeps the findings about these objects, and about webhooks that guard them. Adds which webhooks leave a single object
// out although their rules match its kind, and, if the objects are those of the cluster, what is wrong with themselves.
Findings about_objects(const Snapshot& snapshot, Findings findings, const std::vector<Json>& objects, bool are_stored);

}  // namespace fairlead::doctor
