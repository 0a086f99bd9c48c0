// A network that loses, delays, repeats and cuts what goes through it, as a seed says.
//
// Which trouble hits a request depends on the seed, the transport's name and the request's number alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "async/scope.h"
#include "http/message.h"
#include "sim/dice.h"
#include "sim/history.h"

namespace fairlead::sim {

enum class Trouble {
  late,           // the answer takes its time
  lost_request,   // never reaches the server
  lost_answer,    // is carried out, but nobody hears of it
  straggler,      // the connection breaks, and the request is carried out later
  repeated,       // is carried out twice, as by a proxy that retries; the second answer counts
  too_many,       // 429 with Retry-After
  server_error,   // 500 in the words of etcd: carried out, or not
  not_available,  // 503
  cut_body,       // the body breaks off: for a watch, after some events
  slow_body,      // each piece of the body takes its time
  expired,        // 410, for watches and lists that continue
};
std::string_view name_of(Trouble trouble);

// How often each of them hits a request that it can hit, from 0 to 1.
struct Rates {
  double late = 0;
  double lost_request = 0;
  double lost_answer = 0;
  double straggler = 0;
  double repeated = 0;
  double too_many = 0;
  double server_error = 0;
  double not_available = 0;
  double cut_body = 0;
  double slow_body = 0;
  double expired = 0;
  // What every request takes, each way, at most.
  Duration latency = std::chrono::milliseconds(10);
  // What a trouble takes, at most.
  Duration delay = std::chrono::seconds(2);
};

class FaultyTransport final : public http::Transport {
 public:
  // All must outlive it, and stop() be awaited before it is destroyed.
  FaultyTransport(Loop& loop, History& history, http::Transport& inner, std::string name, uint64_t seed, Rates rates)
      : loop_(loop),
        history_(history),
        inner_(inner),
        name_(std::move(name)),
        seed_(seed),
        rates_(rates),
        stragglers_(loop, nullptr) {}

  Task<Result<http::Answer>> open(http::Request request) override;

  // Ends what is still on its way.
  Task<void> stop();

  const std::string& name() const { return name_; }
  uint64_t requests() const { return requests_; }

 private:
  Task<Result<http::Answer>> suffer(Trouble trouble, Random random, http::Request request);
  Task<void> carry_out_later(Duration delay, http::Request request);

  Loop& loop_;
  History& history_;
  http::Transport& inner_;
  std::string name_;
  uint64_t seed_;
  Rates rates_;
  uint64_t requests_ = 0;
  Scope stragglers_;
};

}  // namespace fairlead::sim
