#include <algorithm>
#include <array>
#include <charconv>

#include "cel/cel.h"
#include "cel/internal/node.h"
#include "cel/internal/token.h"

namespace fairlead::cel {
namespace {

using NodePtr = std::unique_ptr<Node>;

constexpr size_t kMaxText = 100'000;
constexpr size_t kMaxNesting = 100;
constexpr size_t kMaxDepth = 250;
constexpr size_t kMaxNodes = 20'000;

bool is_reserved(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kReserved = {
      "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
      "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

std::string_view type_called(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kTypes = {"bool", "bytes",  "double", "int",       "list",
                                                              "map",  "string", "type",   "null_type", "uint"};
  auto it = std::find(kTypes.begin(), kTypes.end(), name);
  return it != kTypes.end() ? *it : std::string_view();
}

std::optional<Node::Kind> macro_called(std::string_view name, size_t arguments) {
  if (arguments == 2) {
    if (name == "all") return Node::Kind::all;
    if (name == "exists") return Node::Kind::exists;
    if (name == "exists_one") return Node::Kind::exists_one;
    if (name == "filter") return Node::Kind::filter;
    if (name == "map") return Node::Kind::transform;
  }
  if (arguments == 3 && name == "map") return Node::Kind::transform_some;
  return std::nullopt;
}

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens, const std::vector<std::string_view>& variables,
         Purpose purpose)
      : text_(text), tokens_(std::move(tokens)), variables_(variables), purpose_(purpose) {}

  Result<NodePtr> run() {
    TRY_ASSIGN(NodePtr root, expression());
    if (token().kind != Token::Kind::end) return fail_here("Syntax error: the end of the expression was expected");
    return root;
  }

 private:
  const Token& token() const { return tokens_[at_]; }
  const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }

  bool take(std::string_view sign) {
    if (!token().is(sign)) return false;
    ++at_;
    return true;
  }

  std::unexpected<Error> fail_here(std::string_view what) const { return fail_at(text_, token().offset, what); }

  Result<void> expect(std::string_view sign) {
    if (take(sign)) return {};
    return fail_here(fmt::format("Syntax error: '{}' was expected", sign));
  }

  Result<NodePtr> make(Node::Kind kind, std::vector<NodePtr> parts) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    for (const NodePtr& part : parts) node->depth = std::max(node->depth, part->depth + 1);
    node->parts = std::move(parts);
    if (node->depth > kMaxDepth || ++nodes_ > kMaxNodes)
      return fail(ErrorKind::limit, "the expression is larger or deeper than is evaluated here");
    return node;
  }

  template <class... Parts>
  Result<NodePtr> make(Node::Kind kind, Parts... parts) {
    std::vector<NodePtr> list;
    (list.push_back(std::move(parts)), ...);
    return make(kind, std::move(list));
  }

  Result<NodePtr> constant(Value value) {
    TRY_ASSIGN(NodePtr node, make(Node::Kind::constant));
    node->constant = std::move(value);
    return node;
  }

  Result<NodePtr> operation(std::string_view sign, std::vector<NodePtr> parts) {
    Function function = find_operator(sign, parts.size());
    TRY_ASSIGN(NodePtr node, make(Node::Kind::call, std::move(parts)));
    node->function = function;
    return node;
  }

  template <class... Parts>
  Result<NodePtr> operation(std::string_view sign, Parts... parts) {
    std::vector<NodePtr> list;
    (list.push_back(std::move(parts)), ...);
    return operation(sign, std::move(list));
  }

  Result<NodePtr> expression() {
    if (nesting_ >= kMaxNesting)
      return fail(ErrorKind::limit, "the expression is nested deeper than is evaluated here");
    ++nesting_;
    Result<NodePtr> result = conditional();
    --nesting_;
    return result;
  }

  Result<NodePtr> conditional() {
    TRY_ASSIGN(NodePtr condition, any());
    if (!take("?")) return condition;
    TRY_ASSIGN(NodePtr yes, any());
    TRY(expect(":"));
    TRY_ASSIGN(NodePtr no, expression());
    return make(Node::Kind::conditional, std::move(condition), std::move(yes), std::move(no));
  }

  Result<NodePtr> any() {
    TRY_ASSIGN(NodePtr first, all());
    if (!token().is("||")) return first;
    std::vector<NodePtr> terms;
    terms.push_back(std::move(first));
    while (take("||")) {
      TRY_ASSIGN(NodePtr term, all());
      terms.push_back(std::move(term));
    }
    return make(Node::Kind::any_true, std::move(terms));
  }

