// SPDX-License-Identifier: Apache-2.0
#include "apps/exec/acl/handlers.hpp"

namespace npu::exec::acl {
namespace {

template <Call kCall>
Outcome serve_record(Caller& caller, CallRecord& record) {
  const auto answer =
      serve(caller, CallOf<kCall>{compat::message_of<compat::Request<kCall>>(record.words),
                                  {record.window, record.bytes}});
  if (!answer) return forward_fault(answer);
  record.words = compat::words_of(*answer);
  return {};
}

constexpr Handler kHandlers[] = {nullptr,  // kEnd
#define NPU_EXEC_HANDLER(name, request, answer, text) serve_record<Call::k##name>,
                                 NPU_COMPAT_CALLS(NPU_EXEC_HANDLER)
#undef NPU_EXEC_HANDLER
};

}  // namespace

Handler handler_of(Call call) {
  return call < Call::kCount ? kHandlers[static_cast<std::size_t>(call)] : nullptr;
}

}  // namespace npu::exec::acl
