#include "sandbox/verbs/internal/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sandbox/kinds/selector_words.h"

namespace fairlead::sandbox {
namespace {

struct Supported {
  std::string_view group, resource;
  std::vector<std::string_view> fields;
};

// Beside metadata.name and metadata.namespace, which all kinds have.
const std::vector<Supported>& supported_fields() {
  static const std::vector<Supported> kFields = {
      {"",
       "pods",
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.nominatedNodeName"}},
      {"",
       "events",
       {"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type"}},
      {"events.k8s.io",
       "events",
       {"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
        "regarding.resourceVersion", "regarding.fieldPath", "reason", "reportingController", "type"}},
      {"", "secrets", {"type"}},
      {"", "namespaces", {"status.phase"}},
      {"", "nodes", {"spec.unschedulable"}},
      {"", "services", {"spec.clusterIP", "spec.type"}},
      {"", "replicationcontrollers", {"status.replicas"}},
      {"batch", "jobs", {"status.successful"}},
      {"certificates.k8s.io", "certificatesigningrequests", {"spec.signerName"}},
  };
  return kFields;
}

Outcome<void> check_supported(const Kind& kind, const std::string& path) {
  if (path == "metadata.name" || path == "metadata.namespace") return {};
  if (kind.custom) return refuse(bad_request(fmt::format("field label not supported: {}", path)));
  for (const Supported& one : supported_fields()) {
    if (one.group != kind.group || one.resource != kind.resource) continue;
    if (std::find(one.fields.begin(), one.fields.end(), path) != one.fields.end()) return {};
    if (kind.group == "batch")
      return refuse(bad_request(fmt::format("field label \"{}\" not supported for {}", path, kind.kind)));
    return refuse(bad_request(fmt::format("field label not supported: {}", path)));
  }
  return refuse(bad_request(
      fmt::format("\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", path)));
}

std::string field_text(const Json& object, std::string_view path) {
  // The one field whose name is not where it lies.
  if (path == "status.successful") path = "status.succeeded";
  if (path == "source") path = "source.component";
  const Json* value = &object;
  while (!path.empty()) {
    size_t dot = path.find('.');
    value = &(*value)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  if (const std::string* text = value->if_string()) return *text;
  return value->is_null() ? std::string() : value->dump();
}

std::string empty_value(std::string_view path) {
  if (path == "spec.unschedulable" || path == "spec.hostNetwork") return "false";
  if (path == "status.successful" || path == "status.replicas") return "0";
  return "";
}

}  // namespace

Outcome<Selection> Selection::parse(const Kind& kind, const Route& route) {
  Selection selection;
  selection.ns_ = route.ns;
  std::string_view labels = route.query.get("labelSelector");
  if (!labels.empty()) {
    Result<object::Selector> parsed = object::Selector::parse(labels);
    if (!parsed) return refuse(bad_request(selector_flaw(labels).value_or(parsed.error().message())));
    selection.labels_ = *std::move(parsed);
    selection.selects_ = true;
  }
  std::string_view fields = route.query.get("fieldSelector");
  for (std::string_view rest = fields; !rest.empty();) {
    size_t comma = rest.find(',');
    std::string_view term = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (term.empty()) continue;
    Field field;
    size_t at = term.find("!=");
    size_t length = 2;
    if (at != std::string_view::npos) field.equal = false;
    else if ((at = term.find("==")) == std::string_view::npos) at = term.find('='), length = 1;
    if (at == std::string_view::npos)
      return refuse(bad_request(fmt::format("invalid selector: '{}'; can't understand '{}'", fields, term)));
    field.path = term.substr(0, at);
    field.value = term.substr(at + length);
    if (Outcome<void> known = check_supported(kind, field.path); !known) return refuse(known.error());
    selection.fields_.push_back(std::move(field));
    selection.selects_ = true;
  }
  return selection;
}

bool Selection::matches(const Place& place, const Json& object) const {
  if (!ns_.empty() && place.ns != ns_) return false;
  for (const Field& field : fields_) {
    std::string text = field_text(object, field.path);
    if (text.empty()) text = empty_value(field.path);
    if ((text == field.value) != field.equal) return false;
  }
  return labels_.matches(object["metadata"]["labels"]);
}

}  // namespace fairlead::sandbox