  Result<NodePtr> all() {
    TRY_ASSIGN(NodePtr first, relation());
    if (!token().is("&&")) return first;
    std::vector<NodePtr> terms;
    terms.push_back(std::move(first));
    while (take("&&")) {
      TRY_ASSIGN(NodePtr term, relation());
      terms.push_back(std::move(term));
    }
    return make(Node::Kind::all_true, std::move(terms));
  }

  bool at_relation() const {
    const Token& t = token();
    return t.is("==") || t.is("!=") || t.is("<") || t.is("<=") || t.is(">") || t.is(">=") || t.is_word("in");
  }

  Result<NodePtr> relation() {
    TRY_ASSIGN(NodePtr left, sum());
    while (at_relation()) {
      std::string_view sign = token().text;
      ++at_;
      TRY_ASSIGN(NodePtr right, sum());
      TRY_ASSIGN(left, operation(sign, std::move(left), std::move(right)));
    }
    return left;
  }

  Result<NodePtr> sum() {
    TRY_ASSIGN(NodePtr left, product());
    while (token().is("+") || token().is("-")) {
      std::string_view sign = token().text;
      ++at_;
      TRY_ASSIGN(NodePtr right, product());
      TRY_ASSIGN(left, operation(sign, std::move(left), std::move(right)));
    }
    return left;
  }

  Result<NodePtr> product() {
    TRY_ASSIGN(NodePtr left, unary());
    while (token().is("*") || token().is("/") || token().is("%")) {
      std::string_view sign = token().text;
      ++at_;
      TRY_ASSIGN(NodePtr right, unary());
      TRY_ASSIGN(left, operation(sign, std::move(left), std::move(right)));
    }
    return left;
  }

  bool at_signed_number() const {
    return token().is("-") && (after().kind == Token::Kind::integer || after().kind == Token::Kind::floating);
  }

  // Signs cancel in pairs, whatever they stand before; the last minus before a number belongs to the number.
  Result<NodePtr> unary() {
    std::string_view sign = token().is("!") ? "!" : "-";
    size_t count = 0;
    while (token().is(sign) && !at_signed_number()) {
      ++at_;
      ++count;
    }
    TRY_ASSIGN(NodePtr operand, member());
    if (count % 2 == 0) return operand;
    return operation(sign, std::move(operand));
  }

  Result<NodePtr> member() {
    TRY_ASSIGN(NodePtr node, primary());
    for (;;) {
      if (take(".")) {
        if (token().is("?")) return fail(ErrorKind::limit, "optional values are not evaluated here");
        if (token().kind != Token::Kind::identifier || is_keyword(token().text))
          return fail_here("Syntax error: the name of a field was expected");
        Token name = token();
        ++at_;
        if (token().is("(")) {
          size_t open = token().offset;
          TRY_ASSIGN(node, call(name, open, std::move(node)));
        } else {
          TRY_ASSIGN(node, make(Node::Kind::select, std::move(node)));
          node->text = name.text;
        }
      } else if (take("[")) {
        if (token().is("?")) return fail(ErrorKind::limit, "optional values are not evaluated here");
        TRY_ASSIGN(NodePtr index, expression());
        TRY(expect("]"));
        TRY_ASSIGN(node, make(Node::Kind::index, std::move(node), std::move(index)));
      } else {
        return node;
      }
    }
  }

  static bool is_keyword(std::string_view word) {
    return word == "in" || word == "true" || word == "false" || word == "null";
  }

  Result<NodePtr> primary() {
    switch (token().kind) {
      case Token::Kind::identifier: return identifier();
      case Token::Kind::integer:
      case Token::Kind::unsigned_integer:
      case Token::Kind::floating: return number();
      case Token::Kind::string: return constant(Value(tokens_[at_++].literal));
      case Token::Kind::bytes: return constant(Value(Value::Bytes{tokens_[at_++].literal}));
      case Token::Kind::sign: break;
      case Token::Kind::end: return fail_here("Syntax error: the expression ends too early");
    }
    if (at_signed_number()) return number();
    if (take("(")) {
      TRY_ASSIGN(NodePtr inner, expression());
      TRY(expect(")"));
      return inner;
    }
    if (take("[")) return list();
    if (take("{")) return map();
    if (token().is(".") && after().kind == Token::Kind::identifier) {
      ++at_;
      return identifier();
    }
    return fail_here(fmt::format("Syntax error: '{}' does not belong here", token().text));
  }

