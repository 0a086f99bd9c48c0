// One request on its way through an API server, and what comes out.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "http/message.h"
#include "sandbox/core/route.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

struct User {
  std::string name = "kubernetes-admin";
  std::vector<std::string> groups = {"system:masters", "system:authenticated"};
};

struct Call {
  std::string method = "GET";
  std::string target;  // as it came; controllers, which run inside, have only the route
  Route route;
  User user;
  std::string accept = "application/json";
  std::string content_type = "application/json";
  // Text from outside; a value from controllers, which run inside.
  std::variant<std::string, Json> body;
  // Who is named in managedFields where the request names nobody.
  std::string user_agent;
  // Until when it has to be answered.
  TimePoint deadline = TimePoint::max();
  // What the answer warns of.
  std::vector<std::string> warnings;

  void warn(std::string text);
  bool dry_run() const { return route.query.get("dryRun") == "All"; }
  std::string manager() const;
};

struct Reply {
  int status = 200;
  http::Headers headers;
  Json value;                          // the body, or...
  std::string text;                    // ...plain text, or...
  std::unique_ptr<http::Body> stream;  // ...a watch
  std::string content_type = "application/json";

  static Reply of(Json value, int status = 200);
  static Reply plain(std::string text, int status = 200);
  static Reply refused(const Status& status);
};

// As it goes out: warnings as headers, the value as text.
http::Answer to_answer(Reply reply, const std::vector<std::string>& warnings);

}  // namespace fairlead::sandbox
