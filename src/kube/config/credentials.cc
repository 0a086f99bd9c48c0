#include "kube/config/credentials.h"

#include <algorithm>

#include "async/scope.h"
#include "base/base64.h"
#include "base/plain_text.h"
#include "kube/config/exec_credential.h"
#include "kube/config/internal/client_certificate.h"

namespace fairlead::kube {
namespace {

constexpr Duration kTokenFilePeriod = std::chrono::seconds(10);
constexpr size_t kMaxPluginOutput = size_t{1} << 20;

bool fits_header(std::string_view value) {
  return std::ranges::none_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string_view trim(std::string_view text) {
  size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r\n") + 1 - start);
}

// The name of an extra can be any text; a header's cannot.
std::string escape_header_name(std::string_view name) {
  constexpr std::string_view kOthers = "!#$&'*+-.^_`|~";
  std::string result;
  for (char c : name) {
    bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kOthers.contains(c);
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

Result<void> add_impersonation(const Impersonation& impersonate, http::Headers& headers) {
  if (impersonate.user.empty()) return {};
  bool fits = fits_header(impersonate.user) && fits_header(impersonate.uid) &&
              std::ranges::all_of(impersonate.groups, fits_header);
  for (const auto& [name, values] : impersonate.extra) fits = fits && std::ranges::all_of(values, fits_header);
  if (!fits)
    return fail(ErrorKind::invalid, "the user to impersonate, or something about it, has control characters in it");
  headers.set("Impersonate-User", impersonate.user);
  if (!impersonate.uid.empty()) headers.set("Impersonate-Uid", impersonate.uid);
  for (const std::string& group : impersonate.groups) headers.add("Impersonate-Group", group);
  for (const auto& [name, values] : impersonate.extra)
    for (const std::string& value : values) headers.add("Impersonate-Extra-" + escape_header_name(name), value);
  return {};
}

}  // namespace

Credentials::Credentials(Loop& loop, CredentialSpec spec, Surroundings surroundings, Runner runner, Options options)
    : loop_(loop),
      spec_(std::move(spec)),
      surroundings_(std::move(surroundings)),
      runner_(std::move(runner)),
      options_(std::move(options)),
      token_(spec_.token),
      run_ended_(loop) {
  tell_secret(spec_.token);
  tell_secret(spec_.password);
  if (!spec_.password.empty()) tell_secret(spec_.username + ":" + spec_.password);
}

void Credentials::tell_secret(std::string_view secret) const {
  if (options_.on_secret && !secret.empty()) options_.on_secret(secret);
}

Task<Result<uint64_t>> Credentials::authorize(http::Headers& headers) {
  if (!spec_.token_file.empty()) CO_TRY(read_token_file(false));
  if (spec_.exec && plugin_is_due()) CO_TRY(co_await ask_plugin(generation_));
  if (!fits_header(token_))
    co_return fail(ErrorKind::invalid, "the token of {} has control characters in it", spec_.owner);
  headers.remove("Authorization");
  if (!token_.empty()) headers.set("Authorization", "Bearer " + token_);
  if (!spec_.username.empty() || !spec_.password.empty())
    headers.set("Authorization", "Basic " + to_base64(spec_.username + ":" + spec_.password));
  CO_TRY(add_impersonation(spec_.impersonate, headers));
  co_return generation_;
}

Task<Result<bool>> Credentials::refresh(uint64_t generation) {
  if (generation != generation_) co_return true;
  if (!spec_.token_file.empty()) CO_TRY(read_token_file(true));
  if (spec_.exec) CO_TRY(co_await ask_plugin(generation));
  co_return generation != generation_;
}

Result<void> Credentials::read_token_file(bool at_once) {
  if (!at_once && token_read_ && loop_.now() < *token_read_ + kTokenFilePeriod) return {};
  Result<std::string> text = surroundings_.read_file(spec_.token_file);
  std::string token(text ? trim(*text) : std::string_view());
  if (token.empty()) {
    // A file that is being replaced: what we have may still do.
    if (!token_.empty()) return {};
    Error error(ErrorKind::denied,
                fmt::format("the token file of {} cannot be used: {}", spec_.owner, spec_.token_file));
    return fail(text ? std::move(error).because("it is empty") : std::move(error).because(std::move(text).error()));
  }
  tell_secret(token);
  token_read_ = loop_.now();
  if (token != token_) ++generation_;
  token_ = std::move(token);
  return {};
}

bool Credentials::plugin_is_due() const {
  return !has_plugin_answer_ || (expires_ && surroundings_.now() >= *expires_);
}

// Until there is another generation than that one, or an answer that is still good.
Task<Result<void>> Credentials::ask_plugin(uint64_t generation) {
  bool waited = false;
  while (running_) {
    uint64_t run = runs_;
    CO_TRY(co_await run_ended_.wait());
    waited = waited || runs_ != run;
  }
  if (generation != generation_) co_return Result<void>();
  if (waited && last_run_error_) co_return fail(*last_run_error_);

  running_ = true;
  Result<void> result = co_await run_plugin();
  running_ = false;
  last_run_error_.reset();
  // Whoever was cancelled fails alone: another one that waits runs the plugin again.
  bool cancelled = !result && result.error().kind() == ErrorKind::cancelled;
  if (!result && !cancelled) last_run_error_ = result.error();
  if (!cancelled) ++runs_;
  run_ended_.notify_all();
  co_return result;
}

Task<Result<void>> Credentials::run_plugin() {
  const ExecPlugin& plugin = *spec_.exec;
  auto failed = [&](Error cause) {
    Error error(ErrorKind::denied,
                fmt::format("the credential plugin of {} failed: {}", spec_.owner, plain_text(plugin.command, 200)));
    error = std::move(error).because(std::move(cause));
    std::string hint = plain_text(plugin.install_hint, 1000);
    return fail(hint.empty() ? std::move(error) : std::move(error).next(hint));
  };
  bool interactive = options_.has_terminal && plugin.interactive != ExecPlugin::Interactive::never;
  if (plugin.interactive == ExecPlugin::Interactive::always && !interactive)
    co_return failed(Error(ErrorKind::denied, "it needs to prompt, but standard input is not a terminal"));

  ProcessSpec process;
  process.argv = {plugin.command};
  process.argv.insert(process.argv.end(), plugin.arguments.begin(), plugin.arguments.end());
  process.environment = plugin.environment;
  process.environment.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, interactive));
  process.input = interactive ? ProcessSpec::Input::inherit : ProcessSpec::Input::null;
  process.inherit_errors = interactive;
  process.max_output = kMaxPluginOutput;
  std::string late = fmt::format("it took longer than {} s", options_.plugin_timeout / std::chrono::seconds(1));
  Result<ProcessResult> ran = co_await with_deadline(loop_, loop_.now() + options_.plugin_timeout, std::move(late),
                                                     runner_(std::move(process)));
  if (!ran && ran.error().kind() == ErrorKind::cancelled) co_return fail(std::move(ran).error());
  if (!ran) co_return failed(std::move(ran).error());
  if (!ran->ok()) {
    std::string errors = plain_text(ran->errors, 500);
    co_return failed(
        Error(ErrorKind::denied, errors.empty() ? ran->ending() : fmt::format("{}: {}", ran->ending(), errors)));
  }

  Result<ExecCredential> credential = read_exec_credential(plugin, ran->output);
  if (!credential) co_return failed(std::move(credential).error());
  tell_secret(credential->token);
  tell_secret(credential->key_pem);
  if (!credential->certificate_pem.empty()) {
    Result<void> usable =
        check_client_certificate(spec_.owner, credential->certificate_pem, credential->key_pem, surroundings_.now());
    if (!usable) co_return failed(std::move(usable).error());
    if (credential->certificate_pem != certificate_pem_ && options_.on_certificate) {
      Result<void> taken = options_.on_certificate(credential->certificate_pem, credential->key_pem);
      if (!taken) co_return failed(std::move(taken).error());
    }
  }
  // Even the same token again is an answer to "refused": what was wrong may have been the moment.
  ++generation_;
  has_plugin_answer_ = true;
  token_ = std::move(credential->token);
  certificate_pem_ = std::move(credential->certificate_pem);
  expires_ = credential->expires;
  co_return Result<void>();
}

Credentials::Runner process_runner(RealLoop& loop) {
  return [&loop](ProcessSpec spec) { return run_process(loop, std::move(spec)); };
}

}  // namespace fairlead::kube
