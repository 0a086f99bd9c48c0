#include "http/net/proxy.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

std::string chosen(std::string no_proxy, std::string_view server) {
  ProxySettings settings{
      .http_proxy = "http://plain:3128", .https_proxy = "secure:3129", .no_proxy = std::move(no_proxy)};
  auto proxy = choose_proxy(settings, parse_url(server).value()).value();
  return proxy ? proxy->text() : "direct";
}

TEST(Proxy, IsTheOneOfTheScheme) {
  EXPECT_EQ(chosen("", "https://example.com"), "http://secure:3129");
  EXPECT_EQ(chosen("", "http://example.com"), "http://plain:3128");
  EXPECT_EQ(choose_proxy({}, parse_url("https://example.com").value()).value(), std::nullopt);
}

TEST(Proxy, NoProxyMeansWhatItMeansToGo) {
  struct Case {
    const char* no_proxy;
    const char* server;
    bool direct;
  };
  // The cases of golang.org/x/net/http/httpproxy, and some more.
  const Case cases[] = {
      {"", "https://localhost:6443", true},
      {"", "https://127.0.0.1:6443", true},
      {"", "https://127.7.0.1", true},
      {"", "https://[::1]:6443", true},
      {"", "https://[::2]", false},
      {"", "https://localhost.example.com", false},
      {"*", "https://example.com", true},
      {"*", "https://10.0.0.1", true},
      {"other, *", "https://example.com", true},
      {"example.com", "https://example.com", true},
      {"example.com", "https://www.example.com", true},
      {"example.com", "https://notexample.com", false},
      {"example.com", "https://example.com.evil", false},
      {".example.com", "https://www.example.com", true},
      {".example.com", "https://example.com", false},
      {"*.example.com", "https://a.b.example.com", true},
      {"*.example.com", "https://example.com", false},
      {"Example.COM", "https://EXAMPLE.com", true},
      {" example.com , other", "https://example.com", true},
      {"example.com:6443", "https://example.com:6443", true},
      {"example.com:6443", "https://example.com", false},
      {"example.com:443", "https://example.com", true},
      {".example.com:80", "https://www.example.com", false},
      {"192.168.1.1", "https://192.168.1.1", true},
      {"192.168.1.1", "https://192.168.1.2", false},
      {"192.168.1.1:6443", "https://192.168.1.1:6443", true},
      {"192.168.1.1:6443", "https://192.168.1.1", false},
      {"10.0.0.0/8", "https://10.255.1.2", true},
      {"10.0.0.0/8", "https://11.0.0.1", false},
      {"10.96.0.0/12", "https://10.111.0.1", true},
      {"10.96.0.0/12", "https://10.112.0.1", false},
      {"10.0.0.0/8", "https://10.example.com", false},
      {"10.0.0.0/33", "https://10.0.0.1", false},
      {"0.0.0.0/0", "https://8.8.8.8", true},
      {"0.0.0.0/0", "https://[2001:db8::1]", false},
      {"fd00::/8", "https://[fd12::1]", true},
      {"fd00::/8", "https://[fe80::1]", false},
      {"fd00::1", "https://[fd00::1]", true},
      {"[fd00::1]:6443", "https://[fd00::1]:6443", true},
      {"[fd00::1]:6443", "https://[fd00::1]", false},
      {"fd00::0001", "https://[fd00::1]", true},
      {":6443", "https://example.com:6443", false},
      {",,", "https://example.com", false},
      {"com", "https://example.com", true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(chosen(c.no_proxy, c.server), c.direct ? "direct" : "http://secure:3129")
        << c.no_proxy << " " << c.server;
}

TEST(Proxy, ABadOneIsAnErrorThatDoesNotShowIt) {
  auto proxy = choose_proxy({.https_proxy = "http://me:secret@:1"}, parse_url("https://example.com").value());
  ASSERT_FALSE(proxy);
  EXPECT_EQ(proxy.error().message(), "the environment variable HTTPS_PROXY is no proxy: the URL has no host");
}

}  // namespace
}  // namespace fairlead::http
