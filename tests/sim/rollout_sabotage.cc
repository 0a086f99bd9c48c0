#include <fmt/format.h>

#include <map>
#include <set>

#include "base/json.h"
#include "detour.h"
#include "scenarios.h"

namespace fairlead::sim {
namespace {

class ForgetsConnection final : public Detour {
 public:
  using Detour::Detour;
  Task<Result<http::Answer>> open(http::Request request) override {
    request.connection = 0;
    return network_.open(std::move(request));
  }
};

// Every probe is answered as if the webhook shadow that it looks for were in effect, and what that mirrors had
// answered.
class BelievesAtOnce final : public Detour {
 public:
  using Detour::Detour;

  Task<Result<http::Answer>> open(http::Request request) override {
    note_guest(request);
    note_policy(request);
    std::string marker = marker_for(request);
    Result<http::Answer> answer = co_await network_.open(std::move(request));
    if (marker.empty() || !answer || answer->status < 200 || answer->status == 429) co_return answer;
    Json status(Json::Object{{"kind", "Status"},
                             {"apiVersion", "v1"},
                             {"metadata", Json::Object{}},
                             {"status", "Failure"},
                             {"reason", "InternalError"},
                             {"code", 500}});
    status.make("message") = fmt::format(
        "Internal error occurred: failed calling webhook \"{}\": failed to call webhook: Post "
        "\"https://nowhere.fairlead-shadow.svc:443/?timeout=1s\": service \"nowhere\" not found",
        marker);
    answer->status = 500;
    answer->body = http::body_of(status.dump());
    co_return answer;
  }

 private:
  // A marker inside somebody's configuration, "m7-1893456000.run1.marker.fairlead.dev", has more than its number.
  void note_guest(const http::Request& request) {
    constexpr std::string_view kEnd = ".marker.fairlead.dev\"";
    size_t end = request.method == "PATCH" ? request.body.find(kEnd) : std::string::npos;
    if (end == std::string::npos) return;
    size_t begin = request.body.rfind('"', end) + 1;
    std::string name = request.body.substr(begin, end + kEnd.size() - 1 - begin);
    guests_[name.substr(1, name.find('-') - 1)] = name;
  }

  // The marker of a policy is seen in another way. "0-fairlead-shadow-run1-7" is its name.
  void note_policy(const http::Request& request) {
    constexpr std::string_view kName = "\"0-fairlead-shadow-run";
    size_t at = request.body.find(kName);
    bool is_policy = request.method == "POST" && request.target.find("admissionpolicies") != std::string::npos;
    if (!is_policy || at == std::string::npos) return;
    at += kName.size();
    policies_.insert(request.body.substr(at, request.body.find('"', at) - at));
  }

  // The field manager of a probe, fairlead-RUN-NUMBER, names its shadow.
  std::string marker_for(const http::Request& request) const {
    constexpr std::string_view kManager = "fieldManager=fairlead-run";
    size_t at = request.target.find(kManager);
    if (request.method != "POST" || at == std::string::npos ||
        request.target.find("/runtimeclasses?") == std::string::npos)
      return {};
    std::string_view rest = std::string_view(request.target).substr(at + kManager.size());
    rest = rest.substr(0, rest.find('&'));
    if (policies_.contains(std::string(rest))) return {};
    size_t dash = rest.find('-');
    if (dash == std::string_view::npos) return {};
    std::string number(rest.substr(dash + 1));
    if (auto guest = guests_.find(number); guest != guests_.end()) return guest->second;
    return fmt::format("marker.{}.run{}.shadow.fairlead.dev", number, rest.substr(0, dash));
  }

