// Troubles of caBundles and certificates.
#include "doctor/doctor_testing.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kWebhook = "webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets)";
constexpr std::string_view kNextSecret =
    "next kubectl -n operator get secret hook-cert -o jsonpath='{.data.tls\\.crt}' | base64 -d | openssl x509 -noout "
    "-text";
constexpr auto kDay = std::chrono::hours(24);

class CertificatesTest : public DoctorTest {
 protected:
  void trust(const x509::Certificate& certificate) {
    first_webhook().make("clientConfig").make("caBundle") = to_base64(certificate.to_pem());
  }
  void annotate(std::string_view certificate) {
    object("ValidatingWebhookConfiguration", "widgets")
        .make("metadata")
        .make("annotations")
        .make("cert-manager.io/inject-ca-from") = certificate;
  }
};

TEST_F(CertificatesTest, CaBundleEmpty) {
  first_webhook().make("clientConfig").make("caBundle") = "Cg==";
  EXPECT_EQ(only(),
            fmt::format("error ca-bundle-empty: {} cannot be trusted: its caBundle has no certificate\n"
                        "because the API server then asks its own roots, which do not know the certificate of a "
                        "Service\n"
                        "next kubectl get validatingwebhookconfiguration widgets -o yaml",
                        kWebhook));
}

TEST_F(CertificatesTest, CaBundleInvalid) {
  first_webhook().make("clientConfig").make("caBundle") =
      to_base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  EXPECT_THAT(found(), ElementsAre("error ca-bundle-invalid"));
}

TEST_F(CertificatesTest, CaBundleExpired) {
  x509::KeyPair old = authority(test_now() - 20 * kDay, 10 * kDay);
  trust(old.certificate);
  remove("Secret", "hook-cert");
  EXPECT_EQ(only(), fmt::format("error ca-bundle-expired: {} cannot be trusted: every certificate in its caBundle has "
                                "expired, the last on 2030-02-19\n"
                                "next kubectl get validatingwebhookconfiguration widgets -o yaml",
                                kWebhook));
}

TEST_F(CertificatesTest, CaBundleExpiring) {
  x509::KeyPair old = authority(test_now(), 10 * kDay);
  trust(old.certificate);
  remove("Secret", "hook-cert");
  EXPECT_EQ(only(), fmt::format("warning ca-bundle-expiring: the caBundle of {} expires on 2030-03-11\n"
                                "next kubectl get validatingwebhookconfiguration widgets -o yaml",
                                kWebhook));
}

