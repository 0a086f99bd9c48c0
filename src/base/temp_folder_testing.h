// A folder for the files of one test. Tests run side by side as processes of their own, so no two may share a name.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace fairlead {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "fairlead-test-XXXXXX";
    if (!::mkdtemp(pattern.data())) std::abort();
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string path_of(std::string_view name) const { return path_ / name; }

  // Writes a file, with the folders in its name, and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

  // `text` with `instead` where it names this folder.
  std::string hide_in(std::string text, std::string_view instead) const {
    std::string own = path_.string();
    for (size_t at = text.find(own); at != std::string::npos; at = text.find(own, at + instead.size()))
      text.replace(at, own.size(), instead);
    return text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace fairlead
