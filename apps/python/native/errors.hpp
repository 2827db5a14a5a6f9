// SPDX-License-Identifier: Apache-2.0
// Errors of driver and simulator as exceptions of Python's.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "npu/base/result.hpp"

namespace npu::python {

// Becomes npusim.Error, or ValueError for a configuration that cannot be.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error) : std::runtime_error(error.message()), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

[[noreturn]] inline void raise(ErrorCode code, std::string context) {
  throw Failure(Error{code, std::move(context)});
}

inline void check(const Status& status) {
  if (!status) throw Failure(status.error());
}

template <class T>
T value_of(Result<T> result) {
  if (!result) throw Failure(result.error());
  return std::move(*result);
}

// Once, by the module.
void translate_failures();

}  // namespace npu::python
