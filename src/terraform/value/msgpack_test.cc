#include "terraform/value/msgpack.h"

#include <gtest/gtest.h>

namespace fairlead::terraform {
namespace {

Type type_of(std::string_view json) { return Type::from_json(*Json::parse(json)).value(); }

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += char(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (char c : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex;
}

Result<Value> decode(std::string_view hex, std::string_view type) {
  return decode_msgpack(bytes_of(hex), type_of(type));
}
std::string encode(const Value& value, std::string_view type) {
  Result<std::string> bytes = encode_msgpack(value, type_of(type));
  return bytes ? hex_of(*bytes) : bytes.error().message();
}

TEST(Msgpack, UnknownIsAnyExtension) {
  for (std::string_view hex : {"d40000", "c7000c", "c7020cc080", "d50c0000", "d8000102030405060708090a0b0c0d0e0f00"})
    EXPECT_TRUE(decode(hex, R"("string")").value().is_unknown()) << hex;
  EXPECT_TRUE(decode("d40000", R"("dynamic")").value().is_unknown());
  EXPECT_EQ(encode(Value::unknown(), R"("string")"), "d40000");
  EXPECT_EQ(encode(Value::unknown(), R"("dynamic")"), "d40000");
}

TEST(Msgpack, NumbersComeInEveryForm) {
  EXPECT_EQ(decode("05", R"("number")").value(), Value(5));
  EXPECT_EQ(decode("ff", R"("number")").value(), Value(-1));
  EXPECT_EQ(decode("ccff", R"("number")").value(), Value(255));
  EXPECT_EQ(decode("cfffffffffffffffff", R"("number")").value(), Value(Number(UINT64_MAX)));
  EXPECT_EQ(decode("d0ff", R"("number")").value(), Value(-1));
  EXPECT_EQ(decode("d1ff00", R"("number")").value(), Value(-256));
  EXPECT_EQ(decode("d38000000000000000", R"("number")").value(), Value(INT64_MIN));
  EXPECT_EQ(decode("cb3fe0000000000000", R"("number")").value(), Value(*Number::parse("0.5")));
  EXPECT_EQ(decode("ca3f000000", R"("number")").value(), Value(*Number::parse("0.5")));
  EXPECT_EQ(decode("a3302e31", R"("number")").value(), Value(*Number::parse("0.1")));
  EXPECT_FALSE(decode("cb7ff0000000000000", R"("number")"));
  EXPECT_FALSE(decode("a178", R"("number")"));
}

TEST(Msgpack, NumbersThatNoDoubleHoldsAreText) {
  EXPECT_EQ(encode(5, R"("number")"), "05");
  EXPECT_EQ(encode(-1, R"("number")"), "d3ffffffffffffffff");
  EXPECT_EQ(encode(Number(UINT64_MAX), R"("number")"), "cfffffffffffffffff");
  EXPECT_EQ(encode(*Number::parse("0.5"), R"("number")"), "cb3fe0000000000000");
  EXPECT_EQ(encode(*Number::parse("0.1"), R"("number")"), "a3302e31");
}

TEST(Msgpack, DynamicIsAPairOfTypeAndValue) {
  // [bin "\"string\"", "a"]
  Value text = decode("92c40822737472696e6722a161", R"("dynamic")").value();
  EXPECT_EQ(text, Value("a"));
  EXPECT_EQ(text.dynamic_type(), Type::string());
  EXPECT_EQ(encode(text, R"("dynamic")"), "92c60000000822737472696e6722a161");
  EXPECT_EQ(encode(Value("a"), R"("dynamic")"), "92c60000000822737472696e6722a161");
  Value null = decode("92c40822737472696e6722c0", R"("dynamic")").value();
  EXPECT_TRUE(null.is_null());
  EXPECT_EQ(encode(null, R"("dynamic")"), "92c60000000822737472696e6722c0");
  EXPECT_EQ(encode(Value(), R"("dynamic")"), "c0");
  EXPECT_FALSE(decode("93c0c0c0", R"("dynamic")"));
  EXPECT_FALSE(decode("92a178a178", R"("dynamic")"));
}

TEST(Msgpack, EveryAttributeIsWritten) {
  EXPECT_EQ(encode(Value::object({{"b", true}}), R"(["object",{"a":"string","b":"bool"}])"), "82a161c0a162c3");
  EXPECT_EQ(encode(Value::object({{"c", true}}), R"(["object",{"a":"string"}])"), "there is no attribute \"c\"");
  EXPECT_EQ(encode(Value::object({{"a", 1}}), R"(["object",{"a":"string"}])"), "a is wrong: it is not a string");
  EXPECT_EQ(encode(Value::list({1, "x"}), R"(["list","number"])"), "[1] is wrong: it is not a number");
}

TEST(Msgpack, LargeThingsHaveLongHeads) {
  Type texts = Type::list(Type::string());
  for (size_t size : {0, 15, 16, 31, 32, 255, 256, 65535, 65536}) {
    Value value = Value::list({std::string(size, 'x')});
    EXPECT_EQ(decode_msgpack(*encode_msgpack(value, texts), texts).value(), value) << size;
    Value many = Value::list(Value::Items(size, Value("z")));
    EXPECT_EQ(decode_msgpack(*encode_msgpack(many, texts), texts).value(), many) << size;
  }
}

TEST(Msgpack, HostileBytesAreErrors) {
  for (std::string_view hex : {"", "c1", "d9", "d9ff61", "dd7fffffffc0", "df7fffffff", "a26100", "81a161", "c0c0"})
    EXPECT_FALSE(decode(hex, R"(["list","string"])")) << hex;
  EXPECT_FALSE(decode("82a161c0a161c0", R"(["map","string"])"));
  EXPECT_FALSE(decode("81c0c0", R"(["map","string"])"));
  EXPECT_FALSE(decode("81a178c0", R"(["object",{"a":"string"}])"));
  EXPECT_FALSE(decode("91c0", R"(["tuple",["string","string"]])"));
  // Dynamic values inside each other, without an end.
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += bytes_of("92a922") + "dynamic\"";
  EXPECT_EQ(decode_msgpack(deep, Type::dynamic()).error().kind(), ErrorKind::limit);
}

TEST(Msgpack, SetsAndTuplesKeepTheirKind) {
  EXPECT_TRUE(decode("92a161a162", R"(["set","string"])").value().is_set());
  EXPECT_EQ(decode("92a16101", R"(["tuple",["string","number"]])").value(), Value::list({"a", 1}));
  EXPECT_EQ(decode("80", R"(["object",{"a":"string"}])").value(), Value::object({{"a", Value()}}));
}

}  // namespace
}  // namespace fairlead::terraform
