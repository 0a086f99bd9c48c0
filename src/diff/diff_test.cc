#include "diff/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::diff {
namespace {

Json parsed(std::string_view text) { return *Json::parse(text); }

std::string text_of(const std::vector<FieldChange>& fields) {
  std::string text;
  for (const FieldChange& field : fields)
    text += field.path + ": " + (field.before ? field.before->dump() : "-") + " -> " +
            (field.after ? field.after->dump() : "-") + "\n";
  return text;
}

TEST(DiffTest, WhatTheServerWritesIsNoChange) {
  Json before = parsed(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"1","generation":1,
      "resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[{}],
      "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"data":{"a":"1"},"status":{"x":1}})");
  Json after =
      parsed(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","generation":2},"data":{"a":"1"}})");
  Change change = change_of(before, after);
  EXPECT_TRUE(change.empty());
  EXPECT_EQ(change.after, "apiVersion: v1\ndata:\n  a: \"1\"\nkind: ConfigMap\nmetadata:\n  name: x\n");
  EXPECT_THAT(change.fields, testing::IsEmpty());
}

TEST(DiffTest, FieldsAreNamedByTheirPath) {
  Json before =
      parsed(R"({"spec":{"replicas":1,"paused":true,"containers":[{"name":"web","image":"a:1"},{"name":"log"}],
                           "args":["x","y"]},"metadata":{"labels":{"example.com/a":"1"}}})");
  Json after = parsed(R"({"spec":{"replicas":3,"containers":[{"name":"web","image":"a:2"},{"name":"new","image":"b"}],
                          "args":["x","z","w"],"min":5},"metadata":{"labels":{"example.com/a":"2"}}})");
  EXPECT_EQ(text_of(field_changes(before, after)),
            "metadata.labels[\"example.com/a\"]: \"1\" -> \"2\"\n"
            "spec.args[1]: \"y\" -> \"z\"\n"
            "spec.args[2]: - -> \"w\"\n"
            "spec.containers[name=web].image: \"a:1\" -> \"a:2\"\n"
            "spec.containers[name=log]: {\"name\":\"log\"} -> -\n"
            "spec.containers[name=new]: - -> {\"name\":\"new\",\"image\":\"b\"}\n"
            "spec.min: - -> 5\n"
            "spec.paused: true -> -\n"
            "spec.replicas: 1 -> 3\n");
}

TEST(DiffTest, AnotherOrderOfNamedItemsIsOneChange) {
  EXPECT_EQ(text_of(field_changes(parsed(R"({"c":[{"name":"a"},{"name":"b"}]})"),
                                  parsed(R"({"c":[{"name":"b"},{"name":"a"}]})"))),
            "c: [{\"name\":\"a\"},{\"name\":\"b\"}] -> [{\"name\":\"b\"},{\"name\":\"a\"}]\n");
}

constexpr std::string_view kBefore =
    R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"same":"c2FtZQ==","pass":"b2xk","gone":"Z29uZQ=="}})";
constexpr std::string_view kAfter =
    R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"same":"c2FtZQ==","pass":"bmV3","more":"bW9yZQ=="}})";

TEST(DiffTest, ValuesOfSecretsAreHidden) {
  Change change = change_of(parsed(kBefore), parsed(kAfter));
  EXPECT_EQ(change.before,
            "apiVersion: v1\ndata:\n  gone: \"***\"\n  pass: \"*** (before)\"\n  same: \"***\"\nkind: Secret\n"
            "metadata:\n  name: db\n");
  EXPECT_EQ(change.after,
            "apiVersion: v1\ndata:\n  more: \"***\"\n  pass: \"*** (after)\"\n  same: \"***\"\nkind: Secret\n"
            "metadata:\n  name: db\n");
  EXPECT_EQ(text_of(change.fields),
            "data.gone: \"***\" -> -\ndata.more: - -> \"***\"\ndata.pass: \"*** (before)\" -> \"*** (after)\"\n");
}

TEST(DiffTest, ValuesOfSecretsAreShownOnRequest) {
  Change change = change_of(parsed(kBefore), parsed(kAfter), {.show_secrets = true});
  EXPECT_THAT(change.before, testing::HasSubstr("pass: b2xk"));
  EXPECT_THAT(change.after, testing::HasSubstr("pass: bmV3"));
}

TEST(DiffTest, ASecretInStringsIsHiddenAsWell) {
  Change change =
      change_of(Json(), parsed(R"({"apiVersion":"v1","kind":"Secret","stringData":{"pass":"open sesame"}})"));
  EXPECT_EQ(change.before, "");
  EXPECT_EQ(change.after, "apiVersion: v1\nkind: Secret\nstringData:\n  pass: \"***\"\n");
}

TEST(DiffTest, OurOwnLabelIsShownOnlyWhereItChangesAnObject) {
  Look look{.own_labels = {"part-of"}};
  Json with = parsed(R"({"metadata":{"labels":{"part-of":"shop"},"name":"x"}})");
  Json without = parsed(R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(change_of(Json(), with, look).after, "metadata:\n  name: x\n");
  EXPECT_EQ(change_of(with, with, look).after, "metadata:\n  name: x\n");
  EXPECT_EQ(text_of(change_of(without, with, look).fields), "metadata.labels: - -> {\"part-of\":\"shop\"}\n");
}

}  // namespace
}  // namespace fairlead::diff
