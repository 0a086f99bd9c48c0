// A resource, a data source, an ephemeral resource and a function with one attribute of each sort, for tests of the
// protocol. They need no cluster: the resource keeps what it is told in memory.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// What there is "in the cluster", by id.
struct Notes {
  std::map<std::string, std::string> stored;
  int made = 0;
  // Called instead of doing what apply() should do; for answers that are wrong.
  std::function<Task<ApplyResponse>(Context&, ApplyRequest)> instead_of_apply;
};

inline const Schema& note_schema() {
  static const Schema schema = {
      .version = 2,
      .description = "A note.",
      .attributes =
          {{.name = "id", .computed = true, .description = "Its number."},
           {.name = "text", .required = true, .description = "What it says."},
           {.name = "author", .optional = true, .description = "Another author is another note."},
           {.name = "length", .type = Type::number(), .computed = true, .description = "Of the text."},
           {.name = "tags", .type = Type::set(Type::string()), .optional = true, .description = "In any order."},
           {.name = "labels", .type = Type::map(Type::string()), .optional = true, .description = "By name."},
           {.name = "anything", .type = Type::dynamic(), .optional = true, .description = "Of any type."},
           {.name = "secret", .optional = true, .sensitive = true, .write_only = true, .description = "Not stored."},
           {.name = "place",
            .nesting = Nesting::single,
            .nested = {{.name = "shelf", .type = Type::number(), .optional = true, .description = "A number."},
                       {.name = "room", .required = true, .description = "A name."}},
            .optional = true,
            .description = "Where it is."}},
      .blocks = {{.name = "line",
                  .nesting = Nesting::list,
                  .attributes = {{.name = "words", .optional = true, .description = "Of a line."}},
                  .blocks = {},
                  .description = "More of the text."}}};
  return schema;
}

class NoteResource final : public Resource {
 public:
  explicit NoteResource(Notes& notes) : notes_(notes) {}

  std::string_view name() const override { return "trial_note"; }
  const Schema& schema() const override { return note_schema(); }
  const IdentitySchema* identity_schema() const override {
    static const IdentitySchema schema{
        .attributes = {{.name = "id", .required_for_import = true, .description = "Its number."}}};
    return &schema;
  }

  Task<Diagnostics> validate(Context&, Value config) override {
    Diagnostics found;
    if (config["text"].string_or("") == "bad") found.error("The text is bad", "Write something else.", Path("text"));
    if (config["text"].string_or("") == "odd") found.warning("The text is odd (trial_note)", "Is it?", Path("text"));
    co_return found;
  }

  Task<ReadResponse> read(Context&, ReadRequest request) override {
    auto note = notes_.stored.find(std::string(request.state["id"].string_or("")));
    if (note == notes_.stored.end()) co_return ReadResponse();
    Value state = request.state;
    state.make("text") = note->second;
    co_return ReadResponse{.state = std::move(state),
                           .private_state = std::move(request.private_state),
                           .identity = Value::object({{"id", note->first}})};
  }

  Task<PlanResponse> plan(Context&, PlanRequest request) override {
    if (request.proposed.is_null()) co_return PlanResponse{.planned_private = Json::Object{{"destroy", true}}};
    PlanResponse response{.planned = request.proposed, .planned_private = Json::Object{{"planned", true}}};
    if (request.prior.is_null()) response.planned.make("id") = Value::unknown();
    if (request.prior["text"] != request.proposed["text"]) response.planned.make("length") = Value::unknown();
    if (!request.prior.is_null() && request.prior["author"] != request.proposed["author"])
      response.requires_replace.push_back(Path("author"));
    co_return response;
  }

  Task<ApplyResponse> apply(Context& context, ApplyRequest request) override {
    if (notes_.instead_of_apply) co_return co_await notes_.instead_of_apply(context, std::move(request));
    std::string id(request.prior["id"].string_or(""));
    if (request.planned.is_null()) {
      notes_.stored.erase(id);
      co_return ApplyResponse();
    }
    if (request.prior.is_null()) id = fmt::format("note-{}", ++notes_.made);
    std::string text(request.planned["text"].string_or(""));
    notes_.stored[id] = text;
    ApplyResponse response{.state = request.planned,
                           .private_state = Json::Object{{"applied", true}},
                           .identity = Value::object({{"id", id}})};
    response.state.make("id") = id;
    response.state.make("length") = int64_t(text.size());
    co_return response;
  }

