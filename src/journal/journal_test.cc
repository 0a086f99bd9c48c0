#include "journal/journal.h"

#include <gtest/gtest.h>

namespace fairlead::journal {
namespace {

TEST(Journal, EveryReaderGetsEveryEventWithItsTime) {
  VirtualClock clock;
  Journal journal(clock);
  std::vector<std::string> first, second;
  journal.read_by([&](const Event& event) { first.push_back(to_json(event).dump()); });
  journal.read_by([&](const Event& event) { second.push_back(event.text); });
  clock.advance_to(clock.now() + std::chrono::milliseconds(1500));
  journal.add({.kind = EventKind::stored,
               .key = {.group = "apps", .kind = "Deployment", .ns = "team-a", .name = "web"},
               .source = "web.yaml:3",
               .state = "created",
               .text = "created"});
  EXPECT_EQ(first,
            (std::vector<std::string>{
                R"({"event":"stored","seconds":1.5,"object":{"group":"apps","kind":"Deployment",)"
                R"("namespace":"team-a","name":"web","source":"web.yaml:3"},"state":"created","text":"created"})"}));
  EXPECT_EQ(second, (std::vector<std::string>{"created"}));
}

TEST(Journal, AnErrorIsTheWholeChain) {
  Error error = Error(ErrorKind::denied, "Widget a was not accepted")
                    .because("it has no colour")
                    .at("w.yaml:7")
                    .next("kubectl get x");
  EXPECT_EQ(to_json(Event{.kind = EventKind::failed, .error = error}).dump(),
            R"({"event":"failed","seconds":0.0,"error":{"what":"Widget a was not accepted",)"
            R"("because":["it has no colour"],"from":"w.yaml:7","next":"kubectl get x"}})");
}

}  // namespace
}  // namespace fairlead::journal
