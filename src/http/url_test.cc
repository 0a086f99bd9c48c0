#include "http/url.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

TEST(Url, TakesApart) {
  Url url = parse_url("HTTPS://Example.com:6443/k8s/clusters/c-1/").value();
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.host, "example.com");
  EXPECT_EQ(url.port, 6443);
  EXPECT_EQ(url.path, "/k8s/clusters/c-1");
  EXPECT_EQ(url.address(), "example.com:6443");
  EXPECT_EQ(url.authority(), "example.com:6443");
}

TEST(Url, KnowsThePortsOfItsSchemes) {
  EXPECT_EQ(parse_url("http://a").value().port, 80);
  EXPECT_EQ(parse_url("https://a/").value().address(), "a:443");
  EXPECT_EQ(parse_url("https://a:443").value().authority(), "a");
  EXPECT_EQ(parse_url("socks5://a").value().port, 1080);
}

TEST(Url, TakesIpv6Addresses) {
  Url url = parse_url("https://[FD00::1]:6443").value();
  EXPECT_EQ(url.host, "fd00::1");
  EXPECT_EQ(url.address(), "[fd00::1]:6443");
  EXPECT_EQ(parse_url("http://[::1]/").value().authority(), "[::1]");
}

TEST(Url, KeepsUserAndPasswordOutOfItsText) {
  Url url = parse_url("http://me:p%40ss:w@proxy:3128").value();
  EXPECT_EQ(url.user, "me");
  EXPECT_EQ(url.password, "p@ss:w");
  EXPECT_EQ(url.text(), "http://proxy:3128");
}

TEST(Url, RefusesWhatIsNone) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the URL does not begin with http:// or https://"},
      {"example.com:6443", "the URL does not begin with http:// or https://"},
      {"ftp://a", "the URL has a scheme other than http, https and socks5"},
      {"https://", "the URL has no host"},
      {"https://:80", "the URL has no host"},
      {"https://a b", "the URL has a host with characters that no host name has"},
      {"https://a:b", "the URL has a port that is not a number from 1 to 65535"},
      {"https://a:0", "the URL has a port that is not a number from 1 to 65535"},
      {"https://a:65536", "the URL has a port that is not a number from 1 to 65535"},
      {"https://[::1", "the URL has an address with [ but no ]"},
      {"https://[example]", "the URL has no IPv6 address between [ and ]"},
      {"https://[::1]x", "the URL has something other than a port after its host"},
      {"https://a?b=c", "the URL has a query or a fragment"},
      {"https://a/b c", "the URL has a path with a space, a control or another character to be encoded"},
      {"http://u%zz@a", "the URL has a % in its user or password that is not followed by two hexadecimal digits"},
  };
  for (const auto& [text, message] : cases) {
    Result<Url> url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().message(), message) << text;
  }
}

}  // namespace
}  // namespace fairlead::http
