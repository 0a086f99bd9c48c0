// What kubectl makes of a text. Each expectation was taken from kubectl's own decoder (apimachinery's YAMLOrJSONDecoder
// with sigs.k8s.io/yaml), but for the cases under StricterThanKubectl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml/yaml.h"

namespace fairlead::yaml {
namespace {

using namespace std::string_view_literals;

// The documents as JSON, a line each; or the first error, without its excerpt.
std::string read(std::string_view text) {
  Stream stream(text, "f");
  std::string out;
  while (auto document = stream.next()) {
    if (!*document) return "error: " + document->error().what().substr(0, document->error().what().find('\n'));
    if (!out.empty()) out += '\n';
    out += (*document)->value.dump();
  }
  return out;
}

struct Case {
  std::string_view text;
  std::string_view json;
};

void expect(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(read(c.text), c.json) << "of: " << c.text;
}

TEST(Kubectl, BooleansAndNull) {
  for (std::string_view word : {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
    EXPECT_EQ(read(fmt::format("a: {}", word)), R"({"a":true})") << word;
    EXPECT_EQ(read(fmt::format("{}: a", word)), R"({"true":"a"})") << word;
  }
  for (std::string_view word : {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
    EXPECT_EQ(read(fmt::format("a: {}", word)), R"({"a":false})") << word;
  for (std::string_view word : {"", "~", "null", "Null", "NULL", "# nothing"})
    EXPECT_EQ(read(fmt::format("a: {}", word)), R"({"a":null})") << word;
  for (std::string_view word : {"yEs", "tRUE", "nULL", "oN", "none", "yess", "''"})
    EXPECT_TRUE(read(fmt::format("a: {}", word)).starts_with(R"({"a":")")) << word;
}

TEST(Kubectl, Integers) {
  expect({
      {"a: [0, -0, +0, 1, -1, +1, 00]", R"({"a":[0,0,0,1,-1,1,0]})"},
      {"a: [0777, 007, 0o17, 0O17]", R"({"a":[511,7,15,15]})"},
      {"a: [08, 09]", R"({"a":[8,9]})"},  // no octal digits: floats
      {"a: [0x1F, 0X1f, -0x10, 0b101, -0b101, +0b101]", R"({"a":[31,31,-16,5,-5,5]})"},
      {"a: [1_000, 1_, 1__0, 0x_1, +_1]", R"({"a":[1000,1,10,1,1]})"},
      {"a: [_1, 0x, 0b, 0o, 0b2, 0o8, 0xg, +-1, 1-, 1d]",
       R"({"a":["_1","0x","0b","0o","0b2","0o8","0xg","+-1","1-","1d"]})"},
      {"a: [9223372036854775807, -9223372036854775808]", R"({"a":[9223372036854775807,-9223372036854775808]})"},
      {"a: [9223372036854775808, 0xffffffffffffffff]", R"({"a":[9223372036854775808,18446744073709551615]})"},
      {"a: [-9223372036854775809]", R"({"a":[-9223372036854775808.0]})"},
      {"a: [12:30:45, '190:20:30', 2001-01-01, 1,000]", R"({"a":["12:30:45","190:20:30","2001-01-01",1,0]})"},
  });
}

TEST(Kubectl, Floats) {
  expect({
      {"a: [1.0, 1., 100.0, 1e3, 1E3, 1.5e3, -0.0]", R"({"a":[1,1,100,1000,1000,1500,0]})"},
      {"a: [0.1, .5, -.5, +.5, 1.10, 1e-3, 1_0.5]", R"({"a":[0.1,0.5,-0.5,0.5,1.1,0.001,10.5]})"},
      // Go writes the shortest digits, fills up with zeros, and that is what is read again.
      {"a: 4611686018427387904.0", R"({"a":4611686018427388000})"},
      {"a: [1e18, 1e20]", R"({"a":[1000000000000000000,1e+20]})"},
      {"a: [1e-999, 1e999, .1e999]", R"({"a":[0,"1e999",".1e999"]})"},
      {"a: [1e, 1e+, .e1, ., .., 1.2.3, 0x1p4, inf, nan, .iNF]",
       R"({"a":["1e","1e+",".e1",".","..","1.2.3","0x1p4","inf","nan",".iNF"]})"},
      {"a: .inf", "error: JSON has no infinity and no NaN; quote it if it is meant as text"},
      {"a: -.Inf", "error: JSON has no infinity and no NaN; quote it if it is meant as text"},
      {"a: .NaN", "error: JSON has no infinity and no NaN; quote it if it is meant as text"},
  });
}

TEST(Kubectl, Tags) {
  expect({
      {"a: !!str 123", R"({"a":"123"})"},
      {"a: !!str", R"({"a":""})"},
      {"a: !!int \"12\"", R"({"a":12})"},
      {"a: !!int 0x1f", R"({"a":31})"},
      {"a: !!float 3", R"({"a":3})"},
      {"a: !!float 2.5", R"({"a":2.5})"},
      {"a: !!bool \"yes\"", R"({"a":true})"},
      {"a: !!null ''", R"({"a":null})"},
      {"a: !!int x", "error: a string is tagged !!int"},
      {"a: !!bool 1", "error: an integer is tagged !!bool"},
      {"a: !!float 18446744073709551615", "error: an integer is tagged !!float"},
      {"a: !!null x", "error: a string is tagged !!null"},
      {"a: !!binary aGVsbG8=", R"({"a":"hello"})"},
      {"a: !!binary |\n  aGVs\n  bG8=\n", R"({"a":"hello"})"},
      {"a: !!binary aGV", "error: what is tagged !!binary must be base64"},
      {"a: !!timestamp 2001-12-14t21:59:43.10-05:00", R"({"a":"2001-12-14t21:59:43.10-05:00"})"},
      {"a: !!timestamp 2001-13-01", "error: what is tagged !!timestamp must be a date or a time"},
      {"a: !foo 12", R"({"a":"12"})"},
      {"a: !!python/object 12", R"({"a":"12"})"},
      {"a: ! \"12\"", R"({"a":"12"})"},
      {"!!str {a: 1}", R"({"a":1})"},
      {"!!set {a, b}", R"({"a":null,"b":null})"},
  });
}

TEST(Kubectl, Keys) {
  expect({
      {"1: a\n0x10: b\n1_000: c\n-5: d", R"({"1":"a","16":"b","1000":"c","-5":"d"})"},
      {"1.5: a\n1.0: b\n123456.7: c", R"({"1.5":"a","1":"b","123456.7":"c"})"},
      {"1e6: a\n1234567.0: b\n1e-5: c\n0.0001: d", R"({"1e+06":"a","1.234567e+06":"b","1e-05":"c","0.0001":"d"})"},
      {"16777217.0: a\n1e300: b\n.nan: c\n-.inf: d", R"({"1.6777216e+07":"a",".inf":"b",".nan":"c","-.inf":"d"})"},
      {"2001-01-01: a\n'': b\n!!str 7: c", R"({"2001-01-01":"a","":"b","7":"c"})"},
      {"null: a", "error: null cannot be a key"},
      {"? \n: a", "error: null cannot be a key"},
      {"18446744073709551615: a", "error: an integer this large cannot be a key; quote it"},
      {"? [a]\n: b", "error: an array cannot be a key"},
      {"? {a: b}\n: c", "error: an object cannot be a key"},
      {"? a\n? b", R"({"a":null,"b":null})"},
  });
}

TEST(Kubectl, AnchorsAndAliases) {
  expect({
      {"a: &x {c: [1]}\nb: *x", R"({"a":{"c":[1]},"b":{"c":[1]}})"},
      {"a: &x 1\nb: &x 2\nc: *x", R"({"a":1,"b":2,"c":2})"},
      {"&k foo: bar\nbaz: *k", R"({"foo":"bar","baz":"foo"})"},
      {"a: &k 1000000.0\n*k : v\nb: *k", R"({"a":1000000,"1e+06":"v","b":1000000})"},
      {"a: &k\n*k : v", "error: null cannot be a key"},
      {"a: *x", "error: no anchor \"x\" comes before this alias; quote it if it is meant as text"},
      {"a: &x [*x]", "error: the value of anchor \"x\" contains itself"},
      {"x: &a 1\ny: &a [*a]", "error: the value of anchor \"a\" contains itself"},
      {"a: &x 1\n---\nb: *x", "error: no anchor \"x\" comes before this alias; quote it if it is meant as text"},
  });
}

TEST(Kubectl, MergeKeys) {
  expect({
      {"a: &x {k: 1, l: 2}\nb:\n  <<: *x\n  k: 3", R"({"a":{"k":1,"l":2},"b":{"k":3,"l":2}})"},
      // Not as the specification has it: what comes later wins, even over the object's own keys.
      {"a: &x {k: 1, l: 2}\nb:\n  k: 3\n  <<: *x", R"({"a":{"k":1,"l":2},"b":{"k":1,"l":2}})"},
      {"a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc:\n  <<: [*x, *y]", R"({"a":{"k":1},"b":{"k":2,"m":3},"c":{"k":1,"m":3}})"},
      {"<<: {a: 1}\n<<: {a: 2, b: 3}", R"({"a":2,"b":3})"},
      {"<<: {a: 1, <<: {b: 2}}", R"({"a":1,"b":2})"},
      {"<<: []", "{}"},
      {"!!merge <<: {a: 1}", R"({"a":1})"},
      {"'<<': {a: 1}", R"({"<<":{"a":1}})"},
      {"a: <<", R"({"a":"<<"})"},
      {"<<: 1", "error: the value of a merge key << must be an object, or an array of objects"},
      {"<<: [1]", "error: the value of a merge key << must be an object, or an array of objects"},
      {"a: &x [{k: 1}]\nb:\n  <<: *x", "error: the value of a merge key << must be an object, or an array of objects"},
  });
}

TEST(Kubectl, Documents) {
  expect({
      {"", ""},
      {"# only a comment\n", ""},
      {"---\n---\n---\na: 1", R"({"a":1})"},
      {"a: x\n---\nb: v\n--- # c\nc: z\n---   \nd: 1", "{\"a\":\"x\"}\n{\"b\":\"v\"}\n{\"c\":\"z\"}\n{\"d\":1}"},
      {"a: |\n  x\n---\nb: 1\n", "{\"a\":\"x\\n\"}\n{\"b\":1}"},
      // Splitting comes first, even within a string.
      {"a: \"x\n---\ny\"", "error: not valid YAML: the string that begins here is not closed"},
      {"a: |\n  text", R"({"a":"text\n"})"},  // the last line gets its end
      {"a: 1\n...\n# c\n", R"({"a":1})"},
      {"--- {a: 1}\n", "error: only a comment may follow the --- that separates documents"},
      {"----\na: 1", "error: only a comment may follow the --- that separates documents"},
      {"%YAML 1.1\n---\na: 1",
       "error: not valid YAML: directives cannot be used: documents are split at --- before they are read"},
      {"a:\r\n  b: |\r\n    x\r\n    y\r\n---\r\nc: 1\r\n", "{\"a\":{\"b\":\"x\\ny\\n\"}}\n{\"c\":1}"},
      {"a: 1\rb: 2\r", R"({"a":1,"b":2})"},
      {"\xef\xbb\xbf"
       "a: 1",
       R"({"a":1})"},
      {"\xff\xfe"
       "a\0:\0 \0\xe9\0\n\0"sv,
       "{\"a\":\"\xc3\xa9\"}"},
      {"\xfe\xff\0a\0:\0 \xd8\x3d\xde\x00\0\n"sv, "{\"a\":\"\xf0\x9f\x98\x80\"}"},
  });
}

TEST(Kubectl, Whitespace) {
  expect({
      {"a:\t1\n", R"({"a":1})"},
      {"{\n\ta: 1\n}", R"({"a":1})"},
      {"\ta: 1\n", "error: not valid YAML: a tab cannot indent; use spaces"},
      {"a:\n\tb: 1\n", "error: not valid YAML: a tab cannot indent; use spaces"},
      {"a: \"\\x41\\u0042\\0\\e\\_\"", "{\"a\":\"AB\\u0000\\u001b\xc2\xa0\"}"},
      {"a: 'it''s'", R"({"a":"it's"})"},
      {"a: >\n  b\n  c\n\n  d\n", R"({"a":"b c\nd\n"})"},
      {"a: |+\n  text\n\n", R"({"a":"text\n\n"})"},
      {"a: [http://x:80/y, a:b]", R"({"a":["http://x:80/y","a:b"]})"},
      {"{\"a\":b}", R"({"a":"b"})"},
      {"a:\n- b\n- c", R"({"a":["b","c"]})"},
  });
}

TEST(Kubectl, Json) {
  expect({
      {"  {\"a\":1}{\"b\":2}\n\n{\"c\":3}", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}"},
      {"{\"a\":1}\n---\n{\"b\":2}\n---\nc: 3", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}"},
      // After two JSON values there is no way back to YAML.
      {"{\"a\":1}{\"b\":2}\n---\nc: 3", "error: not valid JSON: Invalid value"},
      {"{\"a\":1.0,\"b\":1e3,\"c\":-0.0,\"d\":1.5}", R"({"a":1,"b":1000,"c":0,"d":1.5})"},
      {"{\"a\":\"\\ud83d\\ude00\"}", "{\"a\":\"\xf0\x9f\x98\x80\"}"},
      {"{a: 1}\n---\nb: 2", "{\"a\":1}\n{\"b\":2}"},
      {"{\"a\":[1,2,],}", R"({"a":[1,2]})"},
      {"{\"a\": 1} \n  b: 1\n  c: 2\n", "{\"a\":1}\n{\"b\":1,\"c\":2}"},
      {"{\"a\": 1} garbage", "{\"a\":1}\n\"garbage\""},
      {"{\"a\":1}null{\"b\":2}", "{\"a\":1}\n{\"b\":2}"},
      {"# c\n{\"a\":1}", R"({"a":1})"},
      {"{\"a\": 1", "error: not valid JSON: Missing a comma or '}' after an object member"},
      {"[1, {\"a\": 2}]", R"([1,{"a":2}])"},
  });
}

TEST(StricterThanKubectl, RefusesWhatKubectlWouldLoseInSilence) {
  expect({
      // kubectl keeps one of them.
      {"a: 1\nb: 2\na: 3", "error: key \"a\" comes twice, first in line 1"},
      {"1: a\n'1': b", "error: key \"1\" comes twice, first in line 1"},
      {"true: a\nyes: b", "error: key \"true\" comes twice, first in line 1"},
      {"{\"a\":1,\n\"a\":2}", "error: key \"a\" comes twice, first in line 1"},
      // kubectl writes a replacement character.
      {"a: \xff\n", "error: not valid YAML: this is not UTF-8 text"},
      {"a: \xed\xa0\x80\n", "error: not valid YAML: this is not UTF-8 text"},
      {"\xff\xfe"
       "a",
       "error: not valid UTF-16: it ends within a character"},
      {"\xff\xfe\x3d\xd8"
       "a\0"sv,
       "error: not valid UTF-16: half of a surrogate pair is missing"},
      {"a: !!binary /w==", "error: what is tagged !!binary must be text in UTF-8: JSON has no bytes"},
      // kubectl reads nothing behind it.
      {"a: 1\n...\nb: 2\n", "error: not valid YAML: something follows the end of the value"},
  });
}

}  // namespace
}  // namespace fairlead::yaml
