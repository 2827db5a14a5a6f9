// SPDX-License-Identifier: Apache-2.0
// Pointers into global memory: what `__gm__ T*` of a kernel becomes. Accesses through them are the
// scalar unit's.
#pragma once

#include "npu/ascendc/types.hpp"

namespace AscendC {

template <class T>
class GmReference {
 public:
  using Value = std::remove_cv_t<T>;
  explicit GmReference(std::uint64_t address) : address_(address) {}
  GmReference(const GmReference&) = default;
  operator Value() const { return npu::ascendc::load<Value>(address_); }
  GmReference& operator=(const GmReference& other) { return *this = static_cast<Value>(other); }
  GmReference& operator=(const Value& value) {
    npu::ascendc::store<Value>(address_, value);
    return *this;
  }
  GmReference& operator+=(const Value& other) {
    return *this = static_cast<Value>(value() + other);
  }
  GmReference& operator-=(const Value& other) {
    return *this = static_cast<Value>(value() - other);
  }
  GmReference& operator*=(const Value& other) {
    return *this = static_cast<Value>(value() * other);
  }

 private:
  Value value() const { return *this; }
  std::uint64_t address_;
};

template <class T>
class GmPointer {
 public:
  GmPointer() = default;
  GmPointer(std::nullptr_t) {}
  explicit GmPointer(std::uint64_t address) : address_(address) {}
  template <class U>
  explicit GmPointer(const GmPointer<U>& other) : address_(other.address()) {}

  std::uint64_t address() const { return address_; }
  explicit operator std::uint64_t() const { return address_; }
  explicit operator bool() const { return address_ != 0; }
  operator GmPointer<const T>() const { return GmPointer<const T>(address_); }
  GmReference<T> operator*() const { return GmReference<T>(address_); }
  template <class Index>
  GmReference<T> operator[](Index index) const {
    return GmReference<T>((*this + index).address_);
  }
  template <class Index>
  GmPointer operator+(Index index) const {
    return GmPointer(address_ + static_cast<std::uint64_t>(index) * sizeof(T));
  }
  template <class Index>
  GmPointer operator-(Index index) const {
    return GmPointer(address_ - static_cast<std::uint64_t>(index) * sizeof(T));
  }
  template <class Index>
  GmPointer& operator+=(Index index) {
    return *this = *this + index;
  }
  GmPointer& operator++() { return *this += 1; }
  GmPointer operator++(int) {
    const GmPointer before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(GmPointer a, GmPointer b) { return a.address_ == b.address_; }
  friend bool operator!=(GmPointer a, GmPointer b) { return a.address_ != b.address_; }

 private:
  std::uint64_t address_ = 0;
};

}  // namespace AscendC
