#include <fmt/format.h>

#include <charconv>
#include <set>

#include "base/json.h"
#include "detour.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

class ResumesLate final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    constexpr std::string_view kVersion = "resourceVersion=";
    size_t at = request.target.find(kVersion);
    if (!request.long_lived) {
      watched_ = false;
    } else if (at != std::string::npos && std::exchange(watched_, true)) {
      uint64_t version = 0;
      const char* begin = request.target.data() + at + kVersion.size();
      auto [end, error] = std::from_chars(begin, request.target.data() + request.target.size(), version);
      request.target.replace(at + kVersion.size(), size_t(end - begin), std::to_string(version + 1));
    }
    return network_.open(std::move(request));
  }

 private:
  bool watched_ = false;  // since the last list
};

class ForgetsDeletions final : public Detour {
 public:
  ForgetsDeletions(http::Transport& network, const StoreLog& log) : Detour(network), log_(log) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    bool watches = request.long_lived;
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(std::move(request)));
    if (answer.status == 410) gone_ = true;
    if (answer.status != 200) co_return answer;
    if (watches) {
      answer.body = std::make_unique<Listening>(*this, std::move(answer.body));
      co_return answer;
    }
    CO_TRY_ASSIGN(std::string text, co_await text_of(answer));
    if (std::exchange(gone_, false)) put_back_deleted(text);
    listen(text);
    answer.body = http::body_of(std::move(text));
    co_return answer;
  }

 private:
  class Listening final : public http::Body {
   public:
    Listening(ForgetsDeletions& owner, std::unique_ptr<http::Body> body) : owner_(owner), body_(std::move(body)) {}
    Task<Result<std::optional<std::string>>> read() override {
      CO_TRY_ASSIGN(std::optional<std::string> piece, co_await body_->read());
      if (piece) owner_.listen(*piece);
      co_return piece;
    }

   private:
    ForgetsDeletions& owner_;
    std::unique_ptr<http::Body> body_;
  };

  // A piece of a watch, which has whole lines, or a list. What is seen to be deleted is not forgotten.
  void listen(std::string_view text) {
    if (text.find("\"code\":410") != std::string_view::npos) gone_ = true;
    constexpr std::string_view kUid = "\"uid\":\"";
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      bool deleted = line.starts_with(R"({"type":"DELETED")");
      for (size_t at = line.find(kUid); at != std::string_view::npos; at = line.find(kUid, at + 1)) {
        size_t begin = at + kUid.size();
        std::string uid(line.substr(begin, line.find('"', begin) - begin));
        if (deleted) known_.erase(uid);
        else known_.insert(std::move(uid));
      }
    }
  }

  void put_back_deleted(std::string& text) {
    Result<Json> list = Json::parse(text);
    if (!list || !(*list)["items"].is_array()) return;
    std::set<sandbox::Place> there;
    for (const Json& item : (*list)["items"].items())
      there.insert({std::string(item["metadata"]["namespace"].string_or("")),
                    std::string(item["metadata"]["name"].string_or(""))});
    for (const sandbox::Event& event : log_.events()) {
      if (event.type != sandbox::Event::Type::deleted || there.contains(event.place)) continue;
      if (!known_.contains(std::string((*event.previous)["metadata"]["uid"].string_or("")))) continue;
      there.insert(event.place);
      list->make("items").if_array()->push_back(*event.previous);
    }
    text = list->dump();
  }

  const StoreLog& log_;
  bool gone_ = false;
  std::set<std::string> known_;  // by uid
};

class Overwrites final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    Result<http::Answer> answer = co_await network_.open(request);
    bool lost = !answer && http::delivery_of(answer.error()) == http::Delivery::unknown;
    if (!lost || request.method != "PUT") co_return answer;
    CO_TRY_ASSIGN(http::Response now,
                  co_await http::send(network_, {.target = request.target.substr(0, request.target.find('?'))}));
    Result<Json> object = Json::parse(now.body);
    Result<Json> update = Json::parse(request.body);
    if (now.status != 200 || !object || !update) co_return answer;
    update->make("metadata").make("resourceVersion") = (*object)["metadata"]["resourceVersion"];
    request.body = update->dump();
    co_return co_await network_.open(std::move(request));
  }
};

class MixesPages final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    constexpr std::string_view kContinue = "continue=";
    size_t at = request.target.find(kContinue);
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(request));
    if (at == std::string::npos || answer.status != 410) co_return answer;
    std::optional<std::string> text;
    CO_TRY_ASSIGN(text, co_await answer.body->read());
    Result<Json> status = Json::parse(text.value_or(""));
    std::string_view token = status ? (*status)["metadata"]["continue"].string_or("") : std::string_view();
    answer.body = http::body_of(text.value_or(""));
    if (token.empty()) co_return answer;
    request.target.replace(at + kContinue.size(), request.target.find('&', at) - at - kContinue.size(), token);
    co_return co_await network_.open(std::move(request));
  }
};

}  // namespace

Sabotage resumes_late() {
  return [](http::Transport& network, const StoreLog&) { return std::make_unique<ResumesLate>(network); };
}

Sabotage forgets_deletions() {
  return [](http::Transport& network, const StoreLog& log) { return std::make_unique<ForgetsDeletions>(network, log); };
}

Sabotage overwrites() {
  return [](http::Transport& network, const StoreLog&) { return std::make_unique<Overwrites>(network); };
}

Sabotage mixes_pages() {
  return [](http::Transport& network, const StoreLog&) { return std::make_unique<MixesPages>(network); };
}

}  // namespace fairlead::sim
