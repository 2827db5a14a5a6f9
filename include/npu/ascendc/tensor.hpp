// SPDX-License-Identifier: Apache-2.0
// Tensors: where elements lie, in global memory or in a local buffer.
#pragma once

#include "npu/ascendc/gm_pointer.hpp"

namespace AscendC {

template <class T>
class GlobalTensor {
 public:
  void SetGlobalBuffer(GmPointer<T> buffer, std::uint64_t elements = 0) {
    address_ = buffer.address();
    size_ = elements;
  }
  GmPointer<T> GetPhyAddr(std::uint64_t index = 0) const { return GmPointer<T>(at(index)); }
  T GetValue(std::uint64_t index) const { return npu::ascendc::load<T>(at(index)); }
  void SetValue(std::uint64_t index, T value) const { npu::ascendc::store<T>(at(index), value); }
  std::uint64_t GetSize() const { return size_; }
  GlobalTensor operator[](std::uint64_t index) const {
    GlobalTensor rest;
    rest.address_ = at(index);
    rest.size_ = size_ > index ? size_ - index : 0;
    return rest;
  }
  GmReference<T> operator()(std::uint64_t index) const { return GmReference<T>(at(index)); }

 private:
  std::uint64_t at(std::uint64_t index) const { return address_ + index * sizeof(T); }
  std::uint64_t address_ = 0, size_ = 0;
};

template <class T>
class LocalTensor {
 public:
  using PrimType = T;
  LocalTensor() = default;
  // `address`: bytes; `elements`: how many there are.
  LocalTensor(TPosition place, std::uint32_t address, std::uint32_t elements)
      : place_(place), address_(address), size_(elements) {}

  LocalTensor operator[](std::uint32_t index) const {
    return {place_, address_ + index * static_cast<std::uint32_t>(sizeof(T)),
            size_ > index ? size_ - index : 0};
  }
  template <class U>
  LocalTensor<U> ReinterpretCast() const {
    return {place_, address_, static_cast<std::uint32_t>(size_ * sizeof(T) / sizeof(U))};
  }
  std::uint32_t GetSize() const { return size_; }
  void SetSize(std::uint32_t elements) { size_ = elements; }
  std::uint32_t GetLength() const { return size_ * static_cast<std::uint32_t>(sizeof(T)); }
  TPosition GetPosition() const { return place_; }
  std::uint64_t GetPhyAddr(std::uint32_t index = 0) const { return address_ + index * sizeof(T); }
  // Elements in UB, by the scalar unit.
  T GetValue(std::uint32_t index) const;
  void SetValue(std::uint32_t index, T value) const;

 private:
  TPosition place_ = TPosition::VECCALC;
  std::uint32_t address_ = 0, size_ = 0;
};

// Tensors one after another in a local buffer.
template <Hardware kBuffer = Hardware::UB>
class LocalMemAllocator {
 public:
  std::uint32_t GetCurAddr() const { return next_; }
  template <class T, std::uint32_t kElements>
  LocalTensor<T> Alloc() {
    return take<T>(kPlace, kElements);
  }
  template <class T>
  LocalTensor<T> Alloc(std::uint32_t elements) {
    return take<T>(kPlace, elements);
  }
  template <TPosition kAt, class T, std::uint32_t kElements>
  LocalTensor<T> Alloc() {
    return take<T>(kAt, kElements);
  }
  template <TPosition kAt, class T>
  LocalTensor<T> Alloc(std::uint32_t elements) {
    return take<T>(kAt, elements);
  }

 private:
  static constexpr TPosition kPlaces[] = {TPosition::A1, TPosition::A2, TPosition::B2,
                                          TPosition::CO1, TPosition::VECCALC};
  static constexpr TPosition kPlace = kPlaces[static_cast<std::size_t>(kBuffer)];
  template <class T>
  LocalTensor<T> take(TPosition place, std::uint32_t elements) {
    const std::uint32_t at = next_;
    next_ += npu::aicore::round_up(static_cast<std::uint32_t>(elements * sizeof(T)),
                                   npu::aicore::kLocalAlignment);
    return {place, at, elements};
  }
  std::uint32_t next_ = 0;
};

}  // namespace AscendC

namespace npu::ascendc {

// The tensor's beginning, which must be in `buffer`.
template <class T>
std::uint32_t offset_in(const AscendC::LocalTensor<T>& tensor, LocalBuffer buffer) {
  if (buffer_of(tensor.GetPosition()) != buffer) refuse(Refusal::kPlace);
  return static_cast<std::uint32_t>(tensor.GetPhyAddr());
}
template <class T>
std::uint32_t in_ub(const AscendC::LocalTensor<T>& tensor) {
  return offset_in(tensor, LocalBuffer::kUb);
}

}  // namespace npu::ascendc

namespace AscendC {

template <class T>
T LocalTensor<T>::GetValue(std::uint32_t index) const {
  const std::uint32_t at = npu::ascendc::in_ub((*this)[index]);
  std::uint32_t words[2] = {};
  for (unsigned i = 0; i < (sizeof(T) + 3) / 4; ++i) {
    words[i] = npu::ascendc::on_core([&](auto& port) { return port.load_ub(at / 4 * 4 + 4 * i); });
  }
  T value;
  std::memcpy(static_cast<void*>(&value), reinterpret_cast<const char*>(words) + at % 4,
              sizeof value);
  return value;
}
template <class T>
void LocalTensor<T>::SetValue(std::uint32_t index, T value) const {
  const std::uint32_t at = npu::ascendc::in_ub((*this)[index]);
  std::uint32_t words[2] = {};
  for (unsigned i = 0; i < (sizeof(T) + 3) / 4; ++i) {
    const std::uint32_t word = at / 4 * 4 + 4 * i;
    if (sizeof(T) < 4) {
      words[i] = npu::ascendc::on_core([&](auto& port) { return port.load_ub(word); });
    }
    std::memcpy(reinterpret_cast<char*>(words) + at % 4, &value, sizeof value);
    npu::ascendc::on_core([&](auto& port) { port.store_ub(word, words[i]); });
  }
}

}  // namespace AscendC
