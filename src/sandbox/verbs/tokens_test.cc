#include "sandbox/verbs/tokens.h"

#include "base/base64.h"
#include "sandbox/sandbox_testing.h"

namespace fairlead::sandbox {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAccounts = "/api/v1/namespaces/default/serviceaccounts";

class TokensTest : public SandboxTest {
 protected:
  TokensTest() {
    pass(1s);
    post(std::string(kAccounts), R"({"metadata":{"name":"bot"}})");
  }
  std::string token(std::string_view spec = "{}") {
    Got got = post(std::string(kAccounts) + "/bot/token", fmt::format(R"({{"spec":{}}})", spec));
    EXPECT_EQ(got.status, 201) << got.text;
    return std::string(got.body["status"]["token"].string_or(""));
  }
  std::string owner_of(const std::string& token) {
    std::optional<User> user = bearer_of(sandbox_.core(), "Bearer " + token);
    return user ? user->name : "nobody";
  }
};

TEST_F(TokensTest, ATokenSaysWhoseItIs) {
  std::string text = token(R"({"audiences":["a"]})");
  std::string claims = text.substr(text.find('.') + 1);
  claims = claims.substr(0, claims.find('.'));
  while (claims.size() % 4 != 0) claims += '=';
  for (char& c : claims) c = c == '-' ? '+' : c == '_' ? '/' : c;
  Json said = parse(from_base64(claims).value_or(""));
  EXPECT_EQ(said["sub"], Json("system:serviceaccount:default:bot")) << text;
  EXPECT_EQ(said["aud"], parse(R"(["a"])"));
  EXPECT_EQ(said["exp"].int_or(0) - said["iat"].int_or(0), 3600);
}

TEST_F(TokensTest, ATokenIsGoodUntilItExpiresOrItsAccountIsDeleted) {
  std::string one = token(R"({"expirationSeconds":600})"), other = token();
  EXPECT_NE(one, other);
  EXPECT_EQ(owner_of(one), "system:serviceaccount:default:bot");
  EXPECT_EQ(owner_of(one + "x"), "nobody");
  EXPECT_FALSE(bearer_of(sandbox_.core(), one));
  pass(601s);
  EXPECT_EQ(owner_of(one), "nobody");
  EXPECT_EQ(owner_of(other), "system:serviceaccount:default:bot");
  remove(std::string(kAccounts) + "/bot");
  EXPECT_EQ(owner_of(other), "nobody");
  // Another one of the same name is another account.
  post(std::string(kAccounts), R"({"metadata":{"name":"bot"}})");
  EXPECT_EQ(owner_of(other), "nobody");
}

TEST_F(TokensTest, ADryRunGivesNoneOut) {
  Got got = post(std::string(kAccounts) + "/bot/token?dryRun=All", R"({"spec":{}})");
  ASSERT_EQ(got.status, 201) << got.text;
  EXPECT_EQ(owner_of(std::string(got.body["status"]["token"].string_or(""))), "nobody");
}

}  // namespace
}  // namespace fairlead::sandbox
