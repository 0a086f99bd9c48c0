#include "http/message.h"

#include <gtest/gtest.h>

#include "async/loop.h"

namespace fairlead::http {
namespace {

TEST(Headers, CompareNamesWithoutCase) {
  Headers headers{{"Content-Type", "a"}, {"Warning", "1"}, {"warning", "2"}};
  EXPECT_EQ(headers.find("content-type"), "a");
  EXPECT_EQ(headers.find("content"), std::nullopt);
  EXPECT_EQ(headers.all("WARNING"), (std::vector<std::string_view>{"1", "2"}));
  headers.set("WARNING", "3");
  EXPECT_EQ(headers.all("warning"), (std::vector<std::string_view>{"3"}));
  headers.set("Accept", "b");
  headers.remove("warning");
  EXPECT_EQ(headers.size(), 2);
  EXPECT_EQ(headers.find("accept"), "b");
}

TEST(Delivery, IsFoundAnywhereInTheChain) {
  Error lost(ErrorKind::unavailable, "the connection was lost");
  EXPECT_EQ(delivery_of(lost), Delivery::never);
  Error error = may_have_been_processed(lost).in("PATCH failed");
  EXPECT_EQ(delivery_of(error), Delivery::unknown);
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_EQ(error.message(), "PATCH failed: the request may have been carried out: the connection was lost");
}

TEST(Body, ThatIsThereAlreadyIsReadOnce) {
  VirtualLoop loop;
  auto body = body_of("hello");
  EXPECT_EQ(loop.run(body->read()).value(), "hello");
  EXPECT_EQ(loop.run(body->read()).value(), std::nullopt);
  EXPECT_EQ(loop.run(body_of("")->read()).value(), std::nullopt);
}

}  // namespace
}  // namespace fairlead::http