  std::map<std::string, std::string> guests_;  // by number
  std::set<std::string> policies_;             // RUN-NUMBER
};

class ForgetsDryRun final : public Detour {
 public:
  using Detour::Detour;
  Task<Result<http::Answer>> open(http::Request request) override {
    constexpr std::string_view kDryRun = "dryRun=All";
    bool applies = request.method == "PATCH";
    if (size_t at = request.target.find(kDryRun); applies && at != std::string::npos)
      request.target.replace(at, kDryRun.size(), "pretty=false");
    return network_.open(std::move(request));
  }
};

// The managers that objects are taken over from have other names, so that nobody takes anything over.
class OverlooksFormerManagers final : public Detour {
 public:
  using Detour::Detour;
  Task<Result<http::Answer>> open(http::Request request) override {
    bool applies = request.method == "PATCH";
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(std::move(request)));
    if (!applies || answer.status != 200) co_return answer;
    CO_TRY_ASSIGN(std::string text, co_await text_of(answer));
    for (std::string_view name : {"\"kubectl-client-side-apply\"", "\"helm\"", "\"fairlead\""})
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
        text.replace(at, name.size(), "\"somebody\"");
    answer.body = http::body_of(std::move(text));
    co_return answer;
  }
};

// A Deployment counts as ready as soon as it is stored.
class BelievesReady final : public Detour {
 public:
  using Detour::Detour;
  Task<Result<http::Answer>> open(http::Request request) override {
    bool applies = request.method == "PATCH" && request.target.find("/deployments/") != std::string::npos;
    if (!applies) co_return co_await network_.open(std::move(request));
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(std::move(request)));
    if (answer.status >= 300) co_return answer;
    CO_TRY_ASSIGN(std::string text, co_await text_of(answer));
    CO_TRY_ASSIGN(Json object, Json::parse(text));
    Json replicas = object["spec"]["replicas"];
    Json& status = object.make("status");
    status = Json::Object{
        {"observedGeneration", object["metadata"]["generation"]},
        {"conditions",
         Json::Array{Json::Object{{"type", "Available"}, {"status", "True"}},
                     Json::Object{{"type", "Progressing"}, {"status", "True"}, {"reason", "NewReplicaSetAvailable"}}}}};
    for (std::string_view name : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"})
      status.make(name) = replicas;
    answer.body = http::body_of(object.dump());
    co_return answer;
  }
};

// The record of a bundle, or a list of its objects, is read wrong.
class MisreadsInventory final : public Detour {
 public:
  enum class How { no_members, no_claim };
  MisreadsInventory(http::Transport& network, How how) : Detour(network), how_(how) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    bool of_members = request.method == "GET" && request.target.find("labelSelector=applyset") != std::string::npos;
    bool of_record = request.method == "GET" && request.target.ends_with("/configmaps/fairlead-bundle");
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(std::move(request)));
    bool members_lost = of_members && how_ == How::no_members, claim_lost = of_record && how_ == How::no_claim;
    if ((!members_lost && !claim_lost) || answer.status != 200) co_return answer;
    CO_TRY_ASSIGN(std::string text, co_await text_of(answer));
    CO_TRY_ASSIGN(Json object, Json::parse(text));
    if (members_lost) object.make("items") = Json::Array{};
    else object.make("metadata").make("annotations").if_object()->erase("fairlead.dev/claim");
    answer.body = http::body_of(object.dump());
    co_return answer;
  }

 private:
  How how_;
};

RolloutSabotage misreads(MisreadsInventory::How how) {
  return [how](http::Transport& network) { return std::make_unique<MisreadsInventory>(network, how); };
}

}  // namespace

RolloutSabotage forgets_members() { return misreads(MisreadsInventory::How::no_members); }
RolloutSabotage overlooks_claim() { return misreads(MisreadsInventory::How::no_claim); }

RolloutSabotage overlooks_former_managers() {
  return [](http::Transport& network) { return std::make_unique<OverlooksFormerManagers>(network); };
}

RolloutSabotage believes_ready() {
  return [](http::Transport& network) { return std::make_unique<BelievesReady>(network); };
}

RolloutSabotage forgets_dry_run() {
  return [](http::Transport& network) { return std::make_unique<ForgetsDryRun>(network); };
}

RolloutSabotage forgets_connection() {
  return [](http::Transport& network) { return std::make_unique<ForgetsConnection>(network); };
}

RolloutSabotage believes_at_once() {
  return [](http::Transport& network) { return std::make_unique<BelievesAtOnce>(network); };
}

}  // namespace fairlead::sim
