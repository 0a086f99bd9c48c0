// The certificate in a folder: tls.crt, tls.key and, if there is one, ca.crt, as a mounted Secret has them.
#pragma once

#include <memory>
#include <string>

#include "async/real_loop.h"
#include "async/task.h"
#include "certs/source.h"

namespace fairlead::webhook {

// Watches the folder, not the files: kubelet replaces what the link `..data` points to, and never touches the files
// themselves. All files of a pair are read from one target of that link.
class CertificateFiles final : public certs::CertificateSource {
 public:
  // Reads the folder at once. The loop must outlive it.
  CertificateFiles(RealLoop& loop, std::string folder, Duration reread = std::chrono::seconds(10));
  ~CertificateFiles() override;

  std::shared_ptr<const certs::ServingPair> current() const override { return current_; }
  std::string trouble() const override { return trouble_; }
  Signal& changed() override { return changed_; }

  // Follows the folder until it is cancelled. It is read again whenever something happens in it, and every 10 s in any
  // case: a watch may die, or miss something on a network file system.
  Task<void> follow();
  // Reads the folder now.
  void refresh();

 private:
  class Watch;
  struct Texts;
  Result<Texts> read() const;
  Task<Result<void>> something_happened();

  RealLoop& loop_;
  std::string folder_;
  Duration reread_;
  Signal changed_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Texts> last_;
  std::shared_ptr<const certs::ServingPair> current_;
  std::string trouble_;
};

}  // namespace fairlead::webhook
