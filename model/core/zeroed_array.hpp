// SPDX-License-Identifier: Apache-2.0
// A large array whose elements begin as zeros. Unlike a vector's its memory is not written: it
// costs the host what is used of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace npu::model {

template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Begins at a line of the host's caches. Throws std::bad_alloc.
  explicit ZeroedArray(std::size_t size)
      : memory_(std::calloc(size * sizeof(T) + kHostLine, 1)), size_(size) {
    if (memory_ == nullptr) throw std::bad_alloc();
    void* begin = memory_.get();
    std::size_t room = size * sizeof(T) + kHostLine;
    data_ = static_cast<T*>(std::align(kHostLine, size * sizeof(T), begin, room));
  }

  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static constexpr std::size_t kHostLine = 64;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  std::unique_ptr<void, Free> memory_;
  std::size_t size_;
  T* data_;
};

}  // namespace npu::model
