#include "cli/runs/deletion_hooks.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

void add(manifest::Bundle& bundle, const char* name, const char* events) {
  Json value(Json::Object{{"apiVersion", "batch/v1"},
                          {"kind", "Job"},
                          {"metadata", Json::Object{{"name", name}, {"annotations", Json::Object{}}}}});
  if (*events) value.make("metadata").make("annotations").make("helm.sh/hook") = events;
  bundle.objects.push_back(object::Object::from(std::move(value), {.file = "chart x"}).value());
}

std::string found(const manifest::Bundle& bundle, std::string_view event) {
  std::string text;
  for (const object::Object& hook : hooks_for(bundle, event).objects)
    text += fmt::format("{} ({}) from {}\n", hook.name(), hook.annotation("helm.sh/hook"), hook.source().text());
  return text;
}

TEST(DeletionHooks, AreThoseThatNameTheEvent) {
  manifest::Bundle bundle;
  add(bundle, "none", "");
  add(bundle, "install", "pre-install,post-delete-ish");
  add(bundle, "farewell", "pre-install , pre-delete");
  add(bundle, "both", "pre-delete,post-delete");
  EXPECT_EQ(found(bundle, "pre-delete"),
            "farewell (pre-delete,pre-install,pre-upgrade) from chart x\n"
            "both (pre-delete,pre-install,pre-upgrade) from chart x\n");
  EXPECT_EQ(found(bundle, "post-delete"), "both (post-delete,pre-install,pre-upgrade) from chart x\n");
  EXPECT_EQ(bundle.objects[2].annotation("helm.sh/hook"), "pre-install , pre-delete") << "the bundle stays as it was";
}

}  // namespace
}  // namespace fairlead::cli
