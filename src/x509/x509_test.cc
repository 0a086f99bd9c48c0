#include "x509/x509.h"

#include <gmock/gmock.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "x509/internal/openssl.h"

namespace fairlead::x509 {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using testing::ElementsAre;

const WallTime kNow(sys_days(std::chrono::March / 4 / 2026) + 5h + 6min + 7s);
constexpr Duration kDay = 24h;

KeyPair ca(std::string_view name = "test CA", Duration validity = 3650 * kDay) {
  return make_ca(name, validity, kNow).value();
}

KeyPair leaf(const KeyPair& authority, LeafSpec spec = {.dns_names = {"a.example.com"}}) {
  return make_leaf(authority, spec, kNow).value();
}

std::string verdict(const KeyPair& who, const std::vector<Certificate>& roots, std::string_view host,
                    WallTime at = kNow, Usage usage = Usage::server) {
  Result<void> result = verify(std::vector{who.certificate}, roots, host, at, usage);
  if (result) return "trusted";
  EXPECT_EQ(result.error().kind(), ErrorKind::untrusted);
  return result.error().message();
}

TEST(Make, ALeafHasWhatWasAskedFor) {
  KeyPair authority = ca();
  KeyPair made = leaf(authority, {.common_name = "hook.shop.svc",
                                  .organizations = {"system:nodes", "Shop"},
                                  .dns_names = {"hook", "hook.shop", "hook.shop.svc", "hook.shop.svc.cluster.local"},
                                  .ip_addresses = {"10.0.0.1", "2001:db8:0::1"},
                                  .validity = 10 * kDay});
  const Certificate& certificate = made.certificate;
  EXPECT_EQ(certificate.subject(), (Name{"hook.shop.svc", {"system:nodes", "Shop"}}));
  EXPECT_EQ(certificate.issuer(), (Name{"test CA", {}}));
  EXPECT_THAT(certificate.dns_names(),
              ElementsAre("hook", "hook.shop", "hook.shop.svc", "hook.shop.svc.cluster.local"));
  EXPECT_THAT(certificate.ip_addresses(), ElementsAre("10.0.0.1", "2001:db8::1"));
  EXPECT_EQ(certificate.not_before(), kNow - 5min);
  EXPECT_EQ(certificate.not_after(), kNow + 10 * kDay);
  EXPECT_FALSE(certificate.is_ca());
  EXPECT_EQ(certificate.serial().size(), 32u);
  EXPECT_EQ(certificate.sha256_fingerprint().size(), 64u);
  EXPECT_TRUE(key_matches(certificate, made.key));
  EXPECT_FALSE(key_matches(certificate, authority.key));
  EXPECT_TRUE(authority.certificate.is_ca());
  EXPECT_TRUE(key_matches(authority.certificate, authority.key));
}

TEST(Make, ALeafNeverOutlivesItsAuthority) {
  KeyPair authority = ca("test CA", 10 * kDay);
  EXPECT_EQ(leaf(authority, {.dns_names = {"a"}, .validity = 20 * kDay}).certificate.not_after(), kNow + 10 * kDay);
}

std::string key_identifier(const Certificate& certificate, bool of_issuer) {
  const ASN1_OCTET_STRING* id =
      of_issuer ? X509_get0_authority_key_id(certificate.handle()) : X509_get0_subject_key_id(certificate.handle());
  return id ? std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(id)), size_t(ASN1_STRING_length(id)))
            : "none";
}

