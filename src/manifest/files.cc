#include "manifest/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace fairlead::manifest {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFolderDepth = 64;

bool is_manifest(const fs::path& path) {
  fs::path extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

ErrorKind kind_of(std::error_code why) {
  if (why == std::errc::no_such_file_or_directory) return ErrorKind::not_found;
  if (why == std::errc::permission_denied) return ErrorKind::denied;
  return ErrorKind::unavailable;
}

Error cannot_read(std::string_view path, std::error_code why) {
  return Error(kind_of(why), fmt::format("cannot read {}", path)).because(why.message());
}

std::error_code last_error() { return {errno, std::generic_category()}; }

// Fills `found`; true in `has_folders` if there were subfolders.
Result<void> list(const fs::path& folder, bool recursive, size_t depth, size_t max_files,
                  std::vector<std::string>& found, bool& has_folders) {
  if (depth > kMaxFolderDepth)
    return fail(ErrorKind::limit, "{} is nested more than {} folders deep", folder.string(), kMaxFolderDepth);
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    entries.push_back(*it);
    if (entries.size() > max_files)
      return fail(ErrorKind::limit, "{} has more than {} files", folder.string(), max_files);
  }
  if (error) return fail(cannot_read(folder.string(), error));
  std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().filename().native(); });

  for (const fs::directory_entry& entry : entries) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) {
      has_folders = true;
      if (recursive) TRY(list(entry.path(), recursive, depth + 1, max_files, found, has_folders));
    } else if (is_manifest(entry.path()) && !entry.is_directory(error)) {
      // A pipe would be waited for forever.
      if (entry.exists(error) && !entry.is_regular_file(error))
        return fail(ErrorKind::invalid, "{} is not a file", entry.path().string());
      if (found.size() == max_files) return fail(ErrorKind::limit, "more than {} files", max_files);
      found.push_back(entry.path());
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> expand(const std::string& path, bool recursive, size_t max_files) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    return fail(ErrorKind::not_found, "the path \"{}\" does not exist", path);
  if (error) return fail(cannot_read(path, error));
  if (!fs::is_directory(status)) return std::vector{path};

  std::vector<std::string> found;
  bool has_folders = false;
  TRY(list(path, recursive, 0, max_files, found, has_folders));
  if (found.empty()) {
    Error empty(ErrorKind::not_found, fmt::format("the folder \"{}\" has no manifests (*.yaml, *.yml, *.json)", path));
    if (has_folders && !recursive) return fail(std::move(empty).next("look into its subfolders too: --recursive"));
    return fail(std::move(empty));
  }
  return found;
}

Result<std::string> read_file(const std::string& path, size_t max_bytes) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(cannot_read(path, last_error()));
  Result<std::string> content = read_descriptor(descriptor, path, max_bytes);
  ::close(descriptor);
  return content;
}

Result<std::string> read_descriptor(int descriptor, const std::string& name, size_t max_bytes) {
  constexpr size_t kPiece = size_t{64} << 10;
  struct stat about{};
  bool is_file = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
  std::string content;
  size_t size = 0;
  // One byte more than there should be shows the end without another turn.
  size_t room = is_file ? std::min(size_t(about.st_size), max_bytes) + 1 : kPiece;
  while (true) {
    if (content.size() < size + room) content.resize(size + room);
    ssize_t got = ::read(descriptor, content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(cannot_read(name, last_error()));
    if (got == 0) break;
    size += size_t(got);
    if (size > max_bytes)
      return fail(ErrorKind::limit, "{} is larger than the {} bytes that are left", name, max_bytes);
    // Grow in proportion, so that a long pipe is not copied for every piece.
    room = size < content.size() ? content.size() - size : std::max(kPiece, size / 2);
  }
  content.resize(size);
  return content;
}

}  // namespace fairlead::manifest
