#include "sandbox/kinds/internal/validate_meta.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/types/go_text.h"

namespace fairlead::sandbox {
namespace {

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

bool is_dns_label(std::string_view label) {
  if (label.empty() || !is_lower_alnum(label.front()) || !is_lower_alnum(label.back())) return false;
  return std::all_of(label.begin(), label.end(), [](char c) { return is_lower_alnum(c) || c == '-'; });
}

std::vector<std::string> dns_label_flaws(std::string_view name) {
  std::vector<std::string> flaws;
  if (name.find('.') != std::string_view::npos) return {"must not contain dots"};
  if (name.size() > 63) flaws.emplace_back("must be no more than 63 characters");
  if (!is_dns_label(name))
    flaws.emplace_back(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  return flaws;
}

std::vector<std::string> dns_1035_flaws(std::string_view name) {
  std::vector<std::string> flaws;
  if (name.size() > 63) flaws.emplace_back("must be no more than 63 characters");
  if (!is_dns_label(name) || !(name.front() >= 'a' && name.front() <= 'z'))
    flaws.emplace_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, "
        "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
        "'[a-z]([-a-z0-9]*[a-z0-9])?')");
  return flaws;
}

std::vector<std::string> path_segment_flaws(std::string_view name) {
  std::vector<std::string> flaws;
  if (name == "." || name == "..") flaws.push_back(fmt::format("may not be '{}'", name));
  for (char c : {'/', '%'})
    if (name.find(c) != std::string_view::npos) flaws.push_back(fmt::format("may not contain '{}'", c));
  return flaws;
}

std::vector<std::string> name_flaws(const Kind& kind, std::string_view name) {
  if (kind.group == "rbac.authorization.k8s.io") return path_segment_flaws(name);
  if (kind.group.empty() && kind.resource == "namespaces") return dns_label_flaws(name);
  if (kind.group.empty() && kind.resource == "services") return dns_1035_flaws(name);
  if (kind.group == "apiregistration.k8s.io") return path_segment_flaws(name);
  return dns_subdomain_flaws(name);
}

std::vector<std::string> finalizers_of(const Json& object) {
  std::vector<std::string> list;
  for (const Json& one : object["metadata"]["finalizers"].items()) list.emplace_back(one.string_or(""));
  return list;
}

void check_immutable(const Json& live, const Json& object, std::vector<Cause>& causes) {
  for (std::string_view field : {"name", "namespace", "uid", "creationTimestamp"}) {
    const Json& value = object["metadata"][field];
    if (value.same_as(live["metadata"][field])) continue;
    causes.push_back(invalid_value(fmt::format("metadata.{}", field), value, "field is immutable"));
  }
}

void check_new_finalizers(const Json& live, const Json& object, std::vector<Cause>& causes) {
  if (!live["metadata"].contains("deletionTimestamp")) return;
  std::vector<std::string> before = finalizers_of(live), added;
  for (std::string& one : finalizers_of(object))
    if (std::find(before.begin(), before.end(), one) == before.end()) added.push_back(fmt::format("\"{}\"", one));
  if (added.empty()) return;
  std::sort(added.begin(), added.end());
  causes.push_back(forbidden_field(
      "metadata.finalizers", fmt::format("no new finalizers can be added if the object is being deleted, found new "
                                         "finalizers []string{{{}}}",
                                         fmt::join(added, ", "))));
}

void check_labels(const Json& metadata, std::vector<Cause>& causes) {
  for (const Json::Member& label : metadata["labels"].members()) {
    for (const std::string& flaw : qualified_name_flaws(label.key))
      causes.push_back(invalid_value("metadata.labels", Json(label.key), flaw));
    for (const std::string& flaw : label_value_flaws(label.value.string_or("")))
      causes.push_back(invalid_value("metadata.labels", label.value, flaw));
  }
  size_t size = 0;
  for (const Json::Member& annotation : metadata["annotations"].members()) {
    std::string lower = annotation.key;
    for (char& c : lower) c = char(std::tolower(static_cast<unsigned char>(c)));
    for (const std::string& flaw : qualified_name_flaws(lower))
      causes.push_back(invalid_value("metadata.annotations", Json(annotation.key), flaw));
    size += annotation.key.size() + annotation.value.string_or("").size();
  }
  if (size > 262144)
    causes.push_back({"FieldValueTooLong", "metadata.annotations", "Too long: may not be more than 262144 bytes"});
}

void check_owners(const Json& metadata, std::vector<Cause>& causes) {
  const Json* controller = nullptr;
  const Json::Array& owners = metadata["ownerReferences"].items();
  for (size_t i = 0; i < owners.size(); ++i) {
    const Json& owner = owners[i];
    std::string at = fmt::format("metadata.ownerReferences[{}]", i);
    for (std::string_view field : {"apiVersion", "kind", "name", "uid"})
      if (owner[field].string_or("").empty())
        causes.push_back(required(fmt::format("{}.{}", at, field), "must not be empty"));
    std::string_view version = owner["apiVersion"].string_or("");
    if (std::count(version.begin(), version.end(), '/') > 1 || version.ends_with('/'))
      causes.push_back(invalid_value(at + ".apiVersion", Json(version), "must be <group>/<version> or <version>"));
    if (!owner["controller"].bool_or(false)) continue;
    if (controller)
      causes.push_back(invalid_value(
          "metadata.ownerReferences", metadata["ownerReferences"],
          fmt::format(
              "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} and {}/{}",
              (*controller)["kind"].string_or(""), (*controller)["name"].string_or(""), owner["kind"].string_or(""),
              owner["name"].string_or(""))));
    controller = &owner;
  }
}

}  // namespace

std::vector<std::string> dns_subdomain_flaws(std::string_view name) {
  std::vector<std::string> flaws;
  if (name.size() > 253) flaws.emplace_back("must be no more than 253 characters");
  bool good = !name.empty();
  for (std::string_view rest = name; good;) {
    size_t dot = rest.find('.');
    good = is_dns_label(rest.substr(0, dot));
    if (dot == std::string_view::npos) break;
    rest = rest.substr(dot + 1);
  }
  if (!good)
    flaws.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  return flaws;
}

std::vector<std::string> label_value_flaws(std::string_view value) {
  std::vector<std::string> flaws;
  if (value.size() > 63) flaws.emplace_back("must be no more than 63 characters");
  bool good = value.empty() ||
              (is_alnum(value.front()) && is_alnum(value.back()) && std::all_of(value.begin(), value.end(), [](char c) {
                 return is_alnum(c) || c == '-' || c == '_' || c == '.';
               }));
  if (!good)
    flaws.emplace_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation "
        "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  return flaws;
}

std::vector<std::string> qualified_name_flaws(std::string_view name) {
  std::vector<std::string> flaws;
  std::string_view part = name;
  if (std::count(name.begin(), name.end(), '/') > 1)
    return {
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. "
        "'example.com/MyName')"};
  if (size_t slash = name.find('/'); slash != std::string_view::npos) {
    std::string_view prefix = name.substr(0, slash);
    part = name.substr(slash + 1);
    if (prefix.empty()) flaws.emplace_back("prefix part must be non-empty");
    else
      for (const std::string& flaw : dns_subdomain_flaws(prefix)) flaws.push_back("prefix part " + flaw);
  }
  if (part.empty()) flaws.emplace_back("name part must be non-empty");
  else if (part.size() > 63) flaws.emplace_back("name part must be no more than 63 characters");
  bool good =
      !part.empty() && is_alnum(part.front()) && is_alnum(part.back()) &&
      std::all_of(part.begin(), part.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
  if (!good)
    flaws.emplace_back(
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  return flaws;
}

void validate_metadata(const Kind& kind, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& metadata = object["metadata"];
  std::string_view name = metadata["name"].string_or("");
  if (live) {
    check_new_finalizers(*live, object, causes);
    check_immutable(*live, object, causes);
  } else if (name.empty()) {
    causes.push_back(required("metadata.name", "name or generateName is required"));
  } else {
    for (const std::string& flaw : name_flaws(kind, name))
      causes.push_back(invalid_value("metadata.name", Json(name), flaw));
  }
  check_labels(metadata, causes);
  check_owners(metadata, causes);
}

}  // namespace fairlead::sandbox
