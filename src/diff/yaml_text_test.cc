#include "diff/yaml_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml/yaml.h"

namespace fairlead::diff {
namespace {

Json parsed(std::string_view text) { return *Json::parse(text); }

TEST(YamlTextTest, AnObjectIsWrittenAsKubectlWritesIt) {
  EXPECT_EQ(yaml_text(parsed(R"({"spec":{"ports":[{"port":80,"name":"web"},{"port":443}],"empty":{},"none":[],
                                 "list":[["a"],[]]},"kind":"Service","apiVersion":"v1"})")),
            R"(apiVersion: v1
kind: Service
spec:
  empty: {}
  list:
  -
    - a
  - []
  none: []
  ports:
  - name: web
    port: 80
  - port: 443
)");
}

TEST(YamlTextTest, TextsOfSeveralLinesAreBlocks) {
  EXPECT_EQ(yaml_text(parsed(R"({"a":"one\ntwo\n","b":"one\n\ntwo","c":"one\n\n"})")),
            "a: |\n  one\n  two\nb: |-\n  one\n\n  two\nc: |+\n  one\n\n");
}

TEST(YamlTextTest, TextsThatWouldBeReadAsSomethingElseAreQuoted) {
  EXPECT_EQ(yaml_text(parsed(R"(["yes","1.5","null","a: b","# no","plain text","","1e3","2020-01-01","a #b","-x"])")),
            "- \"yes\"\n- \"1.5\"\n- \"null\"\n- \"a: b\"\n- \"# no\"\n- plain text\n- \"\"\n- \"1e3\"\n"
            "- \"2020-01-01\"\n- \"a #b\"\n- \"-x\"\n");
}

TEST(YamlTextTest, ReadingGivesTheValueBack) {
  for (
      std::string_view text :
      {R"({"a":{"b":[{"c":"d","e":[1,2.5,true,null]},[],{}]},"x y":"z","yes":"no"})",
       R"({"a":"tab\there","b":" leading","c":"trailing ","d":"\u0001","e":"ü","f":"a\nb","g":"\n","h":"a\n b\n"})",
       R"({"a":"~","b":"<<","c":"=","d":"0x10","e":"+1","f":".5","g":"a:","h":":a","i":"12:30:45","j":"a,b","k":"&x"})",
       R"([[["a"]],[{"b":["c"]}]])", R"({"script":"#!/bin/sh\nset -e\n\n\n"})", R"({"s":"  a\n  b\n"})"}) {
    Json value = parsed(text);
    Result<Json> back = yaml::parse_one(yaml_text(value), "text");
    ASSERT_TRUE(back) << yaml_text(value) << back.error().message();
    EXPECT_TRUE(back->same_as(value)) << yaml_text(value) << back->dump();
  }
}

}  // namespace
}  // namespace fairlead::diff
