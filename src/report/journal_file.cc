#include "report/journal_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace fairlead::report {
namespace {

Error cannot_be_written(const std::string& path, int number) {
  return Error(ErrorKind::invalid, fmt::format("the journal {} cannot be written", path))
      .because(std::strerror(number));
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::open(std::string path) {
  // The file describes the contents of a cluster, so only its owner may read it.
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
  if (!file) return fail(cannot_be_written(path, errno));
  return std::unique_ptr<JournalFile>(new JournalFile(std::move(path), file));
}

JournalFile::~JournalFile() {
  if (file_) std::fclose(file_);
}

void JournalFile::read(const journal::Event& event) {
  std::string line = to_json(event).dump() + "\n";
  bool is_written = std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
  if (!is_written && !failure_) failure_ = cannot_be_written(path_, errno);
}

Result<void> JournalFile::close() {
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && !failure_) failure_ = cannot_be_written(path_, errno);
  if (failure_) return fail(*failure_);
  return {};
}

}  // namespace fairlead::report
