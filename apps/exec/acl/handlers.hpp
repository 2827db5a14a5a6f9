// SPDX-License-Identifier: Apache-2.0
// What serves each call: one function for each row of apps/compat/protocol/calls.hpp, which gives
// the answer or says why there is none. Files: life_calls, stream_calls, memory_calls, copy_calls,
// fill_calls, managed_calls, kernel_calls, model_calls, control_calls, operator_calls,
// callback_calls, query_calls, signal_calls, notify_calls, profile_calls, share_calls, hal_calls,
// management_calls.
#pragma once

#include <cstring>

#include "apps/exec/acl/caller.hpp"

namespace npu::exec::acl {

namespace wire = compat::wire;
using compat::Call;

// The bytes that go with a call and its answer. The program may change them at any time.
struct CallWindow {
  ByteSpan window;
  Bytes filled = 0;  // of it, by the program

  // The first ones. kInvalidParameter: the program has not filled in so many.
  Value<ByteSpan> first(Bytes bytes) const {
    if (bytes > filled) return fault(kInvalidParameter, "fewer bytes than the call says");
    return window.subspan(0, bytes);
  }
  // `bytes` of the answer.
  void give(const void* from, Bytes bytes) const {
    if (bytes != 0) std::memcpy(window.data, from, bytes);
  }
};

// A call as its row has it.
template <Call kCall>
struct CallOf : compat::Request<kCall>, CallWindow {};

#define NPU_EXEC_SERVE(name, request, answer, text) \
  Value<wire::answer> serve(Caller& caller, const CallOf<Call::k##name>& call);
NPU_COMPAT_CALLS(NPU_EXEC_SERVE)
#undef NPU_EXEC_SERVE

// So many units from now; beyond the end of time: never.
Instant after(platform::Clock& clock, std::uint64_t count, Picoseconds unit);
// Milliseconds of a call; wire::kForEver.
Instant deadline_of(platform::Clock& clock, std::uint64_t milliseconds);

}  // namespace npu::exec::acl
