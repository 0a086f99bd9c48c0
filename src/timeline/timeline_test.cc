#include "timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/temp_folder_testing.h"
#include "journal/reader.h"
#include "timeline/page_file.h"

namespace fairlead::timeline {
namespace {

using testing::HasSubstr;
using testing::Not;

Model model_of(std::string_view text) {
  Result<journal::Recording> read = journal::read_journal(text, "run.jsonl");
  EXPECT_TRUE(read) << (read ? "" : read.error().report());
  Model model;
  if (read)
    for (const journal::Event& event : read->events) model.read(event);
  return model;
}

// A Namespace, a ConfigMap in it, and a Berth that a webhook first does not let in.
constexpr std::string_view kRollout =
    R"({"event":"started","seconds":0.0,"details":{"command":"apply","time":"2030-01-01T00:00:00Z","objects":3,"bundle":"shop"}}
{"event":"graph","seconds":0.05,"details":{"objects":[["","Namespace","","a","a.yaml:1"],["","ConfigMap","a","m","a.yaml:5"],["x.io","Berth","a","b","b.yaml:1"]],"others":[["guard","webhook w"],["group","all of"]],"reasons":["its namespace","webhook w guards it"],"needs":[[1,0,0,0],[2,4,0,0],[4,0,0,0],[2,3,1,1],[2,99,0,0]]}}
{"event":"stored","seconds":0.2,"object":{"group":"","kind":"Namespace","name":"a","source":"a.yaml:1"},"state":"created","details":{"sent":0.15}}
{"event":"ready","seconds":0.2,"object":{"group":"","kind":"Namespace","name":"a","source":"a.yaml:1"},"state":"ready"}
{"event":"stored","seconds":0.3,"object":{"group":"","kind":"ConfigMap","namespace":"a","name":"m","source":"a.yaml:5"},"state":"unchanged"}
{"event":"parked","seconds":0.4,"object":{"group":"x.io","kind":"Berth","namespace":"a","name":"b","source":"b.yaml:1"},"state":"webhook_unreachable","text":"refused","details":{"sent":0.35}}
{"event":"guard","seconds":0.5,"state":"registered","text":"webhook w is registered","details":{"guard":"webhook w"}}
{"event":"guard","seconds":0.9,"state":"answering","text":"webhook w answers","details":{"guard":"webhook w"}}
{"event":"stored","seconds":1.0,"object":{"group":"x.io","kind":"Berth","namespace":"a","name":"b","source":"b.yaml:1"},"state":"created","details":{"sent":0.35}}
{"event":"ready","seconds":1.0,"object":{"group":"x.io","kind":"Berth","namespace":"a","name":"b","source":"b.yaml:1"},"state":"ready"}
{"event":"note","seconds":1.1,"text":"good to know"}
{"event":"ended","seconds":1.2,"state":"done","details":{"requests":9,"criticalPath":[{"what":"webhook w","reason":"","from":0.0,"to":0.8},{"what":"Berth a/b","reason":"held it","from":0.8,"to":0.9}]}}
)";

TEST(Timeline, TheDataHasWhatTheJournalSays) {
  Model model = model_of(kRollout);
  Json data = data_of(model);
  EXPECT_EQ(data["run"].dump(),
            R"({"command":"apply","bundle":"shop","time":"2030-01-01T00:00:00Z","outcome":"done","end":1200000,)"
            R"("requests":9,"remarks":[]})");
  const Json::Array& strings = data["strings"].items();
  auto string = [&](const Json& number) { return std::string(strings[size_t(number.int_or(0))].string_or("")); };
  const Json& berth = data["nodes"].item(2);
  EXPECT_EQ(string(berth.item(2)), "Berth");
  EXPECT_EQ(berth.item(4).string_or(""), "b");
  EXPECT_EQ(string(berth.item(5)), "b.yaml");
  EXPECT_EQ(berth.item(6).int_or(0), 1);
  EXPECT_EQ(string(berth.item(7)), "ready");
  EXPECT_EQ(string(berth.item(8)), "created");
  // When it was sent, refused, stored and settled.
  EXPECT_EQ(Json(Json::Array(berth.items().begin() + 9, berth.items().end())).dump(),
            "[350000,400000,1000000,1000000]");
  // The need of a node that is not there is left out.
  EXPECT_EQ(data["needs"].item(2).items().size(), 6U);
  EXPECT_EQ(data["path"].dump(), R"([{"what":"webhook w","reason":"","from":100000,"to":900000,"node":3},)"
                                 R"({"what":"Berth a/b","reason":"held it","from":900000,"to":1000000,"node":2}])");
  EXPECT_EQ(data["moments"].items().size(), 8U);
}

// As in a run that is prepared again because somebody else changed the bundle meanwhile.
TEST(Timeline, AGraphThatComesAgainReplacesTheNeeds) {
  std::string again(kRollout);
  size_t begin = again.find("{\"event\":\"graph\""), end = again.find('\n', begin) + 1;
  again.insert(begin, again.substr(begin, end - begin));
  Model once = model_of(kRollout), twice = model_of(again);
  for (NodeId node : plan::IdRange<NodeId>(3)) {
    ASSERT_EQ(twice.nodes()[node].key, once.nodes()[node].key);
    EXPECT_EQ(twice.nodes()[node].needs.size(), once.nodes()[node].needs.size());
  }
}

TEST(Timeline, AnUnchangedObjectIsReady) {
  Model model = model_of(kRollout);
  EXPECT_EQ(model.nodes()[NodeId(1)].state, "ready");
  EXPECT_EQ(model.nodes()[NodeId(1)].effect, "unchanged");
  EXPECT_EQ(model.object_count(), 3U);
}

TEST(Timeline, ObjectsThatWereNeverSentHaveTheOutcomeOfTheEnd) {
  Model model = model_of(
      R"({"event":"failed","seconds":1,"object":{"group":"","kind":"Pod","namespace":"a","name":"p"},"error":{"what":"refused","because":["no"],"next":"do"}}
{"event":"ended","seconds":2,"state":"failed","details":{"errors":[{"what":"refused","because":["no"],"blocks":["Pod a/q","Pod a/x"]}],"outcomes":{"blocked":[["","Pod","a","q"]]}}})");
  ASSERT_EQ(model.nodes().size(), 2U);
  EXPECT_EQ(model.nodes()[NodeId(0)].state, "failed");
  EXPECT_EQ(model.nodes()[NodeId(0)].moments[0].text, "refused\nbecause no\nnext do");
  EXPECT_EQ(model.nodes()[NodeId(1)].state, "blocked");
  ASSERT_EQ(model.failures().size(), 1U);
  EXPECT_EQ(model.failures()[0].blocks, std::vector{NodeId(1)});
  EXPECT_EQ(model.failures()[0].unknown, 1U);
}

TEST(Timeline, ADeletionHasItsOwnStates) {
  Model model = model_of(
      R"({"event":"started","seconds":0,"details":{"command":"delete"}}
{"event":"progress","seconds":1,"object":{"group":"","kind":"Pod","namespace":"a","name":"p"},"state":"leaving"}
{"event":"progress","seconds":1,"object":{"group":"","kind":"Pod","namespace":"a","name":"q"},"state":"leaving"}
{"event":"removed","seconds":2,"object":{"group":"","kind":"Pod","namespace":"a","name":"p"},"state":"gone"})");
  EXPECT_EQ(model.command(), "delete");
  EXPECT_EQ(model.nodes()[NodeId(0)].state, "deleted");
  EXPECT_EQ(model.nodes()[NodeId(0)].settled, std::chrono::seconds(2));
  EXPECT_EQ(model.nodes()[NodeId(1)].state, "deleting");
  EXPECT_EQ(model.outcome(), "");
}

TEST(Timeline, WhatTheJournalSaysCannotBecomeMarkup) {
  Timeline timeline;
  timeline.read(
      {.kind = journal::EventKind::started,
       .details = Json(Json::Object{{"command", "apply"}, {"bundle", "</title><script>own()</script>{{js}}"}})});
  timeline.read({.kind = journal::EventKind::note,
                 .key = {.group = "", .kind = "Pod", .ns = "a", .name = "</script><script>own()</script><!--"},
                 .text = "{{data}}"});
  std::string page = timeline.page();
  EXPECT_THAT(page, Not(HasSubstr("<script>own()")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script\\u003e\\u003cscript\\u003eown()"));
  EXPECT_THAT(page, HasSubstr("<title>fairlead apply &lt;/title&gt;&lt;script&gt;own()&lt;/script&gt;{{js}}</title>"));
  EXPECT_THAT(page, HasSubstr("Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"));
}

TEST(Timeline, LongTextsAreCutBetweenCharacters) {
  Timeline timeline;
  std::string text(3999, 'x');
  Model model;
  model.read({.kind = journal::EventKind::note, .text = text + "äöü"});
  Json data = data_of(model);
  EXPECT_EQ(data["strings"].items().back().string_or(""), text + "…");
}

class PageFileTest : public testing::Test {
 protected:
  std::string report_of(const Result<void>& result) const {
    return result ? "" : folder.hide_in(result.error().report(), "FOLDER");
  }
  TempFolder folder;
};

TEST_F(PageFileTest, IsForItsOwnerAlone) {
  std::string path = folder.write("page.html", "before");
  ASSERT_TRUE(write_page_file(path, "after"));
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "after");
  struct stat there = {};
  ASSERT_EQ(::stat(path.c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST_F(PageFileTest, ALinkIsNotFollowed) {
  std::string target = folder.write("target", "before");
  std::filesystem::create_symlink(target, folder.path_of("link.html"));
  EXPECT_EQ(report_of(write_page_file(folder.path_of("link.html"), "after")),
            "error: the timeline FOLDER/link.html cannot be written\n"
            "  because   it is a symbolic link, which is not followed\n");
  EXPECT_EQ(std::filesystem::file_size(target), 6U);
}

TEST_F(PageFileTest, WhatCannotBeWrittenIsAnError) {
  EXPECT_EQ(report_of(check_page_file(folder.path())),
            "error: the timeline FOLDER cannot be written\n  because   it is a folder\n");
  EXPECT_EQ(report_of(check_page_file(folder.path_of("none/page.html"))),
            "error: the timeline FOLDER/none/page.html cannot be written\n"
            "  because   its folder: No such file or directory\n");
  EXPECT_EQ(report_of(check_page_file("/dev/null")),
            "error: the timeline /dev/null cannot be written\n  because   it is not a regular file\n");
}

}  // namespace
}  // namespace fairlead::timeline
