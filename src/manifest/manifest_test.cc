#include "manifest/manifest.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "async/loop.h"
#include "base/temp_folder_testing.h"

namespace fairlead::manifest {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::string pod(std::string_view name) {
  return fmt::format("apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n", name);
}

class Manifest : public testing::Test {
 protected:
  std::string write(std::string_view name, std::string_view content) { return folder_.write(name, content); }
  std::string path(std::string_view name) const { return folder_.path_of(name); }

  // Names of the objects with the last part of their file, or the reports of the errors with the folder left out.
  std::vector<std::string> read(std::vector<std::string> sources, Options options = {}) {
    VirtualLoop loop;
    auto bundle = loop.run(manifest::read(std::move(sources), std::move(options)));
    std::vector<std::string> out;
    if (bundle) {
      for (const object::Object& object : bundle->objects)
        out.push_back(object.name() + " " + fs::path(object.source().text()).filename().string());
    } else {
      for (const Error& error : bundle.error()) {
        out.push_back(folder_.hide_in(error.report(), "DIR"));
      }
    }
    return out;
  }

  TempFolder folder_;
};

TEST_F(Manifest, ReadsFilesInTheOrderGiven) {
  std::string b = write("b.yaml", pod("b1") + "---\n" + pod("b2"));
  std::string a = write("a.txt", pod("a"));
  EXPECT_THAT(read({b, a, b}), ElementsAre("b1 b.yaml:1", "b2 b.yaml:6", "a a.txt:1", "b1 b.yaml:1", "b2 b.yaml:6"));
}

TEST_F(Manifest, ReadsTheManifestsOfAFolder) {
  write("f/b.yml", pod("b"));
  write("f/a.yaml", pod("a"));
  write("f/c.json", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"}})");
  write("f/notes.txt", "not: [yaml");
  write("f/UPPER.YAML", "not: [yaml");
  write("f/aa/z.yaml", pod("z"));
  fs::create_symlink(path("f/a.yaml"), path("f/link.yaml"));
  fs::create_directory_symlink(path("f"), path("f/aa/loop"));
  fs::create_directory_symlink(path("f"), path("f/aa/loop.yaml"));
  EXPECT_THAT(read({path("f")}), ElementsAre("a a.yaml:1", "b b.yml:1", "c c.json:1", "a link.yaml:1"));
  EXPECT_THAT(read({path("f")}, {.recursive = true}),
              ElementsAre("a a.yaml:1", "z z.yaml:1", "b b.yml:1", "c c.json:1", "a link.yaml:1"));
  fs::create_directory_symlink(path("f"), path("linked"));
  EXPECT_THAT(read({path("linked")}), ElementsAre("a a.yaml:1", "b b.yml:1", "c c.json:1", "a link.yaml:1"));
}

TEST_F(Manifest, SaysWhatCannotBeRead) {
  write("empty/x.txt", "");
  write("nested/deep/x.yaml", pod("x"));
  write("broken/x.yaml", "");
  fs::remove(path("broken/x.yaml"));
  fs::create_symlink(path("nowhere"), path("broken/x.yaml"));
  write("pipe/x.txt", "");
  ASSERT_EQ(::mkfifo(path("pipe/x.yaml").c_str(), 0600), 0);
  EXPECT_THAT(
      read(
          {path("missing.yaml"), path("empty"), path("nested"), path("broken"), path("pipe"), "https://example.com/x"}),
      ElementsAre("error: the path \"DIR/missing.yaml\" does not exist\n",
                  "error: the folder \"DIR/empty\" has no manifests (*.yaml, *.yml, *.json)\n",
                  "error: the folder \"DIR/nested\" has no manifests (*.yaml, *.yml, *.json)\n"
                  "  next      look into its subfolders too: --recursive\n",
                  "error: cannot read DIR/broken/x.yaml\n  because   No such file or directory\n",
                  "error: DIR/pipe/x.yaml is not a file\n", "error: https://example.com/x cannot be fetched here\n"));
  EXPECT_THAT(read({}), ElementsAre("error: there is nothing to read: no files were given\n"));
  std::string comment = write("comment.yaml", "# nothing\n---\n");
  EXPECT_THAT(read({comment}), ElementsAre("error: there are no objects in DIR/comment.yaml\n"));
}

TEST_F(Manifest, ReadsStdinOnce) {
  write("input", pod("a") + "---\n" + pod("b"));
  int input = ::open(path("input").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_THAT(read({"-"}, {.standard_input = input}), ElementsAre("a stdin:1", "b stdin:6"));
  EXPECT_THAT(read({"-"}, {.standard_input = input}), ElementsAre("error: there are no objects in stdin\n"));
  EXPECT_THAT(read({"-", "-"}, {.standard_input = input}), ElementsAre("error: stdin can be read only once\n"));
  ::close(input);
}

TEST_F(Manifest, ReadsAPipeToItsEnd) {
  std::string content;
  for (int i = 0; i < 500; ++i) content += "---\n" + pod(fmt::format("pod-{}", i));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], content.data(), content.size()), ssize_t(content.size()));
  ::close(ends[1]);
  EXPECT_EQ(read({"-"}, {.standard_input = ends[0]}).size(), 500u);
  ::close(ends[0]);
}

