// Reads the pair that a server serves from a Secret, by watch: kubelet brings changed files a minute late.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "certs/source.h"
#include "kube/watched.h"

namespace fairlead::certs {

class SecretSource final : public CertificateSource {
 public:
  // `files` is used for as long as the Secret has no pair, or may not be read; it may be null. All must outlive it.
  SecretSource(kube::Client& client, std::string ns, std::string name, CertificateSource* files = nullptr);

  // Watches until it is cancelled, and reads the Secret every 30 s beside that. Goes on after a failure that may pass,
  // and tries again after one that does not.
  Task<void> run();

  std::shared_ptr<const ServingPair> current() const override;
  std::string trouble() const override;
  Signal& changed() override { return changed_; }
  // Whether the Secret exists, as far as it is known.
  bool exists() const { return exists_; }

 private:
  void take(const Json& secret, bool gone);
  Task<void> watch();
  // A watch may fall silent without a word: the Secret is also read now and then.
  Task<void> read_again_and_again();
  Task<void> relay_files();

  kube::Client& client_;
  std::string ns_;
  std::string name_;
  CertificateSource* files_;
  Signal changed_;
  bool exists_ = false;
  // How often the watch has told something.
  uint64_t told_ = 0;
  std::shared_ptr<const ServingPair> pair_;
  std::string trouble_;
};

}  // namespace fairlead::certs