  Task<ImportResponse> import(Context&, ImportRequest request) override {
    std::string id = request.id.empty() ? std::string(request.identity["id"].string_or("")) : request.id;
    auto note = notes_.stored.find(id);
    if (note == notes_.stored.end()) co_return ImportResponse();
    Value state = schema().null_value();
    state.make("id") = id;
    co_return ImportResponse{.state = std::move(state), .identity = Value::object({{"id", id}})};
  }

  Task<MoveResponse> move(Context& context, MoveRequest request) override {
    if (request.source_type != "other_note") co_return co_await Resource::move(context, std::move(request));
    Value state = schema().null_value();
    state.make("text") = request.source_state["content"].string_or("");
    state.make("id") = "moved";
    co_return MoveResponse{.state = std::move(state)};
  }

 private:
  Notes& notes_;
};

class NotesSource final : public DataSource {
 public:
  explicit NotesSource(Notes& notes) : notes_(notes) {}
  std::string_view name() const override { return "trial_notes"; }
  const Schema& schema() const override {
    static const Schema schema = {
        .attributes = {{.name = "prefix", .optional = true, .description = "Of their texts."},
                       {.name = "texts", .type = Type::list(Type::string()), .computed = true, .description = "All."}},
        .blocks = {}};
    return schema;
  }
  Task<DataResponse> read(Context&, Value config) override {
    Value::Items texts;
    for (const auto& [id, text] : notes_.stored)
      if (text.starts_with(config["prefix"].string_or(""))) texts.emplace_back(text);
    Value state = std::move(config);
    state.make("texts") = Value::list(std::move(texts));
    co_return DataResponse{.state = std::move(state)};
  }

 private:
  Notes& notes_;
};

class KeyResource final : public EphemeralResource {
 public:
  std::string_view name() const override { return "trial_key"; }
  const Schema& schema() const override {
    static const Schema schema = {
        .attributes = {{.name = "size", .type = Type::number(), .required = true, .description = "Of the key."},
                       {.name = "key", .computed = true, .sensitive = true, .description = "The key."}},
        .blocks = {}};
    return schema;
  }
  Task<OpenResponse> open(Context&, Value config) override {
    Value result = config;
    result.make("key") = std::string(size_t(std::clamp<int64_t>(config["size"].int_or(0), 0, 1000)), 'k');
    co_return OpenResponse{.result = std::move(result), .private_state = Json::Object{{"open", true}}};
  }
};

class JoinFunction final : public Function {
 public:
  std::string_view name() const override { return "join_words"; }
  const Signature& signature() const override {
    static const Signature signature{.parameters = {{.name = "separator", .description = "What comes between."}},
                                     .variadic = Parameter{.name = "words", .description = "What is joined."},
                                     .result = Type::string(),
                                     .summary = "Joins words",
                                     .description = "Joins words."};
    return signature;
  }
  Task<std::expected<Value, FunctionError>> call(Context&, std::vector<Value> arguments) override {
    std::string text;
    for (size_t i = 1; i < arguments.size(); ++i) {
      if (arguments[i].string_or("").empty())
        co_return std::unexpected(FunctionError{.text = "a word is empty", .argument = int64_t(i)});
      text += fmt::format("{}{}", i == 1 ? "" : arguments[0].string_or(""), arguments[i].string_or(""));
    }
    co_return Value(std::move(text));
  }
};

// The notes must outlive the offers.
inline Offers trial_offers(Notes& notes) {
  Offers offers;
  offers.resources.push_back(std::make_unique<NoteResource>(notes));
  offers.data_sources.push_back(std::make_unique<NotesSource>(notes));
  offers.ephemeral_resources.push_back(std::make_unique<KeyResource>());
  offers.functions.push_back(std::make_unique<JoinFunction>());
  return offers;
}

}  // namespace fairlead::terraform
