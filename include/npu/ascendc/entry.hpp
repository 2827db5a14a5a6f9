// SPDX-License-Identifier: Apache-2.0
// From a launch to a kernel's function: its parameters lie in the arguments as in a structure of C,
// each aligned to its own size, 4 bytes at least.
#pragma once

#include <tuple>

#include "npu/ascendc/gm_variable.hpp"

namespace npu::ascendc {

template <class T>
struct Parameter {
  static_assert(std::is_trivially_copyable_v<T>, "a parameter of a kernel is plain bytes");
  static constexpr std::uint64_t kAlignment = std::max<std::uint64_t>(alignof(T), 4);
};

// Reads parameters in their order.
class ParameterReader {
 public:
  explicit ParameterReader(std::uint64_t address) : next_(address) {}
  template <class T>
  T next() {
    next_ = aicore::round_up(next_, Parameter<T>::kAlignment);
    T value;
    auto* to = reinterpret_cast<char*>(&value);
    for (std::uint64_t left = sizeof(T), at = next_; left != 0;) {
      const std::uint64_t inside = at % 8, bytes = std::min(left, 8 - inside);
      const std::uint64_t word =
          on_core([&](AicorePort& port) { return port.load(at - inside, 8); });
      std::memcpy(to, reinterpret_cast<const char*>(&word) + inside, bytes);
      to += bytes;
      at += bytes;
      left -= bytes;
    }
    next_ += sizeof(T);
    return value;
  }

 private:
  std::uint64_t next_;
};

// Where the parameters of a kernel lie.
template <class... Types>
constexpr abi::KernelLayout layout_of(void (*)(Types...)) {
  static_assert(sizeof...(Types) <= abi::kMostParameters, "a kernel with so many parameters");
  abi::KernelLayout layout;
  std::uint64_t end = 0;
  ((end = aicore::round_up(end, Parameter<std::remove_cv_t<Types>>::kAlignment),
    layout.parameter[layout.parameters++] = {static_cast<std::uint32_t>(end), sizeof(Types)},
    end += sizeof(Types)),
   ...);
  return layout;
}
// Of an instance of a template: who looks for it by name finds none.
constexpr abi::KernelLayout unknown_layout() {
  abi::KernelLayout layout;
  layout.parameters = abi::kUnknownParameters;
  return layout;
}

template <class... Types>
constexpr std::uint64_t bytes_of_parameters() {
  std::uint64_t end = 0;
  ((end = aicore::round_up(end, Parameter<Types>::kAlignment) + sizeof(Types)), ...);
  return end;
}

template <class... Types>
int run(AicorePort& port, void (*kernel)(Types...), bool mixed) {
  KernelState state;
  state.port = &port;
  state.mixed = mixed;
  current = &state;
  const std::uint64_t first = port.call().arguments;
  const std::uint64_t end = first + bytes_of_parameters<std::remove_cv_t<Types>...>();
  for (std::uint64_t line = first / abi::kCacheLine * abi::kCacheLine; line < end;
       line += abi::kCacheLine) {
    on_core([&](AicorePort& core) { core.clean_invalidate(line); });
  }
  state.print_arguments = aicore::round_up(end, sizeof(std::uint64_t));
  ParameterReader reader(first);
  // Braces give the order.
  std::tuple<std::remove_cv_t<Types>...> parameters{reader.next<std::remove_cv_t<Types>>()...};
  std::apply(kernel, parameters);
  // What hardware does behind a kernel's last instruction.
  if (state.reads_fresh) {
    on_core([](AicorePort& core) { core.clean_invalidate_all(); });
    on_core([](AicorePort& core) { core.memory_barrier(); });
  }
  pipe_barrier(Pipe::kAll);
  return 0;
}

}  // namespace npu::ascendc
