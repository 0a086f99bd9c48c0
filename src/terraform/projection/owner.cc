#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

const Tool* served = &kTerraform;

}  // namespace

const Tool& tool() { return *served; }
void serve_tool(const Tool& tool) { served = &tool; }

}  // namespace fairlead::terraform
