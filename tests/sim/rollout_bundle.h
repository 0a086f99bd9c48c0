// Random bundles: operators with webhooks behind their pods, what those guard, and what people make wait for each
// other. A bundle knows by how it was made what must hold of it, not by asking the engine's graph.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "manifest/manifest.h"
#include "sandbox/core/store.h"
#include "sim/dice.h"

namespace fairlead::sim {

struct BundleHook {
  std::string name;           // "v0.op-1.example.com"
  std::string configuration;  // of which it is part
  std::string service;        // "op-1/hooks"
  std::string path;           // "/v0": its own at that Service
  bool mutating = false;
  bool ignore = false;
  bool on_update = false;
};

struct BundleObject {
  Json value;
  sandbox::ResourceId resource;
  sandbox::Place place;
  // Hooks that have to be asked before it is stored, and before each pod is that comes of it.
  std::vector<size_t> hooks = {};
  std::vector<size_t> pod_hooks = {};
  // What has to be there before it is, and what has to work.
  std::vector<size_t> needs_stored = {};
  std::vector<size_t> needs_ready = {};
  // In which order somebody would install it by hand.
  int stage = 0;
  // Nothing leans on it, so a run can do without it.
  bool leaf = false;
};

struct BundleOperator {
  std::string service;  // "op-1/hooks"
  std::string ca_bundle;
  // Somebody fills it in when the configurations are there.
  bool injected = false;
  // None of its hooks lets pass what it does not answer, so that it may have bad days.
  bool fails_closed = true;
};

struct RandomBundle {
  std::vector<BundleObject> objects;
  std::vector<BundleHook> hooks;
  std::vector<BundleOperator> operators;
  // Where its inventory is, and what names no namespace; one of its own namespaces, now and then.
  std::string home = "default";
  // It has an APIService, and objects of the API behind that.
  bool has_extension = false;
};

// `keep` is asked about each object that can be left out, by its number.
RandomBundle draw_bundle(Random random, const std::function<bool(uint64_t)>& keep);

// Of that resource; where it stands follows from the value.
BundleObject bundle_object(Json value, std::string_view plural);
manifest::Bundle to_manifest(const std::vector<BundleObject>& objects);

}  // namespace fairlead::sim
