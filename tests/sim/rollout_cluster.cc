#include "rollout_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/base64.h"
#include "inventory/applyset.h"
#include "inventory/membership.h"
#include "rollout_manifests.h"
#include "rollout_older.h"
#include "sandbox/core/core.h"
#include "sim/webhook.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kForeignShadow = "0-fairlead-shadow-another-run-1";

http::Response json_response(const Json& body) {
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = body.dump(), .connection = 0};
}

Json converted(const Json& review) {
  Json::Array objects;
  for (Json object : review["request"]["objects"].items()) {
    object.make("apiVersion") = review["request"]["desiredAPIVersion"];
    objects.push_back(std::move(object));
  }
  return Json::Object{{"apiVersion", review["apiVersion"]},
                      {"kind", "ConversionReview"},
                      {"response", Json::Object{{"uid", review["request"]["uid"]},
                                                {"convertedObjects", std::move(objects)},
                                                {"result", Json::Object{{"status", "Success"}}}}}};
}

// As a patch of the pod.
std::string mark_in(const Json& pod, std::string mark) {
  Json annotations = pod["metadata"]["annotations"];
  annotations.make(mark) = "yes";
  return to_base64(Json(Json::Array{Json::Object{
                            {"op", "add"}, {"path", "/metadata/annotations"}, {"value", std::move(annotations)}}})
                       .dump());
}

// Allows everything, and tells the judge.
sandbox::LocalWebhooks::Handler handler_of(std::shared_ptr<Judge> judge, std::string service) {
  return [judge, service](http::Request request) -> Task<Result<http::Response>> {
    CO_TRY_ASSIGN(Json review, Json::parse(request.body));
    std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    if (path == "/convert") co_return json_response(converted(review));
    const Json& asked = review["request"];
    sandbox::ResourceId resource{std::string(asked["resource"]["group"].string_or("")),
                                 std::string(asked["resource"]["resource"].string_or(""))};
    Json::Object response{{"uid", asked["uid"]}, {"allowed", true}};
    const std::vector<BundleHook>& hooks = judge->bundle().hooks;
    for (size_t i = 0; i < hooks.size(); ++i) {
      if (hooks[i].service != service || hooks[i].path != path || asked["dryRun"].bool_or(false)) continue;
      if (resource != sandbox::ResourceId{"", "pods"}) {
        judge->asked(i, resource,
                     {std::string(asked["namespace"].string_or("")), std::string(asked["name"].string_or(""))});
      } else if (hooks[i].mutating) {
        response["patchType"] = "JSONPatch";
        response["patch"] = mark_in(asked["object"], Judge::mark_of(hooks[i]));
      } else {
        judge->asked_about_pod(i, asked["object"]["metadata"]["uid"].string_or(""));
      }
    }
    co_return json_response(Json::Object{
        {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
  };
}

// Past the network. False if the API does not take it for a long time.
Task<bool> put_in_place(World& world, std::string method, std::string target, std::string type, std::string body) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    Result<http::Response> response =
        co_await http::send(world.sandbox.api_server(),
                            {.method = method, .target = target, .headers = {{"Content-Type", type}}, .body = body});
    if (response && response->status < 300) co_return true;
    if (response && response->status == 409) co_return false;
    if (!co_await sleep_for(world.loop, 200ms)) co_return false;
  }
  co_return false;
}

std::string path_of(const BundleObject& object) {
  std::string_view version = object.value["apiVersion"].string_or("");
  std::string path = fmt::format("/{}/{}", version.find('/') == std::string_view::npos ? "api" : "apis", version);
  if (!object.place.ns.empty()) path += "/namespaces/" + object.place.ns;
  return fmt::format("{}/{}/{}", path, object.resource.resource, object.place.name);
}

// Until its pods are ready. False if they are not for a long time.
Task<bool> wait_for_workloads(World& world, const Judge& judge) {
  for (int attempt = 0; attempt < 300; ++attempt) {
    if (judge.workloads_work()) co_return true;
    if (!co_await sleep_for(world.loop, 200ms)) co_return false;
  }
  co_return false;
}

}  // namespace

void serve_webhooks(World& world, const std::shared_ptr<Judge>& judge, const std::string& older_service) {
  for (const BundleOperator& one : judge->bundle().operators) {
    Random random = world.dice(one.service);
    // One that lets pass what it does not answer stays up: nobody can do anything about what passes otherwise.
    WebhookWeather weather = one.fails_closed ? draw_webhook_weather(random) : WebhookWeather();
    serve_webhook(world, one.service, weather, handler_of(judge, one.service), one.ca_bundle);
  }
  if (!older_service.empty()) serve_webhook(world, older_service, {}, handler_of(judge, older_service));
}

