#include "terraform/value/value.h"

#include <gtest/gtest.h>

#include "terraform/value/diagnostic.h"
#include "terraform/value/path.h"
#include "terraform/value/state_json.h"

namespace fairlead::terraform {
namespace {

Type type_of(std::string_view json) { return Type::from_json(*Json::parse(json)).value(); }
Result<Value> read_state(std::string_view json, std::string_view type) {
  return Value::from_state_json(*parse_state_json(json), type_of(type));
}

TEST(Type, IsReadAndWrittenAsJson) {
  for (std::string_view json :
       {R"("dynamic")", R"("bool")", R"("number")", R"("string")", R"(["list","string"])", R"(["set",["map","bool"]])",
        R"(["object",{"a":"string","b":["tuple",["number","dynamic"]]}])"})
    EXPECT_EQ(type_of(json).to_json().dump(), json);
  EXPECT_EQ(type_of(R"(["object",{"a":"string"},["a"]])"), Type::object({{"a", Type::string()}}));
  EXPECT_NE(type_of(R"(["object",{"a":"string"}])"), type_of(R"(["object",{"a":"number"}])"));
}

TEST(Type, RefusesWhatIsNone) {
  for (std::string_view json : {R"("text")", "1", "[]", R"(["list"])", R"(["list","x"])", R"(["tuple","string"])",
                                R"(["object",[]])", R"(["list","string","string","string"])", "null"})
    EXPECT_FALSE(Type::from_json(*Json::parse(json))) << json;
  std::string deep = R"("string")";
  for (int i = 0; i < 150; ++i) deep = R"(["list",)" + deep + "]";
  EXPECT_EQ(Type::from_json(*Json::parse(deep)).error().kind(), ErrorKind::limit);
}

TEST(Value, ReadsDownWithoutFailing) {
  Value value = Value::object(
      {{"cluster", Value::object({{"host", "h"}, {"later", Value::unknown()}})}, {"list", Value::list({1, "two"})}});
  EXPECT_EQ(value["cluster"]["host"].string_or(""), "h");
  EXPECT_TRUE(value["cluster"]["nothing"]["more"].is_null());
  EXPECT_TRUE(value["cluster"]["later"]["inside"].is_unknown());
  EXPECT_TRUE(value["cluster"]["host"]["inside"].is_null());
  EXPECT_EQ(value["list"].item(0).int_or(0), 1);
  EXPECT_TRUE(value["list"].item(2).is_null());
  EXPECT_FALSE(value.is_wholly_known());
  value.make("cluster").make("later") = true;
  EXPECT_TRUE(value.is_wholly_known());
}

TEST(Value, SetsAreEqualInAnyOrder) {
  EXPECT_EQ(Value::set({"a", "b", "a"}), Value::set({"b", "a", "a"}));
  EXPECT_NE(Value::set({"a", "b", "b"}), Value::set({"b", "a", "a"}));
  EXPECT_NE(Value::list({"a", "b"}), Value::list({"b", "a"}));
  EXPECT_NE(Value::list({"a"}), Value::set({"a"}));
  EXPECT_NE(Value(), Value::unknown());
  EXPECT_NE(Value("1"), Value(1));
}

TEST(Value, StateIsReadByItsType) {
  Value state =
      read_state(R"({"a":"x","n":1.5,"s":["p"],"any":{"type":["list","number"],"value":[1,2]}})",
                 R"(["object",{"a":"string","n":"number","s":["set","string"],"any":"dynamic","gone":"bool"}])")
          .value();
  EXPECT_EQ(state["a"], Value("x"));
  EXPECT_EQ(state["n"], Value(*Number::parse("1.5")));
  EXPECT_EQ(state["s"], Value::set({"p"}));
  EXPECT_EQ(state["any"], Value::list({1, 2}));
  EXPECT_EQ(state["any"].dynamic_type(), Type::list(Type::number()));
  EXPECT_TRUE(state.contains("gone"));
}

TEST(Value, StateOfTheWrongTypeIsAnErrorThatSaysWhere) {
  Result<Value> wrong = read_state(R"({"a":{"b":[1,"x"]}})", R"(["object",{"a":["object",{"b":["list","number"]}]}])");
  EXPECT_EQ(wrong.error().message(), "a is wrong: b is wrong: [1] is wrong: it must be a number, not string");
  EXPECT_EQ(read_state(R"({"x":1})", R"(["object",{}])").error().message(), "there is no attribute \"x\"");
}

TEST(Value, StateOfAnotherPrimitiveTypeIsConverted) {
  EXPECT_EQ(read_state("5", R"("string")").value(), Value("5"));
  EXPECT_EQ(read_state(R"("5")", R"("number")").value(), Value(5));
  EXPECT_EQ(read_state(R"("true")", R"("bool")").value(), Value(true));
  EXPECT_EQ(read_state("false", R"("string")").value(), Value("false"));
}

TEST(StateJson, NumbersKeepTheirDigits) {
  EXPECT_EQ(parse_state_json(R"({"a":12345678901234567890123,"b":[0.1,-1e3],"c":"12345678901234567890123"})")->dump(),
            R"({"a":"12345678901234567890123","b":[0.1,-1000.0],"c":"12345678901234567890123"})");
  EXPECT_EQ(parse_state_json(R"(["a\"12345678901234567890123",18446744073709551615])")->dump(),
            R"(["a\"12345678901234567890123",18446744073709551615])");
  EXPECT_EQ(read_state("12345678901234567890123", R"("number")").value(),
            Value(*Number::parse("12345678901234567890123")));
  EXPECT_FALSE(parse_state_json("12345678901234567890123 x"));
}

TEST(Value, BecomesJsonAndComesBack) {
  std::string text = R"({"a":[1,"x",null,true],"b":{"c":0.5},"d":18446744073709551615})";
  EXPECT_EQ(Value::from_json(*Json::parse(text)).to_json()->dump(), text);
  EXPECT_EQ(Value::object({{"a", Value::unknown()}}).to_json().error().message(), "a value is not known yet");
}

TEST(Value, HasANaturalType) {
  EXPECT_EQ(Value::from_json(*Json::parse(R"({"a":[1,"x",null],"b":true})")).natural_type().to_json().dump(),
            R"(["object",{"a":["tuple",["number","string","dynamic"]],"b":"bool"}])");
}

TEST(Path, FindsAndTellsAPlace) {
  Path path = Path("cluster")["exec"]["args"].at(1);
  EXPECT_EQ(path.text(), "cluster.exec.args[1]");
  EXPECT_EQ(Path("labels").key("a.\"b").text(), R"(labels["a.\"b"])");
  Value value =
      Value::object({{"cluster", Value::object({{"exec", Value::object({{"args", Value::list({"x", "y"})}})}})}});
  EXPECT_EQ(path.in(value), Value("y"));
  EXPECT_TRUE(Path("cluster")["other"].at(-1).in(value).is_null());
}

TEST(Diagnostics, AnErrorBecomesSummaryAndDetail) {
  Diagnostics all;
  all.warning("w", "d");
  EXPECT_FALSE(all.has_errors());
  all.error(Error(ErrorKind::invalid, "it failed").because("of this").at("a.yaml:3").next("kubectl get x"),
            Path("body"));
  EXPECT_TRUE(all.has_errors());
  EXPECT_EQ(all.all().back(),
            (Diagnostic{Diagnostic::Severity::error, "it failed",
                        "  because   of this\n  from      a.yaml:3\n  next      kubectl get x\n", Path("body")}));
}

}  // namespace
}  // namespace fairlead::terraform
