#include "webhook/server/certificate_files.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "async/readable.h"
#include "async/scope.h"

namespace fairlead::webhook {
namespace {

constexpr size_t kMaxFile = size_t{1} << 20;

// An empty text for a file that is not there, if it need not be.
Result<std::string> read_file(const std::string& path, bool is_optional) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT && is_optional) return std::string();
  if (file < 0) return fail(ErrorKind::not_found, "cannot read {}: {}", path, std::strerror(errno));
  std::string text(kMaxFile + 1, '\0');
  size_t have = 0;
  ssize_t got = 0;
  while (have < text.size() && (got = ::read(file, text.data() + have, text.size() - have)) > 0) have += size_t(got);
  int error = errno;
  ::close(file);
  if (got < 0) return fail(ErrorKind::unavailable, "cannot read {}: {}", path, std::strerror(error));
  if (have > kMaxFile) return fail(ErrorKind::limit, "{} has more than {} bytes", path, kMaxFile);
  text.resize(have);
  return text;
}

// Where the files are now: the folder itself, or what its link `..data` points to.
std::string target_of(const std::string& folder) {
  std::error_code error;
  std::filesystem::path link = std::filesystem::read_symlink(folder + "/..data", error);
  if (error) return folder;
  return link.is_absolute() ? link.string() : folder + "/" + link.string();
}

}  // namespace

// inotify on a folder. Without it (no folder yet, no watches left) only the clock is left.
class CertificateFiles::Watch {
 public:
  Watch() : descriptor_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}
  ~Watch() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  int descriptor() const { return descriptor_; }
  // Adding it again changes nothing, unless the folder is another one by now.
  bool add(const std::string& folder) const {
    constexpr uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR;
    return descriptor_ >= 0 && ::inotify_add_watch(descriptor_, folder.c_str(), kEvents) >= 0;
  }
  void drain() const {
    char events[4096];
    while (::read(descriptor_, events, sizeof events) > 0) {
    }
  }

 private:
  int descriptor_;
};

struct CertificateFiles::Texts {
  std::string certificate;
  std::string key;
  std::string ca;
  bool operator==(const Texts&) const = default;
};

CertificateFiles::CertificateFiles(RealLoop& loop, std::string folder, Duration reread)
    : loop_(loop), folder_(std::move(folder)), reread_(reread), changed_(loop), watch_(std::make_unique<Watch>()) {
  // Before the first look, so that nothing is missed in between.
  watch_->add(folder_);
  refresh();
}

CertificateFiles::~CertificateFiles() = default;

Result<CertificateFiles::Texts> CertificateFiles::read() const {
  std::string target = target_of(folder_);
  Texts texts;
  TRY_ASSIGN(texts.certificate, read_file(target + "/tls.crt", false));
  TRY_ASSIGN(texts.key, read_file(target + "/tls.key", false));
  TRY_ASSIGN(texts.ca, read_file(target + "/ca.crt", true));
  return texts;
}

void CertificateFiles::refresh() {
  Result<Texts> texts = read();
  // The old target is deleted right after the link has changed.
  if (!texts) texts = read();
  std::string trouble;
  if (texts && last_ && *texts == *last_) {
    // Nothing new. What was wrong with it still is.
    trouble = trouble_;
  } else if (texts) {
    Result<certs::ServingPair> pair = certs::read_pair(texts->certificate, texts->key, texts->ca, folder_);
    last_ = std::make_unique<Texts>(*std::move(texts));
    if (pair) {
      current_ = std::make_shared<const certs::ServingPair>(*std::move(pair));
      changed_.notify_all();
    } else {
      trouble = pair.error().message();
    }
  } else {
    trouble = texts.error().message();
    last_.reset();
  }
  if (trouble == trouble_) return;
  trouble_ = std::move(trouble);
  changed_.notify_all();
}

Task<Result<void>> CertificateFiles::something_happened() {
  if (!watch_->add(folder_)) co_return co_await sleep_for(loop_, reread_);
  CO_TRY(co_await await_readable(loop_, watch_->descriptor()));
  watch_->drain();
  co_return Result<void>();
}

Task<void> CertificateFiles::follow() {
  while (true) {
    Result<void> waited = co_await with_deadline(loop_, loop_.now() + reread_, "nothing", something_happened());
    if (!waited && waited.error().kind() == ErrorKind::cancelled) co_return;
    refresh();
  }
}

}  // namespace fairlead::webhook
