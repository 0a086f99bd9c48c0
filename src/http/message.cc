#include "http/message.h"

#include <algorithm>

namespace fairlead::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// What delivery_of() looks for in a chain of causes, and what people read there.
constexpr std::string_view kMayHaveBeenProcessed = "the request may have been carried out";

class ReadyBody final : public Body {
 public:
  explicit ReadyBody(std::string text) : text_(std::move(text)) {}
  Task<Result<std::optional<std::string>>> read() override {
    if (text_.empty()) co_return std::nullopt;
    co_return std::optional(std::exchange(text_, {}));
  }

 private:
  std::string text_;
};

}  // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

void Headers::add(std::string name, std::string value) { entries_.emplace_back(std::move(name), std::move(value)); }

void Headers::set(std::string_view name, std::string value) {
  auto first = std::ranges::find_if(entries_, [&](const auto& entry) { return same_name(entry.first, name); });
  if (first == entries_.end()) return add(std::string(name), std::move(value));
  first->second = std::move(value);
  auto others =
      std::remove_if(first + 1, entries_.end(), [&](const auto& entry) { return same_name(entry.first, name); });
  entries_.erase(others, entries_.end());
}

void Headers::remove(std::string_view name) {
  std::erase_if(entries_, [&](const auto& entry) { return same_name(entry.first, name); });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const auto& [key, value] : entries_)
    if (same_name(key, name)) return value;
  return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : entries_)
    if (same_name(key, name)) values.push_back(value);
  return values;
}

Error may_have_been_processed(Error cause) { return std::move(cause).in(std::string(kMayHaveBeenProcessed)); }

Delivery delivery_of(const Error& error) {
  for (const Error* layer = &error; layer; layer = layer->cause())
    if (layer->what() == kMayHaveBeenProcessed) return Delivery::unknown;
  return Delivery::never;
}

std::unique_ptr<Body> body_of(std::string text) { return std::make_unique<ReadyBody>(std::move(text)); }

Task<Result<Response>> send(Transport& transport, Request request, size_t max_body) {
  CO_TRY_ASSIGN(Answer answer, co_await transport.open(std::move(request)));
  Response response{.status = answer.status, .headers = std::move(answer.headers), .connection = answer.connection};
  if (!answer.body) co_return response;
  while (true) {
    CO_TRY_ASSIGN(std::optional<std::string> piece, co_await answer.body->read());
    if (!piece) co_return response;
    if (piece->size() > max_body - response.body.size())
      co_return fail(ErrorKind::limit, "the answer has more than {} bytes", max_body);
    if (response.body.empty()) {
      response.body = std::move(*piece);
    } else {
      response.body += *piece;
    }
  }
}

}  // namespace fairlead::http
