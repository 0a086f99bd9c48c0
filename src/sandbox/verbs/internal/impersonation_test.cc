#include "sandbox/verbs/internal/impersonation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::sandbox {
namespace {

using testing::ElementsAre;

http::Request request(http::Headers headers) {
  http::Request made;
  made.target = "/api";
  made.headers = std::move(headers);
  return made;
}

TEST(Impersonation, WithoutHeadersNothingChanges) {
  Outcome<User> user = acting_user(User{"admin", {"system:masters"}}, request({}));
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "admin");
  EXPECT_THAT(user->groups, ElementsAre("system:masters"));
}

TEST(Impersonation, GroupsAsTheRealServerGivesThem) {
  auto groups = [](http::Headers headers) {
    return acting_user(User{"admin", {"system:masters"}}, request(std::move(headers)))->groups;
  };
  EXPECT_THAT(groups({{"Impersonate-User", "joe"}}), ElementsAre("system:authenticated"));
  EXPECT_THAT(groups({{"Impersonate-User", "joe"}, {"impersonate-group", "crew"}, {"Impersonate-Group", "x"}}),
              ElementsAre("crew", "x", "system:authenticated"));
  EXPECT_THAT(groups({{"Impersonate-User", "system:serviceaccount:a:b"}}),
              ElementsAre("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"));
  EXPECT_THAT(groups({{"Impersonate-User", "system:anonymous"}}), ElementsAre("system:unauthenticated"));
}

TEST(Impersonation, WhatItRefuses) {
  auto refusal = [](http::Headers headers) { return acting_user(User{}, request(std::move(headers))).error().message; };
  EXPECT_EQ(refusal({{"Impersonate-Group", "crew"}}),
            "Internal Server Error: \"/api\": requested [{Group  crew    }] without impersonating a user\n");
  EXPECT_EQ(refusal({{"Impersonate-User", "joe"}, {"Impersonate-Uid", "1"}}),
            "the sandbox does not do this: the header Impersonate-Uid");
  EXPECT_EQ(refusal({{"Impersonate-User", "joe"}, {"Impersonate-Extra-Scopes", "1"}}),
            "the sandbox does not do this: the header Impersonate-Extra-Scopes");
}

}  // namespace
}  // namespace fairlead::sandbox
