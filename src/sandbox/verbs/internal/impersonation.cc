#include "sandbox/verbs/internal/impersonation.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kServiceAccount = "system:serviceaccount:";

std::vector<std::string> groups_of(std::string_view name) {
  if (!name.starts_with(kServiceAccount)) return {};
  std::string_view ns = name.substr(kServiceAccount.size());
  ns = ns.substr(0, ns.find(':'));
  return {"system:serviceaccounts", fmt::format("system:serviceaccounts:{}", ns)};
}

}  // namespace

Outcome<User> acting_user(User user, const http::Request& request) {
  const http::Headers& headers = request.headers;
  for (const auto& [name, value] : headers)
    if (http::same_name(name, "Impersonate-Uid") || http::same_name(name.substr(0, 18), "Impersonate-Extra-"))
      return refuse(not_implemented(fmt::format("the header {}", name)));
  std::vector<std::string_view> groups = headers.all("Impersonate-Group");
  std::string_view name = headers.find("Impersonate-User").value_or("");
  if (name.empty() && groups.empty()) return user;
  if (name.empty()) {
    std::string all = fmt::format("{{Group  {}    }}", fmt::join(groups, "    } {Group  "));
    return refuse(Status{500,
                         "",
                         fmt::format("Internal Server Error: \"{}\": requested [{}] without impersonating a user\n",
                                     request.target, all),
                         {},
                         true});
  }
  User other{std::string(name), {groups.begin(), groups.end()}};
  if (groups.empty()) other.groups = groups_of(name);
  auto says = [&](std::string_view group) {
    return std::find(other.groups.begin(), other.groups.end(), group) != other.groups.end();
  };
  if (name == "system:anonymous") {
    if (!says("system:unauthenticated")) other.groups.emplace_back("system:unauthenticated");
  } else if (!says("system:authenticated") && !says("system:unauthenticated")) {
    other.groups.emplace_back("system:authenticated");
  }
  return other;
}

}  // namespace fairlead::sandbox
