#include "removal/internal/orphans.h"

#include <gmock/gmock.h>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using How = Ending::How;

// The garbage collector runs after the CRD was deleted, and cannot tell any more whether the owner is deleted.
class LateCollector : public RemovalTest {
 protected:
  static sandbox::Options slow_controllers() {
    sandbox::Options options;
    options.delays.controller = seconds(20);
    return options;
  }
  LateCollector() : RemovalTest(slow_controllers()) {}

  void put_owned(std::string_view name, const std::vector<std::string>& owners, std::string_view annotation = "") {
    std::string references;
    for (const std::string& owner : owners)
      references += fmt::format(
          "{}{{apiVersion: example.com/v1, kind: Widget, name: {}, uid: {}}}", references.empty() ? "" : ", ", owner,
          get("/apis/example.com/v1/namespaces/default/widgets/" + owner)["metadata"]["uid"].string_or(""));
    put(
        fmt::format("apiVersion: v1\nkind: Secret\nmetadata: {{name: {}, namespace: default, annotations: {{{}}}, "
                    "ownerReferences: [{}]}}\n",
                    name, annotation, references));
  }
  bool is_there(std::string_view secret) {
    return !get(fmt::format("/api/v1/namespaces/default/secrets/{}", secret)).is_null();
  }
};

std::string plain_widget(std::string_view name) {
  return fmt::format("---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {}, namespace: default}}\n",
                     name);
}

TEST_F(LateCollector, WhatOwnersOfANewKindOwnedIsNotLeftBehind) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle + plain_widget("other"));
  put_owned("of-one", {"one"});
  put_owned("of-an-instance-outside", {"other"});
  put_owned("of-both", {"one", "other"});
  put_owned("kept", {"one"}, "fairlead.dev/delete: protected");
  put("apiVersion: v1\nkind: Secret\nmetadata: {name: of-nobody, namespace: default}\n");
  put("apiVersion: v1\nkind: Secret\nmetadata: {name: of-another, namespace: default, ownerReferences: [{apiVersion: "
      "example.com/v1, kind: Widget, name: x, uid: '1'}]}\n");
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  for (std::string_view gone : {"of-one", "of-an-instance-outside", "of-both"}) EXPECT_FALSE(is_there(gone)) << gone;
  for (std::string_view there : {"kept", "of-nobody", "of-another"}) EXPECT_TRUE(is_there(there)) << there;
  EXPECT_THAT(events(),
              HasSubstr(R"("name":"of-one"},"state":"gone","text":"Widget default/one, which owned it, was deleted")"));
}

TEST_F(LateCollector, WhatOwnersOfANewKindOwnedAndMayNotBeDeletedIsReported) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  network_.forbids = [](const http::Request& request) {
    return request.method == "DELETE" && request.target.contains("/secrets/");
  };
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  auto left = std::ranges::find(events_, std::string("left"), &journal::Event::state);
  ASSERT_NE(left, events_.end()) << events();
  EXPECT_EQ(left->key.text() + ": " + left->text,
            "Secret default/of-one: Widget default/one, which owned it, was deleted; nothing else will delete it, and "
            "it could not be deleted");
}

TEST_F(LateCollector, WhatBelongsToAnOwnerThatIsStuckStays) {
  std::string gadgets(kWidgets);
  for (auto [from, to] : {std::pair("Widget", "Gadget"), std::pair("widget", "gadget")})
    for (size_t at = gadgets.find(from); at != std::string::npos; at = gadgets.find(from, at))
      gadgets.replace(at, 6, to);
  std::string gadget = "---\napiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: two, namespace: default}\n";
  std::string bundle = std::string(kWidgets) + widget("one", "acme.dev/never") + "---\n" + gadgets + gadget;
  put(bundle);
  put_owned("of-one", {"one"});
  std::string uid(get("/apis/example.com/v1/namespaces/default/gadgets/two")["metadata"]["uid"].string_or(""));
  put(
      fmt::format("apiVersion: v1\nkind: Secret\nmetadata: {{name: of-two, namespace: default, ownerReferences: "
                  "[{{apiVersion: example.com/v1, kind: Gadget, name: two, uid: {}}}]}}\n",
                  uid));
  Ending ending = remove(bundle, {.timeout_for = {{"Widget", seconds(30)}}});
  EXPECT_EQ(ending.how, How::timed_out) << reports(ending);
  EXPECT_EQ(states(ending),
            "CustomResourceDefinition widgets.example.com blocked\nWidget default/one still there\n"
            "CustomResourceDefinition gadgets.example.com gone\nGadget default/two gone\n");
  EXPECT_TRUE(is_there("of-one"));
  EXPECT_FALSE(is_there("of-two")) << "what is left behind was not looked for";
}

TEST_F(LateCollector, WhatSomebodyWhoStaysOwnsTooIsKept) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle + config_map("stays"));
  auto uid_at = [this](std::string path) { return std::string(get(std::move(path))["metadata"]["uid"].string_or("")); };
  put(
      fmt::format("apiVersion: v1\nkind: Secret\nmetadata: {{name: shared, namespace: default, ownerReferences: "
                  "[{{apiVersion: example.com/v1, kind: Widget, name: one, uid: {}}}, {{apiVersion: v1, kind: "
                  "ConfigMap, name: stays, uid: {}}}]}}\n",
                  uid_at("/apis/example.com/v1/namespaces/default/widgets/one"),
                  uid_at("/api/v1/namespaces/default/configmaps/stays")));
  EXPECT_EQ(remove(bundle).how, How::done);
  EXPECT_TRUE(is_there("shared"));
}

TEST_F(LateCollector, ADeletionInFlightEndsThoughTheRunIsStopped) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  CancelSource stop;
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (request.method != "DELETE" || !request.target.contains("/secrets/of-one")) co_return;
    stop.cancel();
    EXPECT_TRUE(co_await sleep_for(loop_, seconds(1))) << "cancelled";
  };
  Ending ending = remove(bundle, {}, &stop);
  EXPECT_TRUE(stop.cancelled());
  EXPECT_FALSE(is_there("of-one")) << reports(ending);
}

TEST_F(LateCollector, TheCollectorSeesToWhatItKnows) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  pass(minutes(3));
  uint64_t before = requests();
  Ending ending = remove(bundle);
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_TRUE(is_there("of-one"));
  EXPECT_LT(requests() - before, 20U);
}

TEST_F(LateCollector, WhatIsToBeOrphanedStays) {
  std::string bundle = std::string(kWidgets) + plain_widget("one");
  put(bundle);
  put_owned("of-one", {"one"});
  EXPECT_EQ(remove(bundle, {.cascade = Cascade::orphan}).how, How::done);
  EXPECT_TRUE(is_there("of-one"));
}

}  // namespace
}  // namespace fairlead::removal
