// Calls on real sockets.
#include "gate/server/caller.h"

#include <gtest/gtest.h>

#include "async/real_loop.h"
#include "http/server/server.h"
#include "x509/x509.h"

namespace fairlead::gate {
namespace {

using namespace std::chrono_literals;
using Kind = CallResult::Kind;

class CallerTest : public testing::Test {
 protected:
  ~CallerTest() override {
    if (server_) loop_.run(server_->close());
  }
  // A webhook that answers nothing of use, behind a certificate for hook.shop.svc.
  void serve() {
    x509::KeyPair leaf =
        x509::make_leaf(ca_, {.common_name = "hook.shop.svc", .dns_names = {"hook.shop.svc"}}, now()).value();
    http::ServerSpec spec{
        .address = "127.0.0.1", .port = 0, .identity = http::Identity{.chain = {leaf.certificate}, .key = leaf.key}};
    auto answer = [this](http::Request request, const http::Peer&) -> Task<http::Answer> {
      asked_ = request.method + " " + request.target;
      co_return http::Answer{.status = 500, .headers = {}, .body = http::body_of("no")};
    };
    server_ = http::Server::listen(loop_, std::move(spec), answer).value();
    port_ = server_->port();
  }
  void stop() {
    loop_.run(server_->close());
    server_.reset();
  }
  Kind call(const x509::KeyPair& trusted, std::string server_name = "hook.shop.svc") {
    HttpsCaller caller(loop_);
    return loop_
        .run(caller.call({.address = {.host = "127.0.0.1", .port = port_},
                          .server_name = std::move(server_name),
                          .ca = trusted.certificate.to_pem(),
                          .path = "/check"}))
        .kind;
  }
  static x509::KeyPair authority() { return x509::make_ca("test", 24h, now()).value(); }
  static WallTime now() { return RealClock().wall_now(); }

  RealLoop loop_;
  x509::KeyPair ca_ = authority();
  std::unique_ptr<http::Server> server_;
  uint16_t port_ = 0;
  std::string asked_;
};

TEST_F(CallerTest, any_answer_is_one) {
  serve();
  EXPECT_EQ(call(ca_), Kind::answered);
  EXPECT_EQ(asked_, "POST /check?timeout=3s");
}

TEST_F(CallerTest, a_certificate_of_another_authority_or_name_is_not_trusted) {
  serve();
  EXPECT_EQ(call(authority()), Kind::untrusted);
  EXPECT_EQ(call(ca_, "other.shop.svc"), Kind::untrusted);
}

TEST_F(CallerTest, where_nobody_listens_the_connection_is_refused) {
  serve();
  stop();
  EXPECT_EQ(call(ca_), Kind::refused);
}

}  // namespace
}  // namespace fairlead::gate
