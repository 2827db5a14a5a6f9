// SPDX-License-Identifier: Apache-2.0
// How a call of a program ends.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "apps/compat/protocol/messages.hpp"
#include "apps/exec/acl/error_codes.hpp"

namespace npu::exec::acl {

struct Fault {
  int code = kSuccess;  // aclError
  std::string text;     // one line, for aclGetRecentErrMsg()
};

template <class T>
using Value = tl::expected<T, Fault>;
using Outcome = Value<compat::wire::Nothing>;

inline tl::unexpected<Fault> fault(int code, std::string text) {
  return tl::unexpected<Fault>(Fault{code, std::move(text)});
}
// A driver's error, as what it is there or as `code`.
inline tl::unexpected<Fault> fault(const Error& error) {
  return fault(code_of(error.code), error.message());
}
template <class T>
tl::unexpected<Fault> forward_fault(const Value<T>& failed) {
  return tl::unexpected<Fault>(failed.error());
}
inline Outcome outcome_of(const Status& status) {
  if (status) return {};
  return fault(status.error());
}

}  // namespace npu::exec::acl
