#include "kube/faults/internal/request_path.h"

#include <fmt/core.h>

#include <array>

namespace fairlead::kube {

std::string RequestPath::definition() const {
  return group.empty() || resource.empty() ? std::string() : fmt::format("{}.{}", resource, group);
}

std::string RequestPath::api_service() const {
  return group.empty() || version.empty() ? std::string() : fmt::format("{}.{}", version, group);
}

RequestPath parse_request_path(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  // apis / group / version / namespaces / ns / resource / name / subresource
  std::array<std::string_view, 8> parts;
  size_t count = 0;
  while (!path.empty() && count < parts.size()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (!part.empty()) parts[count++] = part;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }

  RequestPath result;
  size_t next = 0;
  if (parts[0] == "api") {
    next = 1;
  } else if (parts[0] == "apis") {
    result.group = parts[1];
    next = 2;
  } else {
    return result;
  }
  auto take = [&] { return next < parts.size() ? parts[next++] : std::string_view(); };
  result.version = take();
  result.resource = take();
  result.name = take();
  std::string_view more = take();
  bool of_the_namespace_itself = more.empty() || more == "status" || more == "finalize";
  if (result.resource == "namespaces" && !result.name.empty() && !of_the_namespace_itself) {
    result.ns = result.name;
    result.resource = more;
    result.name = take();
    more = take();
  }
  result.subresource = more;
  return result;
}

}  // namespace fairlead::kube
