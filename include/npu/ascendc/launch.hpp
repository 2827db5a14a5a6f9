// SPDX-License-Identifier: Apache-2.0
// `kernel<<<blocks, l2, stream>>>(arguments)` in the host's part of a source. In an object of the
// host's (`npusim cc --host`) it launches the kernel, which is in the object; in an object of the
// card's nobody calls the functions that it is in.
#pragma once

#include "npu/ascendc/entry.hpp"

#ifdef NPUSIM_CC_HOST
#include <acl/acl.h>
#include <acl/npusim_kernels.h>

#include <vector>

#include "npu/ascendc/printed.hpp"

// The file of kernels, as kernels/ascendc puts it into the object.
extern "C" __attribute__((visibility("hidden"))) const char npusim_kernels_begin[];
extern "C" __attribute__((visibility("hidden"))) const char npusim_kernels_end[];
#endif

// Each object has kernels of its own.
namespace npu::ascendc {
namespace {

#ifdef NPUSIM_CC_HOST
inline npusim_object object_of_host = {
    npusim_kernels_begin, static_cast<std::size_t>(npusim_kernels_end - npusim_kernels_begin),
    nullptr};

// For aclrtGetFuncBySymbol() and functions of variables.
class VariableSymbol {
 public:
  VariableSymbol(const void* symbol, const char* name) : symbol_(symbol) {
    npusimRegisterSymbol(&object_of_host, symbol, name);
  }
  ~VariableSymbol() { npusimForgetSymbol(symbol_); }
  VariableSymbol(const VariableSymbol&) = delete;
  VariableSymbol& operator=(const VariableSymbol&) = delete;

 private:
  const void* const symbol_;
};
using KernelSymbol = VariableSymbol;

// With a buffer for what the kernel prints.
inline aclError launch_printing(aclrtFuncHandle function, std::uint32_t blocks,
                                std::vector<char> arguments, void* stream) {
  constexpr std::uint64_t kWanted = 12 << 20, kStep = 64;  // bytes
  const std::uint64_t regions = std::uint64_t{blocks} * kRegionsOfBlock;
  const std::uint64_t region = std::clamp(
      kWanted / std::max<std::uint64_t>(regions, 1) / kStep * kStep, kLeastRegion, kMostRegion);
  npusim_printing printing = {};
  printing.bytes = regions * region;
  printing.part = region;
  printing.print = &write_printed;
  printing.address_offset = aicore::round_up(arguments.size(), sizeof(std::uint64_t));
  arguments.resize(printing.address_offset + 2 * sizeof(std::uint64_t));
  std::memcpy(arguments.data() + printing.address_offset + sizeof(std::uint64_t), &region,
              sizeof region);
  return npusimLaunchPrintingKernel(function, blocks, arguments.data(), arguments.size(), stream,
                                    &printing);
}

// An argument as the kernel's parameter.
template <class To, class From>
To as_parameter(const From& from) {
  if constexpr (std::is_pointer_v<From> && !std::is_pointer_v<To>) {
    return To(reinterpret_cast<std::uint64_t>(from));
  } else {
    return static_cast<To>(from);
  }
}
#endif

template <class... Types>
struct KernelLaunch {
  const char* name;
  std::uint32_t blocks;
  void* stream;

  // An aclError.
  template <class... Given>
  int operator()([[maybe_unused]] const Given&... given) const {
    static_assert(sizeof...(Given) == sizeof...(Types), "the kernel has other parameters");
#ifdef NPUSIM_CC_HOST
    std::vector<char> bytes;
    const auto add = [&bytes](const auto& value) {
      constexpr std::size_t kAlignment = Parameter<std::decay_t<decltype(value)>>::kAlignment;
      const std::size_t at = aicore::round_up(bytes.size(), kAlignment);
      bytes.resize(at + sizeof value);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    (add(as_parameter<std::remove_cv_t<Types>>(given)), ...);
    aclrtFuncHandle function = nullptr;
    const aclError found = npusimFindKernel(&object_of_host, name, &function);
    if (found != ACL_SUCCESS) return found;
    if (prints) return launch_printing(function, blocks, std::move(bytes), stream);
    return aclrtLaunchKernel(function, blocks, bytes.data(), bytes.size(), stream);
#else
    return 0;
#endif
  }
};

template <class... Types>
KernelLaunch<Types...> launch(void (*)(Types...), const char* name, std::uint32_t blocks,
                              const void*, void* stream) {
  return {name, blocks, stream};
}

// The launch number `kSite` of a source, of an instance of a template: which one it is, the
// compiler of the card's object finds where the launch is.
template <unsigned kSite>
struct LaunchSite {
  static inline int (*run)(AicorePort&, bool) = nullptr;
};
template <unsigned kSite, auto kKernel>
struct LaunchedInstance {
  static int run(AicorePort& port, bool mixed) { return ascendc::run(port, kKernel, mixed); }
  static inline const bool known = (LaunchSite<kSite>::run = &run, true);
};
template <unsigned kSite, auto kKernel>
auto launch_instance(const char* name, std::uint32_t blocks, const void* l2, void* stream) {
  static_cast<void>(LaunchedInstance<kSite, kKernel>::known);
  return launch(kKernel, name, blocks, l2, stream);
}
// Of a function of the host's that is a template without instances there is none.
template <unsigned kSite>
int run_site(AicorePort& port, bool mixed) {
  if (LaunchSite<kSite>::run == nullptr) {
    port.trap(static_cast<std::uint16_t>(Refusal::kNotModelled));
  }
  return LaunchSite<kSite>::run(port, mixed);
}

}  // namespace
}  // namespace npu::ascendc
