// Whether we may do something: SelfSubjectAccessReview.
#pragma once

#include <string>

#include "kube/client.h"

namespace fairlead::kube {

struct AccessQuestion {
  std::string verb;
  std::string group;
  std::string resource;  // plural
  std::string subresource;
  std::string ns;  // empty: in all namespaces, or where there are none
  std::string name;
};

struct Access {
  bool allowed = false;
  // In the server's words; often empty.
  std::string reason;
};

Task<Outcome<Access>> ask_access(Client& client, AccessQuestion question);

}  // namespace fairlead::kube
