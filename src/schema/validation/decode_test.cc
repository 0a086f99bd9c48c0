#include "schema/validation/decode.h"

#include <gtest/gtest.h>

#include "schema/types/builtin.h"

namespace fairlead::schema {
namespace {

Decoding decode(std::string_view group, std::string_view kind, std::string_view text) {
  return decode(*builtin_schema(group, "v1", kind), *Json::parse(text));
}

TEST(Decode, NamesTheStructTheFieldAndTheType) {
  EXPECT_EQ(decode("", "ConfigMap", R"({"data":{"a":1}})").error,
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string");
  EXPECT_EQ(decode("", "ConfigMap", R"({"data":"text"})").error,
            "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string");
  EXPECT_EQ(decode("coordination.k8s.io", "Lease", R"({"spec":{"leaseDurationSeconds":"long"}})").error,
            "json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32");
  EXPECT_EQ(decode("apps", "Deployment", R"({"spec":{"replicas":"x"}})").error,
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32");
  EXPECT_EQ(decode("apps", "Deployment", R"({"spec":{"replicas":3000000000}})").error,
            "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32");
  EXPECT_EQ(decode("", "Secret", R"({"data":{"a":"ab?="}})").error, "illegal base64 data at input byte 2");
}

TEST(Decode, ListsWhatItDoesNotKnowInOrder) {
  Decoding found = decode("", "ConfigMap", R"({"metadata":{"nothing":1},"datas":{}})");
  EXPECT_EQ(found.error, std::nullopt);
  EXPECT_EQ(found.unknown, (std::vector<std::string>{"metadata.nothing", "datas"}));
  EXPECT_EQ(decode("", "Pod", R"({"spec":{"containers":[{"name":"c","x":1}]}})").unknown,
            (std::vector<std::string>{"spec.containers[0].x"}));
}

}  // namespace
}  // namespace fairlead::schema