namespace {

// As another tool has put it in, with fields that have left the manifests since.
Task<bool> put_by_former_tool(World& world, const BundleObject& object, Random& random) {
  Json value = with_leftovers(object.value);
  std::string path = path_of(object), collection = path.substr(0, path.rfind('/'));
  switch (random.below(3)) {
    case 0:
      co_return co_await put_in_place(world, "PATCH", path + "?fieldManager=fairlead&force=true",
                                      "application/apply-patch+yaml", value.dump());
    case 1: break;
    default:
      value.make("metadata").make("annotations").make(kHelmRelease) = "shop";
      co_return co_await put_in_place(world, "POST", collection + "?fieldManager=helm", "application/json",
                                      value.dump());
  }
  co_return co_await put_in_place(world, "POST", collection + "?fieldManager=kubectl-client-side-apply",
                                  "application/json", value.dump());
}

}  // namespace

Task<void> put_first_part(World& world, const Judge& judge) {
  Random random = world.dice("first part");
  if (!random.chance(0.4) || !world.history.step("first part", 0)) co_return;
  std::vector<const BundleObject*> order;
  for (const BundleObject& object : judge.bundle().objects) order.push_back(&object);
  std::ranges::sort(order, {}, [](const BundleObject* object) { return std::pair(object->stage, object); });
  order.resize(random.below(order.size() + 1));
  for (const BundleObject* object : order) {
    bool is_configuration = object->value.contains("webhooks");
    // Registered any earlier, it could keep its own pods from starting for good.
    if (is_configuration && !co_await wait_for_workloads(world, judge)) co_return;
    bool older = random.chance(0.5);
    Json value = older && is_configuration ? older_form(random, object->value) : object->value;
    if (older && can_be_older(*object)) value = older_workload(std::move(value));
    world.history.note("first part", [&] { return path_of(*object); });
    if (object->leaf && older) {
      if (!co_await put_by_former_tool(world, *object, random)) co_return;
      continue;
    }
    if (!co_await put_in_place(world, "PATCH", path_of(*object) + "?fieldManager=fairlead&force=true",
                               "application/apply-patch+yaml", value.dump()))
      co_return;
  }
  Random pause = world.dice("first part", 1);
  if (pause.chance(0.5)) (void)co_await sleep_for(world.loop, some_time(pause, 10min));
}

namespace {

// True if something was missing.
bool fill_in(Json& client_config, const std::string& ca_bundle) {
  if (!client_config["caBundle"].string_or("").empty()) return false;
  client_config.make("caBundle") = to_base64(ca_bundle);
  return true;
}

// Puts certificate authorities into what has none, sooner or later, as cert-manager does. A server that stays with the
// old form does so until the next change, and nobody has seen one stay for longer than this: so there is one every now
// and then.
constexpr Duration kLongestStale = 90s;

}  // namespace

Task<void> inject(World& world, std::shared_ptr<Judge> judge) {
  std::map<const BundleObject*, sandbox::ObjectPtr> done;
  std::map<const BundleObject*, TimePoint> refresh_at;
  for (uint64_t round = 0;; ++round) {
    Random random = world.dice("injector", round);
    if (!co_await sleep_for(world.loop, 100ms + some_time(random, 4s))) co_return;
    for (const BundleObject& object : judge->bundle().objects) {
      bool is_configuration = object.value.contains("webhooks");
      if (!is_configuration && !object.value["spec"].contains("conversion")) continue;
      sandbox::ObjectPtr now = world.sandbox.core().store.find(object.resource, object.place);
      if (auto due = refresh_at.find(&object); now && due != refresh_at.end() && due->second <= world.loop.now()) {
        Json touched = *now;
        touched.make("metadata").make("annotations").make("example.com/refreshed") = std::to_string(round);
        (void)co_await put_in_place(world, "PUT", path_of(object), "application/json", touched.dump());
        due->second = world.loop.now() + kLongestStale;
        continue;
      }
      // Nothing to do costs nothing: this goes on for hours.
      if (!now || now == done[&object]) continue;
      done[&object] = now;
      Json value = *now;
      bool changed = false;
      for (const BundleOperator& one : judge->bundle().operators) {
        if (!one.injected) continue;
        std::string ns = one.service.substr(0, one.service.find('/'));
        auto fill = [&](Json& config) {
          if (config["service"]["namespace"].string_or("") == ns) changed = fill_in(config, one.ca_bundle) || changed;
        };
        if (is_configuration)
          for (Json& hook : *value.make("webhooks").if_array()) fill(hook.make("clientConfig"));
        else fill(value.make("spec").make("conversion").make("webhook").make("clientConfig"));
      }
      if (!changed) continue;
      world.history.note("injector", [&] { return "fills in the caBundle of " + object.place.name; });
      if (co_await put_in_place(world, "PUT", path_of(object), "application/json", value.dump()))
        refresh_at[&object] = world.loop.now() + kLongestStale;
      else done.erase(&object);
    }
  }
}

