#include "kube/faults/another_object.h"

#include <gtest/gtest.h>

namespace fairlead::kube {
namespace {

bool is_another(int http, std::string_view reason, std::string_view message, std::string_view causes = "") {
  std::string body =
      fmt::format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"{}","message":"{}","code":{},)"
                  R"("details":{{"causes":[{}]}}}})",
                  reason, message, http, causes);
  return is_about_another_object(*classify("PATCH", "/api/v1/namespaces/a/configmaps/x", http, {}, body));
}

// As API servers say it (tests/scripts: delete/precondition-uid, update/uid-differs, patch-merge/conflict).
TEST(AnotherObject, IsWhatHasTheNameNow) {
  EXPECT_TRUE(is_another(409, "Conflict", "the UID in the precondition (1) does not match the UID in record (2)"));
  EXPECT_TRUE(is_another(409, "Conflict", "Precondition failed: UID in precondition: 1, UID in object meta: 2"));
  EXPECT_TRUE(is_another(409, "Conflict", "uid mismatch: the provided object specified uid 1, and no existing object"));
  EXPECT_TRUE(is_another(422, "Invalid", "it is invalid",
                         R"({"reason":"FieldValueInvalid","message":"field is immutable","field":"metadata.uid"})"));
  // What replaced it may lack what the request does not have either.
  EXPECT_TRUE(is_another(422, "Invalid", "it is invalid",
                         R"({"reason":"FieldValueInvalid","message":"field is immutable","field":"metadata.uid"},
                            {"reason":"FieldValueRequired","message":"Required value","field":"spec.a"})"));
}

TEST(AnotherObject, IsNotWhatOnlyChanged) {
  EXPECT_FALSE(is_another(409, "Conflict", "the object has been modified; please apply your changes to the latest"));
  EXPECT_FALSE(is_another(404, "NotFound", "metadata.uid"));
  EXPECT_FALSE(is_another(422, "Invalid", "it is invalid",
                          R"({"reason":"FieldValueInvalid","message":"field is immutable","field":"spec.selector"})"));
}

}  // namespace
}  // namespace fairlead::kube
