// One Kubernetes object: its JSON value, its key, and where it came from.
//
// This is the room's first header. object knows the shape that all objects share (apiVersion, kind, metadata), labels
// and selectors, paths to fields, and how a resource becomes a URL path. It knows no kinds: which there are, and which
// have a namespace, is what discovery says. It does no I/O.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "object/key.h"

namespace fairlead::object {

// Where an object was read; empty for one from the cluster.
struct Source {
  std::string file;
  size_t line = 0;

  // "k8s/web.yaml:41"
  std::string text() const;
  bool operator==(const Source&) const = default;
};

class Object {
 public:
  // Checks what every object must have: apiVersion, kind, and a name that can be part of a path. Errors have no
  // position: the caller knows better than the source where in a file it is.
  static Result<Object> from(Json value, Source source = {});

  const Json& value() const { return value_; }
  Json take_value() && { return std::move(value_); }
  // Whoever changes apiVersion, kind or metadata's name or namespace here makes the key wrong: use set_namespace.
  Json& edit() { return value_; }

  const Key& key() const { return key_; }
  const std::string& group() const { return key_.group; }
  const std::string& version() const { return version_; }
  const std::string& kind() const { return key_.kind; }
  const std::string& ns() const { return key_.ns; }
  const std::string& name() const { return key_.name; }
  const Source& source() const { return source_; }

  // For one that gets its namespace from elsewhere (--namespace, the kubeconfig), or has one and must not.
  void set_namespace(std::string_view ns);

  const Json& metadata() const { return value_["metadata"]; }
  // Objects of strings, or null where there are none.
  const Json& labels() const { return metadata()["labels"]; }
  const Json& annotations() const { return metadata()["annotations"]; }
  // Empty where it is not there.
  std::string_view label(std::string_view name) const { return labels()[name].string_or(""); }
  std::string_view annotation(std::string_view name) const { return annotations()[name].string_or(""); }

 private:
  Object(Json value, Key key, std::string version, Source source);

  Json value_;
  Key key_;
  std::string version_;
  Source source_;
};

}  // namespace fairlead::object
