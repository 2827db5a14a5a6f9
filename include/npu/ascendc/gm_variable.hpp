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
  return npusim_layout.variables +
         static_cast<std::uint64_t>(static_cast<const char*>(here) - __start_npusim_gm);
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
  GmAddress(std::uint64_t address, const void* symbol) : GmPointer<T>(address), symbol_(symbol) {}
  operator const void*() const { return symbol_; }

 private:
  const void* symbol_;
};

// Aggregates, so that they have their first values in the object.
template <class T>
struct GmVariable {
  using Value = std::remove_cv_t<T>;

  T first_value;

  GmAddress<T> operator&() const { return {npu::ascendc::address_of_variable(this), this}; }
  operator Value() const { return reference(); }
  template <class Given>
  GmReference<T> operator=(const Given& value) const {
    auto to = reference();
    to = static_cast<Value>(value);
    return to;
  }
  template <class Given>
  GmReference<T> operator+=(const Given& value) const {
    auto to = reference();
    to += static_cast<Value>(value);
    return to;
  }
  template <class Given>
  GmReference<T> operator-=(const Given& value) const {
    auto to = reference();
    to -= static_cast<Value>(value);
    return to;
  }
  template <class Given>
  GmReference<T> operator*=(const Given& value) const {
    auto to = reference();
    to *= static_cast<Value>(value);
    return to;
  }

 private:
  GmReference<T> reference() const {
    return GmReference<T>(npu::ascendc::address_of_variable(this));
  }
};

// An array is its address, as arrays are.
template <class T, std::size_t kCount>
struct GmVariable<T[kCount]> {
  T first_value[kCount];

  GmAddress<T[kCount]> operator&() const { return {npu::ascendc::address_of_variable(this), this}; }
  operator GmPointer<T>() const { return pointer(); }
  template <class U>
  explicit operator GmPointer<U>() const {
    return GmPointer<U>(pointer().address());
  }
  operator const void*() const { return this; }
  template <class Index>
  decltype(auto) operator[](Index index) const {
    return GmRow<T[kCount]>(pointer().address())[index];
  }
  template <class Index>
  GmPointer<T> operator+(Index index) const {
    return pointer() + index;
  }

 private:
  GmPointer<T> pointer() const { return GmPointer<T>(npu::ascendc::address_of_variable(this)); }
};

}  // namespace AscendC
