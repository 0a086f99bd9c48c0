#include "cel/cel.h"

#include <gtest/gtest.h>

#include <fstream>

namespace fairlead::cel {
namespace {

const std::vector<std::string_view> kVariables = {"object", "oldObject", "request", "variables"};

std::string outcome(std::string_view expression, const Json& bound = Json(), size_t budget = kCostLimit) {
  Result<Program> program = compile(expression, kVariables);
  if (!program) return fmt::format("{}: {}", name_of(program.error().kind()), program.error().what());
  Bindings bindings;
  for (const auto& [name, value] : bound.members()) bindings.emplace_back(name, Value::of(value));
  Result<Value> value = program->evaluate(bindings, budget);
  return value ? value->text() : fmt::format("{}: {}", name_of(value.error().kind()), value.error().what());
}

// Each line is an expression and what the expression library of Kubernetes 1.37 makes of it.
TEST(Cel, DoesWhatTheApiServerDoes) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/fixtures/cel.jsonl");
  std::string line;
  Json bound;
  int cases = 0;
  while (std::getline(in, line)) {
    Result<Json> entry = Json::parse(line);
    ASSERT_TRUE(entry) << line;
    if (entry->contains("bound")) {
      bound = (*entry)["bound"];
      continue;
    }
    ++cases;
    std::string got = outcome((*entry)["expression"].string_or(""), bound);
    if (entry->contains("value")) {
      EXPECT_EQ(got, (*entry)["value"].string_or("")) << line;
    } else if (entry->contains("error")) {
      EXPECT_EQ(got, fmt::format("invalid: {}", (*entry)["error"].string_or(""))) << line;
    } else if (entry->contains("refused")) {
      EXPECT_TRUE(got.starts_with("invalid: ")) << line << "\n" << got;
    } else {
      EXPECT_TRUE(got.starts_with("limit: ")) << line << "\n" << got;
    }
  }
  EXPECT_GT(cases, 300);
}

TEST(Cel, SaysWhereAnExpressionIsWrong) {
  EXPECT_EQ(outcome("object.a ==\n  foo"),
            "invalid: ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')\n |   foo\n | ..^");
  EXPECT_EQ(outcome("object."),
            "invalid: ERROR: <input>:1:8: Syntax error: the name of a field was expected\n | object.\n | .......^");
  EXPECT_EQ(outcome("1 +"),
            "invalid: ERROR: <input>:1:4: Syntax error: the expression ends too early\n | 1 +\n | ...^");
  EXPECT_EQ(outcome("'a"), "invalid: ERROR: <input>:1:1: Syntax error: a string that does not end\n | 'a\n | ^");
  EXPECT_EQ(outcome("'a\\q'"),
            "invalid: ERROR: <input>:1:4: Syntax error: an escape that does not exist\n | 'a\\q'\n | ...^");
  EXPECT_EQ(outcome("1 # 2"),
            "invalid: ERROR: <input>:1:3: Syntax error: a character that does not belong here\n | 1 # 2\n | ..^");
  EXPECT_EQ(outcome("'a'.matches('(')"),
            "invalid: ERROR: <input>:1:13: invalid matches argument\n | 'a'.matches('(')\n | ............^");
}

TEST(Cel, TellsWhatItDoesNotEvaluateFromWhatIsWrong) {
  struct Case {
    std::string_view expression;
    std::string_view error;
  };
  for (const Case& c : std::vector<Case>{
           {"authorizer.group('').resource('pods').check('get').allowed()", "limit: authorizer is not evaluated here"},
           {"object.?spec.orValue(1)", "limit: optional values are not evaluated here"},
           {"object.items[?0]", "limit: optional values are not evaluated here"},
           {"quantity('1Gi').isGreaterThan(quantity('1Mi'))", "limit: the function quantity() is not evaluated here"},
           {"sets.contains([1], [1])", "limit: sets is not evaluated here"},
           {"object.list.all(i, v, v > 0)", "limit: the function all() is not evaluated here"},
           {"Object{spec: 1}", "limit: messages are not evaluated here"},
           {"timestamp(object.a) > now", "limit: the function timestamp() is not evaluated here"},
           {"object.`a-b`", "limit: names in backquotes are not evaluated here"},
       })
    EXPECT_EQ(outcome(c.expression), c.error) << c.expression;
}

TEST(Cel, MakesPatchesInMutations) {
  auto made = [](std::string_view expression) {
    Result<Program> program = compile(expression, kVariables, Purpose::mutation);
    if (!program) return fmt::format("{}: {}", name_of(program.error().kind()), program.error().what());
    Result<Value> value = program->evaluate({});
    return value ? fmt::format("{} {}", program->result_type(), value->text())
                 : fmt::format("{}: {}", name_of(value.error().kind()), value.error().what());
  };
  EXPECT_EQ(made("Object{}"), "Object Object{}");
  EXPECT_EQ(made("Object{spec: Object.spec{n: 1 + 1, l: [Object.spec.l{}],}}"),
            "Object Object{spec: Object.spec{n: 2, l: [Object.spec.l{}]}}");
  EXPECT_EQ(made("true ? Object{a: 1} : Object{}"), "Object Object{a: 1}");
  EXPECT_EQ(made("[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/~')}]"),
            "list(JSONPatch) [JSONPatch{op: \"add\", path: \"/a/b~1~0\"}]");
  EXPECT_EQ(made("[Object{a: 1}] == [Object{a: 1}]"), "bool true");
  EXPECT_EQ(made("[Object{a: 1}] == [Object.a{a: 1}]"), "bool false");
  // They are not read.
  EXPECT_EQ(made("Object{a: 1}.a"), "limit: an object that an expression has made is not read here");
  EXPECT_EQ(made("has(Object{a: 1}.a)"), "limit: an object that an expression has made is not read here");
  EXPECT_EQ(made("Object{a: 1} == Object{a: 1}"), "limit: an object that an expression has made is not read here");
  EXPECT_EQ(made("Object{a: 1}.all(x, true)"), "limit: an object that an expression has made is not read here");
  EXPECT_EQ(made("Object{?a: 1}"), "limit: optional values are not evaluated here");
  EXPECT_EQ(made("Other{a: 1}"),
            "invalid: ERROR: <input>:1:1: undeclared reference to 'Other' (in container '')\n | Other{a: 1}\n | ^");
  EXPECT_EQ(
      made("Object{1: 2}"),
      "invalid: ERROR: <input>:1:8: Syntax error: the name of a field was expected\n | Object{1: 2}\n | .......^");
  EXPECT_EQ(outcome("jsonpatch.escapeKey('a')"), "limit: jsonpatch is not evaluated here");
}

TEST(Cel, IsBounded) {
  EXPECT_EQ(outcome(std::string(100'001, ' ')), "limit: the expression is longer than is evaluated here");
  EXPECT_EQ(outcome(std::string(101, '(') + "1" + std::string(101, ')')),
            "limit: the expression is nested deeper than is evaluated here");
  std::string sum = "1";
  for (int i = 0; i < 300; ++i) sum += "+1";
  EXPECT_EQ(outcome(sum), "limit: the expression is larger or deeper than is evaluated here");
  // Signs cancel: they make no tree.
  EXPECT_EQ(outcome(std::string(90'000, '!') + "true"), "true");
  EXPECT_EQ(outcome("'x'.matches('" + std::string(5000, 'a') + "')"),
            "limit: the pattern is longer than is evaluated here");
  EXPECT_EQ(outcome("'x'.matches('((a{100}){100}){100}')"),
            "invalid: ERROR: <input>:1:13: invalid matches argument\n"
            " | 'x'.matches('((a{100}){100}){100}')\n | ............^");

  std::string digits = "[0,1,2,3,4,5,6,7,8,9]";
  std::string nested = "true";
  for (char name = 'a'; name < 'i'; ++name) nested = fmt::format("{}.all({}, {})", digits, name, nested);
  EXPECT_EQ(outcome(nested), "limit: the expression costs more than is spent on it here");
  std::string text = "object.s";
  for (int i = 0; i < 40; ++i) text = fmt::format("[{0}].map(x, x + x)[0]", text);
  EXPECT_EQ(outcome(text, Json::Object{{"object", Json::Object{{"s", std::string(100, 'x')}}}}),
            "limit: the expression costs more than is spent on it here");

  // What takes the square of the length is not begun, or not done that way.
  Json texts =
      Json::Object{{"object", Json::Object{{"s", std::string(100'000, 'a')}, {"w", std::string(50'000, 'a') + "b"}}}};
  EXPECT_EQ(outcome("size(object.s.split(''))", texts), "100000");
  EXPECT_EQ(outcome("size(object.s.replace('', '-'))", texts), "200001");
  for (std::string_view search :
       {"object.s.contains(object.w)", "object.s.split(object.w)", "object.s.replace(object.w, '')"})
    EXPECT_EQ(outcome(search, texts), "limit: the expression costs more than is spent on it here") << search;

  // The whole of both is walked over, however deep it is hidden.
  Json::Object wide;
  for (int i = 0; i < 20'000; ++i) wide.append(std::to_string(i), i);
  Json bound = Json::Object{{"object", wide}, {"oldObject", wide}};
  EXPECT_EQ(outcome("[object] == [oldObject]", bound), "limit: the expression costs more than is spent on it here");
}

TEST(Cel, CostsAreTakenOffTheBudget) {
  Result<Program> program = compile("object.a == 1 && object.b", kVariables);
  ASSERT_TRUE(program);
  Json object = Json::Object{{"a", 1}, {"b", true}};
  size_t budget = 100;
  ASSERT_TRUE(program->evaluate({{"object", Value::of(object)}}, budget));
  EXPECT_LT(budget, 100U);
  EXPECT_GT(budget, 80U);
  budget = 3;
  EXPECT_EQ(program->evaluate({{"object", Value::of(object)}}, budget).error().kind(), ErrorKind::limit);
}

TEST(Cel, AUsedUpBudgetIsNotAbsorbed) {
  std::string costly = "object.s.matches('a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q*r*s*t*u*v*w*x*y*z*')";
  Json bound = Json::Object{{"object", Json::Object{{"s", std::string(1'000'000, 'x')}}}};
  EXPECT_EQ(outcome(costly + " || true", bound), "limit: the expression costs more than is spent on it here");
  EXPECT_EQ(outcome("object.zz || true", bound), "true");
}

class Fields : public Record {
 public:
  std::optional<Result<Value>> field(std::string_view name) const override {
    if (name == "three") return Value(int64_t{3});
    if (name == "unknown") return fail(ErrorKind::limit, "not known");
    if (name == "bad") return fail(ErrorKind::invalid, "composited variable \"bad\" fails to evaluate: no such key: x");
    return std::nullopt;
  }
};

TEST(Cel, ReadsRecordsFieldByField) {
  Fields fields;
  auto run = [&](std::string_view text) {
    Result<Value> value = compile(text, kVariables)->evaluate({{"variables", Value(fields)}});
    return value ? value->text() : value.error().what();
  };
  EXPECT_EQ(run("variables.three + 1"), "4");
  EXPECT_EQ(run("variables['three']"), "3");
  EXPECT_EQ(run("variables.bad"), "composited variable \"bad\" fails to evaluate: no such key: x");
  EXPECT_EQ(run("variables.bad || true"), "true");
  EXPECT_EQ(run("variables.none"), "no such key: none");
  EXPECT_EQ(run("has(variables.three) && !has(variables.none)"), "true");
  EXPECT_EQ(run("'three' in variables && !('none' in variables)"), "true");
  EXPECT_EQ(run("'unknown' in variables"), "not known");
  EXPECT_EQ(run("variables == null || variables != null"), "true");
  for (std::string_view whole : {"variables == {}", "size(variables)", "variables.map(x, x)", "string(variables)"})
    EXPECT_EQ(run(whole), "an object that is known in part only is not evaluated as a whole") << whole;
  EXPECT_EQ(run("has(variables.unknown)"), "not known");
  EXPECT_EQ(run("variables.unknown || variables.three == 3"), "true");
  EXPECT_EQ(run("variables.bad && variables.unknown && variables.three == 3"), "not known");
  EXPECT_EQ(run("[1, 2].exists(x, variables.unknown || x == 2)"), "true");
  EXPECT_EQ(run("[1, 2].all(x, variables.unknown)"), "not known");
}

TEST(Cel, KnowsTheTypeWhereTheFormTellsIt) {
  auto type = [](std::string_view text) {
    Result<Program> program = compile(text, {"object"});
    return program ? std::string(program->result_type()) : program.error().message();
  };
  EXPECT_EQ(type("'text'"), "string");
  EXPECT_EQ(type("1 + 2 * 3"), "int");
  EXPECT_EQ(type("object.a == 1"), "bool");
  EXPECT_EQ(type("!object.a"), "bool");
  EXPECT_EQ(type("object.a && object.b"), "bool");
  EXPECT_EQ(type("has(object.a) ? 1 : 2"), "int");
  EXPECT_EQ(type("size(object.a)"), "int");
  EXPECT_EQ(type("object.a.split(',')"), "list(string)");
  EXPECT_EQ(type("object.a.exists(x, x == 1)"), "bool");
  EXPECT_EQ(type("has(object.a) ? 1 : 'x'"), "");
  EXPECT_EQ(type("object.a + 1"), "");
  EXPECT_EQ(type("object.a"), "");
}

}  // namespace
}  // namespace fairlead::cel
