// SPDX-License-Identifier: Apache-2.0
// The parts behind an object of the public API. Its users have no way to them.
#pragma once

#include <type_traits>

namespace npu::driver {

struct ImplAccess {
  template <class T>
  static auto& of(T& object) {
    return *object.impl_;
  }
};

template <class T>
auto& impl_of(T& object) {
  using Impl = typename std::remove_const_t<T>::Impl;
  std::conditional_t<std::is_const_v<T>, const Impl, Impl>& impl = ImplAccess::of(object);
  return impl;
}

}  // namespace npu::driver
