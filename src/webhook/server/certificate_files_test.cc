#include "webhook/server/certificate_files.h"

#include "async/scope.h"
#include "webhook/server/server_testing.h"

namespace fairlead::webhook {
namespace {

struct CertificateFilesTest : testing::Test {
  // As kubelet does it: a new folder, and a link that is renamed over the old one.
  void mount(const x509::KeyPair& leaf, const std::string& name) {
    folder.write(name + "/tls.crt", leaf.certificate.to_pem());
    folder.write(name + "/tls.key", leaf.key.to_pem());
    folder.write(name + "/ca.crt", ca.certificate.to_pem());
    point_to(name);
  }
  void point_to(const std::string& name) {
    std::filesystem::remove(folder.path_of("..tmp"));
    std::filesystem::create_directory_symlink(name, folder.path_of("..tmp"));
    std::filesystem::rename(folder.path_of("..tmp"), folder.path_of("..data"));
  }
  std::string served() const { return files->current() ? files->current()->chain.front().sha256_fingerprint() : ""; }
  std::string trouble() const { return folder.hide_in(files->trouble(), "DIR"); }

  // Follows the files until the condition holds.
  void until(const std::function<bool()>& condition) {
    loop.run([&]() -> Task<void> {
      Scope scope(loop, nullptr);
      scope.spawn(files->follow());
      while (!condition()) (void)co_await files->changed().wait();
      scope.cancel();
      co_await scope.join();
    }());
  }

  TempFolder folder;
  RealLoop loop;
  x509::KeyPair ca = test_ca();
  x509::KeyPair first = test_leaf(ca);
  x509::KeyPair second = test_leaf(ca);
  std::unique_ptr<CertificateFiles> files;
};

TEST_F(CertificateFilesTest, APairIsThereAtOnce) {
  mount(first, "..1");
  files = std::make_unique<CertificateFiles>(loop, folder.path());
  EXPECT_EQ(served(), first.certificate.sha256_fingerprint());
  EXPECT_EQ(files->current()->ca.size(), 1U);
  EXPECT_EQ(trouble(), "");
}

TEST_F(CertificateFilesTest, FilesThatComeLaterAreNoticed) {
  files = std::make_unique<CertificateFiles>(loop, folder.path(), 1h);
  EXPECT_EQ(served(), "");
  EXPECT_EQ(trouble(), "cannot read DIR/tls.crt: No such file or directory");
  mount(first, "..1");
  until([&] { return served() == first.certificate.sha256_fingerprint(); });
  EXPECT_EQ(trouble(), "");
}

TEST_F(CertificateFilesTest, EverySwapOfTheLinkIsNoticed) {
  mount(first, "..1");
  files = std::make_unique<CertificateFiles>(loop, folder.path(), 1h);
  for (int i = 0; i < 3; ++i) {
    mount(second, "..2");
    until([&] { return served() == second.certificate.sha256_fingerprint(); });
    mount(first, "..1");
    until([&] { return served() == first.certificate.sha256_fingerprint(); });
  }
}

// A watch can die, or see nothing on some file systems.
TEST_F(CertificateFilesTest, WithoutAWatchTheFolderIsReadAgain) {
  std::string later = folder.path_of("later");
  files = std::make_unique<CertificateFiles>(loop, later, 1ms);
  std::filesystem::create_directory(later);
  folder.write("later/tls.crt", first.certificate.to_pem());
  folder.write("later/tls.key", first.key.to_pem());
  until([&] { return served() == first.certificate.sha256_fingerprint(); });
}

TEST_F(CertificateFilesTest, APairThatIsNotWholeLeavesTheLastOne) {
  mount(first, "..1");
  files = std::make_unique<CertificateFiles>(loop, folder.path());
  folder.write("..2/tls.crt", second.certificate.to_pem());
  folder.write("..2/tls.key", first.key.to_pem());
  point_to("..2");
  files->refresh();
  EXPECT_EQ(served(), first.certificate.sha256_fingerprint());
  EXPECT_EQ(trouble(), "tls.key of DIR does not belong to tls.crt");
  files->refresh();
  EXPECT_EQ(trouble(), "tls.key of DIR does not belong to tls.crt");
  std::filesystem::remove(folder.path_of("..data"));
  files->refresh();
  EXPECT_EQ(served(), first.certificate.sha256_fingerprint());
  EXPECT_EQ(trouble(), "cannot read DIR/tls.crt: No such file or directory");
  mount(second, "..3");
  files->refresh();
  EXPECT_EQ(served(), second.certificate.sha256_fingerprint());
  EXPECT_EQ(trouble(), "");
}

TEST_F(CertificateFilesTest, FilesThatComeBackAsTheyWereAreNoTrouble) {
  mount(first, "..1");
  files = std::make_unique<CertificateFiles>(loop, folder.path());
  std::filesystem::remove(folder.path_of("..data"));
  files->refresh();
  EXPECT_EQ(trouble(), "cannot read DIR/tls.crt: No such file or directory");
  point_to("..1");
  files->refresh();
  EXPECT_EQ(trouble(), "");
  EXPECT_EQ(served(), first.certificate.sha256_fingerprint());
}

TEST_F(CertificateFilesTest, AFileWithoutAnEndIsALimit) {
  folder.write("tls.crt", std::string((1 << 20) + 1, 'x'));
  files = std::make_unique<CertificateFiles>(loop, folder.path());
  EXPECT_EQ(trouble(), "DIR/tls.crt has more than 1048576 bytes");
}

}  // namespace
}  // namespace fairlead::webhook
