// The rules of DynamoModel.
#pragma once

#include "webhook/dynamo/internal/verdict.h"

namespace fairlead::webhook::dynamo {

class ModelPolicy : public TwoStepPolicy {
  Verdict check(const Request& request) const override;
  Verdict check_change(const Request& request) const override;
};

}  // namespace fairlead::webhook::dynamo
