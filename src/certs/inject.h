// Writes caBundles: into webhook configurations, CRDs with a conversion webhook, and APIServices.
//
// Only places at which our own Service is called are looked at, and only those that differ are written, by server-side
// apply under a field manager of our own. A caBundle that somebody else owns is left to them, and reported, unless it
// is a placeholder without a certificate.
#pragma once

#include <string>
#include <vector>

#include "certs/bundle.h"
#include "kube/client.h"

namespace fairlead::certs {

// The objects to look at, by name; if there are none, every object of the kinds.
struct Targets {
  // Validating and mutating configurations.
  std::vector<std::string> webhooks;
  std::vector<std::string> definitions;
  std::vector<std::string> api_services;
  // No object at all: somebody else writes the caBundles.
  bool none = false;

  bool empty() const { return webhooks.empty() && definitions.empty() && api_services.empty() && !none; }
};

struct Target {
  object::Resource resource;
  Json object;
};

struct TargetList {
  std::vector<Target> targets;
  // What is named and does not exist; and what may not be read, with the reason.
  std::vector<std::string> absent;
  std::vector<std::string> unreadable;
};

// Reads the targets. Fails only if there is no answer.
Task<Result<TargetList>> read_targets(kube::Client& client, Targets targets);

struct Injection {
  enum class How {
    unchanged,  // it had the right caBundle
    injected,
    left,  // it was not written, and does not trust what it should
  };
  Place place;
  How how = How::unchanged;
  // For people: why it was left, or who else keeps it.
  std::string why;
};
// "unchanged", "injected" or "left".
std::string_view name_of(Injection::How how);

struct InjectReport {
  std::vector<Injection> places;
  std::vector<std::string> absent;
  std::vector<std::string> unreadable;
  size_t writes = 0;
  // A CA of ours that is not wanted any more is still trusted somewhere.
  bool has_stale = false;

  // Every place trusts what it should, and none may be hidden from us. What does not exist trusts nobody.
  bool is_complete() const;
  // The first reason why it is not; empty if it is.
  std::string why_incomplete() const;
};

struct InjectOptions {
  // Removes CAs of our own that are not wanted. Requires that nobody serves a leaf of theirs.
  bool retire = false;
  // Takes caBundles over that others own.
  bool force = false;
  bool dry_run = false;
  // Returns false for an object that must not be written now; may be empty.
  std::function<bool(const object::Key& key)> may_write = {};
};

Task<Result<InjectReport>> inject(kube::Client& client, const Spec& spec, Targets targets,
                                  std::vector<x509::Certificate> wanted, InjectOptions options);

}  // namespace fairlead::certs
