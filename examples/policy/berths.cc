#include "berths.h"

#include <fmt/format.h>

namespace harbour {
namespace {

using fairlead::Json;
using fairlead::Result;
using namespace fairlead::webhook;

class BerthPolicy : public Policy {
 public:
  // Looks at the new object alone.
  Result<Decision> validate_create(const Request& request) const override {
    const int64_t* metres = request.object["spec"]["metres"].if_int64();
    if (!metres) return deny("spec.metres must be a whole number");
    if (*metres < 10 || *metres > 400) return deny(fmt::format("spec.metres must be 10 to 400, not {}", *metres));
    Decision decision = allow();
    if (*metres > 300) decision.warnings.emplace_back("spec.metres: no ship that comes here is longer than 300 m");
    return decision;
  }

  // An update has to make a valid object, too; only then is it compared with the old one.
  Result<Decision> validate_update(const Request& request) const override {
    // Whoever removes the finalizer of an object that is being deleted must be able to.
    if (!request.object["metadata"]["deletionTimestamp"].is_null()) return allow();
    Result<Decision> decision = validate_create(request);
    if (!decision || !decision->allowed) return decision;
    int64_t before = request.old_object["spec"]["metres"].int_or(0);
    int64_t after = request.object["spec"]["metres"].int_or(0);
    if (ship_at(request.object).empty() || after >= before) return decision;
    return deny(
        fmt::format("spec.metres cannot go from {} to {} while {} lies there", before, after, ship_at(request.object)));
  }

  // A deletion has no new object.
  Result<Decision> validate_delete(const Request& request) const override {
    std::string_view ship = ship_at(request.old_object);
    return ship.empty() ? allow() : deny(fmt::format("{} lies there", ship));
  }

  // Returns the object as it is to be stored. The server makes the patch.
  Result<Json> mutate(const Request& request) const override {
    Json object = request.object;
    if (object["spec"]["draught"].is_null()) object.make("spec").make("draught") = 5;
    return object;
  }

 private:
  static std::string_view ship_at(const Json& berth) { return berth["status"]["ship"].string_or(""); }
};

}  // namespace

PolicySet berth_policies() {
  return {.name = "berths",
          .registrations = {{.kind = {.group = "demo.fairlead.dev", .version = "v1", .kind = "Berth"},
                             .resource = "berths",
                             .policy = std::make_shared<BerthPolicy>(),
                             .mutates = true}}};
}

}  // namespace harbour
