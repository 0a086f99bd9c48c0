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

// Reads what a descriptor has, piece by piece.
class Reader {
 public:
  Reader(int descriptor, std::string name, size_t max_bytes)
      : descriptor_(descriptor), name_(std::move(name)), max_bytes_(max_bytes) {
    struct stat about{};
    bool is_file = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    // One byte more than there should be shows the end without another turn.
    room_ = is_file ? std::min(size_t(about.st_size), max_bytes) + 1 : kPiece;
  }

  // One piece; false at the end.
  Result<bool> read() {
    if (content_.size() < size_ + room_) content_.resize(size_ + room_);
    ssize_t got = ::read(descriptor_, content_.data() + size_, content_.size() - size_);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (got < 0) return fail(cannot_read(name_, last_error()));
    size_ += size_t(got);
    if (size_ > max_bytes_)
      return fail(ErrorKind::limit, "{} is larger than the {} bytes that are left", name_, max_bytes_);
    // Grow in proportion, so that a long pipe is not copied for every piece.
    room_ = size_ < content_.size() ? content_.size() - size_ : std::max(kPiece, size_ / 2);
    return got > 0;
  }

  std::string content() && {
    content_.resize(size_);
    return std::move(content_);
  }

 private:
  static constexpr size_t kPiece = size_t{64} << 10;
  int descriptor_;
  std::string name_;
  size_t max_bytes_;
  std::string content_;
  size_t size_ = 0;
  size_t room_ = 0;
};

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
  Reader reader(descriptor, path, max_bytes);
  Result<bool> more = true;
  while (more && *more) more = reader.read();
  ::close(descriptor);
  if (!more) return fail(more.error());
  return std::move(reader).content();
}

Task<Result<std::string>> read_descriptor(int descriptor, std::string name, size_t max_bytes, AwaitInput await) {
  Reader reader(descriptor, std::move(name), max_bytes);
  while (true) {
    if (await) CO_TRY(co_await await(descriptor));
    CO_TRY_ASSIGN(bool more, reader.read());
    if (!more) co_return std::move(reader).content();
  }
}

}  // namespace fairlead::manifest
