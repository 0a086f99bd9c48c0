#include "terraform/value/diagnostic.h"

#include <algorithm>

namespace fairlead::terraform {
namespace {

// Causes, place and advice, as Error::report() has them below what happened. Terraform does not wrap lines that start
// with a space.
std::string detail_of(const Error& error) {
  return error.report().substr(Error(error.kind(), error.what()).report().size());
}

}  // namespace

void Diagnostics::error(std::string summary, std::string detail, Path path) {
  all_.push_back({Diagnostic::Severity::error, std::move(summary), std::move(detail), std::move(path)});
}

void Diagnostics::warning(std::string summary, std::string detail, Path path) {
  all_.push_back({Diagnostic::Severity::warning, std::move(summary), std::move(detail), std::move(path)});
}

void Diagnostics::error(const Error& error, Path path) { this->error(error.what(), detail_of(error), std::move(path)); }

void Diagnostics::warning(const Error& error, Path path) { warning(error.what(), detail_of(error), std::move(path)); }

void Diagnostics::add(Diagnostics others) { std::ranges::move(others.all_, std::back_inserter(all_)); }

bool Diagnostics::has_errors() const {
  return std::ranges::any_of(all_, [](const Diagnostic& one) { return one.severity == Diagnostic::Severity::error; });
}

}  // namespace fairlead::terraform