TEST_F(CertificatesTest, CaBundleDiffers) {
  x509::KeyPair other = authority();
  Json second = object("ValidatingWebhookConfiguration", "widgets");
  second.make("metadata").make("name") = "others";
  second.make("webhooks").if_array()->front().make("clientConfig").make("caBundle") =
      to_base64(other.certificate.to_pem());
  objects_.push_back(std::move(second));
  EXPECT_THAT(found(), ElementsAre("error certificate-untrusted", "warning ca-bundle-differs"));
  // A bundle of both is how a rotation looks.
  Json& both = object("ValidatingWebhookConfiguration", "others").make("webhooks").if_array()->front();
  both.make("clientConfig").make("caBundle") = to_base64(other.certificate.to_pem() + ca_.certificate.to_pem());
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(CertificatesTest, CaInjectionMissing) {
  first_webhook().make("clientConfig").make("caBundle") = "";
  annotate("operator/hook");
  EXPECT_EQ(only(),
            fmt::format("error ca-injection-missing: {} cannot be trusted: its caBundle has no certificate\n"
                        "because Certificate operator/hook, which the annotation cert-manager.io/inject-ca-from "
                        "names, does not exist\n"
                        "next kubectl get deployments -A | grep cainjector",
                        kWebhook));
  add("{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: hook, namespace: operator}}");
  EXPECT_THAT(only(),
              HasSubstr("because no Deployment of cert-manager's cainjector is ready, which should inject it\n"));
}

TEST_F(CertificatesTest, CertificateExpired) {
  x509::KeyPair ca = authority(test_now() - 30 * kDay);
  trust(ca.certificate);
  serve_with(leaf(ca, "hook.operator.svc", test_now() - 20 * kDay, 10 * kDay));
  EXPECT_EQ(only(), fmt::format("error certificate-expired: {} cannot be trusted\n"
                                "because its certificate is in Secret operator/hook-cert\n"
                                "because it expired on 2030-02-19\n{}",
                                kWebhook, kNextSecret));
}

TEST_F(CertificatesTest, CertificateNotYetValid) {
  serve_with(leaf(ca_, "hook.operator.svc", test_now() + 20 * kDay));
  EXPECT_EQ(only(), fmt::format("error certificate-not-yet-valid: {} cannot be trusted\n"
                                "because its certificate is in Secret operator/hook-cert\n"
                                "because it is valid only from 2030-03-20T23:55:00Z on\n{}",
                                kWebhook, kNextSecret));
}

TEST_F(CertificatesTest, CertificateExpiring) {
  serve_with(leaf(ca_, "hook.operator.svc", test_now(), 10 * kDay));
  EXPECT_EQ(only(), fmt::format("warning certificate-expiring: the certificate of {} expires soon\n"
                                "because its certificate is in Secret operator/hook-cert\n"
                                "because it expires on 2030-03-11\n{}",
                                kWebhook, kNextSecret));
}

TEST_F(CertificatesTest, CertificateWrongName) {
  serve_with(leaf(ca_, "hook.old.svc"));
  EXPECT_EQ(only(), fmt::format("error certificate-wrong-name: {} cannot be trusted\n"
                                "because its certificate is in Secret operator/hook-cert\n"
                                "because it is for hook.old.svc, not for hook.operator.svc\n{}",
                                kWebhook, kNextSecret));
}

// It is not known which of them it serves with.
TEST_F(CertificatesTest, OfSeveralCertificatesWithoutItsNameNoneIsItsOwn) {
  serve_with(leaf(ca_, "hook.old.svc"));
  Json second = object("Secret", "hook-cert");
  second.make("metadata").make("name") = "other-cert";
  objects_.push_back(std::move(second));
  set(object("Deployment", "hook"), {"spec", "template", "spec", "volumes"},
      R"([{"name": "cert", "secret": {"secretName": "hook-cert"}},
          {"name": "other", "secret": {"secretName": "other-cert"}}])");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(CertificatesTest, CertificateUntrusted) {
  serve_with(leaf(authority(), "hook.operator.svc"));
  EXPECT_EQ(only(), fmt::format("error certificate-untrusted: {} cannot be trusted\n"
                                "because its certificate is in Secret operator/hook-cert\n"
                                "because its caBundle does not verify it: one of the two is out of date\n{}",
                                kWebhook, kNextSecret));
}

TEST_F(CertificatesTest, CertificateKeyMismatch) {
  x509::KeyPair other = leaf(ca_, "hook.operator.svc");
  serve_with(leaf(ca_, "hook.operator.svc").certificate, other.key);
  std::string text = only();
  EXPECT_EQ(text, fmt::format("error certificate-key-mismatch: {} cannot be trusted\n"
                              "because its certificate is in Secret operator/hook-cert\n"
                              "because the key in the Secret does not belong to its certificate\n{}",
                              kWebhook, kNextSecret));
  EXPECT_THAT(text, Not(HasSubstr("PRIVATE")));
}

TEST_F(CertificatesTest, AWebhookThatFailsOpenIsOnlyWarnedAbout) {
  set(first_webhook(), {"failurePolicy"}, R"("Ignore")");
  serve_with(leaf(authority(), "hook.operator.svc"));
  EXPECT_THAT(found(), ElementsAre("warning certificate-untrusted"));
}

TEST_F(CertificatesTest, ASecretThatIsNotACertificateIsPassedOver) {
  set(object("Secret", "hook-cert"), {"data"}, R"({"tls.crt": "bm9uZQ==", "tls.key": "bm9uZQ=="})");
  EXPECT_THAT(found(), IsEmpty());
  set(object("Secret", "hook-cert"), {"data"}, R"({"password": "bm9uZQ=="})");
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::doctor
