#include "cli/output/external_diff.h"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "async/process.h"

namespace fairlead::cli {
namespace {

constexpr const char* kDiffVariable = "KUBECTL_EXTERNAL_DIFF";

bool is_plain_argument(const std::string& word) {
  return std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '='; });
}

// A folder that is deleted with everything in it.
class Folder {
 public:
  static Result<Folder> make() {
    std::string pattern = std::filesystem::temp_directory_path() / "fairlead-diff-XXXXXX";
    if (!::mkdtemp(pattern.data()))
      return fail(ErrorKind::invalid, "the folder {} cannot be made: {}", pattern, std::strerror(errno));
    return Folder(pattern);
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

std::string file_name(const object::Key& key) {
  std::string name = fmt::format("{}{}.{}.{}", key.group.empty() ? "" : key.group + ".", key.kind, key.ns, key.name);
  std::ranges::replace(name, '/', '_');
  return name;
}

Result<void> write(const std::filesystem::path& path, const std::string& text) {
  if (text.empty()) return {};
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(ErrorKind::invalid, "{} cannot be written", path.string());
  return {};
}

Result<void> write_objects(const std::filesystem::path& folder, const rollout::Ending& ending) {
  std::error_code error;
  for (const char* side : {"LIVE", "MERGED"})
    if (!std::filesystem::create_directory(folder / side, error))
      return fail(ErrorKind::invalid, "{} cannot be made: {}", (folder / side).string(), error.message());
  for (const rollout::ObjectEnding& object : ending.objects) {
    if (!object.forecast || object.forecast->change.empty()) continue;
    TRY(write(folder / "LIVE" / file_name(object.key), object.forecast->change.before));
    TRY(write(folder / "MERGED" / file_name(object.key), object.forecast->change.after));
  }
  return {};
}

}  // namespace

std::vector<std::string> external_diff() {
  const char* value = std::getenv(kDiffVariable);
  std::istringstream words(value ? value : "");
  std::vector<std::string> program;
  for (std::string word; words >> word;)
    if (program.empty() || is_plain_argument(word)) program.push_back(word);
  return program;
}

Task<Result<void>> run_external_diff(RealLoop& loop, std::vector<std::string> program, const rollout::Ending& ending) {
  CO_TRY_ASSIGN(Folder folder, Folder::make());
  CO_TRY(write_objects(folder.path(), ending));
  std::string name = program.front();
  program.push_back(folder.path() / "LIVE");
  program.push_back(folder.path() / "MERGED");
  ProcessSpec spec;
  spec.argv = std::move(program);
  spec.input = ProcessSpec::Input::inherit;
  spec.inherit_output = true;
  spec.inherit_errors = true;
  Result<ProcessResult> ended = co_await run_process(loop, std::move(spec));
  if (!ended) co_return fail(std::move(ended).error().in(fmt::format("{} of {} cannot be run", name, kDiffVariable)));
  bool has_failed = !ended->exit_status || *ended->exit_status > 1;
  if (has_failed) co_return fail(ErrorKind::invalid, "{} of {} failed: {}", name, kDiffVariable, ended->ending());
  co_return Result<void>();
}

}  // namespace fairlead::cli
