#include "terraform/data/glob.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

namespace fairlead::terraform {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFiles = 10'000;
constexpr size_t kDeepest = 40;

bool has_wildcard(std::string_view step) { return step.find_first_of("*?[") != std::string_view::npos; }

class Globbing {
 public:
  explicit Globbing(std::vector<std::string> steps) : steps_(std::move(steps)) {}

  void walk(const fs::path& folder, size_t step, size_t depth) {
    if (files_.size() > kMostFiles || depth > kDeepest) return;
    const std::string& wanted = steps_[step];
    bool is_last = step + 1 == steps_.size();
    if (wanted == "**" && !is_last) walk(folder, step + 1, depth);
    std::error_code error;
    if (!has_wildcard(wanted)) {
      fs::path next = folder / wanted;
      if (is_last && fs::is_regular_file(next, error)) files_.push_back(next.string());
      if (!is_last && fs::is_directory(next, error)) walk(next, step + 1, depth + 1);
      return;
    }
    for (fs::directory_iterator it(folder.empty() ? fs::path(".") : folder, error); !error && it != fs::end(it);
         it.increment(error)) {
      std::string name = it->path().filename().string();
      fs::path next = folder / name;
      bool is_folder = it->is_directory(error) && !it->is_symlink(error);
      if (wanted == "**") {
        if (is_folder && !name.starts_with('.')) walk(next, step, depth + 1);
        if (is_last && it->is_regular_file(error)) files_.push_back(next.string());
        continue;
      }
      if (::fnmatch(wanted.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
      if (is_last && it->is_regular_file(error)) files_.push_back(next.string());
      if (!is_last && is_folder) walk(next, step + 1, depth + 1);
    }
  }

  std::vector<std::string> take() {
    std::ranges::sort(files_);
    files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
    return std::move(files_);
  }

 private:
  std::vector<std::string> steps_;
  std::vector<std::string> files_;
};

}  // namespace

Result<std::vector<std::string>> files_matching(std::string_view pattern) {
  fs::path root;
  std::vector<std::string> steps;
  for (const fs::path& part : fs::path(pattern)) {
    if (part == "/") root = part;
    else if (!part.empty() && part != ".") steps.push_back(part.string());
  }
  std::vector<std::string> files;
  if (!steps.empty()) {
    Globbing globbing(std::move(steps));
    globbing.walk(root, 0, 0);
    files = globbing.take();
  }
  if (files.size() > kMostFiles)
    return fail(ErrorKind::limit, "pattern \"{}\" matches more than {} files", pattern, kMostFiles);
  if (files.empty())
    return fail(Error(ErrorKind::not_found, fmt::format("pattern \"{}\" matches no file", pattern))
                    .next("start it with ${path.module}; ** matches any number of folders"));
  return files;
}

}  // namespace fairlead::terraform
