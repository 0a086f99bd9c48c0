#include "terraform/projection/place.h"

#include <gtest/gtest.h>

namespace fairlead::terraform {
namespace {

Json parsed(std::string_view text) { return Json::parse(text).value(); }

std::string again(std::string_view text) {
  auto path = parse_place(text);
  return path ? text_of_place(*path) : path.error().message();
}

std::string found(const Json& object, std::string_view text) {
  const Json* value = find_place(object, parse_place(text).value());
  return value ? value->dump() : "nothing";
}

const Json kPod = parsed(
    R"({"metadata":{"finalizers":["a/b","c/d"]},"data":{"config.yaml":"x"},"spec":{"containers":[
        {"name":"web","image":"web:1","ports":[{"port":80,"protocol":"TCP"}]},{"name":"side","image":"side:1"}]}})");

TEST(Place, IsWrittenInOneWayHoweverItWasRead) {
  EXPECT_EQ(again("spec.replicas"), "spec.replicas");
  EXPECT_EQ(again(".spec.replicas"), "spec.replicas");
  EXPECT_EQ(again("$.spec['replicas']"), "spec.replicas");
  EXPECT_EQ(again("data[\"config.yaml\"]"), "data[\"config.yaml\"]");
  EXPECT_EQ(again("data['a\\'b\"c']"), "data[\"a'b\\\"c\"]");
  EXPECT_EQ(again("spec.containers[?(@.name=='web')].image"), "spec.containers[name=\"web\"].image");
  EXPECT_EQ(again("spec.ports[?(@.port==80 && @.protocol=='TCP')]"), "spec.ports[port=80,protocol=\"TCP\"]");
  EXPECT_EQ(again("spec.containers[ name = 'web' ][0]"), "spec.containers[name=\"web\"][0]");
  EXPECT_EQ(again("metadata.finalizers[=\"a/b\"]"), "metadata.finalizers[=\"a/b\"]");
}

TEST(Place, RefusesWhatIsNoPath) {
  EXPECT_EQ(again(""), "field path \"\": it names no field at character 1");
  EXPECT_EQ(again("spec."), "field path \"spec.\": expected the name of a field at character 6");
  EXPECT_EQ(again("spec[?(@.name='x')]"), "field path \"spec[?(@.name='x')]\": expected '==' at character 14");
  EXPECT_EQ(again("a[\"b"), "field path \"a[\"b\": a quote is not closed at character 3");
  EXPECT_EQ(again("a[name=null]"),
            "field path \"a[name=null]\": expected a value: a text in quotes, a number, true or false at character 8");
}

TEST(Place, FindsKeysWithDotsItemsAndValues) {
  EXPECT_EQ(found(kPod, "data[\"config.yaml\"]"), "\"x\"");
  EXPECT_EQ(found(kPod, "data.config.yaml"), "nothing");
  EXPECT_EQ(found(kPod, "spec.containers[?(@.name=='side')].image"), "\"side:1\"");
  EXPECT_EQ(found(kPod, "spec.containers[0].ports[port=80,protocol=\"TCP\"].port"), "80");
  EXPECT_EQ(found(kPod, "metadata.finalizers[=\"c/d\"]"), "\"c/d\"");
  EXPECT_EQ(found(kPod, "spec.containers[7]"), "nothing");
}

TEST(Place, KnowsAnItemByEveryNameOfIt) {
  auto within = [](std::string_view outer, std::string_view inner) {
    return is_within(kPod, parse_place(outer).value(), parse_place(inner).value());
  };
  EXPECT_TRUE(within("spec.containers[0]", "spec.containers[name=\"web\"].image"));
  EXPECT_TRUE(within("spec.containers[?(@.name=='web')].image", "spec.containers[name=\"web\"].image"));
  EXPECT_FALSE(within("spec.containers[1]", "spec.containers[name=\"web\"].image"));
  EXPECT_FALSE(within("spec.containers[0].image", "spec.containers[name=\"web\"]"));
  EXPECT_TRUE(within("spec.absent", "spec.absent.field"));
}

TEST(Place, IsErasedWithWhatBecomesEmpty) {
  auto without = [](std::string_view text) {
    Json object = parsed(R"({"metadata":{"labels":{"a":"1"}},"spec":{"list":[{"name":"x"}],"n":1}})");
    return erase_place(object, parse_place(text).value()) ? object.dump() : "nothing";
  };
  EXPECT_EQ(without("metadata.labels.a"), R"({"spec":{"list":[{"name":"x"}],"n":1}})");
  EXPECT_EQ(without("spec.list[name=\"x\"]"), R"({"metadata":{"labels":{"a":"1"}},"spec":{"n":1}})");
  EXPECT_EQ(without("spec.other"), "nothing");
}

}  // namespace
}  // namespace fairlead::terraform
