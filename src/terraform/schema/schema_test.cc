#include "terraform/schema/schema.h"

#include <gtest/gtest.h>

namespace fairlead::terraform {
namespace {

const Schema kSchema = {.attributes = {{.name = "name", .required = true},
                                       {.name = "id", .computed = true},
                                       {.name = "tags", .type = Type::set(Type::string()), .optional = true},
                                       {.name = "any", .type = Type::dynamic(), .optional = true},
                                       {.name = "place",
                                        .nesting = Nesting::list,
                                        .nested = {{.name = "room", .required = true},
                                                   {.name = "key", .optional = true, .write_only = true}},
                                        .optional = true}},
                        .blocks = {{.name = "line",
                                    .nesting = Nesting::list,
                                    .attributes = {{.name = "words", .required = true},
                                                   {.name = "hidden", .optional = true, .write_only = true}},
                                    .blocks = {},
                                    .min_items = 1,
                                    .max_items = 2}}};

std::vector<std::string> found_in(const Value& config) {
  std::vector<std::string> texts;
  for (const Diagnostic& one : check_config(config, kSchema).all())
    texts.push_back(one.summary + ": " + one.detail + " @" + one.path.text());
  return texts;
}

Value valid() { return Value::object({{"name", "n"}, {"line", Value::list({Value::object({{"words", "w"}})})}}); }

TEST(Schema, HasTheTypeOfAllItsAttributes) {
  EXPECT_EQ(
      kSchema.type().to_json().dump(),
      R"(["object",{"any":"dynamic","id":"string","line":["list",["object",{"hidden":"string","words":"string"}]],)"
      R"("name":"string","place":["list",["object",{"key":"string","room":"string"}]],"tags":["set","string"]}])");
  EXPECT_EQ(kSchema.find("tags")->type, Type::set(Type::string()));
  EXPECT_EQ(kSchema.find("line"), nullptr);
}

TEST(Schema, ANullValueHasEveryAttribute) {
  Value null = kSchema.null_value();
  EXPECT_EQ(null.members().size(), 6u);
  EXPECT_TRUE(null["name"].is_null());
  EXPECT_EQ(null["line"], Value::list({}));
}

TEST(Conformed, FillsInWhatIsMissing) {
  Value value = conformed(valid(), kSchema.type()).value();
  EXPECT_EQ(value.members().size(), 6u);
  EXPECT_TRUE(value["line"].item(0).contains("hidden"));
  EXPECT_TRUE(conformed(Value(), kSchema.type()).value().is_null());
  EXPECT_TRUE(conformed(Value::unknown(), kSchema.type()).value().is_unknown());
}

TEST(Conformed, ListsBecomeSetsAndDynamicValuesGetTheirType) {
  Value value = valid();
  value.make("tags") = Value::list({"b", "a"});
  value.make("any") = Value::list({1});
  Value whole = conformed(std::move(value), kSchema.type()).value();
  EXPECT_EQ(whole["tags"], Value::set({"a", "b"}));
  EXPECT_EQ(whole["any"].dynamic_type(), Type::tuple({Type::number()}));
}

TEST(Conformed, SaysWhereAValueIsWrong) {
  Value value = valid();
  value.make("place") = Value::list({Value::object({{"room", 1}})});
  EXPECT_EQ(conformed(value, kSchema.type()).error().message(),
            "place is wrong: [0] is wrong: room is wrong: it must be a string");
  value = valid();
  value.make("extra") = true;
  EXPECT_EQ(conformed(value, kSchema.type()).error().message(), "there is no attribute \"extra\"");
}

TEST(CheckConfig, FindsWhatIsMissingAndWhatIsTooMuch) {
  EXPECT_EQ(found_in(valid()), std::vector<std::string>());
  Value wrong = Value::object(
      {{"id", "x"}, {"place", Value::list({Value::object({{"room", Value()}})})}, {"line", Value::list({})}});
  EXPECT_EQ(
      found_in(wrong),
      (std::vector<std::string>{"Missing required argument: The argument \"name\" is required. @name",
                                "Value for a computed attribute: The provider computes \"id\"; it cannot be set. @id",
                                "Missing required argument: The argument \"place[0].room\" is required. @place[0].room",
                                "Too few blocks: At least 1 \"line\" must be there. @line"}));
  Value many = valid();
  many.make("line") = Value::list(Value::Items(3, Value::object({{"words", Value::unknown()}})));
  EXPECT_EQ(found_in(many), (std::vector<std::string>{"Too many blocks: No more than 2 \"line\" can be there. @line"}));
}

TEST(WriteOnly, IsFoundAndClearedWhereverItIs) {
  Value config = valid();
  config.make("place") = Value::list({Value::object({{"room", "r"}, {"key", "secret"}})});
  config.make("line").if_items()->front().make("hidden") = "secret";
  std::vector<std::string> texts;
  for (const Path& path : write_only_set(config, kSchema)) texts.push_back(path.text());
  EXPECT_EQ(texts, (std::vector<std::string>{"place[0].key", "line[0].hidden"}));
  clear_write_only(config, kSchema);
  EXPECT_TRUE(write_only_set(config, kSchema).empty());
  EXPECT_EQ(config["place"].item(0)["room"], Value("r"));
}

}  // namespace
}  // namespace fairlead::terraform
