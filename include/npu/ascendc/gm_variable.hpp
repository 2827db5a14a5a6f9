// SPDX-License-Identifier: Apache-2.0
// Variables in global memory: what `__gm__ T name;` outside of functions becomes. All kernels of a
// file share them. They lie in a section of the kernel's object; whoever loads the object on a card
// copies the section there and writes its address into the kernel's layout
// (abi/kernel_file.hpp). Accesses are the scalar unit's.
#pragma once

#include "npu/abi/kernel_file.hpp"
#include "npu/ascendc/gm_pointer.hpp"

#ifndef NPUSIM_CC_HOST
extern "C" __attribute__((visibility("hidden"))) volatile npu::abi::KernelLayout npusim_layout;
extern "C" __attribute__((visibility("hidden"))) const char __start_npusim_gm[];
#endif

namespace npu::ascendc {

template <class T>
using Same = T;

// Of what an array without bounds begins with.
template <std::size_t kCount>
using Counted = std::integral_constant<std::size_t, kCount>;
template <class T, std::size_t kCount>
Counted<kCount> count_of(const T (&values)[kCount]);
#ifndef NPUSIM_CC_HOST
// In an object of the host's it makes the variable known to the runtime (launch.hpp).
struct VariableSymbol {
  constexpr VariableSymbol(const void*, const char*) {}
};
#endif

// Of a variable that lies at `here` in the section.
inline std::uint64_t address_of_variable([[maybe_unused]] const void* here) {
#ifdef NPUSIM_CC_HOST
  return 0;  // the host's part of a source never gets here
#else
  return npusim_layout.variables + static_cast<std::uint64_t>(static_cast<const char*>(here) -
                                                              __start_npusim_gm);
#endif
}

}  // namespace npu::ascendc

namespace AscendC {

// A row of an array.
template <class T>
class GmRow {
 public:
  explicit GmRow(std::uint64_t address) : address_(address) {}
  template <class Index>
  decltype(auto) operator[](Index index) const {
    const std::uint64_t at = address_ + static_cast<std::uint64_t>(index) * sizeof(Element);
    if constexpr (std::is_array_v<Element>) {
      return GmRow<Element>(at);
    } else {
      return GmReference<Element>(at);
    }
  }
  operator GmPointer<std::remove_extent_t<T>>() const { return GmPointer<Element>(address_); }

 private:
  using Element = std::remove_extent_t<T>;
  std::uint64_t address_;
};

// `&variable`: in a kernel its address, for functions of the runtime the symbol.
template <class T>
class GmAddress : public GmPointer<T> {
 public:
  GmAddress(std::uint64_t address, const void* symbol)
      : GmPointer<T>(address), symbol_(symbol) {}
  operator const void*() const { return symbol_; }

 private:
  const void* symbol_;
};

// An aggregate, so that it has its first value in the object.
template <class T>
struct GmVariable {
  using Element = std::remove_extent_t<T>;
  using Value = std::remove_cv_t<T>;

  T first_value;

  GmAddress<T> operator&() const {
    return {npu::ascendc::address_of_variable(this), this};
  }

  // Of an array.
  template <class Index, class U = T, std::enable_if_t<std::is_array_v<U>, int> = 0>
  decltype(auto) operator[](Index index) const {
    return GmRow<U>(npu::ascendc::address_of_variable(this))[index];
  }
  template <class Index, class U = T, std::enable_if_t<std::is_array_v<U>, int> = 0>
  GmPointer<Element> operator+(Index index) const {
    return GmPointer<Element>(npu::ascendc::address_of_variable(this)) + index;
  }
  template <class U, class V = T, std::enable_if_t<std::is_array_v<V>, int> = 0>
  explicit operator GmPointer<U>() const {
    return GmPointer<U>(npu::ascendc::address_of_variable(this));
  }
  template <class U = T, std::enable_if_t<std::is_array_v<U>, int> = 0>
  operator GmPointer<std::remove_extent_t<U>>() const {
    return *this + 0;
  }
  template <class U = T, std::enable_if_t<std::is_array_v<U>, int> = 0>
  operator const void*() const {
    return this;
  }

  // Of a single value.
  template <class U = T, std::enable_if_t<!std::is_array_v<U>, int> = 0>
  operator std::remove_cv_t<U>() const {
    return reference<U>();
  }
  template <class Given, class U = T, std::enable_if_t<!std::is_array_v<U>, int> = 0>
  GmReference<U> operator=(const Given& value) const {
    auto to = reference<U>();
    to = static_cast<Value>(value);
    return to;
  }
  template <class Given, class U = T, std::enable_if_t<!std::is_array_v<U>, int> = 0>
  GmReference<U> operator+=(const Given& value) const {
    auto to = reference<U>();
    to += static_cast<Value>(value);
    return to;
  }
  template <class Given, class U = T, std::enable_if_t<!std::is_array_v<U>, int> = 0>
  GmReference<U> operator-=(const Given& value) const {
    auto to = reference<U>();
    to -= static_cast<Value>(value);
    return to;
  }
  template <class Given, class U = T, std::enable_if_t<!std::is_array_v<U>, int> = 0>
  GmReference<U> operator*=(const Given& value) const {
    auto to = reference<U>();
    to *= static_cast<Value>(value);
    return to;
  }

 private:
  template <class U>
  GmReference<U> reference() const {
    return GmReference<U>(npu::ascendc::address_of_variable(this));
  }
};

}  // namespace AscendC
