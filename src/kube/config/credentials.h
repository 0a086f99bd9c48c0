// Who we are, on every request: a token, a token file, a password, or what a plugin hands out; and whom we impersonate.
//
//   Credentials credentials(loop, config.credentials, Surroundings::real(), runner, options);
//   CO_TRY_ASSIGN(uint64_t used, co_await credentials.authorize(request.headers));
//   if (answer.status == 401) CO_TRY_ASSIGN(bool again, co_await credentials.refresh(used));
//
// A token file is read again when ten seconds have passed, or when its token was refused. A plugin runs when there is
// nothing yet, when what it gave has expired, or was refused: one run at a time, for all who wait; they share its error
// too. On the loop's thread only. Errors never show a token, a password, a key or what a plugin writes to its standard
// output.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "async/loop.h"
#include "async/process.h"
#include "async/signal.h"
#include "http/message.h"
#include "kube/config/cluster_config.h"
#include "kube/config/surroundings.h"

namespace fairlead::kube {

class Credentials {
 public:
  using Runner = std::function<Task<Result<ProcessResult>>(ProcessSpec)>;
  // A client certificate that a plugin gave: to be used for new connections before the next request goes out.
  using CertificateObserver =
      std::function<Result<void>(const std::string& certificate_pem, const std::string& key_pem)>;

  struct Options {
    // Standard input is a terminal, and nobody else reads it.
    bool has_terminal = false;
    Duration plugin_timeout = std::chrono::minutes(5);
    CertificateObserver on_certificate;
    // Told of every token, password and key, before it is used: they must not reach any text.
    std::function<void(std::string_view secret)> on_secret;
  };

  Credentials(Loop& loop, CredentialSpec spec, Surroundings surroundings, Runner runner, Options options);

  // Adds the headers, and says with which generation of the credentials.
  Task<Result<uint64_t>> authorize(http::Headers& headers);
  // After a 401 to a request of that generation: whether there are other credentials now, so that it is worth another
  // try.
  Task<Result<bool>> refresh(uint64_t generation);

 private:
  void tell_secret(std::string_view secret) const;
  Result<void> read_token_file(bool at_once);
  Task<Result<void>> ask_plugin(uint64_t generation);
  Task<Result<void>> run_plugin();
  bool plugin_is_due() const;

  Loop& loop_;
  CredentialSpec spec_;
  Surroundings surroundings_;
  Runner runner_;
  Options options_;

  // What goes into the header now. The generation counts how often it changed.
  std::string token_;
  uint64_t generation_ = 0;
  std::optional<TimePoint> token_read_;

  bool has_plugin_answer_ = false;
  std::string certificate_pem_;
  std::optional<WallTime> expires_;
  bool running_ = false;
  uint64_t runs_ = 0;
  std::optional<Error> last_run_error_;
  Signal run_ended_;
};

// Runs plugins for real.
Credentials::Runner process_runner(RealLoop& loop);

}  // namespace fairlead::kube