TEST(Make, ARenewedAuthorityAndTheOldOneVerifyEachOthersLeaves) {
  KeyPair old = ca("test CA", 10 * kDay);
  KeyPair renewed = renew_ca(old, 20 * kDay, kNow).value();
  EXPECT_EQ(renewed.certificate.subject(), old.certificate.subject());
  EXPECT_EQ(renewed.key.to_pem(), old.key.to_pem());
  EXPECT_TRUE(same_key(renewed.certificate, old.certificate));
  EXPECT_FALSE(same_key(renewed.certificate, ca().certificate));
  EXPECT_NE(renewed.certificate.serial(), old.certificate.serial());
  EXPECT_EQ(renewed.certificate.not_after(), kNow + 20 * kDay);
  EXPECT_TRUE(renewed.certificate.is_ca());
  EXPECT_EQ(verdict(leaf(old), {renewed.certificate}, "a.example.com"), "trusted");
  EXPECT_EQ(verdict(leaf(renewed), {old.certificate}, "a.example.com"), "trusted");
}

TEST(Make, KeyIdentifiersTellAuthoritiesOfOneNameApart) {
  KeyPair one = ca(), other = ca();
  KeyPair made = leaf(other);
  EXPECT_EQ(key_identifier(made.certificate, true), key_identifier(other.certificate, false));
  EXPECT_NE(key_identifier(one.certificate, false), key_identifier(other.certificate, false));
  EXPECT_EQ(verdict(made, {one.certificate, other.certificate}, "a.example.com"), "trusted");
  EXPECT_EQ(verdict(leaf(one), {one.certificate, other.certificate}, "a.example.com"), "trusted");
}

TEST(Make, SaysWhatItCannotMake) {
  KeyPair authority = ca();
  auto error = [&](LeafSpec spec) { return make_leaf(authority, spec, kNow).error().message(); };
  EXPECT_EQ(error({.dns_names = {"a b"}}), "\"a b\" is not a DNS name");
  EXPECT_EQ(error({.dns_names = {"a..b"}}), "\"a..b\" is not a DNS name");
  EXPECT_EQ(error({.dns_names = {""}}), "\"\" is not a DNS name");
  EXPECT_EQ(error({.dns_names = {"a."}}), "\"a.\" is not a DNS name");
  EXPECT_EQ(error({.ip_addresses = {"10.0.0"}}), "\"10.0.0\" is not an IP address");
  std::string name(65, 'x');
  EXPECT_EQ(error({.common_name = name}), "common name \"" + name + "\" has 65 bytes; a certificate holds at most 64");
  EXPECT_EQ(make_ca("", kDay, kNow).error().message(), "a certificate authority needs a name");
  EXPECT_EQ(make_leaf({authority.certificate, Key::generate().value()}, {}, kNow).error().message(),
            "the key of certificate authority \"test CA\" does not belong to its certificate");
  EXPECT_EQ(renew_ca({authority.certificate, Key::generate().value()}, kDay, kNow).error().message(),
            "the key of certificate authority \"test CA\" does not belong to its certificate");
}

TEST(Certificate, IsTheSameAfterWritingAndReading) {
  KeyPair authority = ca();
  KeyPair made = leaf(authority);
  std::vector<Certificate> chain{made.certificate, authority.certificate};
  EXPECT_EQ(Certificate::parse_pem("some words\n" + to_pem(chain) + made.key.to_pem()).value(), chain);
  EXPECT_EQ(Certificate::parse_der(made.certificate.to_der()).value(), made.certificate);
  EXPECT_NE(made.certificate, authority.certificate);
}

