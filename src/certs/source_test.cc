#include "certs/source.h"

#include <gtest/gtest.h>

namespace fairlead::certs {
namespace {

using namespace std::chrono_literals;

const WallTime kNow(std::chrono::sys_days(std::chrono::March / 4 / 2026));

TEST(ReadPair, TakesWhatBelongsTogether) {
  x509::KeyPair ca = x509::make_ca("test CA", 24h, kNow).value();
  x509::KeyPair leaf = x509::make_leaf(ca, {.dns_names = {"hook.shop.svc"}}, kNow).value();
  ServingPair pair =
      read_pair(leaf.certificate.to_pem(), leaf.key.to_pem(), ca.certificate.to_pem(), "Secret shop/hook").value();
  EXPECT_EQ(pair.chain, std::vector{leaf.certificate});
  EXPECT_EQ(pair.ca, std::vector{ca.certificate});
  EXPECT_EQ(pair.origin, "Secret shop/hook");
  EXPECT_TRUE(read_pair(leaf.certificate.to_pem(), leaf.key.to_pem(), "", "f").value().ca.empty());
}

TEST(ReadPair, SaysWhatDoesNot) {
  x509::KeyPair ca = x509::make_ca("test CA", 24h, kNow).value();
  x509::KeyPair leaf = x509::make_leaf(ca, {.dns_names = {"hook.shop.svc"}}, kNow).value();
  auto error = [](std::string_view certificate, std::string_view key, std::string_view authority) {
    return read_pair(certificate, key, authority, "Secret shop/hook").error().message();
  };
  EXPECT_EQ(error("", leaf.key.to_pem(), ""),
            "tls.crt of Secret shop/hook cannot be used: there is no certificate in PEM form");
  EXPECT_EQ(error(leaf.certificate.to_pem(), "x", ""),
            "tls.key of Secret shop/hook cannot be used: there is no private key in PEM form");
  EXPECT_EQ(error(leaf.certificate.to_pem(), ca.key.to_pem(), ""),
            "tls.key of Secret shop/hook does not belong to tls.crt");
  EXPECT_EQ(error(leaf.certificate.to_pem(), leaf.key.to_pem(), "x"),
            "ca.crt of Secret shop/hook cannot be used: there is no certificate in PEM form");
}

}  // namespace
}  // namespace fairlead::certs