  Result<NodePtr> number() {
    size_t start = token().offset;
    bool negative = take("-");
    Token digits = token();
    ++at_;
    std::string_view text = digits.text;
    if (digits.kind == Token::Kind::floating) {
      double value = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc()) return fail(ErrorKind::limit, "the number {} is not evaluated here", text);
      return constant(Value(negative ? -value : value));
    }
    bool is_unsigned = digits.kind == Token::Kind::unsigned_integer;
    if (is_unsigned) text.remove_suffix(1);
    bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    std::string signed_text = (negative ? "-" : "") + std::string(text);
    const char* begin = signed_text.data();
    const char* end = begin + signed_text.size();
    if (is_unsigned) {
      uint64_t value = 0;
      if (std::from_chars(begin, end, value, hex ? 16 : 10).ec != std::errc())
        return fail_at(text_, start, "invalid uint literal");
      return constant(Value(value));
    }
    int64_t value = 0;
    if (std::from_chars(begin, end, value, hex ? 16 : 10).ec != std::errc())
      return fail_at(text_, start, "invalid int literal");
    return constant(Value(value));
  }

  Result<NodePtr> list() {
    std::vector<NodePtr> items;
    while (!token().is("]")) {
      if (items.empty() && take(",")) break;
      if (token().is("?")) return fail(ErrorKind::limit, "optional values are not evaluated here");
      TRY_ASSIGN(NodePtr item, expression());
      items.push_back(std::move(item));
      if (!take(",")) break;
    }
    TRY(expect("]"));
    return make(Node::Kind::list, std::move(items));
  }

  Result<NodePtr> map() {
    std::vector<NodePtr> entries;
    while (!token().is("}")) {
      if (entries.empty() && take(",")) break;
      if (token().is("?")) return fail(ErrorKind::limit, "optional values are not evaluated here");
      TRY_ASSIGN(NodePtr key, expression());
      TRY(expect(":"));
      TRY_ASSIGN(NodePtr value, expression());
      entries.push_back(std::move(key));
      entries.push_back(std::move(value));
      if (!take(",")) break;
    }
    TRY(expect("}"));
    return make(Node::Kind::map, std::move(entries));
  }

  Result<NodePtr> identifier() {
    Token name = token();
    if (name.text == "in") return fail_here("Syntax error: 'in' does not belong here");
    ++at_;
    if (name.text == "true" || name.text == "false") return constant(Value(name.text == "true"));
    if (name.text == "null") return constant(Value());
    if (token().is("(")) return call(name, token().offset, nullptr);
    if (is_reserved(name.text)) return fail_at(text_, name.offset, fmt::format("reserved identifier: {}", name.text));
    size_t end = at_;
    while (tokens_[end].is(".") && tokens_[end + 1].kind == Token::Kind::identifier) end += 2;
    if (tokens_[end].is("{")) {
      if (purpose_ == Purpose::mutation) return message(name);
      return fail(ErrorKind::limit, "messages are not evaluated here");
    }
    if (purpose_ == Purpose::mutation && name.text == "jsonpatch" && end == at_ + 2 && after().is_word("escapeKey") &&
        tokens_[end].is("(")) {
      at_ = end;
      Token function = name;
      function.text = "jsonpatch.escapeKey";
      return call(function, token().offset, nullptr);
    }
    if (std::find(scope_.begin(), scope_.end(), name.text) == scope_.end() &&
        std::find(variables_.begin(), variables_.end(), name.text) == variables_.end()) {
      if (std::string_view type = type_called(name.text); !type.empty()) return constant(Value(Value::Type{type}));
      // A library, as in sets.contains(a, b), or something that newer servers have.
      bool library = token().is(".") && after().kind == Token::Kind::identifier && tokens_[at_ + 2].is("(");
      if (library || name.text == "authorizer") return fail(ErrorKind::limit, "{} is not evaluated here", name.text);
      return fail_at(text_, name.offset, fmt::format("undeclared reference to '{}' (in container '')", name.text));
    }
    TRY_ASSIGN(NodePtr node, make(Node::Kind::name));
    node->text = name.text;
    return node;
  }

  // `Object.spec{replicas: 2}`, of which the first name has been read.
  Result<NodePtr> message(const Token& name) {
    std::string type(name.text);
    while (take(".")) {
      type += '.';
      type += token().text;
      ++at_;
    }
    if (type != "JSONPatch" && name.text != "Object")
      return fail_at(text_, name.offset, fmt::format("undeclared reference to '{}' (in container '')", type));
    TRY(expect("{"));
    std::vector<NodePtr> values;
    std::vector<std::string> fields;
    while (!token().is("}")) {
      if (values.empty() && take(",")) break;
      if (token().is("?")) return fail(ErrorKind::limit, "optional values are not evaluated here");
      if (token().kind != Token::Kind::identifier || is_keyword(token().text))
        return fail_here("Syntax error: the name of a field was expected");
      fields.emplace_back(token().text);
      ++at_;
      TRY(expect(":"));
      TRY_ASSIGN(NodePtr value, expression());
      values.push_back(std::move(value));
      if (!take(",")) break;
    }
    TRY(expect("}"));
    TRY_ASSIGN(NodePtr node, make(Node::Kind::message, std::move(values)));
    node->text = std::move(type);
    node->fields = std::move(fields);
    return node;
  }

  // How many arguments the call has that opens here: a macro has to be known before its body is read.
  size_t count_arguments() const {
    size_t depth = 0;
    size_t commas = 0;
    for (size_t i = at_; i < tokens_.size(); ++i) {
      const Token& t = tokens_[i];
      if (t.is("(") || t.is("[") || t.is("{")) ++depth;
      if (t.is(")") || t.is("]") || t.is("}")) --depth;
      if (depth == 0) return i == at_ + 1 ? 0 : commas + 1;
      if (depth == 1 && t.is(",")) ++commas;
    }
    return 0;
  }

  Result<NodePtr> call(const Token& name, size_t open, NodePtr receiver) {
    size_t count = count_arguments();
    if (receiver != nullptr)
      if (std::optional<Node::Kind> macro = macro_called(name.text, count))
        return comprehension(*macro, std::move(receiver));
    if (receiver == nullptr && name.text == "has" && count == 1) return has();

    bool with_receiver = receiver != nullptr;
    if (with_receiver) ++count;
    bool is_matches = name.text == "matches" && count == 2;
    Function function = find_function(name.text, with_receiver, count);
    // It may well be one of the many functions and macros that the API server knows and this subset does not. What is
    // in between the brackets is not looked at: it may name variables of its own.
    if (function == nullptr && !is_matches)
      return fail(ErrorKind::limit, "the function {}() is not evaluated here", name.text);

    std::vector<NodePtr> arguments;
    if (with_receiver) arguments.push_back(std::move(receiver));
    ++at_;
    while (!token().is(")")) {
      TRY_ASSIGN(NodePtr argument, expression());
      arguments.push_back(std::move(argument));
      if (!take(",")) break;
      if (token().is(")")) return fail_here("Syntax error: an argument was expected");
    }
    TRY(expect(")"));
    if (arguments.size() != count) return fail_here("Syntax error: an argument was expected");
    if (is_matches) return matches(open, std::move(arguments));
    TRY_ASSIGN(NodePtr node, make(Node::Kind::call, std::move(arguments)));
    node->function = function;
    return node;
  }

  Result<NodePtr> matches(size_t open, std::vector<NodePtr> arguments) {
    std::shared_ptr<const re2::RE2> pattern;
    if (arguments[1]->kind == Node::Kind::constant) {
      if (auto text = arguments[1]->constant.if_string()) {
        auto compiled = compile_pattern(*text);
        if (!compiled && compiled.error().kind() == ErrorKind::limit) return fail(std::move(compiled).error());
        if (!compiled) return fail_at(text_, open + 1, "invalid matches argument");
        pattern = *std::move(compiled);
      }
    }
    TRY_ASSIGN(NodePtr node, make(Node::Kind::matches, std::move(arguments)));
    node->pattern = std::move(pattern);
    return node;
  }

  Result<NodePtr> has() {
    ++at_;
    size_t start = token().offset;
    TRY_ASSIGN(NodePtr node, expression());
    TRY(expect(")"));
    if (node->kind != Node::Kind::select) return fail_at(text_, start, "invalid argument to has() macro");
    node->kind = Node::Kind::has;
    return node;
  }

  Result<NodePtr> comprehension(Node::Kind kind, NodePtr range) {
    ++at_;
    if (token().kind != Token::Kind::identifier || is_keyword(token().text) || !after().is(","))
      return fail_here("argument must be a simple name");
    std::string variable(token().text);
    at_ += 2;
    scope_.push_back(variable);
    std::vector<NodePtr> parts;
    parts.push_back(std::move(range));
    do {
      TRY_ASSIGN(NodePtr part, expression());
      parts.push_back(std::move(part));
    } while (take(","));
    scope_.pop_back();
    TRY(expect(")"));
    TRY_ASSIGN(NodePtr node, make(kind, std::move(parts)));
    node->text = std::move(variable);
    return node;
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  const std::vector<std::string_view>& variables_;
  Purpose purpose_;
  size_t at_ = 0;
  size_t nesting_ = 0;
  size_t nodes_ = 0;
  std::vector<std::string> scope_;
};

}  // namespace

Result<Program> compile(std::string_view text, const std::vector<std::string_view>& variables, Purpose purpose) {
  if (text.size() > kMaxText) return fail(ErrorKind::limit, "the expression is longer than is evaluated here");
  TRY_ASSIGN(std::vector<Token> tokens, cut(text));
  TRY_ASSIGN(std::unique_ptr<Node> root, Parser(text, std::move(tokens), variables, purpose).run());
  Program program;
  program.text_ = text;
  program.root_ = std::move(root);
  return program;
}

}  // namespace fairlead::cel
