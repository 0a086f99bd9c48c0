#include "rpc/plugin.h"

#include <gtest/gtest.h>

#include "rpc/hclog.h"

namespace fairlead::rpc {
namespace {

TEST(Plugin, TheHandshakeNamesSocketAndCertificate) {
  EXPECT_EQ(handshake_line(6, "/tmp/x/socket", ""), "1|6|unix|/tmp/x/socket|grpc|");
  // One byte has two signs of padding in base64, which must not be there.
  EXPECT_EQ(handshake_line(6, "/tmp/x/socket", "a"), "1|6|unix|/tmp/x/socket|grpc|YQ");
}

TEST(Hclog, WritesALineOfJson) {
  WallTime now =
      WallTime(std::chrono::sys_days(std::chrono::November / 15 / 2026) + std::chrono::microseconds(1234567));
  EXPECT_EQ(
      hclog_line(LogLevel::info, "created\nnow", Json::Object{{"object", "Pod a/b"}}, now),
      R"({"@level":"info","@message":"created\nnow","@timestamp":"2026-11-15T00:00:01.234567Z","object":"Pod a/b"})"
      "\n");
}

TEST(Hclog, StaysBelowTheLengthThatIsRead) {
  std::string line = hclog_line(LogLevel::warn, std::string(100'000, 'x'),
                                Json::Object{{"more", std::string(100'000, 'y')}}, RealClock().wall_now());
  EXPECT_LT(line.size(), 64'000u);
  EXPECT_TRUE(Json::parse(line));
}

}  // namespace
}  // namespace fairlead::rpc
