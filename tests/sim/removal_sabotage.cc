#include "base/json.h"
#include "detour.h"
#include "inventory/applyset.h"
#include "inventory/membership.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

http::Answer answer_of(int status, std::string body) {
  http::Answer answer;
  answer.status = status;
  answer.headers = {{"Content-Type", "application/json"}};
  answer.body = http::body_of(std::move(body));
  return answer;
}

// An object that lingers for its finalizers is answered as if it had been removed.
class BelievesDeleted final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "DELETE") co_return co_await network_.open(std::move(request));
    CO_TRY_ASSIGN(http::Response response, co_await http::send(network_, std::move(request)));
    Result<Json> value = Json::parse(response.body);
    if (response.status != 200 || !value || !(*value)["metadata"]["uid"].is_string())
      co_return answer_of(response.status, std::move(response.body));
    Json gone(Json::Object{{"kind", "Status"},
                           {"apiVersion", "v1"},
                           {"metadata", Json::Object{}},
                           {"status", "Success"},
                           {"details", Json::Object{{"uid", (*value)["metadata"]["uid"]}}}});
    co_return answer_of(200, gone.dump());
  }
};

// A DELETE that fails is answered as if nothing were there.
class AssumesGone final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "DELETE") co_return co_await network_.open(std::move(request));
    Result<http::Answer> answer = co_await network_.open(std::move(request));
    if (answer && answer->status < 500) co_return answer;
    Json absent(Json::Object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::Object{}},
                             {"status", "Failure"},
                             {"reason", "NotFound"},
                             {"message", "not found"},
                             {"code", 404}});
    co_return answer_of(404, absent.dump());
  }
};

// Whatever has the name by then is removed.
class ForgetsUids final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method == "DELETE") request.body = R"({"apiVersion":"v1","kind":"DeleteOptions"})";
    return network_.open(std::move(request));
  }
};

// Changes the items of every list.
class RewritesLists : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_list = request.method == "GET" && !request.long_lived;
    if (!is_list) co_return co_await network_.open(std::move(request));
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(std::move(request)));
    if (answer.status != 200) co_return answer;
    CO_TRY_ASSIGN(std::string text, co_await text_of(answer));
    Result<Json> value = Json::parse(text);
    if (value && (*value)["items"].is_array()) {
      rewrite(*value->make("items").if_array());
      text = value->dump();
    }
    answer.body = http::body_of(std::move(text));
    co_return answer;
  }

 protected:
  virtual void rewrite(Json::Array& items) = 0;
};

class OverlooksOthers final : public RewritesLists {
 public:
  using RewritesLists::RewritesLists;

 private:
  void rewrite(Json::Array& items) override {
    std::erase_if(items, [](const Json& item) {
      return item["metadata"].contains("namespace") && !item["metadata"]["labels"].contains(inventory::kPartOfLabel);
    });
  }
};

class OverlooksFinalizers final : public RewritesLists {
 public:
  using RewritesLists::RewritesLists;

 private:
  void rewrite(Json::Array& items) override {
    for (Json& item : items) item.make("metadata").if_object()->erase("finalizers");
  }
};

class BelievesLabels final : public RewritesLists {
 public:
  using RewritesLists::RewritesLists;

 private:
  void rewrite(Json::Array& items) override {
    inventory::Identity identity{.label_value = bundle_.label_value(), .managers = {bundle_.field_manager()}};
    for (Json& item : items) {
      inventory::Membership membership = inventory::membership(item, identity);
      if (membership == inventory::Membership::member || membership == inventory::Membership::unlabelled) continue;
      item.make("metadata").make("managedFields") =
          Json::Array{Json::Object{{"manager", bundle_.field_manager()}, {"operation", "Apply"}}};
      item.make("metadata").if_object()->erase("ownerReferences");
    }
  }

  inventory::BundleName bundle_{.name = "bundle", .home = "default"};
};

}  // namespace

RemovalSabotage overlooks_others() {
  return [](http::Transport& network) { return std::make_unique<OverlooksOthers>(network); };
}
RemovalSabotage overlooks_finalizers() {
  return [](http::Transport& network) { return std::make_unique<OverlooksFinalizers>(network); };
}
RemovalSabotage believes_labels() {
  return [](http::Transport& network) { return std::make_unique<BelievesLabels>(network); };
}
RemovalSabotage believes_deleted() {
  return [](http::Transport& network) { return std::make_unique<BelievesDeleted>(network); };
}
RemovalSabotage assumes_gone() {
  return [](http::Transport& network) { return std::make_unique<AssumesGone>(network); };
}
RemovalSabotage forgets_uids() {
  return [](http::Transport& network) { return std::make_unique<ForgetsUids>(network); };
}

}  // namespace fairlead::sim
