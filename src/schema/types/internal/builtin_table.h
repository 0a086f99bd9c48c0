// The table of built-in types and resources, as scripts/schema_table.py writes it. builtin.h reads it for everybody
// else.
//
// A line of `types` is a name and an expression:
//   s string, y bytes in base64, t time, b boolean, i int32, l int64, n number, q quantity, x int or string,
//   a anything, taken as a whole, j anything, d an object of anything
//   @core.v1.Container   another type; with ! or ~ behind it, atomic or granular whatever that type says
//   []T  a list that is one thing    [=]T  a set    [name]T  items told apart by these members; with | in it, a list
//   that strategic merge patches merge, by the member that stands behind the |, or by value
//   {}T  an object of T by any name  {!}T  the same, as one thing
//   (name*+:T=1 ...)  an object with these members; !(...) as one thing
// Behind a member's name: * required; + written even when it is zero; - written as null when it is not set; ? left out
// when it is zero; then % if a strategic merge patch says which members stay ($retainKeys). Behind a type: <A|B> the
// values it can have. After =, the default.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::schema::table {

extern const std::string_view version;
// "core.v1.Pod (…)", sorted by name.
extern const std::span<const std::string_view> types;
// "apps/v1/Deployment apps.v1.Deployment"; the core group is empty: "/v1/Pod core.v1.Pod". Sorted.
extern const std::span<const std::string_view> kinds;
// "apps/v1 {…}", as discovery gives it, with the columns of tables; the core group is "/v1".
extern const std::span<const std::string_view> resources;

}  // namespace fairlead::schema::table
