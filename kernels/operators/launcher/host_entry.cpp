// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators/launcher/host_entry.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>

#include "kernels/operators/launcher/host_guard.hpp"
#include "npu/base/shortened.hpp"

namespace npu::operators {
namespace {

constexpr std::size_t kLongestReason = 300;

// Of the exception that is being caught.
std::string thrown_type() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "an exception";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
  return shortened(name == nullptr ? type->name() : name.get(), kLongestReason);
}

}  // namespace

Status without_exceptions(const char* what, const std::function<void()>& work) {
  const HostGuard guard(what);
  try {
    work();
    return {};
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} has thrown {}: {}", what, thrown_type(),
                            shortened(error.what(), kLongestReason)));
  } catch (...) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{} has thrown {}", what, thrown_type()));
  }
}

Status call_host(const jit::Kernel& kernel, std::uint32_t block_num, OperatorStream& stream,
                 const void* params) {
  return without_exceptions("the host's function",
                            [&] { kernel.run()(block_num, &stream, params); });
}

std::string reason_of(const char* reason) {
  return reason == nullptr ? "the operator refuses, and does not say why"
                           : shortened(reason, kLongestReason);
}

}  // namespace npu::operators