TEST_F(Manifest, FetchesAddresses) {
  std::vector<std::string> asked;
  Fetch fetch = [&](std::string address, size_t) -> Task<Result<std::string>> {
    asked.push_back(address);
    if (address.ends_with("gone")) co_return fail(ErrorKind::not_found, "the server answered 404");
    co_return pod("a");
  };
  EXPECT_THAT(read({"https://example.com/a.yaml"}, {.fetch = fetch}), ElementsAre("a a.yaml:1"));
  EXPECT_THAT(read({"http://user:secret@example.com/gone"}, {.fetch = fetch}),
              ElementsAre("error: cannot fetch http://example.com/gone\n  because   the server answered 404\n"));
  EXPECT_THAT(read({"HTTPS://example.com/secret@/gone?token=secret#secret"}, {.fetch = fetch}),
              ElementsAre("a gone:1"));
  EXPECT_THAT(asked, ElementsAre("https://example.com/a.yaml", "http://user:secret@example.com/gone",
                                 "HTTPS://example.com/secret@/gone?token=secret#secret"));
}

TEST_F(Manifest, HasLimits) {
  std::string a = write("f/a.yaml", pod("a"));
  write("f/b.yaml", pod("b"));
  size_t size = pod("a").size();
  EXPECT_THAT(read({path("f")}, {.limits = {.total_bytes = size + 3}}),
              ElementsAre("error: DIR/f/b.yaml is larger than the 3 bytes that are left\n"));
  EXPECT_THAT(read({path("f")}, {.limits = {.files = 1}}), ElementsAre("error: DIR/f has more than 1 files\n"));
  Fetch fetch = [&](std::string, size_t) -> Task<Result<std::string>> { co_return std::string(100, ' '); };
  EXPECT_THAT(read({"http://x/"}, {.fetch = fetch, .limits = {.total_bytes = 99}}),
              ElementsAre("error: http://x/ is larger than the 99 bytes that are left\n"));
}

TEST_F(Manifest, LocatesAField) {
  std::string file =
      write("a.yaml", pod("p") + "---\n" + pod("q") + "spec:\n  containers:\n  - name: c\n    image: i\n");
  object::FieldPath path = *object::FieldPath::parse("spec.containers[0].image");
  EXPECT_EQ(locate({.file = file, .line = 6}, path).line, 13u);
  EXPECT_EQ(locate({.file = file, .line = 1}, path).line, 1u);
  EXPECT_EQ(locate({.file = "stdin", .line = 7}, path).line, 7u);
  fs::remove(file);
  EXPECT_EQ(locate({.file = file, .line = 6}, path), (object::Source{.file = file, .line = 6}));
}

// Real bundles, where a checkout has some beside it.
std::vector<std::string> real_bundles() {
  std::vector<std::string> found;
  std::error_code error;
  fs::path folder = fs::path(FAIRLEAD_SOURCE_DIR) / ".." / "shared" / "bundles";
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".yaml") found.push_back(it->path());
  std::ranges::sort(found);
  return found;
}

class RealBundle : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RealBundle);

TEST_P(RealBundle, IsRead) {
  VirtualLoop loop;
  auto bundle = loop.run(manifest::read({GetParam()}, {}));
  ASSERT_TRUE(bundle) << bundle.error()[0].report();
  EXPECT_FALSE(bundle->objects.empty());
}

INSTANTIATE_TEST_SUITE_P(Manifest, RealBundle, testing::ValuesIn(real_bundles()),
                         [](const auto& info) { return fmt::format("{}", info.index); });

}  // namespace
}  // namespace fairlead::manifest
