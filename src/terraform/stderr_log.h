// The provider's log on standard error, where Terraform reads it.
#pragma once

#include "base/secrets.h"
#include "rpc/hclog.h"
#include "terraform/provider/log.h"

namespace fairlead::terraform {

class StderrLog final : public Log {
 public:
  // Entries below the level are dropped. The secrets, which must outlive it, are taken out of every line.
  StderrLog(Level least, const Secrets& secrets) : least_(least), secrets_(secrets) {}
  void write(Level level, std::string_view message, const Json& fields) override;

 private:
  Level least_;
  const Secrets& secrets_;
};

// What the user asked Terraform for: TF_LOG_PROVIDER_FAIRLEAD, TF_LOG_PROVIDER or TF_LOG. Warnings if nothing.
Log::Level log_level_of_environment();

}  // namespace fairlead::terraform
