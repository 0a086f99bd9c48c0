#include "sandbox/core/store.h"

#include <gtest/gtest.h>

#include "async/scope.h"
#include "sandbox/core/random.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kMaps{"", "configmaps"};
const ResourceId kPods{"", "pods"};

Json object(std::string name, int value = 0) {
  return Json::Object{{"metadata", Json::Object{{"name", std::move(name)}}}, {"value", value}};
}

TEST(Store, EveryChangeTakesTheNextVersionOfOneCounter) {
  VirtualLoop loop;
  Store store(loop);
  EXPECT_EQ((*store.put(kMaps, {"a", "x"}, object("x")))["metadata"]["resourceVersion"], Json("1"));
  EXPECT_EQ((*store.put(kPods, {"a", "x"}, object("x")))["metadata"]["resourceVersion"], Json("2"));
  EXPECT_EQ((*store.remove(kMaps, {"a", "x"}))["metadata"]["resourceVersion"], Json("3"));
  EXPECT_EQ(store.find(kMaps, {"a", "x"}), nullptr);
  EXPECT_EQ(store.remove(kMaps, {"a", "x"}), nullptr);
  EXPECT_EQ(store.version(), 3u);
}

TEST(Store, ShowsTheStateAtAnOlderVersion) {
  VirtualLoop loop;
  Store store(loop);
  store.put(kMaps, {"a", "x"}, object("x", 1));
  store.put(kMaps, {"a", "y"}, object("y", 1));
  store.put(kMaps, {"a", "x"}, object("x", 2));
  store.remove(kMaps, {"a", "y"});
  Store::Objects then = store.all_at(kMaps, 2);
  ASSERT_EQ(then.size(), 2u);
  EXPECT_EQ((*then.at({"a", "x"}))["value"], Json(1));
  EXPECT_EQ(store.all_at(kMaps, 4).size(), 1u);
  EXPECT_EQ(store.all_at(kMaps, 1).size(), 1u);
}

TEST(Store, HistoryIsCutAtTheWindow) {
  VirtualLoop loop;
  Store store(loop, 2);
  store.put(kMaps, {"a", "x"}, object("x", 1));
  store.put(kPods, {"a", "x"}, object("x", 1));
  EXPECT_EQ(store.compacted(), 0u);
  store.put(kMaps, {"a", "x"}, object("x", 2));
  EXPECT_EQ(store.compacted(), 1u);
  const Event* next = store.next_after(kMaps, 1);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->version, 3u);
  EXPECT_EQ(next->type, Event::Type::modified);
  EXPECT_EQ((*next->previous)["value"], Json(1));
  EXPECT_EQ(store.next_after(kMaps, 3), nullptr);
}

TEST(Store, WakesWhoeverWaitsForAChangeOfThatResource) {
  VirtualLoop loop;
  Store store(loop);
  loop.call_after(std::chrono::seconds(1), [&] { store.put(kPods, {"a", "x"}, object("x")); });
  loop.call_after(std::chrono::seconds(2), [&] { store.put(kMaps, {"a", "x"}, object("x")); });
  auto wait = [](Store& on) -> Task<uint64_t> {
    (void)co_await on.changed(kMaps).wait();
    co_return on.version();
  };
  EXPECT_EQ(loop.run(wait(store)), 2u);
}

TEST(Random, IsTheSameForTheSameSeed) {
  Random a(7), b(7), c(8);
  std::string uid = a.uid();
  EXPECT_EQ(uid, b.uid());
  EXPECT_NE(uid, c.uid());
  EXPECT_EQ(uid.size(), 36u);
  EXPECT_EQ(uid[14], '4');
  EXPECT_EQ(a.name_suffix(), b.name_suffix());
}

}  // namespace
}  // namespace fairlead::sandbox
