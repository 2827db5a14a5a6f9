// SPDX-License-Identifier: Apache-2.0
// The entry of an operator on the host, which may be a user's own code: what it throws is an error
// of the call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "npu/base/result.hpp"
#include "npu/jit/kernel.hpp"
#include "npu/operators/operator_stream.hpp"

namespace npu::operators {

// kInvalidArgument: "WHAT has thrown TYPE: text". Nothing that is thrown leaves it. What `work`
// catches itself it does not catch while it waits in simulated time: tasks may share a stack of
// exceptions.
Status without_exceptions(const char* what, const std::function<void()>& work);

// Calls run() of the kernel, for who has a stream of its own.
Status call_host(const jit::Kernel& kernel, std::uint32_t block_num, OperatorStream& stream,
                 const void* params);

// What an operator has told, which may be a null pointer.
std::string reason_of(const char* reason);

}  // namespace npu::operators
