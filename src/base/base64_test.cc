#include "base/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead {
namespace {

TEST(Base64, known_pairs) {
  for (auto [bytes, text] :
       {std::pair("", ""), {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(from_base64("Zm9v\nYmFy\r\n"), "foobar");
}

TEST(Base64, refuses_what_is_none) {
  for (std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zm9=YmFy", "Zg==Zg==", "Zm9v YmFy", "Zm9v-_==", "Zg=g"})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

RC_GTEST_PROP(Base64, comes_back, (const std::string& bytes)) { RC_ASSERT(from_base64(to_base64(bytes)) == bytes); }

}  // namespace
}  // namespace fairlead