TEST(Certificate, SaysWhatCannotBeRead) {
  std::string pem = ca().certificate.to_pem();
  EXPECT_EQ(Certificate::parse_pem("").error().message(), "there is no certificate in PEM form");
  EXPECT_EQ(Certificate::parse_pem("hello").error().message(), "there is no certificate in PEM form");
  EXPECT_EQ(
      Certificate::parse_pem(pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").error().message(),
      "certificate 2 in PEM form cannot be read: wrong tag");
  EXPECT_EQ(Certificate::parse_pem(pem.substr(0, pem.size() / 2)).error().message(),
            "certificate 1 in PEM form cannot be read: bad end line");
  EXPECT_EQ(Certificate::parse_der(ca().certificate.to_der() + "x").error().message(),
            "certificate is followed by other bytes");
  EXPECT_EQ(Certificate::parse_pem(std::string(9 << 20, 'x')).error().kind(), ErrorKind::limit);
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST(Certificate, ATimeBeyondWhatWallTimeCanSayIsClamped) {
  KeyPair authority = ca();
  X509* far = X509_dup(authority.certificate.handle());
  ASN1_TIME_set_string_X509(X509_getm_notAfter(far), "99991231235959Z");
  EXPECT_EQ(Adopt::certificate(far).not_after(), std::chrono::floor<std::chrono::seconds>(WallTime::max()));
}

std::string traditional_pem(EVP_PKEY* key, const char* passphrase = nullptr) {
  OwnedBio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey_traditional(bio.get(), key, passphrase ? EVP_aes_128_cbc() : nullptr, nullptr, 0, nullptr,
                                       const_cast<char*>(passphrase));
  return content_of(bio.get());
}

TEST(Key, ReadsEveryUsualForm) {
  Key ec = Key::generate().value();
  EXPECT_TRUE(ec.to_pem().starts_with("-----BEGIN PRIVATE KEY-----\n"));
  std::string sec1 = traditional_pem(ec.handle());
  EXPECT_TRUE(sec1.starts_with("-----BEGIN EC PRIVATE KEY-----\n"));
  Owned<EVP_PKEY, EVP_PKEY_free> rsa(EVP_RSA_gen(2048));
  std::string pkcs1 = traditional_pem(rsa.get());
  EXPECT_TRUE(pkcs1.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
  std::string parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

  EXPECT_EQ(Key::parse_pem(ec.to_pem()).value().to_pem(), ec.to_pem());
  EXPECT_EQ(Key::parse_pem(sec1).value().to_pem(), ec.to_pem());
  EXPECT_EQ(Key::parse_pem(parameters + sec1).value().to_pem(), ec.to_pem());
  EXPECT_EQ(Key::parse_pem(ca().certificate.to_pem() + sec1).value().to_pem(), ec.to_pem());
  Key read = Key::parse_pem(pkcs1).value();
  EXPECT_EQ(EVP_PKEY_eq(read.handle(), rsa.get()), 1);
  EXPECT_EQ(Key::parse_pem(read.to_pem()).value().to_pem(), read.to_pem());
}

TEST(Key, SaysWhatCannotBeRead) {
  EXPECT_EQ(Key::parse_pem("hello").error().message(), "there is no private key in PEM form");
  EXPECT_EQ(Key::parse_pem(ca().certificate.to_pem()).error().message(),
            "there is no private key in PEM form, only something else");
  EXPECT_EQ(Key::parse_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").error().message(),
            "private key cannot be read: unsupported");
  EXPECT_EQ(Key::parse_pem(traditional_pem(Key::generate().value().handle(), "secret")).error().report(),
            "error: private key is encrypted with a passphrase\n"
            "  next      openssl pkey -in encrypted.key -out plain.key\n");
  EXPECT_EQ(Key::parse_pem(std::string(65 << 10, 'x')).error().message(),
            "private key has 66560 bytes, more than the 65536 that are allowed");
}

TEST(Verify, TrustsWhatLeadsToARoot) {
  KeyPair authority = ca();
  std::vector<Certificate> roots{ca("other CA").certificate, authority.certificate};
  KeyPair made =
      leaf(authority, {.dns_names = {"a.example.com", "*.b.example.com"}, .ip_addresses = {"10.0.0.1", "::1"}});
  for (auto host :
       {"a.example.com", "A.Example.COM", "a.example.com.", "x.b.example.com", "10.0.0.1", "::1", "[::1]", ""})
    EXPECT_EQ(verdict(made, roots, host), "trusted") << host;
  for (auto host :
       {"b.example.com", "x.y.b.example.com", ".b.example.com", "10.0.0.2", "example.com", "a.example.com:443"})
    EXPECT_EQ(verdict(made, roots, host),
              fmt::format("certificate is valid for a.example.com, *.b.example.com, 10.0.0.1, ::1, not {}", host));
}

TEST(Verify, ThroughAnIntermediateAuthority) {
  KeyPair root = ca("root");
  // make_leaf makes no authorities: signed again as one here.
  KeyPair middle = ca("middle");
  Owned<X509, X509_free> certificate(X509_dup(middle.certificate.handle()));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(root.certificate.handle()));
  X509_sign(certificate.get(), root.key.handle(), EVP_sha256());
  middle.certificate = Adopt::certificate(certificate.release());
  KeyPair made = leaf(middle);
  std::vector<Certificate> roots{root.certificate}, chain{made.certificate, middle.certificate};
  EXPECT_TRUE(verify(chain, roots, "a.example.com", kNow));
  EXPECT_EQ(verdict(made, roots, "a.example.com"), "certificate is signed by unknown authority \"middle\"");
  // Any root ends a chain, as in Go.
  EXPECT_EQ(verdict(made, {middle.certificate}, "a.example.com"), "trusted");
  EXPECT_EQ(verdict(made, {made.certificate}, "a.example.com"), "trusted");
}

TEST(Verify, NamesTheTimeThatIsWrong) {
  KeyPair authority = ca();
  KeyPair made = leaf(authority, {.dns_names = {"a"}, .validity = 10 * kDay});
  std::vector<Certificate> roots{authority.certificate};
  EXPECT_EQ(verdict(made, roots, "a", kNow + 10 * kDay - 1ms), "trusted");
  EXPECT_EQ(verdict(made, roots, "a", kNow + 10 * kDay),
            "certificate has expired: it was valid until 2026-03-14T05:06:07Z");
  EXPECT_EQ(verdict(made, roots, "a", kNow - 5min), "trusted");
  EXPECT_EQ(verdict(made, roots, "a", kNow - 6min),
            "certificate is not yet valid: it will be from 2026-03-04T05:01:07Z");
}

TEST(Verify, NamesTheAuthorityThatHasExpired) {
  KeyPair authority = ca("old CA", kDay);
  KeyPair lasting = authority;
  Owned<X509, X509_free> longer(X509_dup(authority.certificate.handle()));
  ASN1_TIME_set_string_X509(X509_getm_notAfter(longer.get()), "20300101000000Z");
  X509_sign(longer.get(), authority.key.handle(), EVP_sha256());
  lasting.certificate = Adopt::certificate(longer.release());
  EXPECT_EQ(verdict(leaf(lasting), {authority.certificate}, "a.example.com", kNow + 2 * kDay),
            "certificate of authority \"old CA\" has expired: it was valid until 2026-03-05T05:06:07Z");
}

TEST(Verify, NamesTheUnknownAuthority) {
  KeyPair made = leaf(ca());
  EXPECT_EQ(verdict(made, {ca("other CA").certificate}, "a.example.com"),
            "certificate is signed by unknown authority \"test CA\"");
  EXPECT_EQ(verdict(made, {}, "a.example.com"),
            "certificate is signed by unknown authority \"test CA\": no authority is trusted at all");
  EXPECT_EQ(verdict(made, {ca().certificate}, "a.example.com"),
            "certificate is signed by unknown authority \"test CA\": an authority of that name is trusted, but it has "
            "another key");
  EXPECT_EQ(verdict(ca("self"), {ca("other CA").certificate}, ""),
            "certificate is signed by unknown authority \"self\"");
}

TEST(Verify, ACommonNameIsNoName) {
  KeyPair authority = ca();
  KeyPair made = leaf(authority, {.common_name = "a.example.com"});
  EXPECT_EQ(
      verdict(made, {authority.certificate}, "a.example.com"),
      "certificate has only the common name \"a.example.com\" and no alternative names (SANs), so it is not valid for "
      "a.example.com");
  EXPECT_EQ(verdict(leaf(authority, {}), {authority.certificate}, "a.example.com"),
            "certificate has no names, so it is not valid for a.example.com");
}

TEST(Verify, ADotAtTheEndOfANameInACertificateIsTooMuch) {
  // Its names are "hook.team.svc." and "*.shop.svc.".
  Certificate dotted = Certificate::parse_pem(R"(-----BEGIN CERTIFICATE-----
MIIBoDCCAUegAwIBAgIUMvd31uO/lMBWm15tXGmTOrET424wCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGZG90dGVkMCAXDTI2MTExODIwMjgyN1oYDzIxMjYxMDI1MjAy
ODI3WjARMQ8wDQYDVQQDDAZkb3R0ZWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAQUQVjTeBQIZBVX9SS73ZF1Z/oaBwKxngEN2koy4nZQbpqD4EGPAtD9fXiDHDRs
pj/HbqzBoR23CE+TmcbxHqUEo3sweTAdBgNVHQ4EFgQU7hnVCs4+9hl9S+P1JRhe
9C5mzaUwHwYDVR0jBBgwFoAU7hnVCs4+9hl9S+P1JRhe9C5mzaUwDwYDVR0TAQH/
BAUwAwEB/zAmBgNVHREEHzAdgg5ob29rLnRlYW0uc3ZjLoILKi5zaG9wLnN2Yy4w
CgYIKoZIzj0EAwIDRwAwRAIgGMenpkkOU0dLjf39Ycn8u+6RKZJFJxtt0UhpV1q7
p9ECIBCct8P60GkupiCzHKCKUqly8GNS+kYqcMZh4v6pwoES
-----END CERTIFICATE-----
)")
                           .value()
                           .front();
  EXPECT_EQ(dotted.dns_names(), (std::vector<std::string>{"hook.team.svc.", "*.shop.svc."}));
  EXPECT_FALSE(dotted.is_valid_for("hook.team.svc"));
  EXPECT_FALSE(dotted.is_valid_for("hook.shop.svc"));
  EXPECT_TRUE(leaf(ca(), {.dns_names = {"hook.team.svc"}}).certificate.is_valid_for("hook.team.svc."));
}

TEST(Verify, ShowsOnlyTheFirstOfManyNames) {
  KeyPair authority = ca();
  LeafSpec spec;
  for (int i = 0; i < 22; ++i) spec.dns_names.push_back("n" + std::to_string(i));
  EXPECT_EQ(
      verdict(leaf(authority, spec), {authority.certificate}, "a"),
      "certificate is valid for n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, "
      "n19 and 2 more, not a");
}

TEST(Verify, LooksAtTheUsage) {
  KeyPair authority = ca();
  std::vector<Certificate> roots{authority.certificate};
  KeyPair client = leaf(authority, {.common_name = "jane", .usages = {Usage::client}});
  EXPECT_EQ(verdict(client, roots, "", kNow, Usage::client), "trusted");
  EXPECT_EQ(verdict(client, roots, ""), "certificate is not for use by a server");
  EXPECT_EQ(verdict(leaf(authority), roots, "", kNow, Usage::client), "certificate is not for use by a client");
  KeyPair both = leaf(authority, {.dns_names = {"a"}, .usages = {Usage::server, Usage::client}});
  EXPECT_EQ(verdict(both, roots, "a"), "trusted");
  EXPECT_EQ(verdict(both, roots, "a", kNow, Usage::client), "trusted");
}

TEST(Verify, ALeafIsNoAuthority) {
  KeyPair authority = ca();
  KeyPair made = leaf(authority);
  KeyPair forged = leaf(made);
  EXPECT_EQ(
      verify(std::vector{forged.certificate, made.certificate}, std::vector{authority.certificate}, "a.example.com",
             kNow)
          .error()
          .message(),
      "certificate of authority without a name may not sign certificates: it is not one of a certificate authority");
  EXPECT_EQ(verify({}, std::vector{authority.certificate}, "a", kNow).error().message(),
            "no certificate was presented");
}

}  // namespace
}  // namespace fairlead::x509
