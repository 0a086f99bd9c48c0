#include "report/gathering.h"

#include <gtest/gtest.h>

namespace fairlead::report {
namespace {

using namespace std::chrono_literals;

object::Key key_of(std::string kind, std::string ns, std::string name) {
  return {.group = "", .kind = std::move(kind), .ns = std::move(ns), .name = std::move(name)};
}

std::string text_of(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  return text;
}

void create(Gathering& gathering, int count, const std::string& ns) {
  for (int i = 0; i < count; ++i)
    gathering.add(0s, Happening::created, key_of("ConfigMap", ns, "c" + std::to_string(i)));
}

TEST(Gathering, AFewAreToldOneByOneAndManyTogether) {
  Gathering gathering({});
  gathering.add(0s, Happening::created, key_of("Namespace", "", "shop"));
  create(gathering, 1990, "shop");
  EXPECT_EQ(text_of(gathering.take(500ms)), "");
  EXPECT_EQ(text_of(gathering.take(1s)), "Namespace shop created\ncreated 1,990 ConfigMaps in shop\n");
  EXPECT_TRUE(gathering.empty());
}

TEST(Gathering, ManyNamespacesAreOneLine) {
  Gathering gathering({});
  for (int i = 0; i < 400; ++i) create(gathering, 5, "team-" + std::to_string(i));
  EXPECT_EQ(text_of(gathering.take_all()), "created 2,000 ConfigMaps in 400 namespaces\n");
  create(gathering, 4, "a");
  create(gathering, 1, "b");
  EXPECT_EQ(text_of(gathering.take_all()), "created 4 ConfigMaps in a\nConfigMap b/c0 created\n");
}

TEST(Gathering, ReadyComesWithItsTime) {
  Gathering gathering({});
  gathering.add(9s, Happening::ready, key_of("Deployment", "shop", "web"), 3200ms);
  EXPECT_EQ(text_of(gathering.take_all()), "Deployment shop/web ready after 3.2s\n");
  for (int i = 1; i <= 12; ++i)
    gathering.add(9s, Happening::ready, key_of("Deployment", "shop", std::to_string(i)), i * 1s);
  EXPECT_EQ(text_of(gathering.take_all()), "12 Deployments in shop ready after 1.0s to 12s\n");
}

TEST(Gathering, AllIsALinePerObject) {
  Gathering gathering({.all = true, .ending = " (dry run)"});
  create(gathering, 5, "shop");
  EXPECT_EQ(text_of(gathering.take(0s)),
            "ConfigMap shop/c0 created (dry run)\nConfigMap shop/c1 created (dry run)\n"
            "ConfigMap shop/c2 created (dry run)\nConfigMap shop/c3 created (dry run)\n"
            "ConfigMap shop/c4 created (dry run)\n");
}

}  // namespace
}  // namespace fairlead::report
