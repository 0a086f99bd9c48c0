// The rules of DynamoGraphDeployment.
#pragma once

#include "webhook/dynamo/dynamo.h"
#include "webhook/dynamo/internal/verdict.h"

namespace fairlead::webhook::dynamo {

class GraphPolicy : public TwoStepPolicy {
 public:
  explicit GraphPolicy(DynamoOptions options) : options_(std::move(options)) {}

 private:
  Verdict check(const Request& request) const override;
  Verdict check_change(const Request& request) const override;
  // True for the operator, and for the planner of the object's own namespace.
  bool may_scale(const Request& request) const;

  DynamoOptions options_;
};

}  // namespace fairlead::webhook::dynamo
