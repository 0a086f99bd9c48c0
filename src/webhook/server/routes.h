// Which path of the server is for what, and what comes of a review that is sent there. Pure.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/review.h"
#include "webhook/policy/policy.h"

namespace fairlead::webhook {

// One path of the server.
struct Route {
  enum class Kind { validating, mutating, conversion };

  std::string path;
  Kind kind = Kind::validating;
  // Whose reviews are decided on here; for conversion, none.
  std::vector<const Registration*> registrations;
  const PolicySet* set = nullptr;
};

// The paths of a policy set, those of earlier releases included.
class Routes {
 public:
  // Fails if a path is no path, or stands for two policies of one kind.
  static Result<Routes> make(PolicySet set);

  // Returns null for a path that is not served. Valid for as long as a Routes that was made or moved from this one.
  const Route* find(std::string_view path) const;
  // In order.
  std::vector<std::string> paths() const;
  const PolicySet& set() const { return *set_; }

 private:
  Result<void> add(const std::string& path, Route::Kind kind, const Registration& registration);

  std::unique_ptr<const PolicySet> set_;
  std::map<std::string, Route, std::less<>> routes_;
};

enum class Decided {
  allowed,
  denied,     // by the policy
  refused,    // of a version or kind that is not registered here
  malformed,  // no review at all
  failed,     // the policy itself failed
  late,       // there was no decision in time
  shed,       // there was too much to do
  elsewhere,  // another operator decides on it
};
inline constexpr size_t kDecidedCount = 8;
std::string_view name_of(Decided decided);

// What is logged about a review. Of the object it has its name, and what a policy says about it.
struct ReviewFacts {
  Decided decided = Decided::malformed;
  // "widgets.example.com", "v1"
  std::string resource;
  std::string version;
  std::string subresource;
  std::string ns;
  std::string name;
  std::string_view operation;
  std::string user;
  bool dry_run = false;
  // Why it was denied, refused, malformed, or failed, or who else decides. What a policy says about a Secret is left
  // out.
  std::string cause;
  std::vector<std::string> warnings;
};

// What is answered to a review.
struct Verdict {
  // An HTTP status. The API server takes anything but 200 as a failure of the webhook, for its failurePolicy to decide.
  int status = 200;
  // JSON with 200, else plain text.
  std::string body;
  ReviewFacts facts;
  // Of an admission review that could be read.
  std::string uid;
  admission::ReviewVersion version = admission::ReviewVersion::v1;
};

// Decides on the review in the body of a request. A policy that fails, or throws, comes out as status 500 with the
// cause. May be called from several threads at once.
Verdict decide(const Route& route, std::string_view body);

// Lets the review through instead, unchanged, with an audit annotation that says who decides. Does nothing if it could
// not be read.
void leave_to(const std::string& others, Verdict& verdict);

}  // namespace fairlead::webhook