Task<void> put_foreign_shadows(World& world) {
  auto shadow = [](std::string_view name, std::string_view expires) {
    Json object(
        Json::Object{{"apiVersion", "admissionregistration.k8s.io/v1"}, {"kind", "ValidatingWebhookConfiguration"}});
    object.make("metadata") = Json::Object{{"name", name},
                                           {"labels", Json::Object{{"fairlead.dev/shadow", "another-run"}}},
                                           {"annotations", Json::Object{{"fairlead.dev/expires", expires}}}};
    return object.dump();
  };
  std::string path = fmt::format("/apis/{}/v1/validatingwebhookconfigurations", kAdmissionGroup);
  (void)co_await put_in_place(world, "POST", path, "application/json", shadow(kForeignShadow, "2999-01-01T00:00:00Z"));
  (void)co_await put_in_place(world, "POST", path, "application/json",
                              shadow("0-fairlead-shadow-earlier-run-1", "2001-01-01T00:00:00Z"));
}

void check_foreign_shadow(World& world) {
  if (!world.sandbox.core().find(kAdmissionGroup, "validatingwebhookconfigurations", "", kForeignShadow))
    world.fail("the shadow of another run that is at work was removed");
}

namespace {

void note_bystander(World& world, const std::string& resource, const sandbox::Place& place, Bystanders& bystanders) {
  if (sandbox::ObjectPtr there = world.sandbox.core().find("", resource, place.ns, place.name))
    bystanders[{resource, place}] = (*there)["metadata"]["resourceVersion"].string_or("");
}

}  // namespace

Task<Bystanders> put_bystanders(World& world, std::string home) {
  Bystanders bystanders;
  std::string copied = inventory::BundleName{.name = "bundle", .home = std::move(home)}.label_value();
  for (const std::string& name : {std::string("bystander"), std::string("copy")})
    for (Json object : {config_map("default", name, "nobody"), secret("default", name)}) {
      std::string resource = object["kind"].string_or("") == "Secret" ? "secrets" : "configmaps";
      object.make("metadata").make("labels").make(inventory::kPartOfLabel) =
          name == "copy" ? copied : std::string("applyset-other-v1");
      (void)co_await put_in_place(world, "POST", "/api/v1/namespaces/default/" + resource, "application/json",
                                  object.dump());
      note_bystander(world, resource, {"default", name}, bystanders);
    }
  co_return bystanders;
}

Task<void> put_neighbour(World& world, std::string ns, Bystanders& bystanders) {
  inventory::BundleName other{.name = "other", .home = "default"};
  Json object = config_map(ns, "neighbour", "theirs");
  object.make("metadata").make("labels").make(inventory::kPartOfLabel) = other.label_value();
  (void)co_await put_in_place(
      world, "PATCH",
      fmt::format("/api/v1/namespaces/{}/configmaps/neighbour?fieldManager=fairlead%2Fdefault%2Fother", ns),
      "application/apply-patch+yaml", object.dump());
  note_bystander(world, "configmaps", {ns, "neighbour"}, bystanders);
}

void check_bystanders(World& world, const Bystanders& bystanders) {
  for (const auto& [where, version] : bystanders) {
    const auto& [resource, place] = where;
    sandbox::ObjectPtr there = world.sandbox.core().find("", resource, place.ns, place.name);
    if (!there) world.fail(fmt::format("{} {}/{} is not ours, and was deleted", resource, place.ns, place.name));
    else if ((*there)["metadata"]["resourceVersion"].string_or("") != version)
      world.fail(fmt::format("{} {}/{} is not ours, and was changed", resource, place.ns, place.name));
  }
}

Task<void> delete_namespace(World& world, Judge& judge) {
  std::vector<std::string> names;
  for (const BundleObject& object : judge.bundle().objects)
    if (object.place.name.starts_with("team-") && object.place.name != judge.bundle().home &&
        world.sandbox.core().find("", "namespaces", "", object.place.name))
      names.push_back(object.place.name);
  if (names.empty()) co_return;
  std::ranges::sort(names);
  std::string name = names[world.dice("deleted namespace").below(names.size())];
  judge.lets_go(name);
  (void)co_await http::send(world.sandbox.api_server(), {.method = "DELETE", .target = "/api/v1/namespaces/" + name});
}

}  // namespace fairlead::sim
